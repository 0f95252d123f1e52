"""What a leaderboard is computed from: counts, prices and published rows, whole, so that it can be repeated."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from runs.costs import Price, StatedCost, TaskUsage, Tokens, UsageStyle
from runs.metrics import ErrorRule, TaskOutcome
from runs.published import PublishedResults

__all__ = [
    "ALL_COLUMNS", "USUAL_COLUMNS", "BoardInputs", "BoardSettings", "BoardView", "Column", "Order", "RunInput",
    "TaskCounts",
]  # fmt: skip


class Order(StrEnum):
    PASS_AT_1 = "pass_at_1"
    ALL_K = "all_k"
    SOLVED = "solved"
    COST = "cost"
    """Cost per dependable task, the lowest first."""


class Column(StrEnum):
    INTERVAL = "interval"
    DOMAINS = "domains"
    SOLVED = "solved"
    ALL_K = "all_k"
    RETENTION = "retention"
    ERRORS = "errors"
    COST_PER_SUCCESS = "cost_per_success"
    COST_PER_DEPENDABLE = "cost_per_dependable"
    CAMPAIGN = "campaign"


ALL_COLUMNS = tuple(Column)
USUAL_COLUMNS = tuple(column for column in Column if column not in {Column.ERRORS, Column.CAMPAIGN})
"""Of a new board."""


class TaskCounts(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One task's attempts in a run, as tallied. Tokens are sums over the attempts `with_usage`."""

    uid: str
    domain: str
    recorded: int
    passed: int
    errors: int
    with_usage: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    cache_write_tokens: int = 0
    usage_beside: int = 0
    """Attempts whose cached tokens are counted beside input tokens."""

    def outcome(self) -> TaskOutcome:
        """Without its domain, so that only the figures of the whole run are computed from it."""
        return TaskOutcome(uid=self.uid, n=self.recorded, passed=self.passed, errors=self.errors)

    def usage(self) -> TaskUsage:
        tokens = Tokens(
            input=self.input_tokens,
            cached=self.cached_tokens,
            cache_write=self.cache_write_tokens,
            output=self.output_tokens,
        )
        return TaskUsage(uid=self.uid, attempts=self.recorded, with_usage=self.with_usage, tokens=tokens)


class RunInput(msgspec.Struct, frozen=True, kw_only=True):
    """A run of this server."""

    slug: str
    model: str
    provider: str = ""
    weights: str = ""
    benchmark: str
    k: int
    tasks: tuple[TaskCounts, ...]
    price: Price | None = None
    price_list: str = ""
    price_reason: str = ""
    """Why there is no price."""
    stated: StatedCost | None = None
    bundles: tuple[str, ...] = ()
    """SHA-256 of the files that brought its rows."""

    @property
    def style(self) -> UsageStyle | None:
        """How cached tokens are counted; None where no attempt says it."""
        return UsageStyle.CACHED_BESIDE_INPUT if any(task.usage_beside for task in self.tasks) else None

    @property
    def mixes_styles(self) -> bool:
        """Whether some attempts count cached tokens beside input tokens, and some do not say so."""
        return 0 < sum(task.usage_beside for task in self.tasks) < sum(task.with_usage for task in self.tasks)


class BoardSettings(msgspec.Struct, frozen=True, kw_only=True):
    order: Order = Order.PASS_AT_1
    error_rule: ErrorRule = ErrorRule.AS_FAILED
    k: int | None = None
    """None: the most that a row asks for."""
    columns: tuple[Column, ...] = ALL_COLUMNS
    by_weights: bool = False
    price_list: str = ""
    """Label of the list that all runs are priced by; empty: each by its own."""


class BoardInputs(msgspec.Struct, frozen=True, kw_only=True):
    settings: BoardSettings
    runs: tuple[RunInput, ...] = ()
    published: PublishedResults | None = None
    """Only with the rows that are on the board."""


class BoardView(msgspec.Struct, frozen=True, kw_only=True):
    """How a reader looks at a board. None and empty: as its owner set it."""

    order: Order | None = None
    error_rule: ErrorRule | None = None
    weights: str = ""
    """`proprietary` or `open`: only these."""
    with_published: bool = True
