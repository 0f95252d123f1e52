"""Attempts that broke: the harness, an endpoint, the grader. They are no failures of the agent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from urllib.parse import urlencode

import msgspec
from django.db.models import Count, QuerySet

from runs.access import Access
from runs.errorclasses import ERROR_CLASS_TITLES, ErrorClass
from runs.models import Attempt, Run
from runs.payloads import load_evidence
from runs.queries.paging import Page, page_of
from runs.queries.verdicts import verdict_word
from runs.querysets import for_evaluators, visible_attempts, visible_runs
from runs.records import Verdict

__all__ = ["Again", "ErrorChoice", "ErrorFilters", "ErrorPage", "ErrorRow", "error_classes", "error_page", "runs_again"]

ROWS_PER_PAGE = 50


class ErrorFilters(msgspec.Struct, frozen=True, kw_only=True):
    run: str = ""
    """Slug; empty: all runs."""
    kinds: tuple[str, ...] = ()
    """Values of `ErrorClass`; none means all."""
    retryable: bool | None = None
    page: int = 1


class ErrorChoice(msgspec.Struct, frozen=True):
    value: str
    title: str
    count: int
    chosen: bool
    retryable: int = 0
    """How many of them may end otherwise when they are run again."""


class ErrorRow(msgspec.Struct, frozen=True, kw_only=True):
    pk: int
    word: str
    uid: str
    name: str
    run: str
    model: str
    repetition: int
    kind: str
    """The class's title."""
    retryable: bool | None
    words: str
    """What the part that broke said; empty where nothing is recorded."""
    steps: int


class ErrorPage(msgspec.Struct, frozen=True, kw_only=True):
    filters: ErrorFilters
    stored: int
    """All attempts that broke, before filtering."""
    rows: list[ErrorRow]
    page: Page
    runs: list[ErrorChoice]
    kinds: list[ErrorChoice]
    again: list[ErrorChoice]

    @property
    def query(self) -> str:
        """The filters as an address's query, without the page."""
        pairs = [("run", self.filters.run)] if self.filters.run else []
        pairs += [("class", kind) for kind in self.filters.kinds]
        if self.filters.retryable is not None:
            pairs.append(("retryable", "yes" if self.filters.retryable else "no"))
        return urlencode(pairs)


class Again(msgspec.Struct, frozen=True, kw_only=True):
    """An attempt to run again."""

    run: str
    uid: str
    repetition: int
    kind: str
    """A value of `ErrorClass`."""
    retryable: bool | None


def error_page(filters: ErrorFilters, *, access: Access) -> ErrorPage:
    """The attempts that broke, and what they are filtered by. Five queries."""
    errors = _errors(access)
    found = _fitting(filters, access)
    page = page_of(found.count(), filters.page, ROWS_PER_PAGE)
    shown = found.select_related("run", "task", "trace").order_by("run__slug", "task__uid", "repetition", "pk")
    names = dict(Run.objects.filter(visible_runs(access)).values_list("slug", "model"))
    slugs = dict(_fitting(filters, access, run=False).order_by().values_list("run__slug").annotate(Count("pk")))
    again = dict(_fitting(filters, access, retryable=False).order_by().values_list("retryable").annotate(Count("pk")))
    return ErrorPage(
        filters=filters,
        stored=errors.count(),
        rows=[_row(attempt) for attempt in shown[max(0, page.first - 1) : page.last]],
        page=page,
        runs=[
            ErrorChoice(slug, f"{names.get(slug, '')} · {slug}", slugs.get(slug, 0), slug == filters.run)
            for slug in sorted({*slugs, *([filters.run] if filters.run else [])})
        ],
        kinds=error_classes(_fitting(filters, access, kinds=False), filters.kinds),
        again=[
            ErrorChoice("yes", "may end otherwise", again.get(True, 0), filters.retryable is True),
            ErrorChoice("no", "will break again", again.get(False, 0), filters.retryable is False),
        ],
    )


def error_classes(errors: QuerySet[Attempt], chosen: tuple[str, ...] = ()) -> list[ErrorChoice]:
    """The classes of error in the order of their list, with their counts. One query."""
    numbers: Counter[str] = Counter()
    again: Counter[str] = Counter()
    for kind, retryable, number in errors.order_by().values_list("error_class", "retryable").annotate(Count("pk")):
        numbers[kind] += number
        again[kind] += number if retryable else 0
    order = [*(kind.value for kind in ErrorClass), ""]
    return [
        ErrorChoice(kind, _title(kind), numbers[kind], kind in chosen, again[kind])
        for kind in order
        if numbers[kind] or kind in chosen
    ]


def runs_again(filters: ErrorFilters, *, access: Access) -> Iterator[Again]:
    """All that fit, by run, task and repetition."""
    columns = ("run__slug", "task__uid", "repetition", "error_class", "retryable")
    rows = _fitting(filters, access).order_by("run__slug", "task__uid", "repetition", "pk").values_list(*columns)
    for run, uid, repetition, kind, retryable in rows.iterator(chunk_size=2000):
        yield Again(run=run, uid=uid, repetition=repetition, kind=kind, retryable=retryable)


def _errors(access: Access) -> QuerySet[Attempt]:
    """Those that the asker sees. What broke names the grader's internals: raises PermissionDenied for a viewer."""
    for_evaluators(access)
    return Attempt.objects.filter(visible_attempts(access), verdict=Verdict.ERROR, current=True)


def _fitting(
    filters: ErrorFilters, access: Access, *, run: bool = True, kinds: bool = True, retryable: bool = True
) -> QuerySet[Attempt]:
    """The attempts that fit, by all filters but those switched off."""
    found = _errors(access)
    if run and filters.run:
        found = found.filter(run__slug=filters.run)
    if kinds and filters.kinds:
        found = found.filter(error_class__in=filters.kinds)
    if retryable and filters.retryable is not None:
        found = found.filter(retryable=filters.retryable)
    return found


def _row(attempt: Attempt) -> ErrorRow:
    error = load_evidence(attempt.trace).error
    return ErrorRow(
        pk=attempt.pk,
        word=verdict_word(attempt.verdict, attempt.reason),
        uid=attempt.task.uid,
        name=attempt.task.name,
        run=attempt.run.slug,
        model=attempt.run.model,
        repetition=attempt.repetition,
        kind=_title(attempt.error_class),
        retryable=attempt.retryable,
        words=error.words if error is not None else "",
        steps=attempt.steps,
    )


def _title(kind: str) -> str:
    return ERROR_CLASS_TITLES[ErrorClass(kind)] if kind in set(ErrorClass) else "Not classified"
