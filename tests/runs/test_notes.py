from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from runs.access import EVERYTHING
from runs.models import Attempt, Note
from runs.naming import UNSTORABLE
from runs.notes import FiledNote, Imported, NotesError, add_note, exported, import_notes, known_labels
from runs.queries.notes import notes_of
from tests.stored import outcomes, store

pytestmark = pytest.mark.django_db
WHEN = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def attempt() -> Attempt:
    store(outcomes("a.py:one", "f"))
    return Attempt.objects.get()


def write(attempt: Attempt, **changes: Any) -> Note:
    return add_note(attempt, **{"step": None, "label": "", "text": "", "author": "", "created_at": WHEN, **changes})


def test_a_note_keeps_what_was_written(attempt: Attempt) -> None:
    write(attempt, step=3, label="  wrong   policy ", text=" one\r\ntwo\n", author=" Ada  W. ")
    write(attempt, text="on the whole<b>")
    rows = [(row.step, row.label, row.text, row.author) for row in notes_of(attempt.pk, access=EVERYTHING)]
    assert rows == [(None, "", "on the whole<b>", ""), (3, "wrong policy", "one\ntwo", "Ada W.")]
    assert known_labels(access=EVERYTHING) == ["wrong policy"]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"text": " \n"}, "The note says nothing. Give a comment or a label."),
        ({"label": "x" * 61}, "The label has 61 characters, and 60 are the most."),
        ({"text": "x" * 10_001}, "The comment has 10,001 characters, and 10,000 are the most."),
        ({"text": "a\0b"}, f"The comment {UNSTORABLE}"),
        ({"label": "a\0"}, f"The label {UNSTORABLE}"),
        ({"text": "x", "author": "\ud800"}, f"The author's name {UNSTORABLE}"),
        ({"label": "x", "step": 0}, "The attempt has no step 0: it has 6, counted from 1."),
        ({"label": "x", "step": 7}, "The attempt has no step 7: it has 6, counted from 1."),
    ],
)
def test_a_note_that_cannot_be_is_refused(attempt: Attempt, changes: dict[str, Any], sentence: str) -> None:
    assert attempt.steps == 6
    with pytest.raises(NotesError) as caught:
        write(attempt, **changes)
    assert (str(caught.value), Note.objects.count()) == (sentence, 0)


def test_notes_go_out_and_come_in_again(attempt: Attempt) -> None:
    write(attempt, step=2, label="odd", text='say "hi"\n<script>', author="Ada")
    write(attempt, text="取消 \u202e")
    data = b"".join(exported(access=EVERYTHING))
    Note.objects.all().delete()
    assert import_notes(data, access=EVERYTHING) == Imported(2, 0, [])
    assert b"".join(exported(access=EVERYTHING)) == data
    assert import_notes(data, access=EVERYTHING) == Imported(0, 2, [])
    assert Note.objects.count() == 2
    assert json.loads(data)["notes"][0] == {
        "run": "desk-birch",
        "task": "a.py:one",
        "repetition": 0,
        "step": 2,
        "label": "odd",
        "text": 'say "hi"\n<script>',
        "author": "Ada",
        "created_at": "2026-03-01T12:00:00Z",
    }


def test_without_notes_the_file_is_whole_json() -> None:
    assert json.loads(b"".join(exported(access=EVERYTHING))) == {"twentyfold_notes": 1, "notes": []}


def test_a_note_without_its_attempt_is_named(attempt: Attempt) -> None:
    lost: list[dict[str, Any]] = [
        {"run": "desk-birch", "task": "a.py:one", "repetition": repetition, "label": "x"}
        for repetition in (7, -1, 2**40)
    ]
    lost.append({"run": "desk\0birch", "task": "a.py:one", "repetition": 0, "label": "x"})
    report = import_notes(json.dumps({"twentyfold_notes": 1, "notes": lost}).encode(), access=EVERYTHING)
    assert report == Imported(0, 0, [FiledNote(**note) for note in lost])


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "This is no file of notes as Twentyfold writes them: "),
        (b"[" * 100_000, "This is no file of notes as Twentyfold writes them: "),
        (b'{"notes": []}', "This is no file of notes as Twentyfold writes them: "),
        (b'{"twentyfold_notes": 2, "notes": []}', "The file has version 2 of the format; "),
        (
            b'{"twentyfold_notes":1,"notes":[{"run":"desk-birch","task":"a.py:one","repetition":0,"label":"ok"},'
            b'{"run":"desk-birch","task":"a.py:one","repetition":0,"step":99,"label":"x"}]}',
            "Note 2 of the file: The attempt has no step 99",
        ),
    ],
)
def test_a_bad_file_adds_nothing(attempt: Attempt, data: bytes, sentence: str) -> None:
    with pytest.raises(NotesError) as caught:
        import_notes(data, access=EVERYTHING)
    assert (str(caught.value).startswith(sentence), Note.objects.count()) == (True, 0)


def test_the_command_writes_and_reads_a_file(
    attempt: Attempt, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(attempt, label="odd")
    path = tmp_path / "notes.json"
    call_command("notes", "export", str(path))
    Note.objects.all().delete()
    call_command("notes", "import", str(path))
    assert capsys.readouterr().out == "1 notes added, 0 here already, 0 without their attempt\n"
    assert Note.objects.get().label == "odd"
    with pytest.raises(CommandError, match="No such file"):
        call_command("notes", "import", str(tmp_path / "none.json"))
