"""Notes on attempts and their steps."""

from __future__ import annotations

from typing import Annotated

from django.http import HttpRequest, HttpResponse
from ninja import Field, Query, Router

from inspector.api.answers import json_answer
from inspector.api.auth import access, needs
from inspector.api.bodies import WHOLE, Body
from inspector.api.errors import Problem, bad_field, not_found
from inspector.api.operations import AttemptId, Id, Listing, operation, reads_list
from inspector.api.pagination import InPages, Items, Slice, cut
from inspector.api.plain import plain
from inspector.api.visibility import attempt_or_404, visible_attempts
from runs.models import Attempt, Note
from runs.notes import LONGEST_AUTHOR, LONGEST_LABEL, LONGEST_TEXT, NotesError, add_note
from runs.queries.notes import NOTES_PER_PAGE, NoteRow, notes_of, notes_page
from runs.queries.paging import Page

router = Router()
EVALUATORS = needs(evaluates=True)
StepNumber = Annotated[int, Field(ge=1, le=2**31 - 1), WHOLE]


class NewNote(Body):
    """A comment, a label, or both."""

    step: StepNumber | None = Field(None, description="From 1; null: the attempt as a whole.")
    label: str = Field("", description="A word to filter by.", max_length=LONGEST_LABEL)
    text: str = Field("", max_length=LONGEST_TEXT)
    author: str = Field("", max_length=LONGEST_AUTHOR)


@reads_list(router, "/notes", NoteRow, check=EVALUATORS)
def index(request: HttpRequest, query: Query[Listing]) -> Slice[NoteRow]:
    """All notes, the latest first."""

    def page(number: int) -> tuple[list[NoteRow], Page]:
        found = notes_page(number, access=access(request))
        return found.rows, found.page

    return cut(request, InPages(page, NOTES_PER_PAGE), lambda row: row.pk, cursor=query.cursor, limit=query.limit)


@reads_list(router, "/attempts/{attempt_id}/notes", NoteRow, check=EVALUATORS)
def of_attempt(request: HttpRequest, attempt_id: AttemptId, query: Query[Listing]) -> Slice[NoteRow]:
    """The notes on an attempt: on the whole first, then by step."""
    rows = Items(notes_of(attempt_or_404(attempt_id, access(request)).pk, access=access(request)))
    return cut(request, rows, lambda row: row.pk, cursor=query.cursor, limit=query.limit)


@operation(
    router,
    ["POST"],
    "/attempts/{attempt_id}/notes",
    {201: ("application/json", {"$struct": NoteRow}, {"id": 1, "attempt": 7, "step": 3, "label": "policy gap"})},
    check=needs(evaluates=True, writes=True),
)
def add(request: HttpRequest, attempt_id: AttemptId, note: NewNote) -> HttpResponse:
    """Writes a note on an attempt, or on one of its steps."""
    who = access(request)
    attempt = attempt_or_404(attempt_id, who)
    try:
        made = add_note(attempt, step=note.step, label=note.label, text=note.text, author=who.name or note.author)
    except NotesError as error:
        if error.field:
            raise bad_field(error.field, str(error), place="body") from None
        raise Problem(409, str(error)) from None
    row = next(row for row in notes_of(attempt.pk, access=who) if row.pk == made.pk)
    return json_answer(request, plain(row), 201)


@operation(router, ["DELETE"], "/notes/{note_id}", {204: None}, check=needs(evaluates=True, writes=True))
def remove(request: HttpRequest, note_id: Id) -> HttpResponse:
    """Deletes a note."""
    seen = Attempt.objects.filter(visible_attempts(access(request)))
    if not Note.objects.filter(pk=note_id, attempt__in=seen).delete()[0]:
        raise not_found("There is no note with this id.")
    return HttpResponse(status=204)
