"""Runs: the list, one run, its report, tasks, failures, grid and errors."""

from __future__ import annotations

import msgspec
from django.http import HttpRequest, HttpResponse
from ninja import Field, Query, Router

from inspector.api.answers import json_answer
from inspector.api.auth import access, needs
from inspector.api.bodies import Body, Name, Repetitions, SaidName
from inspector.api.errors import saying, sorted_by
from inspector.api.operations import Listing, Sparse, operation, reads, reads_list
from inspector.api.pagination import InPages, Slice, cut
from inspector.api.plain import plain
from inspector.api.structs import RunCreated, RunDetail
from inspector.api.visibility import run_or_404
from inspector.paths import UidConverter  # noqa: F401  # makes the converter of uids known
from runs.metrics import ErrorRule
from runs.models import Run
from runs.prices import pricing_of
from runs.pushing import NewRun, create_run
from runs.queries.numbers import TaskClass
from runs.queries.paging import Page
from runs.queries.report import run_input
from runs.queries.run_failures import RunFailures, run_failures
from runs.queries.run_grid import Colour, Grid, GridView, Order, run_grid
from runs.queries.run_tasks import TaskFilters, TaskRow
from runs.queries.run_worth import RunWorth, worth_of
from runs.queries.runs import RUNS_PER_PAGE, TASKS_PER_PAGE, RunFilters, RunRow, run_list, run_page
from runs.queries.tasks import TaskPage, task_page
from runs.reporting import PriceChoice, build_report
from runs.reporting.run import RunReport

router = Router()

SLUG = "rental-desk-marlow-3-pro"


class Rule(Sparse):
    errors: ErrorRule = Field(
        ErrorRule.AS_FAILED, description="Whether pass@1 counts attempts that broke as failed, or leaves them out."
    )


class RunQuery(Listing):
    errors: ErrorRule = Field(ErrorRule.AS_FAILED, description="How pass@1 counts attempts that broke.")
    benchmark: str = Field("", description="The benchmark's name.", max_length=200)
    q: str = Field("", description="Text in the model's or the benchmark's name.", max_length=200)
    sort: str = Field(
        "created",
        description="What the list is ordered by, from the least; with a hyphen before it from the most.",
        pattern=sorted_by("model", "benchmark", "attempts", "errors", "pass", "solved", "all", "created"),
    )


class TaskQuery(Listing):
    errors: ErrorRule = Field(ErrorRule.AS_FAILED, description="How pass@1 counts attempts that broke.")
    show: TaskClass | None = Field(None, description="Only tasks of this class.")
    domain: str = Field("", max_length=200)
    q: str = Field("", description="Text in the task's uid or domain.", max_length=200)
    sort: str = Field(
        "name",
        description="What the list is ordered by, from the least; with a hyphen before it from the most.",
        pattern=sorted_by("name", "domain", "passed", "failed", "errors", "missing", "differences", "cost"),
    )


class GridQuery(Sparse):
    order: Order = Field(Order.FIRST, description="What lies where in a column.")
    colour: Colour = Field(Colour.VERDICT, description="What a cell's letter tells.")


@reads_list(
    router,
    "/runs",
    RunRow,
    example={
        "id": 1,
        "slug": SLUG,
        "model": "marlow-3-pro",
        "benchmark": "rental-desk",
        "numbers": {"k": 20, "tasks": 12, "recorded": 240, "passed": 151, "pass_at_1": 0.6292, "always": 5},
    },
)
def index(request: HttpRequest, query: Query[RunQuery]) -> Slice[RunRow]:
    """The stored runs with their numbers.

    From the oldest on, unless another order is asked for.
    """
    filters = RunFilters(
        benchmark=query.benchmark,
        text=query.q,
        sort=query.sort.removeprefix("-"),
        descending=query.sort.startswith("-"),
        rule=query.errors,
    )

    def page(number: int) -> tuple[list[RunRow], Page]:
        found = run_list(msgspec.structs.replace(filters, page=number), access=access(request))
        return found.rows, found.page

    return cut(request, InPages(page, RUNS_PER_PAGE), lambda row: row.pk, cursor=query.cursor, limit=query.limit)


@reads(router, "/runs/{slug}", RunDetail, example={"run": {"slug": SLUG, "model": "marlow-3-pro", "k": 20}})
def detail(request: HttpRequest, slug: str, query: Query[Rule]) -> RunDetail:
    """One run: what is said about it, its numbers, shares with their intervals, costs and domains."""
    run = run_or_404(slug, access(request))
    page = run_page(run.slug, TaskFilters(rule=query.errors), access=access(request), why=False)
    return RunDetail(
        run=page.run,
        numbers=page.numbers,
        worth=page.worth,
        domains=page.domains,
        coverage=page.coverage,
        classes=page.kinds,
        sources=page.sources,
        reading=page.reading,
        reading_share=page.reading_share,
    )


