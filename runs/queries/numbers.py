"""The counts of a run, and what follows from them: one definition for every page.

A task is *complete* when as many attempts as the benchmark asks for (k) are recorded. Only a complete task is *always*
(all passed), *never* (none passed) or *sometimes*; the others are *incomplete*: what they would be is not computable.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from enum import StrEnum

import msgspec
from django.db.models import Count, F, Q, Sum
from django.db.models.functions import Greatest

from runs.models import TaskTally

__all__ = ["Counts", "Numbers", "TaskClass", "class_of", "numbers_by_run", "numbers_of"]


class TaskClass(StrEnum):
    NEVER = "never"
    SOMETIMES = "sometimes"
    ALWAYS = "always"
    INCOMPLETE = "incomplete"


class Counts(msgspec.Struct, frozen=True):
    """One task's attempts."""

    recorded: int
    passed: int
    failed: int
    errors: int
    with_states: int = 0


def class_of(counts: Counts, k: int) -> TaskClass:
    if counts.recorded < k:
        return TaskClass.INCOMPLETE
    if counts.passed == counts.recorded:
        return TaskClass.ALWAYS
    return TaskClass.SOMETIMES if counts.passed else TaskClass.NEVER


class Numbers(msgspec.Struct, frozen=True, kw_only=True):
    """The counts of a run or of one of its domains. `passed + failed + errors + missing == expected`."""

    k: int
    tasks: int = 0
    expected: int = 0
    recorded: int = 0
    passed: int = 0
    failed: int = 0
    errors: int = 0
    with_states: int = 0
    solved: int = 0
    """Tasks with at least one passed attempt."""
    always: int = 0
    sometimes: int = 0
    never: int = 0
    incomplete: int = 0

    @property
    def missing(self) -> int:
        return self.expected - self.recorded

    @property
    def complete(self) -> int:
        """Tasks for which k of k can be told."""
        return self.tasks - self.incomplete

    @property
    def pass_at_1(self) -> float | None:
        """Share of the recorded attempts that passed, system errors counted as not passed; None without attempts."""
        return self.passed / self.recorded if self.recorded else None

    @property
    def pass_at_1_without_errors(self) -> float | None:
        graded = self.passed + self.failed
        return self.passed / graded if graded else None

    @property
    def breadth(self) -> float | None:
        return self.solved / self.tasks if self.tasks else None

    @property
    def consistency(self) -> float | None:
        """Share of the tasks that passed k of k; None where some task has fewer than k recorded."""
        return self.always / self.tasks if self.tasks and not self.incomplete else None


def numbers_of(counts: Iterable[Counts], k: int) -> Numbers:
    """Adds up the tasks of a run, or of a part of it."""
    rows = list(counts)
    classes = [class_of(row, k) for row in rows]
    return Numbers(
        k=k,
        tasks=len(rows),
        expected=sum(max(row.recorded, k) for row in rows),
        recorded=sum(row.recorded for row in rows),
        passed=sum(row.passed for row in rows),
        failed=sum(row.failed for row in rows),
        errors=sum(row.errors for row in rows),
        with_states=sum(row.with_states for row in rows),
        solved=sum(row.passed > 0 for row in rows),
        always=classes.count(TaskClass.ALWAYS),
        sometimes=classes.count(TaskClass.SOMETIMES),
        never=classes.count(TaskClass.NEVER),
        incomplete=classes.count(TaskClass.INCOMPLETE),
    )


def numbers_by_run(runs: Collection[int] | None = None) -> dict[int, Numbers]:
    """The numbers of these runs (ids), or of all, in one query that adds up tallies. A run without attempts is not in
    it."""
    tallies = TaskTally.objects.order_by()
    if runs is not None:
        tallies = tallies.filter(run__in=runs)
    complete = Q(recorded__gte=F("run__repetitions"))
    rows = tallies.values("run", "run__repetitions").annotate(
        tasks=Count("id"),
        expected=Sum(Greatest("recorded", "run__repetitions")),
        all_recorded=Sum("recorded"),
        all_passed=Sum("passed"),
        all_failed=Sum("failed"),
        all_errors=Sum("errors"),
        all_states=Sum("with_states"),
        solved=Count("id", filter=Q(passed__gt=0)),
        always=Count("id", filter=complete & Q(passed=F("recorded"))),
        never=Count("id", filter=complete & Q(passed=0, recorded__gt=0)),
        incomplete=Count("id", filter=~complete),
    )
    return {
        row["run"]: Numbers(
            k=row["run__repetitions"],
            tasks=row["tasks"],
            expected=row["expected"],
            recorded=row["all_recorded"],
            passed=row["all_passed"],
            failed=row["all_failed"],
            errors=row["all_errors"],
            with_states=row["all_states"],
            solved=row["solved"],
            always=row["always"],
            sometimes=row["tasks"] - row["always"] - row["never"] - row["incomplete"],
            never=row["never"],
            incomplete=row["incomplete"],
        )
        for row in rows
    }
