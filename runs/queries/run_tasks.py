"""The tasks of a run as a list has them: by its tallies, never its attempts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

import msgspec

from runs.metrics import ErrorRule
from runs.models import Run, TaskTally
from runs.queries.numbers import Counts, TaskClass, class_of
from runs.queries.run_failures import UsualFailure

__all__ = ["TASK_SORTS", "TaskFilters", "TaskRow", "chosen_tasks", "fits", "padded", "task_rows"]


class TaskFilters(msgspec.Struct, frozen=True, kw_only=True):
    show: TaskClass | None = None
    domain: str = ""
    text: str = ""
    sort: str = "name"
    descending: bool = False
    rule: ErrorRule = ErrorRule.AS_FAILED
    page: int = 1


class TaskRow(msgspec.Struct, frozen=True, kw_only=True):
    uid: str
    name: str
    file: str
    """The part of the uid before the name; empty where there is none."""
    domain: str
    counts: Counts
    k: int
    kind: TaskClass
    verdicts: str
    """One letter a repetition, filled up to k with `.`; may be cut where a task has very many repetitions."""
    differences: int
    cost: Decimal | None = None
    """The mean cost of one of its attempts `with_usage`, in the currency of the run's cost; None where it is not known.
    """
    currency: str | None = None
    """Of the cost."""
    with_usage: int = 0
    """Attempts whose tokens are known."""
    usual: UsualFailure | None = None
    """How it fails most often; None for a task that never fails."""

    @property
    def missing(self) -> int:
        return max(0, self.k - self.counts.recorded)

    @property
    def expected(self) -> int:
        return max(self.k, self.counts.recorded)


_KEYS: dict[str, Callable[[TaskRow], Any]] = {
    "name": lambda row: (row.name.casefold(), row.uid),
    "domain": lambda row: row.domain.casefold(),
    "passed": lambda row: row.counts.passed,
    "failed": lambda row: row.counts.failed,
    "errors": lambda row: row.counts.errors,
    "missing": lambda row: row.missing,
    "differences": lambda row: row.differences,
    "cost": lambda row: (row.cost is not None, row.cost or 0),
}
TASK_SORTS = frozenset(_KEYS)


def padded(verdicts: str, k: int) -> str:
    """A strip with a dot for each expected repetition."""
    return verdicts.ljust(min(k, 1000), ".")


def task_rows(
    run: Run,
    costs: Mapping[str, Decimal],
    currency: str | None,
    usual: Mapping[str, UsualFailure],
    *,
    evaluates: bool,
) -> list[TaskRow]:
    """All tasks of the run in the order of their uids. One query. `costs` and `usual` are by uid."""
    k = run.repetitions
    rows = []
    # Without making a model of each row, which would take most of the time.
    tallies = TaskTally.objects.filter(run=run).order_by("task__uid").values_list(*_COLUMNS)
    for uid, domain, verdicts, differences, with_usage, *counted in tallies:
        file, _, name = uid.rpartition(":")
        counts = Counts(*counted)
        cost = costs.get(uid)
        row = TaskRow(
            uid=uid,
            name=name or uid,
            file=file,
            domain=domain,
            counts=counts,
            k=k,
            kind=class_of(counts, k),
            verdicts=padded(verdicts, k),
            differences=differences if evaluates else 0,
            cost=cost,
            currency=None if cost is None else currency,
            with_usage=with_usage,
            usual=usual.get(uid),
        )
        rows.append(row)
    return rows


_COLUMNS = (
    "task__uid", "task__domain", "verdicts", "differences", "with_usage", "recorded", "passed", "failed", "errors",
    "with_states",
)  # fmt: skip


def chosen_tasks(rows: list[TaskRow], filters: TaskFilters) -> list[TaskRow]:
    """Those that the filters leave, in their order."""
    chosen = [row for row in rows if filters.show in {None, row.kind} and fits(row, filters)]
    # Not even the order of the tasks tells a number that is left out: it is 0 for all of them.
    return sorted(chosen, key=_KEYS[filters.sort], reverse=filters.descending)


def fits(row: TaskRow, filters: TaskFilters) -> bool:
    """Whether the task is of the domain and has the text asked for, whatever its kind."""
    return filters.domain in {"", row.domain} and filters.text.casefold() in f"{row.uid}\n{row.domain}".casefold()
