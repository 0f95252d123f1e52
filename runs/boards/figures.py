"""The figures and the cost of one run, from its counts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from decimal import Decimal

import msgspec

from runs.boards.inputs import RunInput
from runs.costs import RunCost, run_cost, stated_cost, task_costs
from runs.metrics import ErrorRule, GroupMetrics, Share, TaskOutcome, summarise

__all__ = ["MIXED_STYLES", "NOT_PRICED", "RunFigures", "figures"]

NOT_PRICED = "not priced"
MIXED_STYLES = (
    "Some attempts count cached tokens beside input tokens, and others do not say so: all are priced as if they did."
)


class RunFigures(msgspec.Struct, frozen=True, kw_only=True):
    overall: GroupMetrics
    domains: dict[str, Share]
    """pass@1 by domain, by name. Their intervals would take most of the time, and no page shows them."""
    outcomes: tuple[TaskOutcome, ...]
    cost: RunCost
    task_costs: dict[str, Decimal]
    """Task (uid) → the mean cost of one of its attempts; without those of which it is not known."""


def figures(run: RunInput, k: int | None = None, error_rule: ErrorRule = ErrorRule.AS_FAILED) -> RunFigures:
    """`k`: how many repetitions are asked for; None takes the run's own."""
    outcomes = tuple(task.outcome() for task in run.tasks)
    overall = summarise(outcomes, run.k if k is None else k, error_rule=error_rule).overall
    return RunFigures(
        overall=overall,
        domains=_domains(run, outcomes, error_rule),
        outcomes=outcomes,
        cost=_cost(run, overall),
        task_costs=_task_costs(run),
    )


def _domains(run: RunInput, outcomes: Sequence[TaskOutcome], rule: ErrorRule) -> dict[str, Share]:
    counts: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0])
    for task, outcome in zip(run.tasks, outcomes, strict=True):
        counts[task.domain][0] += outcome.passed
        counts[task.domain][1] += outcome.graded(rule)
    return {name: Share(*counts[name]) for name in sorted(counts) if name}


def _cost(run: RunInput, overall: GroupMetrics) -> RunCost:
    dependable = overall.all_k.count
    if run.stated is not None:
        return stated_cost(
            run.stated,
            tasks=overall.tasks,
            attempts=overall.attempts,
            successes=overall.passed,
            dependable=dependable,
        )
    cost = run_cost(
        [task.usage() for task in run.tasks],
        run.price,
        successes=overall.passed,
        dependable=dependable,
        price_list=run.price_list,
        style=run.style,
        reason=run.price_reason or NOT_PRICED,
    )
    if cost.campaign is None or not run.mixes_styles:
        return cost
    return msgspec.structs.replace(cost, notes=[*cost.notes, MIXED_STYLES])


def _task_costs(run: RunInput) -> dict[str, Decimal]:
    """A stated total says nothing of single tasks."""
    return {} if run.stated else task_costs([task.usage() for task in run.tasks], run.price, style=run.style)
