"""What `/tasks/<uid>/` shows: one task across all runs, who solves it, how often, and with which mistakes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

import msgspec
from django.db.models import Count
from django.http import Http404

from runs.access import Access
from runs.models import Attempt, AttemptEffect, Task, TaskTally
from runs.queries.numbers import Counts, TaskClass, class_of
from runs.queries.run_tasks import padded
from runs.queries.signature_words import SignatureWords, signature_words
from runs.queries.values import stored_value
from runs.querysets import visible_attempts, visible_through
from runs.records import Verdict
from runs.suspicion import FEWEST_MODELS, mistakes_of_all

__all__ = ["Mistake", "SharedMistake", "TaskAcross", "TaskRun", "Tried", "benchmarks_of", "task_across"]

MISTAKES = 30
"""Mistakes that are listed."""
RUNS = 200
"""Runs that are listed."""


class TaskRun(msgspec.Struct, frozen=True, kw_only=True):
    slug: str
    model: str
    k: int
    counts: Counts
    kind: TaskClass
    verdicts: str
    signatures: list[tuple[SignatureWords, int]]
    """Of its failed attempts, the most frequent first."""

    @property
    def expected(self) -> int:
        return max(self.k, self.counts.recorded)


class Tried(msgspec.Struct, frozen=True):
    """A model's attempts at the task, all its runs together."""

    model: str
    passed: int
    failed: int


class Mistake(msgspec.Struct, frozen=True, kw_only=True):
    """One wrong value of one field (or one row too many or too few), over all runs."""

    kind: str
    table: str
    key: str
    field: str
    after: str
    required: str
    attempts: int
    models: list[tuple[str, int]]
    """Model and failed attempts of it with this mistake, the most first."""

    @property
    def shared(self) -> bool:
        """Several models make it: a hint that the check or the policy is at fault."""
        return len(self.models) > 1


class SharedMistake(msgspec.Struct, frozen=True, kw_only=True):
    """A mistake of all models that fail the task (`runs.suspicion`)."""

    table: str
    field: str
    after: str
    kind: str


class TaskAcross(msgspec.Struct, frozen=True, kw_only=True):
    uid: str
    name: str
    file: str
    domain: str
    benchmark: str
    others: list[str]
    """Other benchmarks that have a task of this uid."""
    runs: list[TaskRun]
    all_runs: int
    models: int
    passed: int
    failed: int
    recorded: int
    mistakes: list[Mistake]
    all_mistakes: int
    never_passed: bool
    """Two models or more failed it, and none ever passed."""
    alike: list[SharedMistake]


def task_across(uid: str, benchmark: str = "", *, access: Access) -> TaskAcross:
    """A task across the runs of a benchmark, the first by name where none is named. Five queries. Raises Http404.

    Who may not evaluate gets neither signatures nor mistakes, in two queries.
    """
    seen = TaskTally.objects.filter(visible_through("run__", access))
    tasks = list(Task.objects.select_related("benchmark").filter(uid=uid, pk__in=seen.values("task")))
    tasks.sort(key=lambda task: task.benchmark.name)
    task = next(
        (task for task in tasks if task.benchmark.name == benchmark), tasks[0] if tasks and not benchmark else None
    )
    if task is None:
        raise Http404("There is no such task.")
    tallies = list(seen.filter(task=task).select_related("run").order_by("run__model", "run_id"))
    signatures = _signatures(task, access) if access.evaluates else {}
    runs = [_run(tally, signatures.get(tally.run_id, [])) for tally in tallies]
    tried = _tried(runs)
    mistakes = _mistakes(task, access) if access.evaluates else []
    failing = [one for one in tried if one.failed]
    file, _, name = uid.rpartition(":")
    return TaskAcross(
        uid=uid,
        name=name or uid,
        file=file,
        domain=task.domain,
        benchmark=task.benchmark.name,
        others=[other.benchmark.name for other in tasks if other.pk != task.pk],
        runs=runs[:RUNS],
        all_runs=len(runs),
        models=len(tried),
        passed=sum(run.counts.passed for run in runs),
        failed=sum(run.counts.failed for run in runs),
        recorded=sum(run.counts.recorded for run in runs),
        mistakes=mistakes[:MISTAKES],
        all_mistakes=len(mistakes),
        never_passed=len(failing) >= FEWEST_MODELS and not any(one.passed for one in tried),
        alike=_alike(task, failing, access) if access.evaluates else [],
    )


