"""`/search/`: one field for everything."""

from __future__ import annotations

from django.http import HttpResponse
from django.views.decorators.http import require_safe

from inspector.access import access_of, viewers_too
from inspector.http import HtmxHttpRequest, render_page
from runs.queries.everywhere import search_everywhere

_LONGEST = 400


@viewers_too
@require_safe
def index(request: HtmxHttpRequest) -> HttpResponse:
    found = search_everywhere(request.GET.get("q", "").strip()[:_LONGEST], access=access_of(request))
    return render_page(request, "search/index.html", {"found": found})
