"""Two runs, and two attempts at one task."""

from __future__ import annotations

import msgspec
from django.http import HttpRequest
from ninja import Field, Query, Router

from inspector.api.auth import access, needs
from inspector.api.errors import sorted_by
from inspector.api.operations import AttemptId, Listing, Sparse, reads, reads_list
from inspector.api.pagination import InPages, Slice, cut
from inspector.api.routers.runs import choice
from inspector.api.structs import RunChanges
from inspector.api.visibility import attempt_or_404, run_or_404
from runs.access import Access
from runs.metrics import ErrorRule
from runs.models import Run
from runs.queries.compare import compare_page
from runs.queries.compare_runs import TASKS_PER_PAGE, Change, PairFilters, PairRow, compared_runs
from runs.queries.compare_structs import ComparePage, CompareView, ShowLines
from runs.queries.paging import Page
from runs.queries.report import run_input
from runs.reporting import PairReport, build_pair, build_report

router = Router()

BASE = Field(description="The slug of the run to compare with.", max_length=200)
CANDIDATE = Field(description="The slug of the run that is compared.", max_length=200)
RULE = Field(ErrorRule.AS_FAILED, description="How pass@1 counts attempts that broke.")


class PairQuery(Sparse):
    base: str = BASE
    candidate: str = CANDIDATE
    errors: ErrorRule = RULE


class PairTasksQuery(Listing):
    base: str = BASE
    candidate: str = CANDIDATE
    errors: ErrorRule = RULE
    change: Change | None = Field(None, description="Only tasks that changed so.")
    domain: str = Field("", max_length=200)
    q: str = Field("", description="Text in the task's uid or domain.", max_length=200)
    sort: str = Field(
        "name",
        description="What the list is ordered by, from the least; with a hyphen before it from the most.",
        pattern=sorted_by("name", "domain", "base", "candidate", "gain", "greater"),
    )


class ViewQuery(Sparse):
    show: ShowLines = Field(ShowLines.DIFFERENCES, description="Which lines are listed.")
    thoughts: bool = Field(False, description="Thoughts are lines too.")
    page: int = Field(1, description="Of lines, three hundred each.", ge=1, le=100_000)


def _pair(base: str, candidate: str, who: Access) -> tuple[Run, Run]:
    return run_or_404(base, who), run_or_404(candidate, who)


@reads(
    router,
    "/compare",
    PairReport,
    example={
        "run": "desk-birch",
        "comparison": {"lift": 0.04, "pass_at_1": {"difference": 0.04, "significant": False}},
    },
)
def runs(request: HttpRequest, query: Query[PairQuery]) -> PairReport:
    """Two runs: the report of each, and what lies between them, as the command `report` prints it.

    `comparison.pass_at_1.significant` with a negative `difference` is a regression.
    """
    pair = _pair(query.base, query.candidate, access(request))
    inputs = [run_input(run) for run in pair]
    reports = [
        build_report(given, error_rule=query.errors, choice=choice(run))
        for run, given in zip(pair, inputs, strict=True)
    ]
    return build_pair(inputs[0], inputs[1], reports[0], reports[1])


@reads(router, "/compare/changes", RunChanges, check=needs(evaluates=True))
def changes(request: HttpRequest, query: Query[PairQuery]) -> RunChanges:
    """How many tasks were won and lost, became dependable or stopped to be, fail in another way."""
    base, candidate = _pair(query.base, query.candidate, access(request))
    filters = PairFilters(base=base.slug, candidate=candidate.slug, rule=query.errors)
    found = compared_runs(filters, access=access(request))
    return RunChanges(
        base=base.slug,
        candidate=candidate.slug,
        other_benchmark=found.other_benchmark,
        changes=found.changes,
        domains=found.domains,
    )


@reads_list(router, "/compare/tasks", PairRow)
def tasks(request: HttpRequest, query: Query[PairTasksQuery]) -> Slice[PairRow]:
    """The tasks that both runs have, side by side."""
    base, candidate = _pair(query.base, query.candidate, access(request))
    if query.change is Change.SIGNATURE:
        needs(evaluates=True)(request)
    filters = PairFilters(
        base=base.slug,
        candidate=candidate.slug,
        change=query.change,
        domain=query.domain,
        text=query.q,
        sort=query.sort.removeprefix("-"),
        descending=query.sort.startswith("-"),
        rule=query.errors,
    )

    def page(number: int) -> tuple[list[PairRow], Page]:
        found = compared_runs(msgspec.structs.replace(filters, page=number), access=access(request))
        return found.rows, found.page

    return cut(request, InPages(page, TASKS_PER_PAGE), lambda row: row.uid, cursor=query.cursor, limit=query.limit)


@reads(router, "/attempts/{left}/vs/{right}", ComparePage, check=needs(evaluates=True))
def attempts(request: HttpRequest, left: AttemptId, right: AttemptId, query: Query[ViewQuery]) -> ComparePage:
    """Two attempts at one task: steps aligned, effects side by side, where they first part."""
    who = access(request)
    ours, theirs = attempt_or_404(left, who), attempt_or_404(right, who)
    view = CompareView(show=query.show, thoughts=query.thoughts, page=query.page)
    return compare_page(ours.pk, theirs.pk, view, access=who)
