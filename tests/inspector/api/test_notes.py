"""`/api/v1/notes`."""

from __future__ import annotations

import json
from typing import Any

from django.test import Client

from runs.models import Attempt, Note, Run
from tests.inspector.api.conftest import Get


def post(client: Client, attempt: int, **note: Any) -> Any:
    return client.post(f"/api/v1/attempts/{attempt}/notes", json.dumps(note), content_type="application/json")


def test_a_note_is_written_listed_and_deleted(client: Client, birch: Run, get: Get) -> None:
    attempt = Attempt.objects.filter(run=birch).order_by("pk")[0].pk
    made = post(client, attempt, label="policy gap", text="Says nothing of mixers.", author="Ada", step=2)
    assert (made.status_code, made.json()["label"], made.json()["step"]) == (201, "policy gap", 2)
    assert get(f"/attempts/{attempt}/notes")["items"] == [made.json()]
    assert [(row["label"], row["model"]) for row in get("/notes")["items"]] == [("policy gap", "birch")]
    assert client.delete(f"/api/v1/notes/{made.json()['id']}").status_code == 204
    assert Note.objects.count() == 0
    assert client.delete(f"/api/v1/notes/{made.json()['id']}").status_code == 404


def test_a_note_that_cannot_be_written(client: Client, birch: Run) -> None:
    attempt = Attempt.objects.filter(run=birch).order_by("pk")[0].pk
    assert post(client, attempt).status_code == 409
    assert post(client, attempt, text="x", step=99).status_code == 409
    assert post(client, attempt, text="x", stop=1).json()["errors"][0]["field"] == "stop"
    assert post(client, attempt, text="x" * 1_000_000).json()["errors"][0]["field"] == "text"
