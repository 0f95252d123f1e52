"""`/api/v1/runs`."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from runs.access import EVERYTHING
from runs.models import Run, Upload
from runs.queries.run_grid import GridView, run_grid
from runs.queries.run_tasks import TaskFilters
from runs.queries.runs import RunFilters, run_list, run_page
from tests.inspector.api.conftest import Get
from tests.stored import outcomes, store


def post(client: Client, **said: Any) -> Any:
    return client.post("/api/v1/runs", json.dumps(said), content_type="application/json")


def test_the_list_says_what_the_page_says(birch: Run, alder: Run, get: Get) -> None:
    page = run_list(RunFilters(), access=EVERYTHING)
    found = get("/runs", sort="-created")["items"]
    assert [row["slug"] for row in found] == [row.slug for row in page.rows]
    for row, shown in zip(found, page.rows, strict=True):
        assert row["numbers"]["pass_at_1"] == shown.numbers.pass_at_1
        assert row["numbers"]["recorded"] == shown.numbers.recorded
        assert (row["worth"]["figures"]["all_k"]["count"], row["numbers"]["always"]) == (
            shown.worth.figures.all_k.count if shown.worth else None,
            shown.numbers.always,
        )


def test_the_list_takes_as_many_queries_for_one_run_as_for_three(
    get: Get, db: None, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    store(outcomes("a.py:t", "pf"))
    get("/runs")
    with django_assert_max_num_queries(8):
        get("/runs")
    for model in ("b", "c"):
        store(outcomes("a.py:t", "pf"), model=model)
    get("/runs")
    with django_assert_max_num_queries(8):
        assert len(get("/runs")["items"]) == 3


def test_one_run_its_tasks_and_its_grid_are_those_of_its_page(birch: Run, get: Get) -> None:
    page = run_page(birch.slug, TaskFilters(), access=EVERYTHING)
    detail = get(f"/runs/{birch.slug}")
    assert detail["numbers"]["passed"] == page.numbers.passed == 2
    assert detail["worth"]["figures"]["pass_at_1"]["value"] == page.figures.pass_at_1.value
    assert [choice["count"] for choice in detail["classes"]] == [choice.count for choice in page.kinds]
    tasks = get(f"/runs/{birch.slug}/tasks")["items"]
    assert [(row["uid"], row["verdicts"], row["differences"]) for row in tasks] == [
        (row.uid, row.verdicts, row.differences) for row in page.tasks
    ]
    assert [row["uid"] for row in get(f"/runs/{birch.slug}/tasks", show="never")["items"]] == ["desk.py:test_2"]
    grid = run_grid(birch.slug, GridView(), access=EVERYTHING)
    assert [task["cells"] for task in get(f"/runs/{birch.slug}/grid")["bands"][0]["tasks"]] == [
        task.cells for task in grid.bands[0].tasks
    ]
    task = get(f"/runs/{birch.slug}/tasks/desk.py:test_2")
    assert [row["verdict"] for row in task["strip"]] == ["failed", "failed", "error"]


def test_the_report_is_that_of_the_command(birch: Run, get: Get, capsys: pytest.CaptureFixture[str]) -> None:
    from django.core.management import call_command  # noqa: PLC0415

    call_command("report", birch.slug, json=True)
    assert get(f"/runs/{birch.slug}/report") == json.loads(capsys.readouterr().out)
    assert get(f"/runs/{birch.slug}/report", errors="excluded")["pass_at"]["1"] == 2 / 5


def test_the_failures_of_a_run(birch: Run, get: Get) -> None:
    found = get(f"/runs/{birch.slug}/failures")
    assert (found["claims"]["failed"], found["error_count"]) == (3, 1)


def test_a_run_is_made_to_push_to(client: Client, db: None) -> None:
    made = post(client, model="birch", benchmark="desk", repetitions=20, slug="nightly", provider="own")
    assert (made.status_code, made["Location"]) == (201, "/api/v1/runs/nightly")
    assert made.json() == {"slug": "nightly", "model": "birch", "benchmark": "desk", "repetitions": 20, "created": True}
    again = post(client, model="birch", benchmark="desk", slug="nightly")
    assert (again.status_code, again.json()["created"], Run.objects.count()) == (200, False, 1)
    assert post(client, model="elm", benchmark="desk", slug="nightly").status_code == 409
    assert post(client, model="birch", benchmark="desk").json()["slug"] == "desk-birch"
    assert list(Upload.objects.values_list("file_name", flat=True)) == ["pushed attempts"] * 2


@pytest.mark.parametrize(
    ("said", "field"),
    [
        ({"benchmark": "desk"}, "model"),
        ({"model": "m", "benchmark": "d", "repetitions": 0}, "repetitions"),
        ({"model": "m", "benchmark": "d", "slug": "a b"}, "slug"),
        ({"model": "m", "benchmark": "d", "modle": "x"}, "modle"),
    ],
)
def test_a_run_that_cannot_be_made(client: Client, db: None, said: dict[str, Any], field: str) -> None:
    refused = post(client, **said)
    assert (refused.status_code, refused.json()["errors"][0]["field"], Run.objects.count()) == (422, field, 0)


@pytest.mark.parametrize(
    ("field", "value", "status"),
    [
        ("repetitions", 20, 201),
        ("repetitions", 20.0, 201),
        ("repetitions", 20.5, 422),
        ("repetitions", "20", 422),
        ("repetitions", True, 422),
        ("private", True, 201),
        ("private", 1, 422),
        ("private", "yes", 422),
        ("note", 1, 422),
        ("other", 1, 422),
    ],
)
def test_a_body_is_read_strictly(client: Client, db: None, field: str, value: object, status: int) -> None:
    body = {"model": "birch", "benchmark": "desk", field: value}
    answer = client.post("/api/v1/runs", body, content_type="application/json")
    assert answer.status_code == status
    if status == 422:
        assert [(error["field"], error["place"]) for error in answer.json()["errors"]] == [(field, "body")]


BODY = b'{"model": "birch", "benchmark": "desk"}'


@pytest.mark.parametrize(
    ("kind", "coding", "detail"),
    [
        ("text/plain", "", "Content-Type: is text/plain. Send application/json."),
        ("", "", "Content-Type: is missing. Send application/json."),
        ("application/json; charset=utf-16", "", "Content-Type: has the charset utf-16. Send the text in UTF-8."),
        (
            "application/json", "gzip",
            "Content-Encoding: is gzip. Send the body as it is, without this header.",
        ),
    ],
    ids=["text", "none", "utf-16", "gzip"],
)  # fmt: skip
def test_a_body_that_is_not_sent_as_json_is_refused(
    client: Client, db: None, kind: str, coding: str, detail: str
) -> None:
    headers = {"Content-Encoding": coding} if coding else {}
    refused = client.post("/api/v1/runs", BODY, content_type=kind, headers=headers)
    assert (refused.status_code, refused.json()["detail"], Run.objects.count()) == (415, detail, 0)


@pytest.mark.parametrize("kind", ["application/json", "Application/JSON; charset=UTF-8"])
def test_a_body_that_is_sent_as_json_is_read(client: Client, db: None, kind: str) -> None:
    assert client.post("/api/v1/runs", BODY, content_type=kind).status_code == 201


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        (b'{"model":\n "birch" 1}', "is broken JSON at line 2, column 10: expecting ',' delimiter."),
        (b'{"model"', "is broken JSON at line 1, column 9: expecting ':' delimiter."),
        (b'{"model": "\xff"}', "is not UTF-8 at byte 12."),
        (b"[" * 100_000, "is JSON that is nested too deeply to be read."),
    ],
    ids=["comma", "cut", "not utf-8", "deep"],
)
def test_where_a_body_is_broken_is_said(client: Client, db: None, body: bytes, detail: str) -> None:
    refused = client.post("/api/v1/runs", body, content_type="application/json")
    assert refused.status_code == 400
    assert refused.json()["detail"].startswith(f"body: {detail}")


@pytest.mark.parametrize(
    "path",
    ["/runs?sort=x", "/failures?sort=x", "/failures/groups?sort=x", "/compare/tasks?base=a&candidate=b&sort=x",
     "/uploads/x", "/uploads/0"],
)  # fmt: skip
def test_no_pattern_is_shown_to_people(client: Client, db: None, path: str) -> None:
    refused = client.get(f"/api/v1{path}")
    assert refused.status_code == 422
    assert not set("^$") & set(refused.json()["detail"])


def test_what_a_list_can_be_ordered_by_is_said(client: Client, db: None) -> None:
    assert client.get("/api/v1/runs?sort=x").json()["detail"] == (
        "sort: is none of model, benchmark, attempts, errors, pass, solved, all, created, "
        "nor one of them with a hyphen before it."
    )
