"""Failed attempts with all facets and the search, what deserves a look, attempts that broke, and the search for all."""

from __future__ import annotations

from typing import Literal

import msgspec
from django.http import HttpRequest
from ninja import Field, Query, Router, Schema

from inspector.api.auth import access, needs
from inspector.api.errors import sorted_by
from inspector.api.operations import Listing, Sparse, reads, reads_list
from inspector.api.pagination import InPages, Items, Slice, cut
from inspector.api.structs import FailureFacets
from inspector.api.visibility import refuse_unknown_runs
from runs.errorclasses import ErrorClass
from runs.queries.errors import ROWS_PER_PAGE as ERRORS_PER_PAGE
from runs.queries.errors import ErrorFilters, ErrorRow, error_page
from runs.queries.everywhere import Everywhere, search_everywhere
from runs.queries.failure_filters import FailureFilters, Grouping
from runs.queries.failure_index import Facet
from runs.queries.failure_rows import FailureRow
from runs.queries.failures import GROUPS_PER_PAGE, FailedList, FailureGroup, failure_page
from runs.queries.look_next import Look, look_next
from runs.queries.paging import Page
from runs.records import EffectKind
from runs.signatures import Label, Signature

router = Router()
EVALUATORS = needs(evaluates=True)
Values = list[str]
YesNo = list[Literal["yes", "no"]]
SORTS = ("task", "model", "repetition", "steps", "tool_errors", "write_calls", "differences", "duration", "tokens")


class Facets(Schema):
    """Several values of one facet mean "one of them"; all facets and all words must fit."""

    run: Values = Field([], description="Slugs of runs.", max_length=50)
    looked: YesNo = Field([], description="Looked like a success.", max_length=2)
    claimed: YesNo = Field([], description="Claimed success.", max_length=2)
    signature: list[Signature] = Field([], max_length=50)
    label: list[Label] = Field([], max_length=50)
    effect: list[EffectKind] = Field([], description="Kinds of differences.", max_length=50)
    table: Values = Field([], max_length=50)
    field: Values = Field([], description="`table.field`; nothing behind the point for a whole row.", max_length=50)
    same: Values = Field([], description="The first difference, as facets name it.", max_length=50)
    tool: Values = Field([], description="Called.", max_length=50)
    erred: Values = Field([], description="Tools that answered an error.", max_length=50)
    domain: Values = Field([], max_length=50)
    task: Values = Field([], description="Uids.", max_length=50)
    model: Values = Field([], max_length=50)
    benchmark: Values = Field([], max_length=50)
    rubric: Values = Field([], description="Questions that were answered No.", max_length=50)
    finish: Values = Field([], description="Finish reasons.", max_length=50)
    disagrees: YesNo = Field([], description="Check and diff disagree.", max_length=2)
    lone: YesNo = Field([], description="The only failure at its task.", max_length=2)
    alike: YesNo = Field([], description="Fails like every other model.", max_length=2)
    copy_: list[Literal["no", "first", "again"]] = Field(
        [], alias="copy", description="Whether the row is stored in several runs: no, first, again.", max_length=3
    )
    note: Values = Field([], description="Labels that people gave.", max_length=50)
    q: str = Field("", description='Words and "phrases" in the transcript.', max_length=400)


class FailureQuery(Facets, Listing):
    sort: str = Field(
        "task",
        description="What the list is ordered by, from the least; with a hyphen before it from the most.",
        pattern=sorted_by(*SORTS),
    )


class GroupQuery(FailureQuery):
    group: Literal["same", "task"] = Field("same", description="By the first difference, or by task.")


class FacetQuery(Facets, Sparse):
    all: Facet | None = Field(None, description="The facet whose values are all listed, up to 500.")


_ATTRIBUTES = {Facet.COPY: "copy_"}
"""Facets whose name is taken by a method of all schemas."""


def _filters(query: Facets, request: HttpRequest) -> FailureFilters:
    """Raises `Problem` 404 for a run that is not there."""
    refuse_unknown_runs(query.run, access(request))
    chosen = {
        facet: tuple(dict.fromkeys(map(str, getattr(query, _ATTRIBUTES.get(facet, facet.value))))) for facet in Facet
    }
    return FailureFilters(chosen={facet: values for facet, values in chosen.items() if values}, text=query.q.strip())


