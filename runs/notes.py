"""Notes on attempts and steps: written by people, taken out and brought in as JSON.

In a file a note names its attempt by run, task and repetition, so that it finds the same attempt in another database.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

import msgspec
from django.db import transaction
from django.utils import timezone

from runs.access import Access
from runs.errors import RunsError
from runs.masking import mask_text
from runs.models import Attempt, Note
from runs.naming import UNSTORABLE, storable
from runs.prepare import indexed_text
from runs.querysets import visible_attempts, visible_through

__all__ = [
    "LONGEST_AUTHOR", "LONGEST_LABEL", "LONGEST_TEXT", "FiledNote", "Imported", "NotesError", "add_note", "exported",
    "import_notes", "known_labels",
]  # fmt: skip

LONGEST_LABEL = 60
LONGEST_TEXT = 10_000
LONGEST_AUTHOR = 100
_NAMES = {"label": "label", "text": "comment", "author": "author's name"}
_LARGEST_STEP = 2**31 - 1
_MOST_NOTES = 100_000
_LABELS_SUGGESTED = 200


class NotesError(RunsError):
    """A note or a file of notes that cannot be taken; the message is a sentence. `field`: the one that is wrong."""

    def __init__(self, message: str, field: str = "") -> None:
        super().__init__(message)
        self.field = field


class FiledNote(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A note in a file."""

    run: str
    """The run's slug."""
    task: str
    """The task's uid."""
    repetition: int
    step: int | None = None
    label: str = ""
    text: str = ""
    author: str = ""
    created_at: datetime | None = None


class NotesFile(msgspec.Struct, frozen=True, kw_only=True):
    twentyfold_notes: int
    """The version of the format: 1."""
    notes: list[FiledNote]


class Imported(msgspec.Struct, frozen=True):
    """What became of a file's notes."""

    added: int
    same: int
    """Were here already, word for word."""
    homeless: list[FiledNote]
    """Their attempt is not stored here."""


def add_note(
    attempt: Attempt,
    *,
    step: int | None,
    label: str,
    text: str,
    author: str,
    created_at: datetime | None = None,
) -> Note:
    """Writes a note. Raises `NotesError` for one that says nothing, is too long, holds what cannot be stored, or names
    no step of the attempt."""
    for field, value in (("label", label), ("text", text), ("author", author)):
        if not storable(value):
            raise NotesError(f"The {_NAMES[field]} {UNSTORABLE}", field)
    # Somebody may quote a step: its secrets go into no note.
    text = mask_text(text.replace("\r\n", "\n").strip())
    label, author = " ".join(mask_text(label).split()), " ".join(author.split())
    if not label and not text:
        raise NotesError("The note says nothing. Give a comment or a label.")
    for field, value, longest in (
        ("label", label, LONGEST_LABEL),
        ("text", text, LONGEST_TEXT),
        ("author", author, LONGEST_AUTHOR),
    ):
        if len(value) > longest:
            raise NotesError(f"The {_NAMES[field]} has {len(value):,} characters, and {longest:,} are the most.", field)
    if step is not None and not 0 < step <= max(1, attempt.steps):
        raise NotesError(f"The attempt has no step {step:,}: it has {attempt.steps:,}, counted from 1.")
    return Note.objects.create(
        attempt=attempt,
        step=step,
        label=label,
        text=text,
        author=author,
        created_at=created_at or timezone.now(),
    )


def known_labels(*, access: Access) -> list[str]:
    """Labels in use, by name."""
    seen = Note.objects.filter(visible_through("attempt__run__", access))
    labels = seen.exclude(label="").order_by("label").values_list("label", flat=True).distinct()
    return list(labels[:_LABELS_SUGGESTED])


def exported(*, access: Access) -> Iterator[bytes]:
    """All notes as one JSON file, piece by piece, in a fixed order."""
    yield b'{"twentyfold_notes":1,"notes":['
    seen = Note.objects.filter(visible_through("attempt__run__", access))
    notes = seen.select_related("attempt__run", "attempt__task").order_by(
        "attempt__run__slug", "attempt__task__uid", "attempt__repetition", "created_at", "pk"
    )
    for number, note in enumerate(notes.iterator(chunk_size=1000)):
        filed = FiledNote(
            run=note.attempt.run.slug,
            task=note.attempt.task.uid,
            repetition=note.attempt.repetition,
            step=note.step,
            label=mask_text(note.label),
            text=mask_text(note.text),
            author=note.author,
            created_at=note.created_at,
        )
        yield (b",\n" if number else b"\n") + msgspec.json.encode(filed)
    yield b"\n]}\n"


@transaction.atomic
def import_notes(data: bytes, *, access: Access) -> Imported:
    """Adds a file's notes to the attempts they name; all or nothing. The same file twice adds nothing.

    Raises `NotesError` where it is no such file, or a note in it cannot be taken.
    """
    try:
        filed = msgspec.json.decode(data, type=NotesFile)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise NotesError(f"This is no file of notes as Twentyfold writes them: {error}.") from error
    if filed.twentyfold_notes != 1:
        raise NotesError(f"The file has version {filed.twentyfold_notes} of the format; version 1 is what can be read.")
    if len(filed.notes) > _MOST_NOTES:
        raise NotesError(f"The file has {len(filed.notes):,} notes, and {_MOST_NOTES:,} are the most at once.")
    added = same = 0
    homeless = []
    for number, note in enumerate(filed.notes, start=1):
        attempt = _attempt_of(note, access)
        if attempt is None:
            homeless.append(note)
        elif _is_here(attempt, note):
            same += 1
        else:
            try:
                add_note(
                    attempt,
                    step=note.step,
                    label=note.label,
                    text=note.text,
                    author=note.author,
                    created_at=_aware(note.created_at),
                )
            except NotesError as error:
                raise NotesError(f"Note {number:,} of the file: {error}") from error
            added += 1
    return Imported(added, same, homeless)


def _attempt_of(note: FiledNote, access: Access) -> Attempt | None:
    if not 0 <= note.repetition <= _LARGEST_STEP or "\0" in note.run + note.task:
        return None
    return Attempt.objects.filter(
        visible_attempts(access), run__slug=note.run, task__uid=note.task, repetition=note.repetition, current=True
    ).first()


def _is_here(attempt: Attempt, note: FiledNote) -> bool:
    if note.step is not None and not 0 < note.step <= _LARGEST_STEP:
        return False
    same = Note.objects.filter(
        attempt=attempt,
        step=note.step,
        label=indexed_text(mask_text(note.label), LONGEST_LABEL),
        text=indexed_text(mask_text(note.text), LONGEST_TEXT),
        author=indexed_text(note.author, LONGEST_AUTHOR),
    )
    return same.exists()


def _aware(moment: datetime | None) -> datetime | None:
    """A time without a zone is one in UTC."""
    return moment.replace(tzinfo=moment.tzinfo or timezone.get_default_timezone()) if moment is not None else None
