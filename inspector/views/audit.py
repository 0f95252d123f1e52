"""`/audit/`: who did what, and when. For admins."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlencode

from django.db.models import QuerySet
from django.http import HttpResponse, QueryDict, StreamingHttpResponse
from django.views.decorators.http import require_safe

from inspector.access import admins_only
from inspector.audit import TITLES, Action
from inspector.csv_lines import csv_lines
from inspector.filters import page_number
from inspector.http import HtmxHttpRequest, render_page
from inspector.models import AuditEntry
from runs.queries.paging import page_of

ENTRIES_PER_PAGE = 100
_LONGEST = 200
_HEAD = ("at", "who", "action", "about", "details")


@admins_only
@require_safe
def index(request: HtmxHttpRequest) -> HttpResponse:
    """The newest first; `?action=` and `?who=` narrow it."""
    found = _found(request.GET)
    page = page_of(found.count(), page_number(request.GET), ENTRIES_PER_PAGE)
    context = {
        "entries": [(entry, _title(entry)) for entry in found[max(0, page.first - 1) : page.last]],
        "page": page,
        "actions": [(action.value, TITLES[action], action.value == _action(request.GET)) for action in Action],
        "who": _who(request.GET),
        "query": urlencode({"action": _action(request.GET), "who": _who(request.GET)}),
    }
    return render_page(request, "account/audit.html", context)


@admins_only
@require_safe
def export(request: HtmxHttpRequest) -> StreamingHttpResponse:
    """What the filters leave, all of it, as CSV."""
    response = StreamingHttpResponse(
        csv_lines(_HEAD, _rows(_found(request.GET))), content_type="text/csv; charset=utf-8"
    )
    response["Content-Disposition"] = 'attachment; filename="audit.csv"'
    return response


def _rows(entries: QuerySet[AuditEntry]) -> Iterator[tuple[str, ...]]:
    for entry in entries.iterator(chunk_size=2000):
        yield entry.at.isoformat(), entry.who, entry.action, entry.about, entry.details


def _found(query: QueryDict) -> QuerySet[AuditEntry]:
    entries = AuditEntry.objects.order_by("-at", "-pk")
    if action := _action(query):
        entries = entries.filter(action=action)
    if who := _who(query):
        entries = entries.filter(who__icontains=who)
    return entries


def _action(query: QueryDict) -> str:
    text = query.get("action", "")
    return text if text in set(Action) else ""


def _who(query: QueryDict) -> str:
    return query.get("who", "").replace("\0", "").strip()[:_LONGEST]


def _title(entry: AuditEntry) -> str:
    return TITLES[Action(entry.action)] if entry.action in set(Action) else entry.action
