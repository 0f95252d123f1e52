"""`/` and `/runs/<slug>/`: the runs, one run, correcting it, deleting it."""

from __future__ import annotations

from django.http import HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from inspector.charts.data import Chart
from inspector.charts.run import TaskLinks, distribution, reliability
from inspector.filters import run_filters, task_filters
from inspector.forms import EditRunForm
from inspector.http import HtmxHttpRequest, redirect_to, render_page, wants_part
from runs.demo_runs import load_demo
from runs.editing import delete_run, deletion_of, edit_run, lowest_repetitions
from runs.errors import IngestError
from runs.models.run import Weights
from runs.queries.numbers import TaskClass
from runs.queries.runs import RunPage, run_list, run_or_404, run_page
from runs.queries.uploads import benchmark_names


@require_safe
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
def detail(request: HtmxHttpRequest, slug: str) -> HttpResponse:
    page = run_page(slug, task_filters(request.GET))
    charts = [] if wants_part(request) or not page.numbers.tasks else _charts(page)
    return render_page(request, "runs/detail.html", {"page": page, "charts": charts}, partial="tasks")


def _charts(page: RunPage) -> list[Chart]:
    address = reverse("run", args=[page.run.slug])
    never, sometimes, always = (
        f"{address}?show={kind.value}#tasks" for kind in (TaskClass.NEVER, TaskClass.SOMETIMES, TaskClass.ALWAYS)
    )
    links = TaskLinks(never=never, sometimes=sometimes, always=always)
    return [distribution(page.figures, links), reliability(page.figures)]


@require_http_methods(["GET", "HEAD", "POST"])
def edit(request: HtmxHttpRequest, slug: str) -> HttpResponse:
    run = run_or_404(slug)
    form = EditRunForm(request.POST) if request.method == "POST" else EditRunForm(initial=EditRunForm.facts_of(run))
    if form.is_bound and form.is_valid():
        try:
            edit_run(run, form.changes())
        except IngestError as error:
            form.add_error(None, str(error))
        else:
            return redirect_to(request, "run", slug)
    context = {
        "run": run,
        "form": form,
        "weights": Weights.choices,
        "benchmarks": benchmark_names(),
        "inferred_model": "Taken from the file's name. Saving confirms it." if run.model_inferred else "",
        "least": lowest_repetitions(run),
    }
    return render_page(request, "runs/edit.html", context, status=422 if form.errors else 200)


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
