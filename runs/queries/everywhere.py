"""What the page of the search shows: runs, tasks, records and transcripts that fit what was typed."""

from __future__ import annotations

from urllib.parse import urlencode

import msgspec
import numpy as np
import numpy.typing as npt
from django.db.models import Count, Q

from runs import search
from runs.access import Access
from runs.models import Attempt, AttemptEffect, Run, Task
from runs.queries.failure_index import failure_index
from runs.queries.failure_rows import FailureRow, failure_rows
from runs.queries.tasks import FirstEffect
from runs.querysets import sees_every_run, visible_attempts, visible_runs, visible_through
from runs.transcripts import parse_query

__all__ = ["Everywhere", "FoundRecord", "FoundRun", "FoundTask", "search_everywhere"]

_SHOWN = 10
_TRIED = 500


class FoundRun(msgspec.Struct, frozen=True):
    slug: str
    model: str
    benchmark: str


class FoundTask(msgspec.Struct, frozen=True):
    uid: str
    name: str
    domain: str
    benchmark: str
    runs: int

    @property
    def query(self) -> str:
        """Of the address that lists its failures."""
        return urlencode({"task": self.uid})


class FoundRecord(msgspec.Struct, frozen=True):
    """An attempt with a difference at a record of this key."""

    pk: int
    task: str
    model: str
    repetition: int
    effect: FirstEffect


class Everywhere(msgspec.Struct, frozen=True, kw_only=True):
    text: str
    runs: list[FoundRun]
    runs_total: int
    tasks: list[FoundTask]
    tasks_total: int
    records: list[FoundRecord]
    records_total: int
    attempts: list[FailureRow]
    """Attempts with the words, the latest first."""
    attempts_total: int
    failures: int
    """How many of them failed."""
    waiting: bool
    """Some transcripts are not in the index yet."""

    @property
    def nothing(self) -> bool:
        return not (self.runs_total or self.tasks_total or self.records_total or self.attempts_total)

    @property
    def query(self) -> str:
        """Of the address that lists the failures with the words."""
        return urlencode({"q": self.text, "group": "none"})


def search_everywhere(text: str, *, access: Access) -> Everywhere:
    """Ten of each kind, with how many there are. Some twelve queries; none for an empty text.

    Who may not evaluate finds runs and tasks: a record is found by its difference, and words by a list of diagnoses.
    """
    text = text.replace("\0", "")
    if not text:
        return Everywhere(
            text="", runs=[], runs_total=0, tasks=[], tasks_total=0, records=[], records_total=0, attempts=[],
            attempts_total=0, failures=0, waiting=False,
        )  # fmt: skip
    runs = Run.objects.filter(
        visible_runs(access), Q(model__icontains=text) | Q(slug__icontains=text) | Q(benchmark__name__icontains=text)
    ).select_related("benchmark")
    tasks = (
        Task.objects.filter(uid__icontains=text)
        .annotate(runs=Count("tallies", filter=visible_through("tallies__run__", access)))
        .filter(runs__gt=0)
        .select_related("benchmark")
    )
    records = AttemptEffect.objects.filter(visible_through("attempt__run__", access), key=text, attempt__current=True)
    query = parse_query(text)
    if not access.evaluates:
        records, query = records.none(), parse_query("")
    ids = np.sort(_seen(search.matching(query), access))[::-1]
    some = (
        Attempt.objects.filter(pk__in=ids[:_TRIED].tolist(), current=True).order_by("-pk").values_list("pk", flat=True)
    )
    shown = list(some[:_SHOWN])
    rows = failure_rows(shown, query, access=access) if shown else {}
    return Everywhere(
        text=text,
        runs=[FoundRun(run.slug, run.model, run.benchmark.name) for run in runs.order_by("-pk")[:_SHOWN]],
        runs_total=runs.count(),
        tasks=[
            FoundTask(task.uid, task.name, task.domain, task.benchmark.name, task.runs)
            for task in tasks.order_by("uid", "pk")[:_SHOWN]
        ],
        tasks_total=tasks.count(),
        records=[
            FoundRecord(
                effect.attempt_id,
                effect.attempt.task.name,
                effect.attempt.run.model,
                effect.attempt.repetition,
                FirstEffect(effect.kind, effect.table, effect.key, effect.field, effect.after, effect.required),
            )
            for effect in records.select_related("attempt__run", "attempt__task").order_by("-attempt", "pk")[:_SHOWN]
        ],
        records_total=records.count(),
        attempts=[rows[pk] for pk in shown if pk in rows],
        attempts_total=len(ids),
        failures=int(np.count_nonzero(failure_index(access=access).among(ids))) if len(ids) else 0,
        waiting=search.anything_waits(),
    )


def _seen(ids: npt.NDArray[np.int64], access: Access) -> npt.NDArray[np.int64]:
    """Without the attempts of runs that the asker does not see. Few are hidden, and words may be in very many."""
    if sees_every_run(access) or not len(ids):
        return ids
    hidden = Attempt.objects.exclude(visible_attempts(access)).order_by().values_list("pk", flat=True)
    return ids[~np.isin(ids, np.fromiter(hidden.iterator(chunk_size=5000), dtype=np.int64))]
