"""Notes: on the page of an attempt, and `/notes/` for all of them, out and in as JSON."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from inspector.access import access_of, evaluators_only, writers_only
from inspector.filters import page_number
from inspector.http import HtmxHttpRequest, redirect_to, render_page
from runs.models import Attempt, Note
from runs.notes import (
    LONGEST_AUTHOR,
    LONGEST_LABEL,
    LONGEST_TEXT,
    Imported,
    NotesError,
    add_note,
    exported,
    known_labels,
)
from runs.notes import import_notes as import_file
from runs.queries.notes import notes_of, notes_page
from runs.querysets import visible_attempts, visible_through

_LARGEST_FILE = 32 * 1024 * 1024
_LONGEST_STEP = 20
"""Characters of a step's number."""
LIMITS = {"label": LONGEST_LABEL, "text": LONGEST_TEXT, "author": LONGEST_AUTHOR}


@evaluators_only
@require_safe
def index(request: HtmxHttpRequest) -> HttpResponse:
    return _index(request)


@evaluators_only
@require_http_methods(["GET", "HEAD", "POST"])
def of_attempt(request: HtmxHttpRequest, pk: int) -> HttpResponse:
    """The notes on an attempt, and a form for one more."""
    access = access_of(request)
    attempt = get_object_or_404(Attempt.objects.filter(visible_attempts(access)).select_related("run", "task"), pk=pk)
    problem = ""
    if request.method == "POST":
        try:
            add_note(
                attempt,
                step=_step(request.POST.get("step", "")),
                label=request.POST.get("label", ""),
                text=request.POST.get("text", ""),
                author=request.POST.get("author", ""),
            )
        except NotesError as error:
            problem = str(error)
        else:
            return redirect_to(request, f"{reverse('attempt_notes', args=[pk])}#notes")
    context = {
        "attempt": attempt,
        "notes": notes_of(pk, access=access),
        "labels": known_labels(access=access),
        "limits": LIMITS,
        "problem": problem,
        "typed": request.POST if problem else {"step": request.GET.get("step", "")},
    }
    return render_page(request, "notes/attempt.html", context, partial="notes", status=422 if problem else 200)


@writers_only
@require_POST
def delete(request: HtmxHttpRequest, pk: int) -> HttpResponse:
    note = get_object_or_404(Note, visible_through("attempt__run__", access_of(request)), pk=pk)
    note.delete()
    return redirect_to(request, f"{reverse('attempt_notes', args=[note.attempt_id])}#notes")


@evaluators_only
@require_safe
def export(request: HttpRequest) -> StreamingHttpResponse:
    response = StreamingHttpResponse(exported(access=access_of(request)), content_type="application/json")
    response["Content-Disposition"] = 'attachment; filename="notes.json"'
    return response


@writers_only
@require_POST
def import_notes(request: HtmxHttpRequest) -> HttpResponse:
    """Adds the notes of a file, and says what became of them."""
    file = request.FILES.get("file")
    if file is None or not file.size:
        return _index(request, problem="No file was chosen.", status=422)
    if file.size > _LARGEST_FILE:
        return _index(request, problem="The file is larger than 32 MB, the most that is read here.", status=422)
    try:
        report = import_file(file.read(), access=access_of(request))
    except NotesError as error:
        return _index(request, problem=str(error), status=422)
    return _index(request, report=report)


def _index(
    request: HtmxHttpRequest, *, problem: str = "", report: Imported | None = None, status: int = 200
) -> HttpResponse:
    context = {
        "page": notes_page(page_number(request.GET), access=access_of(request)),
        "problem": problem,
        "report": report,
    }
    return render_page(request, "notes/index.html", context, status=status)


def _step(text: str) -> int | None:
    """None: the attempt as a whole. Raises `NotesError` for what is no number."""
    text = text.strip()
    if not text:
        return None
    if not (text.isascii() and text.isdecimal()) or len(text) > _LONGEST_STEP:
        shown = text if len(text) <= _LONGEST_STEP else text[:_LONGEST_STEP] + "…"
        raise NotesError(f'"{shown}" is no step number. Leave the step empty for a note on the whole attempt.')
    return int(text)
