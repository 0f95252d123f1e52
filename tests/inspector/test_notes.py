from __future__ import annotations

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from runs.models import Attempt, Note
from tests.stored import outcomes, store

pytestmark = pytest.mark.django_db
HOSTILE = "</textarea><script>alert(1)</script>\u202e{{ 7 }}"
SHOWN = "&lt;/textarea&gt;&lt;script&gt;alert(1)&lt;/script&gt;⟨U+202E⟩{{ 7 }}"


@pytest.fixture
def pk() -> int:
    store(outcomes("a.py:one", "f"))
    return Attempt.objects.get().pk


def text_of(client: Client, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200
    return " ".join(answer.content.decode().split())


def test_a_note_is_written_shown_and_deleted(client: Client, pk: int) -> None:
    assert "Add a note" in text_of(client, f"/attempts/{pk}/")
    answer = client.post(f"/attempts/{pk}/notes/", {"text": "Look", "label": "odd", "step": "2", "author": "Ada"})
    assert (answer.status_code, answer.headers["Location"]) == (303, f"/attempts/{pk}/notes/#notes")
    trace = text_of(client, f"/attempts/{pk}/")
    assert '<span class="dim">step 2</span> <bdi>odd</bdi>' in trace
    assert "1 note<" in trace
    text = text_of(client, f"/attempts/{pk}/notes/")
    assert '<a class="tag note" href="/failures/?note=odd"' in text
    assert f'<a href="/attempts/{pk}/?step=2">step 2</a>' in text
    assert '<option value="odd">' in text
    assert "repetition 0, step 2" in text_of(client, "/notes/")
    assert client.post(f"/notes/{Note.objects.get().pk}/delete/").status_code == 303
    assert Note.objects.count() == 0


@pytest.mark.parametrize(
    ("step", "sentence"),
    [
        ("99", "The attempt has no step 99: it has "),
        ("0", "The attempt has no step 0: it has "),
        ("9" * 12, "The attempt has no step 999,999,999,999: it has "),
        ("abc", "&quot;abc&quot; is no step number."),
        ("-1", "&quot;-1&quot; is no step number."),
        ("1.5", "&quot;1.5&quot; is no step number."),
        ("٣", "&quot;٣&quot; is no step number."),
        ("9" * 5000, f"&quot;{'9' * 20}…&quot; is no step number."),
        ("<b>\u202e", "&quot;&lt;b&gt;⟨U+202E⟩&quot; is no step number."),
    ],
)
def test_a_note_on_no_step_comes_back_with_what_was_typed(step: str, sentence: str, client: Client, pk: int) -> None:
    answer = client.post(f"/attempts/{pk}/notes/", {"text": "Look", "step": step})
    text = answer.content.decode()
    assert answer.status_code == 422
    assert sentence in text
    assert ">Look</textarea>" in text
    assert Note.objects.count() == 0


@pytest.mark.parametrize("headers", [{}, {"HX-Request": "true"}])
def test_an_empty_note_says_why_it_is_not_written(headers: dict[str, str], client: Client, pk: int) -> None:
    answer = client.post(f"/attempts/{pk}/notes/", {"text": " \n", "label": " ", "step": " 2 "}, headers=headers)
    assert answer.status_code == 422
    assert "The note says nothing. Give a comment or a label." in answer.content.decode()
    assert Note.objects.count() == 0


def test_the_step_of_a_note_may_have_blanks_round_it(client: Client, pk: int) -> None:
    assert client.post(f"/attempts/{pk}/notes/", {"text": "Look", "step": " 2 "}).status_code == 303
    assert Note.objects.get().step == 2


def test_an_attempt_that_is_not_there_has_no_notes(client: Client) -> None:
    assert client.get("/attempts/77/notes/").status_code == 404
    assert client.post("/notes/77/delete/").status_code == 404
    assert client.get("/notes/1/delete/").status_code == 405


def test_hostile_notes_are_text(client: Client, pk: int) -> None:
    client.post(f"/attempts/{pk}/notes/", {"text": HOSTILE, "label": "<b>" + "\u202e", "author": HOSTILE})
    for address in (f"/attempts/{pk}/", f"/attempts/{pk}/notes/", "/notes/", "/failures/"):
        text = text_of(client, address)
        assert "<script>alert" not in text
        assert "&lt;b&gt;⟨U+202E⟩" in text
    assert SHOWN in text_of(client, "/notes/")


def test_notes_go_out_and_come_in(client: Client, pk: int) -> None:
    client.post(f"/attempts/{pk}/notes/", {"label": "odd"})
    answer = client.get("/notes/notes.json")
    data = b"".join(answer.streaming_content)  # type: ignore[attr-defined]
    Note.objects.all().delete()
    filed = json.loads(data)
    filed["notes"].append({**filed["notes"][0], "repetition": 5})
    file = SimpleUploadedFile("notes.json", json.dumps(filed).encode())
    text = " ".join(client.post("/notes/import/", {"file": file}).content.decode().split())
    assert "1 note added, 0 were here already. 1 note has no attempt here:" in text
    assert Note.objects.get().label == "odd"


def test_what_is_no_file_of_notes_is_refused(client: Client) -> None:
    assert client.post("/notes/import/").status_code == 422
    answer = client.post("/notes/import/", {"file": SimpleUploadedFile("x.json", b"<script>")})
    assert answer.status_code == 422
    assert "This is no file of notes" in answer.content.decode()


def test_long_notes_are_folded_in_lists(client: Client) -> None:
    store(outcomes("a.py:one", "f"))
    attempt = Attempt.objects.get()
    for text in ("short", "long " * 200):
        Note.objects.create(attempt=attempt, text=text, created_at=timezone.now())
    page = client.get("/notes/").content.decode()
    assert page.count('<details class="said"') == 1
    assert page.count("<summary>") == 1
