"""What pages show of notes."""

from __future__ import annotations

from datetime import datetime
from urllib.parse import urlencode

import msgspec

from runs.access import Access
from runs.masking import mask_text
from runs.models import Note
from runs.notes import known_labels
from runs.queries.paging import Page, page_of
from runs.querysets import for_evaluators, visible_through

__all__ = ["NoteRow", "NotesPage", "notes_of", "notes_page"]

NOTES_PER_PAGE = 50
_MOST_ON_ATTEMPT = 200


LONG = 400
"""Characters of a note beyond which it is folded."""
_MOST_LINES = 6


class NoteRow(msgspec.Struct, frozen=True, kw_only=True):
    pk: int
    attempt: int
    step: int | None
    label: str
    text: str
    author: str
    created_at: datetime
    where: str = ""
    """The task's name; only in a list over attempts, as the next two."""
    model: str = ""
    repetition: int = 0

    @property
    def is_long(self) -> bool:
        """Lists fold it: only its beginning is shown until it is opened."""
        return len(self.text) > LONG or self.text.count("\n") > _MOST_LINES

    @property
    def beginning(self) -> str:
        """The first words, on one line."""
        return " ".join(self.text[:LONG].split())[: LONG // 2]

    @property
    def query(self) -> str:
        """Of the address that lists the failures with its label."""
        return urlencode({"note": self.label})


class NotesPage(msgspec.Struct, frozen=True, kw_only=True):
    rows: list[NoteRow]
    page: Page
    labels: list[str]


def notes_of(attempt: int, *, access: Access) -> list[NoteRow]:
    """The notes on an attempt: on the whole first, then by step. One query."""
    for_evaluators(access)
    notes = Note.objects.filter(visible_through("attempt__run__", access), attempt=attempt).order_by(
        "created_at", "pk"
    )[:_MOST_ON_ATTEMPT]
    return sorted((_row(note) for note in notes), key=lambda row: row.step or 0)


def notes_page(number: int, *, access: Access) -> NotesPage:
    """All notes, the latest first."""
    for_evaluators(access)
    seen = Note.objects.filter(visible_through("attempt__run__", access))
    page = page_of(seen.count(), number, NOTES_PER_PAGE)
    notes = seen.select_related("attempt__run", "attempt__task").order_by("-created_at", "-pk")
    rows = [
        msgspec.structs.replace(
            _row(note),
            where=note.attempt.task.name,
            model=note.attempt.run.model,
            repetition=note.attempt.repetition,
        )
        for note in notes[max(0, page.first - 1) : page.last]
    ]
    return NotesPage(rows=rows, page=page, labels=known_labels(access=access))


def _row(note: Note) -> NoteRow:
    return NoteRow(
        pk=note.pk,
        attempt=note.attempt_id,
        step=note.step,
        label=mask_text(note.label),
        text=mask_text(note.text),
        author=note.author,
        created_at=note.created_at,
    )
