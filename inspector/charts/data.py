"""What charts are made from, and what they give: frozen structs, no database and no request."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from enum import StrEnum
from typing import Any

import msgspec

from runs.metrics import Interval

__all__ = ["BoardRow", "Cell", "Chart", "Kind", "Standing", "Table", "TableRow", "Weights"]


class Kind(StrEnum):
    MEASURED = "measured"
    """A run of this server."""
    PUBLISHED = "published"


class Weights(StrEnum):
    PROPRIETARY = "proprietary"
    OPEN = "open"
    UNKNOWN = ""


class Standing(msgspec.Struct, frozen=True):
    """Where a row stands on the frontier of a price and a quality, by unrounded values."""

    on_frontier: bool
    dominated_by: tuple[str, ...] = ()
    """Names of the rows that are no worse in both and better in one."""


class BoardRow(msgspec.Struct, frozen=True, kw_only=True):
    """One model on a leaderboard. Shares go from 0 to 1. None: not known, not published, not computable; never zero."""

    name: str
    """Unique on the board."""
    kind: Kind
    weights: Weights = Weights.UNKNOWN
    url: str | None = None
    """Where a click leads; None: nowhere (a published row, or a page that may not tell)."""
    k: int
    tasks: int
    incomplete_tasks: int = 0
    """Tasks with fewer than k recorded attempts: with any, `all_k` is not computable."""
    pass_at_1: float | None
    pass_at_1_interval: Interval | None = None
    solved: float | None = None
    """Share of tasks solved at least once."""
    solved_interval: Interval | None = None
    solved_between: tuple[float, float] | None = None
    """Bounds, where only those are published."""
    all_k: float | None = None
    """Share of tasks that passed all k."""
    all_k_interval: Interval | None = None
    currency: str = "USD"
    cost_per_run: Decimal | None = None
    """All tasks once."""
    cost_per_success: Decimal | None = None
    cost_per_dependable_task: Decimal | None = None
    """None also where the cost is known and no task is dependable."""
    no_dependable_task: bool = False
    """Whether that is why there is none, whatever else of the cost is shown."""
    by_success: Standing | None = None
    """Cost per success against pass@1. None: not placed, a value is missing."""
    by_dependable_task: Standing | None = None
    """Cost per dependable task against the share of dependable tasks. None: not placed, a value is missing."""
    by_domain: Mapping[str, float | None] = {}
    """pass@1 of a domain, under its display name, in the order of the columns."""

    @property
    def all_k_count(self) -> int | None:
        return None if self.all_k is None else round(self.all_k * self.tasks)

    @property
    def solved_count(self) -> int | None:
        return None if self.solved is None else round(self.solved * self.tasks)

    @property
    def retention(self) -> float | None:
        """The share of pass@1 that survives k repetitions; None where one is not known or nothing passed."""
        return None if self.all_k is None or not self.pass_at_1 else self.all_k / self.pass_at_1


class Cell(msgspec.Struct, frozen=True):
    text: str
    """As it is shown. A dash for what is not known."""
    value: float | str | None = None
    """As it is drawn, in the unit of the axis (percent, money, count)."""
    title: str = ""
    """Says why there is a dash."""


class TableRow(msgspec.Struct, frozen=True):
    name: str
    cells: tuple[Cell, ...]
    url: str | None = None


class Table(msgspec.Struct, frozen=True):
    columns: tuple[str, ...]
    """The first heads the names; each further one a cell of every row."""
    rows: tuple[TableRow, ...]


class Chart(msgspec.Struct, frozen=True, kw_only=True):
    """A figure with the same values as a table.

    Colours in the figure are written `var(--name)`: the script puts in the value of the theme when it draws.
    """

    key: str
    """Unique on a page; names the element and the downloaded file."""
    title: str
    subtitle: str = ""
    caption: str
    """What is drawn over how many tasks and repetitions."""
    notes: tuple[str, ...] = ()
    """Who is not placed or left out, and why."""
    figure: dict[str, Any] | None
    """Plotly's `data` and `layout`, ready for JSON. None: nothing can be drawn, which `caption` says."""
    table: Table

    @property
    def element(self) -> str:
        """The id of the element that holds the figure."""
        return f"chart-{self.key}"
