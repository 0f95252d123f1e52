"""What a run's attempts at a task add up to, recounted from the attempts, so that it is right whatever came before."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from django.db import connection, transaction
from django.db.models import F, Max

from runs.models import Attempt, Run, TaskTally
from runs.records import StateSource, Verdict

__all__ = ["LONGEST_STRIP", "differing", "lock", "recount"]

LONGEST_STRIP = 1000
"""Repetitions beyond this are counted, and have no dot of their own."""

_LETTERS = {Verdict.PASSED: "p", Verdict.FAILED: "f", Verdict.ERROR: "e"}
_COUNTS = [
    "recorded", "passed", "failed", "errors", "verdicts", "differences", "with_states", "tool_calls", "with_usage",
    "input_tokens", "cached_tokens", "cache_write_tokens", "usage_beside", "output_tokens", "duration",
]  # fmt: skip
_ROUNDING = 1e-9
"""Seconds are added up in the order of the rows, which is not always the same."""


def lock(run: Run, tasks: list[int]) -> None:
    """Makes the tallies and locks them in order, so that two chunks with one task take turns."""
    TaskTally.objects.bulk_create([TaskTally(run=run, task_id=pk) for pk in tasks], ignore_conflicts=True)
    list(TaskTally.objects.select_for_update().filter(run=run, task__in=tasks).order_by("task_id").values_list("pk"))


def recount(run: Run, tasks: Iterable[int]) -> None:
    """Recounts the tallies of these tasks (ids) of a run, and k where nobody said it.

    The caller holds the tallies' locks.
    """
    wanted = sorted(tasks)
    attempts = _attempts(run, wanted)
    tallies = list(TaskTally.objects.filter(run=run, task__in=wanted).order_by("task_id"))
    for tally in tallies:
        _fill(tally, attempts[tally.task_id])
    _save([tally for tally in tallies if tally.recorded])
    TaskTally.objects.filter(pk__in=[tally.pk for tally in tallies if not tally.recorded]).delete()
    Run.objects.filter(pk=run.pk).update(tallied=F("tallied") + 1)
    highest = Attempt.objects.filter(run=run, task__in=wanted, current=True).aggregate(Max("repetition"))[
        "repetition__max"
    ]
    if highest is not None:
        # Also where another k was said: what is recorded is there, and every attempt has its place.
        Run.objects.filter(pk=run.pk, repetitions__lt=highest + 1).update(
            repetitions=highest + 1, repetitions_inferred=True
        )


def differing(run: Run, tasks: Iterable[int]) -> list[int]:
    """Those of the tasks (ids) whose tally is not what the run's attempts add up to, or is not there, in order.

    Chunks that are stored meanwhile make none differ: both are read in one moment.
    """
    wanted = sorted(tasks)
    with transaction.atomic():
        # On PostgreSQL the lock keeps writers of these tasks away between the two reads.
        tallies = {
            tally.task_id: tally
            for tally in TaskTally.objects.select_for_update().filter(run=run, task__in=wanted).order_by("task_id")
        }
        attempts = _attempts(run, wanted)
    found = []
    for task in wanted:
        tally = tallies.get(task)
        if tally is None or not attempts[task]:
            wrong = tally is not None or bool(attempts[task])
        else:
            counted = TaskTally()
            _fill(counted, attempts[task])
            wrong = any(getattr(tally, name) != getattr(counted, name) for name in _COUNTS if name != "duration")
            wrong |= abs(tally.duration - counted.duration) > _ROUNDING * max(1.0, counted.duration)
        if wrong:
            found.append(task)
    return found


def _save(tallies: list[TaskTally]) -> None:
    """One prepared statement, run for each: Django's own update of many rows costs twenty times as much."""
    values = ", ".join(f"{name} = %s" for name in _COUNTS)
    with connection.cursor() as cursor:
        cursor.executemany(
            f"UPDATE runs_tasktally SET {values} WHERE id = %s",  # noqa: S608
            [(*(getattr(tally, name) for name in _COUNTS), tally.pk) for tally in tallies],
        )


class _Counted(NamedTuple):
    """What a tally reads of an attempt."""

    task_id: int
    repetition: int
    verdict: str
    differences: int
    state_source: str
    tool_calls: int
    input_tokens: int | None
    cached_tokens: int | None
    cache_write_tokens: int | None
    usage_beside: bool
    output_tokens: int | None
    duration: float | None


def _attempts(run: Run, tasks: list[int]) -> defaultdict[int, list[_Counted]]:
    attempts: defaultdict[int, list[_Counted]] = defaultdict(list)
    found = Attempt.objects.filter(run=run, task__in=tasks, current=True).order_by("task_id", "repetition")
    for row in found.values_list(*_Counted._fields):
        attempts[row[0]].append(_Counted(*row))
    return attempts


def _fill(tally: TaskTally, attempts: list[_Counted]) -> None:
    verdicts = [Verdict(attempt.verdict) for attempt in attempts]
    tally.recorded = len(attempts)
    tally.passed = verdicts.count(Verdict.PASSED)
    tally.failed = verdicts.count(Verdict.FAILED)
    tally.errors = verdicts.count(Verdict.ERROR)
    tally.verdicts = _strip(attempts)
    tally.differences = sum(attempt.differences for attempt in attempts)
    tally.with_states = sum(attempt.state_source == StateSource.RECORDED.value for attempt in attempts)
    tally.tool_calls = sum(attempt.tool_calls for attempt in attempts)
    priced = [attempt for attempt in attempts if attempt.input_tokens is not None]
    tally.with_usage = len(priced)
    tally.input_tokens = sum(attempt.input_tokens or 0 for attempt in priced)
    tally.cached_tokens = sum(attempt.cached_tokens or 0 for attempt in priced)
    tally.cache_write_tokens = sum(attempt.cache_write_tokens or 0 for attempt in priced)
    tally.usage_beside = sum(attempt.usage_beside for attempt in priced)
    tally.output_tokens = sum(attempt.output_tokens or 0 for attempt in priced)
    tally.duration = sum(attempt.duration or 0 for attempt in attempts)


def _strip(attempts: list[_Counted]) -> str:
    shown = {a.repetition: _LETTERS[Verdict(a.verdict)] for a in attempts if a.repetition < LONGEST_STRIP}
    return "".join(shown.get(repetition, ".") for repetition in range(max(shown, default=-1) + 1))
