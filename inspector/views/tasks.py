"""`/runs/<slug>/tasks/<uid>/`: one task in a run, its attempts side by side."""

from __future__ import annotations

from django.http import HttpResponse
from django.views.decorators.http import require_safe

from inspector.filters import page_number
from inspector.http import HtmxHttpRequest, render_page
from runs.queries.tasks import task_page


@require_safe
def detail(request: HtmxHttpRequest, slug: str, uid: str) -> HttpResponse:
    return render_page(request, "tasks/detail.html", {"page": task_page(slug, uid, page_number(request.GET))})
