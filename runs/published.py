"""Results that others published. They were not measured here, and say so wherever they are shown.

Every value carries where it was published; what was not is None. Values are as printed (percentages in percent, money
in decimal text); the shares and quotients computed from them are unrounded.
"""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Generic, TypeVar

import msgspec

from runs.costs import RunCost, StatedCost, stated_cost
from runs.metrics import Contender, Interval, Measure, Method, Share, widest_interval

__all__ = [
    "NOT_MEASURED_HERE", "THINKINGBOX_BENCH_RESULTS", "PublishedDomain", "PublishedModel", "PublishedResults",
    "Sourced", "load_published",
]  # fmt: skip

NOT_MEASURED_HERE = "published, not measured here"
OVERALL = "overall"

_Value = TypeVar("_Value")


class Sourced(msgspec.Struct, Generic[_Value], frozen=True):
    value: _Value
    source: str
    """A key of `PublishedResults.sources`."""


class PublishedDomain(msgspec.Struct, frozen=True, kw_only=True):
    key: str
    label: str
    tasks: Sourced[int]
    mean_pass_at_1: Sourced[float] | None
    """Percent: the mean over the published models, where the publication prints it."""


class PublishedModel(msgspec.Struct, frozen=True, kw_only=True):
    """One row. A None is not published (or only for another campaign of the model, which a note then says)."""

    name: str
    weights: Sourced[str]
    """`proprietary` or `open`."""
    pass_at_1: dict[str, Sourced[float]]
    """Percent, by domain key and for `overall`. Errors count as not passed."""
    successes: Sourced[dict[str, int]]
    """Passed attempts, by domain key and for `overall`."""
    errors: Sourced[int] | None
    """System errors among the attempts."""
    interval_95: Sourced[tuple[float, float]] | None
    """Percent, of overall pass@1, by a task bootstrap."""
    solved_at_least_once: Sourced[int] | None
    solved_bounds: Sourced[tuple[int, int]] | None
    """Least and most tasks solved at least once, where only that is published."""
    observed_all_k: Sourced[int] | None
    retention: Sourced[float] | None
    """Percent, as rounded in the text."""
    campaign_cost: Sourced[Decimal] | None
    """Of all repetitions."""
    cost_per_success: Sourced[Decimal] | None
    cost_per_dependable_task: Sourced[Decimal] | None
    notes: list[str]


class PublishedResults(msgspec.Struct, frozen=True, kw_only=True):
    benchmark: str
    version: str
    """The day of publication."""
    currency: str
    prices_of: str
    """The day of the list prices behind the costs."""
    tasks: Sourced[int]
    repetitions: Sourced[int]
    sources: dict[str, str]
    domains: list[PublishedDomain]
    models: list[PublishedModel]

    @property
    def attempts(self) -> int:
        """Of each model."""
        return self.tasks.value * self.repetitions.value

    def model(self, name: str) -> PublishedModel:
        """Raises KeyError for a name that is not published."""
        for model in self.models:
            if model.name == name:
                return model
        raise KeyError(name)

    def source(self, cell: Sourced[_Value]) -> str:
        """Where a value was published, for people."""
        return self.sources[cell.source]

    def pass_at_1(self, model: PublishedModel, domain: str = OVERALL) -> Share:
        """The exact fraction behind the printed percentage."""
        if domain == OVERALL:
            return Share(model.successes.value[OVERALL], self.attempts)
        tasks = {each.key: each.tasks.value for each in self.domains}[domain]
        return Share(model.successes.value[domain], tasks * self.repetitions.value)

    def solved(self, model: PublishedModel) -> Share | None:
        return None if model.solved_at_least_once is None else Share(model.solved_at_least_once.value, self.tasks.value)

    def all_k(self, model: PublishedModel) -> Share | None:
        return None if model.observed_all_k is None else Share(model.observed_all_k.value, self.tasks.value)

    def retention(self, model: PublishedModel) -> float | None:
        """Consistency ÷ pass@1, unrounded; None where the count is not published, or nothing passed."""
        consistency, rate = self.all_k(model), self.pass_at_1(model).value
        return None if consistency is None or consistency.value is None or not rate else consistency.value / rate

    def cost(self, model: PublishedModel) -> RunCost | None:
        """The quotients of the published total, unrounded; None where no total is published."""
        if model.campaign_cost is None:
            return None
        return stated_cost(
            StatedCost(
                total=model.campaign_cost.value, currency=self.currency, source=self.sources[model.campaign_cost.source]
            ),
            tasks=self.tasks.value,
            attempts=self.attempts,
            successes=model.successes.value[OVERALL],
            dependable=0 if model.observed_all_k is None else model.observed_all_k.value,
        )

    def contender(self, model: PublishedModel, measure: Measure = Measure.PASS_AT_1) -> Contender:
        """The row for `runs.metrics.rank`: with the published interval, else the widest that the score allows."""
        share = {
            Measure.PASS_AT_1: self.pass_at_1(model),
            Measure.SOLVED: self.solved(model),
            Measure.ALL_K: self.all_k(model),
        }[measure]
        value = None if share is None else share.value
        if value is None:
            return Contender(name=model.name, value=None)
        return Contender(name=model.name, value=value, interval=self._interval(model, measure, value))

    def _interval(self, model: PublishedModel, measure: Measure, value: float) -> Interval:
        if measure is Measure.PASS_AT_1 and model.interval_95 is not None:
            low, high = model.interval_95.value
            return Interval(low=low / 100, high=high / 100, method=Method.PUBLISHED)
        return widest_interval(value, self.tasks.value)


def load_published(text: bytes) -> PublishedResults:
    """Raises `msgspec.ValidationError` for another shape, ValueError for a value whose source is not listed."""
    results = msgspec.json.decode(text, type=PublishedResults)
    for model in results.models:
        cells = [*model.pass_at_1.values(), *(getattr(model, name) for name in model.__struct_fields__)]
        for cell in cells:
            if isinstance(cell, Sourced) and cell.source not in results.sources:
                raise ValueError(f"{model.name} has a value from {cell.source!r}, which is not among the sources.")
    return results


THINKINGBOX_BENCH_RESULTS = load_published(
    (Path(__file__).parent / "data" / "thinkingbox_bench_published.json").read_bytes()
)
