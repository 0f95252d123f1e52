"""`/attempts/<id>/vs/<id>/` and `/compare/`: two attempts at a task, two runs."""

from __future__ import annotations

from django.http import HttpResponse, QueryDict
from django.views.decorators.http import require_safe

from inspector.access import access_of, evaluators_only, viewers_too
from inspector.charts.compare import moved, reliability
from inspector.charts.data import Chart
from inspector.filters import page_number
from inspector.http import HtmxHttpRequest, render_page, wants_part
from inspector.pair_filters import pair_filters
from inspector.short_addresses import short_address
from runs.queries.compare import compare_page
from runs.queries.compare_runs import compared_runs
from runs.queries.compare_structs import CompareView, ShowLines
from runs.queries.run_worth import worth_of


@evaluators_only
@require_safe
def attempts(request: HtmxHttpRequest, left: int, right: int) -> HttpResponse:
    page = compare_page(left, right, _view(request.GET), access=access_of(request))
    return render_page(request, "compare/attempts.html", {"page": page})


@viewers_too
@require_safe
@short_address(q="", domain="", sort="name", change="", page="1")
def runs(request: HtmxHttpRequest) -> HttpResponse:
    page = compared_runs(pair_filters(request.GET), access=access_of(request))
    charts: list[Chart] = []
    if page.comparison is not None and page.comparison.tasks and not wants_part(request):
        base, candidate = page.names
        charts = [moved(page.comparison, base, candidate)]
        before, after = (worth_of(pk, page.filters.rule) for pk in page.pks)
        if before is not None and after is not None:
            charts.append(reliability(base, before.figures, candidate, after.figures))
    return render_page(request, "compare/runs.html", {"page": page, "charts": charts}, partial="found")


def _view(query: QueryDict) -> CompareView:
    show = query.get("show", "")
    return CompareView(
        show=ShowLines(show) if show in set(ShowLines) else ShowLines.DIFFERENCES,
        thoughts=query.get("thoughts") == "1",
        page=page_number(query),
        everything=query.get("effects") == "all",
    )
