"""The rows of a leaderboard before they are ranked: one struct for measured runs and for published results."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from enum import StrEnum

import msgspec

from runs.boards.figures import RunFigures, figures
from runs.boards.inputs import BoardInputs, Order, RunInput
from runs.costs import CostSource, RunCost
from runs.metrics import (
    Contender,
    ErrorRule,
    GroupMetrics,
    Interval,
    Measure,
    Share,
    measured_contender,
    widest_interval,
)
from runs.published import OVERALL, PublishedModel, PublishedResults

__all__ = ["NOT_PUBLISHED", "Figure", "Money", "Origin", "Row", "Unranked", "domain_labels", "unranked"]

NOT_PUBLISHED = "not published"


class Origin(StrEnum):
    MEASURED = "measured"
    """A run of this server."""
    PUBLISHED = "published"


class Figure(msgspec.Struct, frozen=True, kw_only=True):
    """A share, its interval, and why it is not there."""

    count: int | None = None
    of: int = 0
    interval: Interval | None = None
    bounds: tuple[int, int] | None = None
    """Least and most, where only that is known."""
    why: str = ""

    @property
    def value(self) -> float | None:
        return self.count / self.of if self.count is not None and self.of else None


class Money(msgspec.Struct, frozen=True, kw_only=True):
    """What a row costs. An amount is None where it is unknown or not defined, and `reasons` says why; never 0."""

    currency: str = ""
    campaign: Decimal | None = None
    per_run: Decimal | None = None
    per_success: Decimal | None = None
    per_dependable: Decimal | None = None
    source: CostSource = CostSource.UNKNOWN
    price_list: str = ""
    lower_bound: bool = False
    reasons: dict[str, str] = {}
    notes: tuple[str, ...] = ()


class Row(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    """Unique on the board."""
    model: str
    origin: Origin
    slug: str = ""
    """Of the run; empty for a published row."""
    provider: str = ""
    weights: str = ""
    benchmark: str = ""
    k: int
    """Repetitions that "all k" and "at least once" are over."""
    tasks: int
    attempts: int
    errors: int | None
    incomplete: int = 0
    pass_at_1: Figure
    solved: Figure
    all_k: Figure
    domains: dict[str, float | None] = {}
    plug_in: float | None = None
    """The mean of (c/n)^k, which the harness prints; only for a run of this server."""
    money: Money = Money()
    sources: dict[str, str] = {}
    """Figure → where it was published."""
    notes: tuple[str, ...] = ()
    position: int | None = None
    best: int | None = None
    worst: int | None = None
    group: int | None = None
    """From 1; None where rows are not told apart by an interval."""
    first_of_group: bool = False
    last_of_group: bool = False
    place: str = ""
    """`leader` or `runner-up` among its kind of weights, where those are shown apart."""

    kept_retention: float | None = None
    """The retention of a row whose all-k share is not shown."""

    @property
    def retention(self) -> float | None:
        """All-k share ÷ pass@1; None where one is not known, or nothing passed."""
        if self.kept_retention is not None:
            return self.kept_retention
        rate, share = self.pass_at_1.value, self.all_k.value
        return None if share is None or not rate else share / rate

    def ranked_by(self, order: Order) -> Figure:
        """The share behind a rank; pass@1 where the rank goes by cost."""
        return {Order.ALL_K: self.all_k, Order.SOLVED: self.solved}.get(order, self.pass_at_1)

    @property
    def is_published(self) -> bool:
        return self.origin is Origin.PUBLISHED

    @property
    def spans(self) -> bool:
        """Whether the rank could be another one."""
        return self.best != self.worst


class Unranked(msgspec.Struct, frozen=True):
    row: Row
    contenders: dict[Measure, Contender]


def domain_labels(inputs: BoardInputs) -> list[str]:
    """The columns by domain: in the published order, then by name."""
    published = [domain.label for domain in inputs.published.domains] if inputs.published else []
    measured = {task.domain for run in inputs.runs for task in run.tasks if task.domain}
    return [*published, *sorted(measured - set(published))]


def unranked(inputs: BoardInputs, k: int, rule: ErrorRule, *, with_published: bool = True) -> list[Unranked]:
    """All rows with what they are ranked by, measured runs first."""
    rows = [_measured(run, name, k, rule) for run, name in zip(inputs.runs, _run_names(inputs), strict=True)]
    if inputs.published is not None and with_published:
        taken = {row.row.name for row in rows}
        rows += [_published(inputs.published, model, taken, k, rule) for model in inputs.published.models]
    return rows


def _run_names(inputs: BoardInputs) -> list[str]:
    """The model's name; where several runs have one, with the run's address, which is its own."""
    used = Counter(run.model for run in inputs.runs)
    return [run.model if used[run.model] == 1 else f"{run.model} ({run.slug})" for run in inputs.runs]


def _measured(run: RunInput, name: str, k: int, rule: ErrorRule) -> Unranked:
    made = figures(run, k, rule)
    overall = made.overall
    row = Row(
        name=name,
        model=run.model,
        origin=Origin.MEASURED,
        slug=run.slug,
        provider=run.provider,
        weights=run.weights,
        benchmark=run.benchmark,
        k=k,
        tasks=overall.tasks,
        attempts=overall.attempts,
        errors=overall.errors,
        incomplete=overall.incomplete_tasks,
        pass_at_1=Figure(
            count=overall.pass_at_1.count if overall.pass_at_1.of else None,
            of=overall.pass_at_1.of,
            interval=overall.pass_at_1_uncertainty.shown,
            why="" if overall.pass_at_1.of else "no attempt counts",
        ),
        solved=Figure(
            count=overall.solved.count if overall.tasks else None,
            of=overall.solved.of,
            interval=overall.solved_uncertainty.shown,
            why="" if overall.tasks else "no task",
        ),
        all_k=_literal(overall),
        domains={name: share.value for name, share in made.domains.items()},
        plug_in=next((point.pass_hat for point in overall.curve if point.k == k), None),
        money=_money(made.cost),
        notes=_incomplete_note(overall),
    )
    return Unranked(row, {measure: _contender(row, made, measure, k, rule) for measure in Measure})


def _literal(overall: GroupMetrics) -> Figure:
    """All k of k over all tasks. A task with fewer recorded is not counted as anything, so the share is not known."""
    if overall.incomplete_tasks or not overall.tasks:
        return Figure(of=overall.tasks, why=f"not computable: {_incomplete(overall)}")
    return Figure(count=overall.all_k.count, of=overall.tasks, interval=overall.all_k_uncertainty.shown)


def _incomplete(overall: GroupMetrics) -> str:
    tasks = overall.incomplete_tasks
    return f"{tasks:,} {'task has' if tasks == 1 else 'tasks have'} fewer than {overall.k:,} recorded"


def _incomplete_note(overall: GroupMetrics) -> tuple[str, ...]:
    if not overall.incomplete_tasks:
        return ()
    complete = overall.all_k
    return (f"{_incomplete(overall)}; of the {complete.of:,} complete ones {complete.count:,} passed all.",)


def _contender(row: Row, made: RunFigures, measure: Measure, k: int, rule: ErrorRule) -> Contender:
    if measure is Measure.ALL_K and row.all_k.count is None:
        return Contender(name=row.name, value=None)
    return measured_contender(row.name, made.outcomes, k, measure, error_rule=rule)


def _money(cost: RunCost) -> Money:
    return Money(
        currency=cost.currency or "",
        campaign=cost.campaign,
        per_run=cost.per_run,
        per_success=cost.per_success,
        per_dependable=cost.per_dependable_task,
        source=cost.source,
        price_list=cost.price_list or "",
        lower_bound=cost.lower_bound,
        reasons=cost.reasons,
        notes=tuple(cost.notes),
    )


def _published(results: PublishedResults, model: PublishedModel, taken: set[str], k: int, rule: ErrorRule) -> Unranked:
    name = f"{model.name} (published)" if model.name in taken else model.name
    tasks, repetitions = results.tasks.value, results.repetitions.value
    rate, rate_interval, notes = _rate(results, model, rule)
    same_k = k == repetitions
    other_k = "" if same_k else f"published for {repetitions} repetitions"
    solved = results.solved(model) if same_k else None
    all_k = results.all_k(model) if same_k else None
    bounds = model.solved_bounds.value if model.solved_bounds is not None and same_k else None
    row = Row(
        name=name,
        model=model.name,
        origin=Origin.PUBLISHED,
        weights=model.weights.value,
        benchmark=results.benchmark,
        k=k,
        tasks=tasks,
        attempts=results.attempts,
        errors=None if model.errors is None else model.errors.value,
        pass_at_1=Figure(count=rate.count, of=rate.of, interval=rate_interval),
        solved=_share(solved, tasks, bounds, other_k),
        all_k=_share(all_k, tasks, None, other_k),
        domains={domain.label: results.pass_at_1(model, domain.key).value for domain in results.domains},
        money=_published_money(results, model),
        sources=_sources(results, model),
        notes=(*notes, *model.notes),
    )
    figures_by = {Measure.PASS_AT_1: row.pass_at_1, Measure.SOLVED: row.solved, Measure.ALL_K: row.all_k}
    return Unranked(
        row,
        {
            measure: Contender(name=name, value=figure.value, interval=figure.interval)
            for measure, figure in figures_by.items()
        },
    )


def _rate(results: PublishedResults, model: PublishedModel, rule: ErrorRule) -> tuple[Share, Interval, tuple[str, ...]]:
    """pass@1 by the rule, as far as what is published allows."""
    share = results.pass_at_1(model)
    interval = results.contender(model).interval
    assert interval is not None, "a published rate has an interval, at worst the widest"
    if rule is ErrorRule.AS_FAILED:
        return share, interval, ()
    if model.errors is None:
        return share, interval, ("Its errors are not published; they count as not passed, as in the publication.",)
    if not model.errors.value:
        return share, interval, ()
    without = Share(share.count, share.of - model.errors.value)
    return without, widest_interval(without.count / without.of, results.tasks.value), ()


def _share(share: Share | None, tasks: int, bounds: tuple[int, int] | None, other_k: str) -> Figure:
    if share is None or share.value is None:
        why = other_k or ("only bounds are published" if bounds else NOT_PUBLISHED)
        return Figure(of=tasks, bounds=bounds, why=why)
    return Figure(count=share.count, of=share.of, interval=widest_interval(share.value, tasks))


def _published_money(results: PublishedResults, model: PublishedModel) -> Money:
    cost = results.cost(model)
    if cost is None:
        return Money(
            reasons=dict.fromkeys(("campaign", "per_run", "per_success", "per_dependable_task"), NOT_PUBLISHED)
        )
    reasons = dict(cost.reasons)
    if model.observed_all_k is None:
        reasons["per_dependable_task"] = NOT_PUBLISHED
    return msgspec.structs.replace(
        _money(cost), price_list=f"list prices of {results.prices_of}", notes=(), reasons=reasons
    )


def _sources(results: PublishedResults, model: PublishedModel) -> dict[str, str]:
    cells = {
        "pass_at_1": model.pass_at_1[OVERALL],
        "interval": model.interval_95,
        "solved": model.solved_at_least_once or model.solved_bounds,
        "all_k": model.observed_all_k,
        "errors": model.errors,
        "campaign": model.campaign_cost,
    }
    return {name: results.sources[cell.source] for name, cell in cells.items() if cell is not None}
