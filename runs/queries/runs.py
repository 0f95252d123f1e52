"""What the pages `/` and `/runs/<slug>/` show. Both read tallies, never attempts."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any

import msgspec
from django.http import Http404

from runs.access import Access
from runs.benchmarks import THINKINGBOX_BENCH
from runs.costs import CostSource
from runs.metrics import ErrorRule, GroupMetrics
from runs.models import Run, Upload, Visibility
from runs.queries.numbers import Counts, Numbers, TaskClass, numbers_by_run, numbers_of
from runs.queries.paging import Page, paginate
from runs.queries.run_failures import usual_failures
from runs.queries.run_tasks import TaskFilters, TaskRow, chosen_tasks, fits, task_rows
from runs.queries.run_worth import RunWorth, worth_by_run, worth_with_tasks
from runs.queries.uploads import reading_now
from runs.querysets import visible_runs

__all__ = [
    "RUN_SORTS", "Choice", "RunFilters", "RunList", "RunPage", "RunRow", "run_facts", "run_list", "run_or_404",
    "run_page",
]  # fmt: skip

RUNS_PER_PAGE = 100
TASKS_PER_PAGE = 100


class Choice(msgspec.Struct, frozen=True):
    """A value to filter by, and how many rows it leaves."""

    value: str
    count: int
    chosen: bool


class RunFilters(msgspec.Struct, frozen=True, kw_only=True):
    benchmark: str = ""
    text: str = ""
    sort: str = "created"
    descending: bool = True
    rule: ErrorRule = ErrorRule.AS_FAILED
    page: int = 1


class RunRow(msgspec.Struct, frozen=True, kw_only=True):
    pk: int
    slug: str
    model: str
    model_inferred: bool
    benchmark: str
    benchmark_inferred: bool
    is_demo: bool
    created_at: datetime
    numbers: Numbers
    reading: int | None
    """The upload that is being read into it; None for who may not see uploads."""
    is_private: bool = False
    worth: RunWorth | None = None
    """Only for the runs of the page shown."""


class RunList(msgspec.Struct, frozen=True, kw_only=True):
    rows: list[RunRow]
    page: Page
    stored: int
    """All runs, before filtering."""
    benchmarks: list[Choice]
    filters: RunFilters

    @property
    def incomplete(self) -> bool:
        """Whether some run shown has a task with fewer attempts than asked for."""
        return any(row.numbers.incomplete for row in self.rows)


def _share(value: float | None) -> tuple[bool, float]:
    """Orders what is not computable below everything."""
    return (value is not None, value or 0.0)


_RUN_KEYS: dict[str, Callable[[RunRow], Any]] = {
    "model": lambda row: row.model.casefold(),
    "benchmark": lambda row: row.benchmark.casefold(),
    "attempts": lambda row: row.numbers.recorded,
    "errors": lambda row: row.numbers.errors,
    "pass": lambda row: _share(row.numbers.pass_at_1),
    "solved": lambda row: _share(row.numbers.breadth),
    "all": lambda row: _share(row.numbers.always / row.numbers.complete if row.numbers.complete else None),
    "created": lambda row: row.pk,
}
RUN_SORTS = frozenset(_RUN_KEYS)


def run_list(filters: RunFilters, *, access: Access) -> RunList:
    """The stored runs with their numbers. Four queries however many runs, two more for those that have
    changed since the last time, one more while one is being read."""
    runs = list(Run.objects.filter(visible_runs(access)).select_related("benchmark").order_by("pk"))
    numbers = numbers_by_run()
    reading = reading_now([run.pk for run in runs])
    rows = [
        RunRow(
            pk=run.pk,
            slug=run.slug,
            model=run.model,
            model_inferred=run.model_inferred,
            benchmark=run.benchmark.name,
            benchmark_inferred=run.benchmark_inferred,
            is_demo=run.is_demo,
            created_at=run.created_at,
            numbers=numbers.get(run.pk, Numbers(k=run.repetitions)),
            reading=reading[run.pk][0] if run.pk in reading and access.evaluates else None,
            is_private=run.visibility == Visibility.PRIVATE,
        )
        for run in runs
    ]
    wanted = filters.text.casefold()
    found = [row for row in rows if wanted in f"{row.model}\n{row.benchmark}".casefold()]
    names = Counter(row.benchmark for row in found)
    chosen = [row for row in found if filters.benchmark in {"", row.benchmark}]
    chosen.sort(key=_RUN_KEYS[filters.sort], reverse=filters.descending)
    shown, page = paginate(chosen, filters.page, RUNS_PER_PAGE)
    worth = worth_by_run([row.pk for row in shown], filters.rule)
    return RunList(
        rows=[msgspec.structs.replace(row, worth=worth.get(row.pk)) for row in shown],
        page=page,
        stored=len(rows),
        benchmarks=[
            Choice("", len(found), not filters.benchmark),
            *(Choice(name, names[name], name == filters.benchmark) for name in sorted(names)),
        ],
        filters=filters,
    )


class DomainRow(msgspec.Struct, frozen=True):
    name: str
    numbers: Numbers


class Coverage(msgspec.Struct, frozen=True):
    """How the run's tasks lie in a benchmark whose tasks are known."""

    benchmark: str
    tasks: int
    covered: int
    foreign: int
    """Tasks of the run that do not belong to it."""
    claimed: bool
    """The run is said to be of this benchmark."""


