"""`/runs/<slug>/tasks/<uid>/`: one task in a run, and the way to an attempt. `/tasks/<uid>/`: it across all runs."""

from __future__ import annotations

from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_safe

from inspector.access import access_of, viewers_too
from inspector.filters import page_number
from inspector.http import HtmxHttpRequest, render_page
from runs.queries.task_runs import benchmarks_of, task_across
from runs.queries.tasks import attempt_at, has_task, task_page


@viewers_too
@require_safe
def detail(request: HtmxHttpRequest, slug: str, uid: str) -> HttpResponse:
    return render_page(
        request,
        "tasks/detail.html",
        {"page": task_page(slug, uid, page_number(request.GET), access=access_of(request))},
    )


@viewers_too
@require_safe
def repetition(request: HtmxHttpRequest, slug: str, uid: str, repetition: int) -> HttpResponse:
    """To the attempt that counts at this repetition. An address typed by hand may mean a task whose uid ends so."""
    access = access_of(request)
    found = attempt_at(slug, uid, repetition, access=access)
    if found is not None:
        return HttpResponseRedirect(reverse("attempt", args=[found]))
    if has_task(slug, f"{uid}/{repetition}", access=access):
        return detail(request, slug, f"{uid}/{repetition}")
    raise Http404("This repetition is not recorded.")


@viewers_too
@require_safe
def across(request: HtmxHttpRequest, uid: str) -> HttpResponse:
    access = access_of(request)
    benchmark = request.GET.get("benchmark", "")
    try:
        page = task_across(uid, benchmark, access=access)
    except Http404:
        context = {"uid": uid, "benchmark": benchmark, "benchmarks": benchmarks_of(uid, access=access)}
        return render_page(request, "tasks/unknown.html", context, status=404)
    return render_page(request, "tasks/across.html", {"page": page})
