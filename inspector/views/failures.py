"""`/failures/`: failed attempts of all runs, what they are filtered by, the list as a file, and named views of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
from django.http import Http404, HttpRequest, HttpResponse, QueryDict, StreamingHttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from inspector.access import access_of, evaluators_only, writers_only
from inspector.csv_lines import csv_lines
from inspector.error_filters import error_filters
from inspector.failure_filters import failure_filters
from inspector.http import HtmxHttpRequest, redirect_to, render_page
from inspector.short_addresses import short_address
from runs.models import SavedView
from runs.queries.errors import error_page, runs_again
from runs.queries.failure_rows import FailureRow
from runs.queries.failures import failed_rows, failure_page
from runs.queries.look_next import look_next
from runs.saved_views import NameTaken, SavedViewError, save_view, saved_views

_HEAD = (
    "run", "model", "benchmark", "domain", "task", "repetition", "signature", "finish_reason", "looked_like_success",
    "claimed_success", "check_and_diff_disagree", "steps", "writes", "tool_errors", "tokens", "duration", "differences",
    "kind", "table", "key", "field", "is", "required", "notes", "claim", "address", "also_in",
)  # fmt: skip


@evaluators_only
@require_safe
@short_address(q="", sort="task", group="same", page="1")
def index(request: HtmxHttpRequest) -> HttpResponse:
    page = failure_page(failure_filters(request.GET), access=access_of(request))
    context = {"page": page, "views": saved_views()}
    return render_page(request, "failures/index.html", context, partial="found")


@evaluators_only
@require_safe
def export(request: HtmxHttpRequest, kind: str) -> StreamingHttpResponse:
    """The list with its filters, all pages of it, as `csv` or `json`."""
    filters = failure_filters(request.GET)
    return _file(request, kind, "failures", _HEAD, failed_rows(filters, access=access_of(request)), _cells)


@writers_only
@require_POST
def save(request: HtmxHttpRequest) -> HttpResponse:
    """Keeps the filters under a name. Asks before it replaces other filters of that name."""
    filters = failure_filters(QueryDict(request.POST.get("query", "")))
    name = request.POST.get("name", "")
    try:
        save_view(name, filters, replace="replace" in request.POST)
    except SavedViewError as error:
        context = {
            "problem": str(error),
            "taken": isinstance(error, NameTaken),
            "name": name,
            "query": filters.but().query(),
        }
        return render_page(request, "failures/save_view.html", context, status=422)
    return redirect_to(request, f"{reverse('failures')}?{filters.but().query()}")


@writers_only
@require_http_methods(["GET", "HEAD", "POST"])
def forget(request: HtmxHttpRequest, pk: int) -> HttpResponse:
    """Asks first. The attempts that the view shows stay."""
    view = get_object_or_404(SavedView, pk=pk)
    if request.method == "POST":
        view.delete()
        return redirect_to(request, f"{reverse('failures')}?{view.query}")
    return render_page(request, "failures/delete_view.html", {"view": view})


@evaluators_only
@require_safe
def look(request: HtmxHttpRequest) -> HttpResponse:
    """What deserves a look; for htmx the list alone, for the page of runs."""
    return render_page(request, "failures/next.html", {"looks": look_next(access=access_of(request))}, partial="next")


@evaluators_only
@require_safe
@short_address(run="", retryable="", page="1")
def errors(request: HtmxHttpRequest) -> HttpResponse:
    page = error_page(error_filters(request.GET), access=access_of(request))
    return render_page(request, "failures/errors.html", {"page": page}, partial="found")


@evaluators_only
@require_safe
def again(request: HtmxHttpRequest, kind: str) -> StreamingHttpResponse:
    """Which (uid, repetition) to run again, as `csv` or `json`."""
    rows = runs_again(error_filters(request.GET), access=access_of(request))
    head = ("run", "uid", "repetition", "class", "retryable")
    return _file(request, kind, "run-again", head, rows, lambda row: msgspec.structs.astuple(row))


def _file(
    request: HttpRequest, kind: str, name: str, head: tuple[str, ...], rows: Iterable[Any], cells: Any
) -> StreamingHttpResponse:
    if kind not in {"csv", "json"}:
        raise Http404
    lines = csv_lines(head, (cells(row) for row in rows)) if kind == "csv" else _json(rows)
    content_type = "text/csv; charset=utf-8" if kind == "csv" else "application/json"
    response = StreamingHttpResponse(lines, content_type=content_type)
    response["Content-Disposition"] = f'attachment; filename="{name}.{kind}"'
    return response


def _json(rows: Iterable[msgspec.Struct]) -> Iterator[bytes]:
    yield b"["
    for number, row in enumerate(rows):
        yield (b",\n" if number else b"\n") + msgspec.json.encode(row)
    yield b"\n]\n"


def _cells(row: FailureRow) -> tuple[object, ...]:
    effect = msgspec.structs.astuple(row.effects[0]) if row.effects else ("",) * 6
    return (
        row.run, row.model, row.benchmark, row.domain, row.uid, row.repetition, row.signature, row.finish_reason,
        row.looked_like_success, row.claimed_success, row.disagrees, row.steps, row.writes, row.tool_errors, row.tokens,
        row.duration, row.differences,
        *effect, ", ".join(row.notes), row.claim, reverse("attempt", args=[row.pk]),
        " ".join(row.elsewhere),
    )  # fmt: skip
