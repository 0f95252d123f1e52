"""The figures and the cost of one run, from its counts."""

from __future__ import annotations

import msgspec

from runs.boards.inputs import RunInput
from runs.costs import RunCost, run_cost, stated_cost
from runs.metrics import ErrorRule, RunMetrics, TaskOutcome, summarise

__all__ = ["NOT_PRICED", "RunFigures", "figures"]

NOT_PRICED = "not priced"


class RunFigures(msgspec.Struct, frozen=True, kw_only=True):
    metrics: RunMetrics
    outcomes: tuple[TaskOutcome, ...]
    cost: RunCost


def figures(run: RunInput, k: int | None = None, error_rule: ErrorRule = ErrorRule.AS_FAILED) -> RunFigures:
    """`k`: how many repetitions are asked for; None takes the run's own."""
    outcomes = tuple(task.outcome() for task in run.tasks)
    metrics = summarise(outcomes, run.k if k is None else k, error_rule=error_rule)
    return RunFigures(metrics=metrics, outcomes=outcomes, cost=_cost(run, metrics))


def _cost(run: RunInput, metrics: RunMetrics) -> RunCost:
    overall = metrics.overall
    dependable = overall.all_k.count
    if run.stated is not None:
        return stated_cost(
            run.stated,
            tasks=overall.tasks,
            attempts=overall.attempts,
            successes=overall.passed,
            dependable=dependable,
        )
    return run_cost(
        [task.usage() for task in run.tasks],
        run.price,
        successes=overall.passed,
        dependable=dependable,
        price_list=run.price_list,
        reason=run.price_reason or NOT_PRICED,
    )
