"""What the figures of a run are computed from: its tallies, and sums over its attempts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from typing import Any

from django.db.models import Avg, Count, Max, Min, Sum

from runs.costs import TaskUsage, Tokens, UsageStyle
from runs.metrics import Spread, TaskOutcome
from runs.models import Attempt, Run, TaskTally
from runs.reporting.run import RunInput

__all__ = ["SPREADS", "outcomes_by_run", "run_input", "spreads_by_task"]

SPREADS = {
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "reasoning_tokens": "reasoning_tokens",
    "model_calls": "model_calls",
    "tool_calls": "tool_calls",
    "tool_errors": "tool_errors",
    "write_calls": "write_calls",
    "steps": "steps",
    "assistant_turns": "assistant_turns",
    "user_turns": "user_turns",
    "tool_turns": "tool_turns",
    "characters": "characters",
    "seconds": "duration",
}
"""Quantity → the attempt's column."""


def run_input(run: Run) -> RunInput:
    """A run's counts, tokens and spreads. Two queries: over its tallies, and over its attempts."""
    tallies = list(TaskTally.objects.filter(run=run).order_by("task__uid").select_related("task"))
    found = Attempt.objects.filter(run=run, current=True).aggregate(
        reasoning=Sum("reasoning_tokens"),
        **_aggregates(),
    )
    return RunInput(
        run=run.slug,
        model=run.model,
        benchmark=run.benchmark.name,
        k=run.repetitions,
        outcomes=[_outcome(tally) for tally in tallies],
        usage=[_usage(tally) for tally in tallies],
        spreads=_spreads(found),
        reasoning=found["reasoning"] or 0,
        # All calls of a run go to one provider, so one such attempt tells how it counts.
        style=UsageStyle.CACHED_BESIDE_INPUT if any(tally.usage_beside for tally in tallies) else None,
    )


def outcomes_by_run(runs: Collection[int]) -> dict[int, list[TaskOutcome]]:
    """The counts of these runs (ids) by task, in one query that never reads attempts. One without attempts has []."""
    found: dict[int, list[TaskOutcome]] = {pk: [] for pk in runs}
    rows = TaskTally.objects.filter(run__in=runs).order_by("run_id", "task__uid")
    for pk, uid, domain, recorded, passed, errors in rows.values_list(
        "run_id", "task__uid", "task__domain", "recorded", "passed", "errors"
    ):
        found[pk].append(TaskOutcome(uid=uid, domain=domain, n=recorded, passed=passed, errors=errors))
    return found


def spreads_by_task(run: Run) -> dict[str, dict[str, Spread | None]]:
    """Task's uid → quantity → average, least and most, as `tb agg` prints them for each task. One query."""
    rows = Attempt.objects.filter(run=run, current=True).order_by().values("task__uid").annotate(**_aggregates())
    by_task: defaultdict[str, dict[str, Spread | None]] = defaultdict(dict)
    for row in rows:
        by_task[row["task__uid"]] = _spreads(row)
    return dict(sorted(by_task.items()))


def _outcome(tally: TaskTally) -> TaskOutcome:
    return TaskOutcome(
        uid=tally.task.uid, domain=tally.task.domain, n=tally.recorded, passed=tally.passed, errors=tally.errors
    )


def _usage(tally: TaskTally) -> TaskUsage:
    return TaskUsage(
        uid=tally.task.uid,
        attempts=tally.recorded,
        with_usage=tally.with_usage,
        tokens=Tokens(
            input=tally.input_tokens,
            cached=tally.cached_tokens,
            cache_write=tally.cache_write_tokens,
            output=tally.output_tokens,
        ),
    )


def _aggregates() -> dict[str, Avg | Min | Max | Count]:
    made: dict[str, Avg | Min | Max | Count] = {}
    for name, column in SPREADS.items():
        made |= {
            f"{name}_average": Avg(column),
            f"{name}_least": Min(column),
            f"{name}_most": Max(column),
            f"{name}_count": Count(column),
        }
    return made


def _spreads(row: Mapping[str, Any]) -> dict[str, Spread | None]:
    return {
        name: Spread(
            average=float(row[f"{name}_average"]),
            least=row[f"{name}_least"],
            most=row[f"{name}_most"],
            count=row[f"{name}_count"],
        )
        if row[f"{name}_count"]
        else None
        for name in SPREADS
    }
