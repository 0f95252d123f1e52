"""The figures of one run."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

import msgspec

from runs.costs import (
    Price,
    RunCost,
    StatedCost,
    TaskUsage,
    Tokens,
    UsageStyle,
    detect_style,
    run_cost,
    stated_cost,
)
from runs.metrics import (
    METRIC_VERSION,
    RESAMPLES,
    SEED,
    ErrorRule,
    GroupMetrics,
    Interval,
    Share,
    Spread,
    TaskOutcome,
    Uncertainty,
    summarise,
)

__all__ = [
    "CostReport", "CountShare", "DomainReport", "IntervalReport", "PriceChoice", "RunInput", "RunReport",
    "TokenReport", "build_cost", "build_report",
]  # fmt: skip


class RunInput(msgspec.Struct, frozen=True, kw_only=True):
    """What is stored about a run, as far as its figures need it."""

    run: str
    model: str
    benchmark: str
    k: int
    outcomes: list[TaskOutcome]
    usage: list[TaskUsage]
    spreads: dict[str, Spread | None] = {}
    """Quantity → its average, least and most over the attempts for which it is recorded."""
    reasoning: int = 0
    """Reasoning tokens of all attempts, a part of their output."""
    style: UsageStyle | None = None
    """How cached tokens are counted, where it is known; else detected."""


class CountShare(msgspec.Struct, frozen=True, kw_only=True):
    """`share` is null where it is not computable: of nothing, or of tasks of which some are incomplete."""

    count: int
    of: int
    share: float | None


class IntervalReport(msgspec.Struct, frozen=True, kw_only=True):
    """95% intervals as [low, high] of shares; null where one cannot be computed."""

    task_bootstrap: tuple[float, float] | None
    jeffreys: tuple[float, float] | None
    standard_error: float | None


class DomainReport(msgspec.Struct, frozen=True, kw_only=True):
    domain: str
    tasks: int
    attempts: int
    errors: int
    missing: int
    incomplete_tasks: int
    pass_at_1: float | None
    solved_at_least_once: CountShare
    observed_all_k: CountShare
    retention: float | None
    intervals: dict[str, IntervalReport]


class TokenReport(msgspec.Struct, frozen=True, kw_only=True):
    """Sums over the attempts whose tokens are recorded."""

    attempts_with_usage: int
    input: int
    cached: int
    output: int
    reasoning: int
    style: UsageStyle | None
    spreads: dict[str, Spread | None]


class CostReport(msgspec.Struct, frozen=True, kw_only=True):
    """Amounts are exact decimals; null is unknown or not defined, and `reasons` says why."""

    currency: str | None
    list: str | None
    campaign: Decimal | None
    per_run: Decimal | None
    per_attempt: Decimal | None
    per_success: Decimal | None
    per_dependable_task: Decimal | None
    source: str
    lower_bound: bool
    reasons: dict[str, str]
    notes: Sequence[str]


class RunReport(msgspec.Struct, frozen=True, kw_only=True):
    run: str
    model: str
    benchmark: str
    k: int
    tasks: int
    attempts: int
    errors: int
    missing: int
    incomplete_tasks: int
    error_rule: ErrorRule
    metric_version: int
    pass_at: dict[str, float | None]
    """k → pass@k; "1" is pass@1 over attempts, by the error rule."""
    pass_hat: dict[str, float]
    """k → the mean of (c/n)^k, as `tb agg` prints it."""
    pass_hat_unbiased: dict[str, float]
    tasks_with: dict[str, int]
    """k → the tasks with at least k attempts, over which the three are means."""
    solved_at_least_once: CountShare
    observed_all_k: CountShare
    retention: float | None
    distribution: list[int]
    """Complete tasks by their number of successes, from 0."""
    intervals: dict[str, IntervalReport]
    by_domain: list[DomainReport]
    tokens: TokenReport
    cost: CostReport


class PriceChoice(msgspec.Struct, frozen=True, kw_only=True):
    """What a run's cost is computed from: a price, or a total, which goes before it. With neither, `reason` says why;
    with a price it says what the price is not of, if anything."""

    price: Price | None = None
    price_list: str = ""
    reason: str = "No price list is chosen for this run."
    stated: StatedCost | None = None


NOT_PRICED = PriceChoice()


def build_cost(given: RunInput, choice: PriceChoice, *, dependable: int) -> RunCost:
    """The cost of a run. `dependable` counts its tasks that passed all k."""
    successes = sum(task.passed for task in given.outcomes)
    if choice.stated is not None:
        return stated_cost(
            choice.stated,
            tasks=len(given.outcomes),
            attempts=sum(task.n for task in given.outcomes),
            successes=successes,
            dependable=dependable,
        )
    cost = run_cost(
        given.usage,
        choice.price,
        successes=successes,
        dependable=dependable,
        price_list=choice.price_list,
        style=given.style,
        reason=choice.reason,
    )
    if choice.price is None or not choice.reason:
        return cost
    return msgspec.structs.replace(cost, notes=[*cost.notes, choice.reason])


def build_report(
    given: RunInput,
    *,
    error_rule: ErrorRule = ErrorRule.AS_FAILED,
    choice: PriceChoice = NOT_PRICED,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> RunReport:
    metrics = summarise(given.outcomes, given.k, error_rule=error_rule, resamples=resamples, seed=seed)
    overall = metrics.overall
    cost = build_cost(given, choice, dependable=overall.all_k.count)
    pass_at: dict[str, float | None] = {str(point.k): point.pass_at for point in overall.curve}
    return RunReport(
        run=given.run,
        model=given.model,
        benchmark=given.benchmark,
        k=given.k,
        tasks=overall.tasks,
        attempts=overall.attempts,
        errors=overall.errors,
        missing=overall.missing,
        incomplete_tasks=overall.incomplete_tasks,
        error_rule=error_rule,
        metric_version=METRIC_VERSION,
        pass_at=pass_at | {"1": overall.pass_at_1.value},
        pass_hat={str(point.k): point.pass_hat for point in overall.curve},
        pass_hat_unbiased={str(point.k): point.pass_hat_unbiased for point in overall.curve},
        tasks_with={str(point.k): point.tasks for point in overall.curve},
        solved_at_least_once=_share(overall.solved),
        observed_all_k=_all_k(overall),
        retention=overall.retention,
        distribution=overall.distribution,
        intervals=_intervals(overall),
        by_domain=[_domain(group) for group in metrics.by_domain],
        tokens=_tokens(given),
        cost=_cost(cost),
    )


def _share(share: Share) -> CountShare:
    return CountShare(count=share.count, of=share.of, share=share.value)


def _all_k(group: GroupMetrics) -> CountShare:
    return CountShare(count=group.all_k.count, of=group.all_k.of, share=group.consistency)


def _intervals(group: GroupMetrics) -> dict[str, IntervalReport]:
    return {
        "pass_at_1": _interval(group.pass_at_1_uncertainty),
        "solved_at_least_once": _interval(group.solved_uncertainty),
        "observed_all_k": _interval(group.all_k_uncertainty),
    }


def _interval(doubt: Uncertainty) -> IntervalReport:
    return IntervalReport(
        task_bootstrap=_ends(doubt.bootstrap), jeffreys=_ends(doubt.jeffreys), standard_error=doubt.standard_error
    )


def _ends(interval: Interval | None) -> tuple[float, float] | None:
    return None if interval is None else (interval.low, interval.high)


def _domain(group: GroupMetrics) -> DomainReport:
    return DomainReport(
        domain=group.name,
        tasks=group.tasks,
        attempts=group.attempts,
        errors=group.errors,
        missing=group.missing,
        incomplete_tasks=group.incomplete_tasks,
        pass_at_1=group.pass_at_1.value,
        solved_at_least_once=_share(group.solved),
        observed_all_k=_all_k(group),
        retention=group.retention,
        intervals=_intervals(group),
    )


def _tokens(given: RunInput) -> TokenReport:
    total = sum((task.tokens for task in given.usage), Tokens())
    known = [task.tokens for task in given.usage if task.with_usage]
    return TokenReport(
        attempts_with_usage=sum(task.with_usage for task in given.usage),
        input=total.input,
        cached=total.cached,
        output=total.output,
        reasoning=given.reasoning or total.reasoning,
        style=given.style or (detect_style(known) if known else None),
        spreads=given.spreads,
    )


def _cost(cost: RunCost) -> CostReport:
    return CostReport(
        currency=cost.currency,
        list=cost.price_list,
        campaign=cost.campaign,
        per_run=cost.per_run,
        per_attempt=cost.per_attempt,
        per_success=cost.per_success,
        per_dependable_task=cost.per_dependable_task,
        source=cost.source.value,
        lower_bound=cost.lower_bound,
        reasons=cost.reasons,
        notes=cost.notes,
    )
