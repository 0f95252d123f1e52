"""`/` and `/runs/<slug>/`: the runs, one run, correcting it, deleting it."""

from __future__ import annotations

from django.conf import settings
from django.db import transaction
from django.http import HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_htmx.http import HttpResponseClientRefresh

from inspector.access import access_of, evaluators_only, viewers_too, writers_only
from inspector.charts.data import Chart
from inspector.charts.run import TaskLinks, distribution, reliability
from inspector.filters import run_filters, task_filters
from inspector.forms import EditRunForm, KeepingForm
from inspector.grid_data import grid_data, grid_view
from inspector.http import HtmxHttpRequest, redirect_to, render_page, wants_part
from inspector.price_forms import PricingForm
from inspector.retention import keep_run, remove_run
from inspector.short_addresses import short_address
from runs.demo_runs import load_demo
from runs.editing import deletion_of, lowest_repetitions
from runs.errors import IngestError
from runs.metrics import ErrorRule
from runs.models import Run, Visibility
from runs.models.run import Weights
from runs.prices import PriceError, edit_priced_run
from runs.queries.live import run_live
from runs.queries.numbers import TaskClass
from runs.queries.prices import price_choices
from runs.queries.provenance import provenance_page
from runs.queries.run_failures import run_failures
from runs.queries.run_grid import run_grid
from runs.queries.runs import RunPage, run_list, run_or_404, run_page
from runs.queries.uploads import benchmark_names
from runs.querysets import only_its_owner, owns


@viewers_too
@require_safe
@short_address(q="", sort="-created", benchmark="", page="1")
def index(request: HtmxHttpRequest) -> HttpResponse:
    """All runs; without any, how to get the first."""
    found = run_list(run_filters(request.GET), access=access_of(request))
    template = "runs/index.html" if found.stored else "runs/empty.html"
    return render_page(request, template, {"list": found}, partial="found" if found.stored else None)


@writers_only
@require_POST
def load_example(request: HtmxHttpRequest) -> HttpResponse:
    """The shipped example, read in the foreground: a few seconds."""
    load_demo()
    return redirect_to(request, "runs")


@viewers_too
@require_safe
@short_address(q="", domain="", sort="name", show="", page="1")
def detail(request: HtmxHttpRequest, slug: str) -> HttpResponse:
    access = access_of(request)
    page = run_page(slug, task_filters(request.GET), access=access)
    charts = [] if wants_part(request) or not page.numbers.tasks else _charts(page)
    context: dict[str, object] = {"page": page, "charts": charts, "owns": owns(access, page.run.owner)}
    if page.reading is not None:
        context["live"] = run_live(run_or_404(slug, access=access))
    if charts:
        grid = run_grid(slug, grid_view(request.GET), access=access)
        context |= {"grid": grid, "cells": grid_data(grid)}
        if access.evaluates:
            context["failures"] = run_failures(page.run.pk, access=access)
    return render_page(request, "runs/detail.html", context, partial="tasks")


@viewers_too
@require_safe
def live(request: HtmxHttpRequest, slug: str) -> HttpResponse:
    """How far a run is that is being read. Once it is, the whole page is loaded again."""
    found = run_live(run_or_404(slug, access=access_of(request)))
    if found is None:
        return HttpResponseClientRefresh() if wants_part(request) else redirect_to(request, "run", slug)
    return render_page(request, "runs/_live.html", {"live": found})


@evaluators_only
@require_safe
def provenance(request: HtmxHttpRequest, slug: str) -> HttpResponse:
    """Where the run's rows came from, with a verdict on them as a whole."""
    return render_page(request, "runs/provenance.html", {"page": provenance_page(slug, access=access_of(request))})


def _charts(page: RunPage) -> list[Chart]:
    address = reverse("run", args=[page.run.slug])
    rule = "" if page.filters.rule is ErrorRule.AS_FAILED else f"&errors={page.filters.rule.value}"
    never, sometimes, always = (
        f"{address}?show={kind.value}{rule}#tasks" for kind in (TaskClass.NEVER, TaskClass.SOMETIMES, TaskClass.ALWAYS)
    )
    links = TaskLinks(never=never, sometimes=sometimes, always=always)
    return [distribution(page.figures, links), reliability(page.figures)]


@writers_only
@require_http_methods(["GET", "HEAD", "POST"])
def edit(request: HtmxHttpRequest, slug: str) -> HttpResponse:
    """What is said about a run, and what it is priced by: both or nothing. Who sees it, its owner says."""
    access = access_of(request)
    run = run_or_404(slug, access=access)
    posted = request.method == "POST"
    form = EditRunForm(request.POST) if posted else EditRunForm(initial=EditRunForm.facts_of(run))
    pricing = PricingForm(request.POST) if posted else PricingForm(initial=PricingForm.facts_of(run))
    keeping = _keeping(request, run) if owns(access, run.owner_id) else None
    said = keeping is not None and keeping.is_bound
    if posted and form.is_valid() and pricing.is_valid() and (keeping is None or not said or keeping.is_valid()):
        try:
            with transaction.atomic():
                edit_priced_run(run, form.changes(), pricing.choice() if "priced_by" in request.POST else None)
                if keeping is not None and said:
                    keep_run(run, Visibility(keeping.cleaned_data["visibility"]), keeping.expires_at(), access)
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
        "benchmarks": benchmark_names(access=access),
        "least": lowest_repetitions(run),
        "keeping": keeping,
        "owns": keeping is not None,
        "owner": run.owner.get_username() if run.owner is not None else "",
        "visibilities": Visibility.choices,
        "retention": settings.RETENTION_DAYS,
    }
    wrong = form.errors or pricing.errors or (keeping is not None and keeping.errors)
    return render_page(request, "runs/edit.html", context, status=422 if wrong else 200)


def _keeping(request: HtmxHttpRequest, run: Run) -> KeepingForm:
    """Bound only where the page had it: a program that posts a run's facts leaves the rest as it is."""
    if request.method == "POST" and "visibility" in request.POST:
        return KeepingForm(request.POST)
    return KeepingForm(initial=KeepingForm.facts_of(run))


@writers_only
@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: HtmxHttpRequest, slug: str) -> HttpResponse:
    """Asks first, and says what goes."""
    access = access_of(request)
    run = run_or_404(slug, access=access)
    only_its_owner(access, run.owner_id, "delete this run")
    problem = ""
    if request.method == "POST":
        try:
            remove_run(run, access)
        except IngestError as error:
            problem = str(error)
        else:
            return redirect_to(request, "runs")
    context = {"run": run, "deletion": deletion_of(run), "problem": problem}
    return render_page(request, "runs/delete.html", context, status=409 if problem else 200)
