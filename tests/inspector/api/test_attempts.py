"""`/api/v1/attempts`, and pushing attempts."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from runs.access import EVERYTHING
from runs.models import Attempt, Run, Upload
from runs.queries.attempts import AttemptView, attempt_page
from tests.factories import make_row, make_states
from tests.inspector.api.conftest import Get, text_of
from tests.stored import outcomes, store, upload_of


def lines(*rows: Any) -> bytes:
    return b"".join((row if isinstance(row, bytes) else json.dumps(row).encode()) + b"\n" for row in rows)


def push(client: Client, slug: str, body: bytes, kind: str = "application/x-ndjson", status: int = 200) -> Any:
    answer = client.post(f"/api/v1/runs/{slug}/attempts", body, content_type=kind)
    assert answer.status_code == status, answer.content
    return answer.json()


def failed(run: Run) -> int:
    return Attempt.objects.filter(run=run, verdict="failed").order_by("pk").values_list("pk", flat=True)[0]


def test_the_list_and_its_filters(birch: Run, alder: Run, get: Get) -> None:
    assert get("/attempts")["total"] == 12
    assert get(f"/runs/{birch.slug}/attempts", verdict="failed")["total"] == 3
    assert get("/attempts", run=birch.slug, task="desk.py:test_2", repetition=2)["items"][0]["verdict"] == "error"
    signature = get("/attempts", model="alder", verdict="failed")["items"][0]["signature"]
    assert get("/attempts", model="alder", signature=signature)["total"] == 2
    assert get("/attempts", tool="update_rental")["total"] == 12
    assert get("/attempts", tool="nothing") == {"items": [], "next": None, "total": 0}


def test_one_attempt_is_what_its_page_shows(birch: Run, get: Get) -> None:
    pk = failed(birch)
    page = attempt_page(pk, AttemptView(tab="task"), access=EVERYTHING)
    assert page is not None
    assert page.task is not None
    found = get(f"/attempts/{pk}")
    assert (found["failing"], found["letters"], found["steps"]) == (
        page.failing, page.steps.letters, page.steps.total,
    )  # fmt: skip
    assert found["claim"]["text"] == page.claim.text if page.claim else None
    assert found["evidence"]["headline"] == page.evidence.headline
    assert (found["query"], found["policy"]) == (page.task.query, page.task.policy)
    assert found["head"]["tally"] == page.head.tally
    checks = get(f"/attempts/{pk}/checks")
    assert (checks["failed"], len(checks["states"])) == (page.checks.failed, len(page.checks.states))


def test_steps_in_windows_and_cut(birch: Run, get: Get) -> None:
    pk = failed(birch)
    whole = get(f"/attempts/{pk}/steps")
    assert [step["index"] for step in whole["items"]] == list(range(1, whole["total"] + 1))
    assert "".join(step["letter"] for step in whole["items"]) == get(f"/attempts/{pk}")["letters"]
    short = get(f"/attempts/{pk}/steps", cut=5, limit=1)["items"][0]
    assert (short["content"], short["length"], short["cut"]) == ("I bro", len(whole["items"][0]["content"]), True)
    call = next(step for step in whole["items"] if step["name"] == "update_rental")
    assert get(f"/attempts/{pk}/steps/{call['index']}") == call
    assert call["arguments"]["item"]["status"] == "closed"
    assert get(f"/attempts/{pk}/effects")["items"][call["effects"][0]]["effect"]["field"] == "status"
    assert get(f"/attempts/{pk}/steps/99", 404)["detail"] == f"The attempt has {whole['total']} steps, counted from 1."


def test_states_table_by_table(birch: Run, get: Get) -> None:
    pk, states = failed(birch), make_states()
    tables = get(f"/attempts/{pk}/states")["items"]
    assert [(t["table"], t["rows_after"], t["changed"], t["same"], t["differences"]) for t in tables] == [
        ("customers", 2, False, True, 0), ("notes", 0, False, True, 0), ("rentals", 2, True, False, 1),
    ]  # fmt: skip
    for side in ("before", "after", "required"):
        found = get(f"/attempts/{pk}/states/records", server="rental_desk", table="rentals", side=side)
        assert [row["record"] for row in found["items"]] == states[side]["rentals"]
    assert get(f"/attempts/{pk}/states/records", 404, server="nobody", table="x", side="after")["status"] == 404


def test_the_row_as_it_came(client: Client, db: None) -> None:
    row = make_row(outcome="failed")
    run = store([row])
    answer = client.get(f"/api/v1/attempts/{failed(run)}/raw")
    assert json.loads(answer.content) == row
    assert answer["Content-Disposition"].startswith("attachment")
    assert answer["X-Content-Type-Options"] == "nosniff"


def test_a_run_taken_away_line_by_line_can_be_read_in_again(client: Client, birch: Run) -> None:
    answer = client.get(f"/api/v1/runs/{birch.slug}/attempts.ndjson", {"content": "row"})
    rows = [json.loads(line) for line in text_of(answer).splitlines()]
    assert (answer["Content-Type"], len(rows)) == ("application/x-ndjson", 6)
    again = upload_of(rows, run=birch.slug)
    assert (again.same, again.stored) == (6, 0)
    summaries = client.get(f"/api/v1/runs/{birch.slug}/attempts.ndjson", {"verdict": "failed"})
    assert [json.loads(line)["verdict"] for line in text_of(summaries).splitlines()] == ["failed"] * 3


def test_two_attempts_side_by_side(birch: Run, get: Get) -> None:
    left, right = Attempt.objects.filter(run=birch, task__uid="desk.py:test_1").order_by("-repetition")[:2]
    assert get(f"/attempts/{left.pk}/vs/{right.pk}")["left"]["id"] == left.pk


def test_each_pushed_line_is_told_what_became_of_it(client: Client, db: None) -> None:
    run = store(outcomes("desk.py:test_1", "e"), repetitions=3)
    first, other = make_row(uid="desk.py:test_1", outcome="passed"), make_row(uid="desk.py:test_1", outcome="failed")
    fresh = make_row(uid="desk.py:test_1", repetition=1, outcome="passed")
    report = push(client, run.slug, lines(first, fresh, fresh, other, b"{", {"uid": "x"}))
    assert [line["outcome"] for line in report["lines"]] == [
        "replaced", "stored", "same", "conflict", "rejected", "rejected",
    ]  # fmt: skip
    assert [line["line"] for line in report["lines"]] == [1, 2, 3, 4, 5, 6]
    assert report["lines"][3]["reason"].startswith("The run already has repetition 0")
    assert all(line["reason"] for line in report["lines"][3:])
    assert {name: report[name] for name in ("stored", "same", "replaced", "conflicts", "rejected")} == {
        "stored": 1, "same": 1, "replaced": 1, "conflicts": 1, "rejected": 2,
    }  # fmt: skip
    again = push(client, run.slug, lines(first, fresh))
    assert ([line["outcome"] for line in again["lines"]], again["upload"]) == (["same", "same"], report["upload"])
    entry = Upload.objects.get(pk=report["upload"])
    assert (entry.read, entry.stored, entry.same, entry.passed, entry.errors) == (6, 1, 3, 2, 0)


def test_pushed_one_by_one_or_as_one_file_the_numbers_are_the_same(client: Client, db: None, get: Get) -> None:
    rows = [*outcomes("desk.py:test_1", "pfe"), *outcomes("desk.py:test_2", "ppp")]
    uploaded = store(rows)
    client.post(
        "/api/v1/runs", json.dumps({"model": "birch", "benchmark": "desk", "slug": "pushed"}), "application/json"
    )
    for row in [*rows, *reversed(rows)]:
        push(client, "pushed", lines(row))
    reports = [get(f"/runs/{slug}/report") for slug in (uploaded.slug, "pushed")]
    assert {**reports[0], "run": ""} == {**reports[1], "run": ""}


def test_one_row_as_a_json_object_and_what_is_none(client: Client, birch: Run) -> None:
    row = json.dumps(make_row(uid="desk.py:test_3", outcome="passed"), indent=2).encode()
    assert push(client, birch.slug, row, "application/json")["stored"] == 1
    assert push(client, birch.slug, b"[1]", "application/json", 422)["errors"][0]["field"] == "body"
    assert push(client, birch.slug, b"a,b", "text/csv", 415)["errors"][0]["field"] == "Content-Type"
    assert push(client, "nobody", b"", status=404)["status"] == 404


def test_a_line_that_is_too_long_is_rejected_alone(client: Client, birch: Run, settings: Any) -> None:
    settings.MAX_LINE = 100_000
    good = make_row(uid="desk.py:test_9", outcome="passed")
    report = push(client, birch.slug, lines(b'{"a":"' + b"x" * 200_000 + b'"}', good))
    assert [line["outcome"] for line in report["lines"]] == ["rejected", "stored"]


@pytest.mark.parametrize("path", ["raw", "effects", "checks", "states", "steps", "notes"])
def test_of_no_attempt_there_is_nothing(get: Get, db: None, path: str) -> None:
    assert get(f"/attempts/12345/{path}", 404)["detail"] == "There is no attempt with this id."


@pytest.mark.parametrize("kind", ["application/x-ndjson", "application/json"])
def test_rows_that_are_compressed_or_in_another_encoding_are_refused(client: Client, birch: Run, kind: str) -> None:
    address, row = f"/api/v1/runs/{birch.slug}/attempts", lines(make_row(uid="desk.py:test_9"))
    before = Attempt.objects.count()
    packed = client.post(address, row, content_type=kind, headers={"Content-Encoding": "zstd"})
    assert (packed.status_code, packed.json()["errors"][0]["field"]) == (415, "Content-Encoding")
    wide = client.post(address, row, content_type=f"{kind}; charset=utf-16")
    assert (wide.status_code, wide.json()["errors"][0]["field"]) == (415, "Content-Type")
    assert Attempt.objects.count() == before
