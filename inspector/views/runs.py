"""`/` and `/runs/<slug>/`: the runs, one run, correcting it, deleting it."""

from __future__ import annotations

from django.http import HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from inspector.charts.data import Chart
from inspector.charts.run import TaskLinks, distribution, reliability
from inspector.filters import run_filters, task_filters
from inspector.forms import EditRunForm
from inspector.grid_data import grid_data, grid_view
from inspector.http import HtmxHttpRequest, redirect_to, render_page, wants_part
from inspector.price_forms import PricingForm
from inspector.short_addresses import short_address
from runs.demo_runs import load_demo
from runs.editing import delete_run, deletion_of, lowest_repetitions
from runs.errors import IngestError
from runs.metrics import ErrorRule
from runs.models.run import Weights
from runs.prices import PriceError, edit_priced_run
from runs.queries.numbers import TaskClass
from runs.queries.prices import price_choices
from runs.queries.run_failures import run_failures
from runs.queries.run_grid import run_grid
from runs.queries.runs import RunPage, run_list, run_or_404, run_page
from runs.queries.uploads import benchmark_names


@require_safe
@short_address(q="", sort="-created", benchmark="", page="1")
def index(request: HtmxHttpRequest) -> HttpResponse:
    """All runs; without any, how to get the first."""
    found = run_list(run_filters(request.GET))
    template = "runs/index.html" if found.stored else "runs/empty.html"
    return render_page(request, template, {"list": found}, partial="found" if found.stored else None)


@require_POST
def load_example(request: HtmxHttpRequest) -> HttpResponse:
    """The shipped example, read in the foreground: a few seconds."""
    load_demo()
    return redirect_to(request, "runs")


@require_safe
@short_address(q="", domain="", sort="name", show="", page="1")
def detail(request: HtmxHttpRequest, slug: str) -> HttpResponse:
    page = run_page(slug, task_filters(request.GET))
    charts = [] if wants_part(request) or not page.numbers.tasks else _charts(page)
    context: dict[str, object] = {"page": page, "charts": charts}
    if charts:
        grid = run_grid(slug, grid_view(request.GET))
        context |= {"failures": run_failures(page.run.pk), "grid": grid, "cells": grid_data(grid)}
    return render_page(request, "runs/detail.html", context, partial="tasks")


def _charts(page: RunPage) -> list[Chart]:
    address = reverse("run", args=[page.run.slug])
    rule = "" if page.filters.rule is ErrorRule.AS_FAILED else f"&errors={page.filters.rule.value}"
    never, sometimes, always = (
        f"{address}?show={kind.value}{rule}#tasks" for kind in (TaskClass.NEVER, TaskClass.SOMETIMES, TaskClass.ALWAYS)
    )
    links = TaskLinks(never=never, sometimes=sometimes, always=always)
    return [distribution(page.figures, links), reliability(page.figures)]


@require_http_methods(["GET", "HEAD", "POST"])
def edit(request: HtmxHttpRequest, slug: str) -> HttpResponse:
    """What is said about a run, and what it is priced by: both or nothing."""
    run = run_or_404(slug)
    posted = request.method == "POST"
    form = EditRunForm(request.POST) if posted else EditRunForm(initial=EditRunForm.facts_of(run))
    pricing = PricingForm(request.POST) if posted else PricingForm(initial=PricingForm.facts_of(run))
    if posted and form.is_valid() and pricing.is_valid():
        try:
            edit_priced_run(run, form.changes(), pricing.choice() if "priced_by" in request.POST else None)
        except (IngestError, PriceError) as error:
            form.add_error(None, str(error))
        else:
            return redirect_to(request, "run", slug)
    context = {
        "run": run,
        "form": form,
        "pricing": pricing,
        "prices": price_choices(run),
        "weights": Weights.choices,
        "benchmarks": benchmark_names(),
        "least": lowest_repetitions(run),
    }
    return render_page(request, "runs/edit.html", context, status=422 if form.errors or pricing.errors else 200)


@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: HtmxHttpRequest, slug: str) -> HttpResponse:
    """Asks first, and says what goes."""
    run = run_or_404(slug)
    problem = ""
    if request.method == "POST":
        try:
            delete_run(run)
        except IngestError as error:
            problem = str(error)
        else:
            return redirect_to(request, "runs")
    context = {"run": run, "deletion": deletion_of(run), "problem": problem}
    return render_page(request, "runs/delete.html", context, status=409 if problem else 200)