def benchmarks_of(uid: str, *, access: Access) -> list[str]:
    """The benchmarks in which a task of this uid was tried."""
    seen = TaskTally.objects.filter(visible_through("run__", access))
    names = Task.objects.filter(uid=uid, pk__in=seen.values("task")).values_list("benchmark__name", flat=True)
    return sorted(set(names))


def _alike(task: Task, tried: Iterable[Tried], access: Access) -> list[SharedMistake]:
    """The mistakes by which all models that fail the task do so."""
    fields = AttemptEffect.objects.filter(
        visible_through("attempt__run__", access),
        attempt__task=task,
        attempt__verdict=Verdict.FAILED,
        attempt__current=True,
    ).exclude(field="")
    columns = ("kind", "table", "field", "after", "attempt__run__model")
    made: defaultdict[tuple[str, str, str, str], dict[str, int]] = defaultdict(dict)
    for kind, table, field, after, model, attempts in (
        fields.order_by().values_list(*columns).annotate(Count("attempt_id", distinct=True))
    ):
        made[table, field, after, kind][model] = attempts
    return [
        SharedMistake(table=table, field=field, after=stored_value(after), kind=kind)
        for table, field, after, kind in sorted(mistakes_of_all({one.model: one.failed for one in tried}, made))
    ]


def _run(tally: TaskTally, signatures: Sequence[tuple[SignatureWords, int]]) -> TaskRun:
    counts = Counts(tally.recorded, tally.passed, tally.failed, tally.errors, tally.with_states)
    return TaskRun(
        slug=tally.run.slug,
        model=tally.run.model,
        k=tally.run.repetitions,
        counts=counts,
        kind=class_of(counts, tally.run.repetitions),
        verdicts=padded(tally.verdicts, tally.run.repetitions),
        signatures=list(signatures),
    )


def _tried(runs: Iterable[TaskRun]) -> list[Tried]:
    passed: Counter[str] = Counter()
    failed: Counter[str] = Counter()
    for run in runs:
        passed[run.model] += run.counts.passed
        failed[run.model] += run.counts.failed
    return [Tried(model, passed[model], failed[model]) for model in sorted(passed)]


def _signatures(task: Task, access: Access) -> dict[int, list[tuple[SignatureWords, int]]]:
    found: defaultdict[int, list[tuple[SignatureWords, int]]] = defaultdict(list)
    rows = Attempt.objects.filter(visible_attempts(access), task=task, verdict=Verdict.FAILED, current=True).order_by()
    counted = rows.values_list("run_id", "signature").annotate(Count("id"))
    for run, signature, count in sorted(counted, key=lambda row: (-row[2], row[1])):
        found[run].append((signature_words(signature), count))
    return found


def _mistakes(task: Task, access: Access) -> list[Mistake]:
    """All graded differences of failed attempts, those of most models first."""
    effects = AttemptEffect.objects.filter(
        visible_through("attempt__run__", access),
        attempt__task=task,
        attempt__verdict=Verdict.FAILED,
        attempt__current=True,
    ).order_by()
    columns = ("kind", "table", "key", "field", "after", "required", "attempt__run__model")
    models: defaultdict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    for *what, model, attempts in effects.values_list(*columns).annotate(Count("attempt_id", distinct=True)):
        models[tuple(what)][model] += attempts
    mistakes = [
        Mistake(
            kind=kind,
            table=table,
            key=key,
            field=field,
            after=stored_value(after),
            required=stored_value(required),
            attempts=counts.total(),
            models=sorted(counts.items(), key=lambda item: (-item[1], item[0])),
        )
        for (kind, table, key, field, after, required), counts in models.items()
    ]
    mistakes.sort(key=lambda m: (-len(m.models), -m.attempts, m.table, m.key, m.field, m.after))
    return mistakes
