"""Texts that a column cannot take: U+0000, half of a surrogate pair, more characters than there is room for.

SQLite would take all of it, PostgreSQL none: on either, each writing operation refuses it and names the field, and
nothing is stored.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db.models import Model
from django.http.response import HttpResponseBase
from django.test import Client

from runs.models import Attempt, Benchmark, Leaderboard, Note, PriceList, Run, RunPricing, SavedView, Upload
from runs.pricing import COLUMNS
from tests.stored import outcomes, store

pytestmark = pytest.mark.django_db
WRITTEN: tuple[type[Model], ...] = (
    Attempt, Benchmark, Leaderboard, Note, PriceList, Run, RunPricing, SavedView, Upload,
)  # fmt: skip
PRICE = {"model": "ash", "input": "1", "output": "2"}


@pytest.fixture
def run() -> Run:
    return store(outcomes("desk.py:test_1", "pf"), repetitions=2)


def counts() -> dict[str, int]:
    return {model.__name__: model._default_manager.count() for model in WRITTEN}


# --- The API ----------------------------------------------------------------------------------------------------------


def address_of(operation: str, run: Run) -> str:
    attempt = Attempt.objects.filter(run=run)[0].pk
    return f"/api/v1{operation.format(attempt=attempt)}"


API: dict[str, Mapping[str, Any]] = {
    "/runs": {"model": "m", "benchmark": "b"},
    "/attempts/{attempt}/notes": {"text": "x"},
    "/uploads/1/answer": {"model": "m"},
}
"""Operation → a body that it takes."""
FIELDS = {
    "/runs": {"model": 200, "benchmark": 200, "slug": 200, "provider": 200, "note": 10_000},
    "/attempts/{attempt}/notes": {"label": 60, "text": 10_000, "author": 100},
    "/uploads/1/answer": {"model": 200, "benchmark": 200, "run": 200},
}
"""The most characters of each text."""


@pytest.mark.parametrize("text", ["a\0b", "a\ud800b", "{long}"], ids=["nul", "surrogate", "long"])
@pytest.mark.parametrize(
    ("operation", "field"), [(operation, field) for operation, fields in FIELDS.items() for field in fields]
)
def test_the_api_names_the_field(client: Client, run: Run, operation: str, field: str, text: str) -> None:
    before = counts()
    value = text.format(long="x" * (FIELDS[operation][field] + 1))
    answer = client.post(
        address_of(operation, run), json.dumps({**API[operation], field: value}), content_type="application/json"
    )
    assert (answer.status_code, answer["Content-Type"]) == (422, "application/problem+json"), answer.content
    assert [(error["field"], error["place"]) for error in answer.json()["errors"]] == [(field, "body")]
    assert counts() == before


@pytest.mark.parametrize("parameters", [{"a\0": "x"}, {"a": "x\0"}, {"a": "\udc00"}], ids=["key", "value", "surrogate"])
def test_so_it_does_within_an_object(client: Client, run: Run, parameters: dict[str, str]) -> None:
    before = counts()
    body = {"model": "m", "benchmark": "b", "parameters": parameters}
    answer = client.post("/api/v1/runs", json.dumps(body), content_type="application/json")
    assert answer.status_code == 422, answer.content
    assert [error["field"].partition(".")[0] for error in answer.json()["errors"]] == ["parameters"]
    assert counts() == before


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("two\nlines", "model: It holds a line break or another control character. Write it without."),
        ("  ", "model: says nothing. Write at least one letter or digit."),
        ("a\0b", "model: holds U+0000 or half of a surrogate pair, which no text here can have. Write it without."),
    ],
    ids=["two lines", "blank", "nul"],
)
def test_a_name_is_one_line(client: Client, run: Run, name: str, sentence: str) -> None:
    body = {"model": name, "benchmark": "b"}
    answer = client.post("/api/v1/runs", json.dumps(body), content_type="application/json")
    assert (answer.status_code, answer.json()["detail"]) == (422, sentence)


def test_the_longest_names_fit(client: Client, run: Run) -> None:
    """On a database that counts them."""
    sizes = FIELDS["/runs"]
    body = {name: "x" * size for name, size in sizes.items()}
    assert client.post("/api/v1/runs", json.dumps(body), content_type="application/json").status_code == 201
    note = {name: "x" * size for name, size in FIELDS["/attempts/{attempt}/notes"].items()}
    made = client.post(address_of("/attempts/{attempt}/notes", run), json.dumps(note), content_type="application/json")
    assert made.status_code == 201
    assert {name: len(made.json()[name]) for name in note} == FIELDS["/attempts/{attempt}/notes"]


def test_a_label_that_masking_makes_too_long_is_named_too(client: Client, run: Run) -> None:
    label = "pwd=hunter2 " * 4
    answer = client.post(
        address_of("/attempts/{attempt}/notes", run), json.dumps({"label": label}), content_type="application/json"
    )
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "label")


@pytest.mark.parametrize("name", ["model", "benchmark", "run", "name"])
def test_what_is_said_of_a_file_in_the_address(client: Client, run: Run, name: str) -> None:
    before = counts()
    for value in ("a%00b", "x" * 501):
        answer = client.put(f"/api/v1/uploads/{'0' * 64}?{name}={value}", b"x", "application/octet-stream")
        assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, name)
    assert counts() == before


@pytest.mark.parametrize("uid", ["a\0b", "x" * 1001], ids=["nul", "long"])
def test_a_pushed_row_is_refused_by_its_line(client: Client, run: Run, uid: str) -> None:
    rows = b"".join(json.dumps(row).encode() + b"\n" for row in outcomes(uid, "p"))
    answer = client.post(f"/api/v1/runs/{run.slug}/attempts", rows, content_type="application/x-ndjson")
    [line] = answer.json()["lines"]
    assert (answer.status_code, line["outcome"], line["reason"].partition(":")[0]) == (200, "rejected", "uid")
    assert Attempt.objects.count() == 2


# --- Pages ------------------------------------------------------------------------------------------------------------


def note(client: Client, run: Run, **changes: str) -> HttpResponseBase:
    attempt = Attempt.objects.filter(run=run)[0].pk
    return client.post(f"/attempts/{attempt}/notes/", {"text": "x", **changes})


def view(client: Client, run: Run, **changes: str) -> HttpResponseBase:
    return client.post("/failures/views/", {"name": "Mine", "query": "q=x", **changes})


def board(client: Client, run: Run, **changes: str) -> HttpResponseBase:
    sent = {"title": "Desk", "runs": [run.slug], "order": "pass_at_1", "error_rule": "failed", "columns": ["interval"]}
    return client.post("/leaderboards/new/", {**sent, **changes})


def price_list(client: Client, run: Run, **changes: str) -> HttpResponseBase:
    row = {name: [PRICE.get(name, "")] for name in COLUMNS}
    return client.post("/prices/new/", {"name": "Desk", **row, **changes})


def price_file(client: Client, run: Run, **changes: str) -> HttpResponseBase:
    """As JSON, in which a text can hold anything."""
    entry = {"model": "ash", "provider": "Host", "input": "1", "output": "2", **changes}
    lines = [f"  {name}: {json.dumps(value)}" for name, value in entry.items()]
    content = "-" + "\n".join(lines)[1:]
    return client.post("/prices/new/", {"name": "Desk", "file": SimpleUploadedFile("p.yaml", content.encode())})


def edited_run(client: Client, run: Run, **changes: str) -> HttpResponseBase:
    sent = {"model": "birch", "benchmark": "desk", "repetitions": "2", "priced_by": ""}
    return client.post(f"/runs/{run.slug}/edit/", {**sent, **changes})


PAGES: dict[Callable[..., HttpResponseBase], dict[str, int]] = {
    note: {"label": 60, "text": 10_000, "author": 100},
    view: {"name": 100},
    board: {"title": 200, "text": 5000},
    price_list: {"name": 200, "model": 200, "provider": 200, "file_source": 500},
    price_file: {"model": 200, "provider": 200, "source": 500},
    edited_run: {"model": 200, "benchmark": 200, "provider": 200, "note": 10_000, "price_model": 200},
}
"""Form → the most characters of each text in it."""


@pytest.mark.parametrize("text", ["a\0b", "{long}"], ids=["nul", "long"])
@pytest.mark.parametrize(
    ("form", "field"),
    [pytest.param(form, field, id=f"{form.__name__} {field}") for form, fields in PAGES.items() for field in fields],
)
def test_a_form_comes_back(
    client: Client, run: Run, form: Callable[..., HttpResponseBase], field: str, text: str
) -> None:
    before, facts = counts(), Run.objects.values().get()
    answer = form(client, run, **{field: text.format(long="x" * (PAGES[form][field] + 1))})
    assert answer.status_code == 422
    assert (counts(), Run.objects.values().get()) == (before, facts)


@pytest.mark.parametrize("form", PAGES, ids=lambda form: form.__name__)
def test_a_form_with_the_longest_texts_is_taken(
    client: Client, run: Run, form: Callable[..., HttpResponseBase]
) -> None:
    assert form(client, run, **{field: "x" * size for field, size in PAGES[form].items()}).status_code == 303


def test_the_note_of_a_price_lists_version(client: Client, run: Run) -> None:
    assert price_list(client, run).status_code == 303
    row = {name: [{**PRICE, "input": "3"}.get(name, "")] for name in COLUMNS}
    for unfit in ("a\0b", "x" * 2001):
        answer = client.post("/prices/desk/edit/", {"version": "1", "note": unfit, **row})
        assert (answer.status_code, PriceList.objects.count()) == (422, 1)
        assert '<p class="bad" id="id_note_about">' in answer.content.decode()
    assert client.post("/prices/desk/edit/", {"version": "1", "note": "x" * 2000, **row}).status_code == 303


def test_a_file_of_notes_is_refused_as_a_whole(client: Client, run: Run) -> None:
    filed = [{"run": run.slug, "task": "desk.py:test_1", "repetition": 0, "text": text} for text in ("fine", "a\0b")]
    content = json.dumps({"twentyfold_notes": 1, "notes": filed}).encode()
    answer = client.post("/notes/import/", {"file": SimpleUploadedFile("notes.json", content)})
    assert (answer.status_code, Note.objects.count()) == (422, 0)
    assert "Note 2 of the file: The comment holds U+0000" in answer.content.decode()