class Source(msgspec.Struct, frozen=True):
    """An upload that brought rows of the run."""

    pk: int
    file_name: str
    stored: int
    not_stored: int
    created_at: datetime


class RunFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What is said about a run."""

    pk: int
    slug: str
    model: str
    model_inferred: bool
    benchmark: str
    benchmark_inferred: bool
    provider: str
    weights: str
    k: int
    k_inferred: bool
    note: str
    is_demo: bool
    is_private: bool
    owner: int | None
    expires_at: datetime | None
    settings: list[tuple[str, str]]
    """Name and value as text, sorted by name."""
    started_at: datetime | None
    duration: float | None
    created_at: datetime


class RunPage(msgspec.Struct, frozen=True, kw_only=True):
    run: RunFacts
    numbers: Numbers
    worth: RunWorth
    """pass@1 by the rule of the filters."""
    domains: list[DomainRow]
    coverage: Coverage | None
    tasks: list[TaskRow]
    page: Page
    kinds: list[Choice]
    filters: TaskFilters
    sources: list[Source]
    reading: int | None
    reading_share: float

    @property
    def figures(self) -> GroupMetrics:
        """Of the whole run, with their intervals."""
        return self.worth.figures

    @property
    def is_priced(self) -> bool:
        """Whether tasks have a cost each; a stated total says nothing of them."""
        return self.worth.cost.source is CostSource.PRICED


_SOURCES_SHOWN = 20


def run_page(slug: str, filters: TaskFilters, *, access: Access, why: bool = True) -> RunPage:
    """One run with its tasks. Six queries however many tasks, six more where it has changed since the last time, one
    more while it is being read. Raises Http404.

    Who may not evaluate gets neither numbers of differences nor how tasks fail nor the files that it came from. Without
    `why` nobody gets how tasks fail, which takes one query, or five, less.
    """
    run = run_or_404(slug, access=access)
    found = worth_with_tasks(run.pk, filters.rule)
    if found is None:
        raise Http404
    worth, costs = found
    usual = usual_failures(run.pk, access=access) if why and access.evaluates else {}
    tasks = task_rows(run, costs, worth.cost.currency, usual, evaluates=access.evaluates)
    by_domain: defaultdict[str, list[Counts]] = defaultdict(list)
    for task in tasks:
        by_domain[task.domain].append(task.counts)
    reading = reading_now([run.pk]).get(run.pk)
    kinds = Counter(row.kind for row in tasks if fits(row, filters))
    shown, page = paginate(chosen_tasks(tasks, filters), filters.page, TASKS_PER_PAGE)
    return RunPage(
        run=run_facts(run),
        numbers=numbers_of((task.counts for task in tasks), run.repetitions),
        worth=worth,
        domains=[DomainRow(name, numbers_of(by_domain[name], run.repetitions)) for name in sorted(by_domain)],
        coverage=_coverage(run.benchmark.name, {task.uid for task in tasks}),
        tasks=shown,
        page=page,
        kinds=[
            Choice("", kinds.total(), filters.show is None),
            *(Choice(kind.value, kinds[kind], filters.show is kind) for kind in TaskClass),
        ],
        filters=filters,
        sources=_sources(run) if access.evaluates else [],
        reading=None if reading is None or not access.evaluates else reading[0],
        reading_share=0.0 if reading is None else reading[1],
    )


def run_or_404(slug: str, *, access: Access) -> Run:
    """One that the asker may see. One query."""
    run = Run.objects.filter(visible_runs(access), slug=slug).select_related("benchmark").first()
    if run is None:
        raise Http404
    return run


def run_facts(run: Run) -> RunFacts:
    return RunFacts(
        pk=run.pk,
        slug=run.slug,
        model=run.model,
        model_inferred=run.model_inferred,
        benchmark=run.benchmark.name,
        benchmark_inferred=run.benchmark_inferred,
        provider=run.provider,
        weights=run.get_weights_display() if run.weights else "",
        k=run.repetitions,
        k_inferred=run.repetitions_inferred,
        note=run.note,
        is_demo=run.is_demo,
        is_private=run.visibility == Visibility.PRIVATE,
        owner=run.owner_id,
        expires_at=run.expires_at,
        settings=sorted((name, _as_text(value)) for name, value in run.settings.items()),
        started_at=run.started_at,
        duration=run.duration,
        created_at=run.created_at,
    )


def _coverage(benchmark: str, uids: set[str]) -> Coverage | None:
    """None where neither the run's name nor any of its tasks has to do with the one benchmark whose tasks are known."""
    known = THINKINGBOX_BENCH
    covered = len(uids & known.uids)
    claimed = benchmark == known.name
    if not uids or not (claimed or covered):
        return None
    return Coverage(known.name, len(known.uids), covered, len(uids) - covered, claimed)


def _sources(run: Run) -> list[Source]:
    uploads: Iterable[Upload] = Upload.objects.filter(run=run).order_by("-created_at", "-pk")[:_SOURCES_SHOWN]
    return [
        Source(upload.pk, upload.file_name, upload.stored, upload.rejected + upload.conflicts, upload.created_at)
        for upload in uploads
    ]


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