@reads(router, "/runs/{slug}/report", RunReport, example={"run": SLUG, "k": 20, "pass_at": {"1": 0.6292}})
def report(request: HttpRequest, slug: str, query: Query[Rule]) -> RunReport:
    """The figures of a run, as the command `report` prints them."""
    run = run_or_404(slug, access(request))
    return build_report(run_input(run), error_rule=query.errors, choice=choice(run))


def choice(run: Run) -> PriceChoice:
    """What a run is priced by."""
    own = pricing_of(run)
    return PriceChoice(price=own.price, price_list=own.price_list, reason=own.reason, stated=own.stated)


@reads(router, "/runs/{slug}/worth", RunWorth)
def worth(request: HttpRequest, slug: str, query: Query[Rule]) -> RunWorth:
    """The shares of a run with all their intervals, and what they cost."""
    found = worth_of(run_or_404(slug, access(request)).pk, query.errors)
    assert found is not None
    return found


@reads(router, "/runs/{slug}/failures", RunFailures, check=needs(evaluates=True))
def failures(request: HttpRequest, slug: str, query: Query[Sparse]) -> RunFailures:
    """What went wrong in a run: claims against the evidence, signatures, wrong fields, errors."""
    return run_failures(run_or_404(slug, access(request)).pk, access=access(request))


@reads(router, "/runs/{slug}/grid", Grid)
def grid(request: HttpRequest, slug: str, query: Query[GridQuery]) -> Grid:
    """Tasks by repetitions, a letter a cell: p passed, f failed, e error, a point for not recorded.

    Coloured by signature, failed attempts have the letters of the legend.
    """
    run = run_or_404(slug, access(request))
    if query.colour is Colour.SIGNATURE:
        needs(evaluates=True)(request)
    return run_grid(run.slug, GridView(order=query.order, colour=query.colour), access=access(request))


@reads_list(router, "/runs/{slug}/tasks", TaskRow)
def tasks(request: HttpRequest, slug: str, query: Query[TaskQuery]) -> Slice[TaskRow]:
    """The tasks of a run with their counts."""
    run = run_or_404(slug, access(request))
    if query.sort.endswith("differences"):
        needs(evaluates=True)(request)
    filters = TaskFilters(
        show=query.show,
        domain=query.domain,
        text=query.q,
        sort=query.sort.removeprefix("-"),
        descending=query.sort.startswith("-"),
        rule=query.errors,
    )

    def page(number: int) -> tuple[list[TaskRow], Page]:
        found = run_page(run.slug, msgspec.structs.replace(filters, page=number), access=access(request))
        return found.tasks, found.page

    return cut(request, InPages(page, TASKS_PER_PAGE), lambda row: row.uid, cursor=query.cursor, limit=query.limit)


class PageQuery(Sparse):
    page: int = Field(1, description="Of repetitions, a hundred each.", ge=1, le=10_000)


@reads(router, "/runs/{slug}/tasks/{uid:uid}", TaskPage)
def task(request: HttpRequest, slug: str, uid: str, query: Query[PageQuery]) -> TaskPage:
    """A task in a run: what was asked, and its attempts side by side."""
    return task_page(run_or_404(slug, access(request)).slug, uid, query.page, access=access(request))


class NewRunBody(Body):
    """What is said about a run before its first attempt."""

    model: SaidName = Field(description="The model's name.")
    benchmark: SaidName = Field(description="The benchmark's name.")
    repetitions: Repetitions | None = Field(None, description="k; without it the highest repetition + 1.")
    slug: str = Field(
        "",
        description="Its name in addresses.",
        max_length=200,
        pattern=saying("^[-a-zA-Z0-9_]*$", "holds more than letters of ASCII, digits, hyphens and underscores."),
    )
    provider: Name = ""
    note: str = Field("", max_length=10_000)
    private: bool = Field(False, description="Only its owner and admins see it.")
    parameters: dict[str, str] = Field({}, description="What the model was run with.", max_length=100)


_CREATED = {"slug": SLUG, "model": "marlow-3-pro", "benchmark": "rental-desk", "repetitions": 20, "created": True}


@operation(
    router,
    ["POST"],
    "/runs",
    {
        201: ("application/json", {"$struct": RunCreated}, _CREATED),
        200: ("application/json", {"$struct": RunCreated}, _CREATED | {"created": False}),
    },
    check=needs(writes=True),
)
def create(request: HttpRequest, body: NewRunBody) -> HttpResponse:
    """Makes a run, to push its attempts to while it is going.

    With a slug, doing it again gives the run that is there: a program that starts anew goes on.
    """
    run, created = create_run(
        NewRun(
            model=body.model,
            benchmark=body.benchmark,
            repetitions=body.repetitions,
            slug=body.slug,
            provider=body.provider,
            note=body.note,
            parameters=body.parameters,
            private=body.private,
        ),
        access=access(request),
    )
    made = RunCreated(
        slug=run.slug,
        model=run.model,
        benchmark=run.benchmark.name,
        repetitions=run.repetitions,
        created=created,
    )
    return json_answer(request, plain(made), 201 if created else 200, {"Location": f"/api/v1/runs/{run.slug}"})