def _sorted(filters: FailureFilters, sort: str, group: Grouping) -> FailureFilters:
    return msgspec.structs.replace(filters, sort=sort.removeprefix("-"), descending=sort.startswith("-"), group=group)


@reads_list(router, "/failures", FailureRow, check=EVALUATORS)
def index(request: HttpRequest, query: Query[FailureQuery]) -> Slice[FailureRow]:
    """Failed attempts of all runs, with the claim, the first differences, and where the words were found."""
    rows = FailedList(_sorted(_filters(query, request), query.sort, Grouping.NONE), access=access(request))
    return cut(request, rows, lambda row: row.pk, cursor=query.cursor, limit=query.limit)


@reads(router, "/failures/facets", FailureFacets, check=EVALUATORS)
def facets(request: HttpRequest, query: Query[FacetQuery]) -> FailureFacets:
    """What failures can be filtered by, each value with its count beside the other filters."""
    filters = msgspec.structs.replace(_filters(query, request), whole=query.all, group=Grouping.NONE)
    page = failure_page(filters, access=access(request))
    return FailureFacets(
        stored=page.stored, total=page.total, tasks=page.tasks, runs=page.runs, waiting=page.waiting, facets=page.facets
    )


@reads_list(router, "/failures/groups", FailureGroup, check=EVALUATORS)
def groups(request: HttpRequest, query: Query[GroupQuery]) -> Slice[FailureGroup]:
    """Failures put together: those with the same first difference, or at the same task; the largest group first."""
    filters = _sorted(_filters(query, request), query.sort, Grouping(query.group))

    def page(number: int) -> tuple[list[FailureGroup], Page]:
        found = failure_page(msgspec.structs.replace(filters, page=number), access=access(request))
        return found.groups, found.page

    return cut(request, InPages(page, GROUPS_PER_PAGE), _name_of, cursor=query.cursor, limit=min(query.limit, 100))


def _name_of(group: FailureGroup) -> str:
    return group.task or (repr(group.difference) if group.difference is not None else "")


@reads_list(router, "/look-next", Look, check=EVALUATORS)
def looks(request: HttpRequest, query: Query[Listing]) -> Slice[Look]:
    """What deserves a look, over all runs: a few counts, each with the filters of `/failures` behind it."""
    looked = Items(look_next(access=access(request)))
    return cut(request, looked, lambda look: look.title, cursor=query.cursor, limit=query.limit)


class ErrorQuery(Listing):
    run: str = Field("", description="A run's slug; all runs where it is left out.", max_length=200)
    error_class: list[ErrorClass] = Field([], description="Kinds of errors.", max_length=20)
    retryable: bool | None = Field(None, description="Whether running it again may help.")


@reads_list(router, "/errors", ErrorRow, check=EVALUATORS)
def errors(request: HttpRequest, query: Query[ErrorQuery]) -> Slice[ErrorRow]:
    """Attempts that broke: the harness, an endpoint, the grader. They are no failures of the agent."""
    refuse_unknown_runs([query.run] if query.run else [], access(request))
    filters = ErrorFilters(
        run=query.run, kinds=tuple(kind.value for kind in query.error_class), retryable=query.retryable
    )

    def page(number: int) -> tuple[list[ErrorRow], Page]:
        found = error_page(msgspec.structs.replace(filters, page=number), access=access(request))
        return found.rows, found.page

    return cut(request, InPages(page, ERRORS_PER_PAGE), lambda row: row.pk, cursor=query.cursor, limit=query.limit)


class SearchQuery(Sparse):
    q: str = Field(description="What to look for: a task, a run, a record's key, words.", max_length=400)


@reads(router, "/search", Everywhere)
def search(request: HttpRequest, query: Query[SearchQuery]) -> Everywhere:
    """Runs, tasks, records and transcripts that fit; ten of each with how many there are."""
    return search_everywhere(query.q.strip(), access=access(request))
