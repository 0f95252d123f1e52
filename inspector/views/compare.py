"""`/attempts/<id>/vs/<id>/` and `/compare/`: two attempts at a task, two runs."""

from __future__ import annotations

from django.http import HttpResponse, QueryDict
from django.views.decorators.http import require_safe

from inspector.filters import page_number
from inspector.http import HtmxHttpRequest, render_page
from runs.queries.compare import compare_page
from runs.queries.compare_structs import CompareView, ShowLines


@require_safe
def attempts(request: HtmxHttpRequest, left: int, right: int) -> HttpResponse:
    page = compare_page(left, right, _view(request.GET))
    return render_page(request, "compare/attempts.html", {"page": page})


def _view(query: QueryDict) -> CompareView:
    show = query.get("show", "")
    return CompareView(
        show=ShowLines(show) if show in set(ShowLines) else ShowLines.DIFFERENCES,
        thoughts=query.get("thoughts") == "1",
        page=page_number(query),
        everything=query.get("effects") == "all",
    )
