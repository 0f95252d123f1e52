"""What all lists and answers of the API have in common."""

from __future__ import annotations

import json

import msgspec
import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from inspector.api.pagination import InPages, Place, cursor_to
from inspector.api.plain import encoded, plain
from runs.models import Run
from runs.queries.numbers import Numbers
from runs.queries.paging import paginate
from tests.inspector.api.conftest import Get
from tests.stored import outcomes, store


def walk(get: Get, path: str, limit: int, **query: str) -> list[dict[str, object]]:
    items: list[dict[str, object]] = []
    cursor = None
    while True:
        found = get(path, limit=limit, **query, **({"cursor": cursor} if cursor else {}))
        assert len(found["items"]) <= limit
        items += found["items"]
        cursor = found["next"]
        if cursor is None:
            return items


@pytest.mark.parametrize("path", ["/attempts", "/failures", "/tasks", "/runs", "/metrics", "/uploads", "/benchmarks"])
def test_a_list_in_slices_is_the_list(alder: Run, get: Get, path: str) -> None:
    whole = get(path, limit=500)
    assert walk(get, path, 1) == whole["items"]
    assert (whole["next"], whole["total"]) == (None, len(whole["items"]))


def test_a_list_that_grows_and_shrinks_meanwhile_shows_no_item_twice(birch: Run, alder: Run, get: Get) -> None:
    first = get("/runs", limit=1, sort="-created")
    assert [row["slug"] for row in first["items"]] == [alder.slug]
    store(outcomes("desk.py:test_1", "p"), model="cedar")  # before everything that was shown
    second = get("/runs", limit=1, sort="-created", cursor=first["next"])
    assert [row["slug"] for row in second["items"]] == [birch.slug]
    Run.objects.filter(pk=alder.pk).update(slug="gone")
    assert [row["slug"] for row in get("/runs", limit=1, sort="-created", cursor=first["next"])["items"]] == [
        birch.slug
    ]


def test_a_cursor_of_another_question_or_of_nobody_leads_nowhere(alder: Run, get: Get) -> None:
    cursor = get("/runs", limit=1)["next"]
    for query in ({"q": "alder", "cursor": cursor}, {"cursor": "nonsense"}, {"cursor": "AAAA"}):
        problem = get("/runs", 404, limit=1, **query)
        assert [error["field"] for error in problem["errors"]] == ["cursor"]
    foreign = cursor_to(Place("000000000000", 1, "x"))
    assert get("/attempts", 404, cursor=foreign)["status"] == 404


@pytest.mark.parametrize(
    ("path", "query", "field"),
    [
        ("/runs", {"limit": "0"}, "limit"),
        ("/runs", {"limit": "501"}, "limit"),
        ("/runs", {"limit": "many"}, "limit"),
        ("/runs", {"modle": "birch"}, "modle"),
        ("/runs", {"fields": "slug,nope"}, "fields"),
        ("/runs", {"sort": "nope"}, "sort"),
        ("/runs", {"q": "a\0b"}, "q"),
        ("/attempts/x", {}, "attempt_id"),
        ("/attempts", {"verdict": "maybe"}, "verdict"),
        ("/compare", {"base": "a"}, "candidate"),
    ],
)
def test_a_problem_names_the_field(client: Client, db: None, path: str, query: dict[str, str], field: str) -> None:
    answer = client.get(f"/api/v1{path}", query)
    assert (answer.status_code, answer["Content-Type"]) == (422, "application/problem+json")
    problem = answer.json()
    assert {"type", "title", "status", "detail", "errors"} == problem.keys()
    assert problem["errors"][0]["field"].partition(".")[0] == field
    assert problem["detail"].startswith(field)


def test_what_is_not_there_and_a_wrong_method_are_problems(client: Client, birch: Run) -> None:
    for path in ("/runs/none", "/attempts/999999", "/nothing", "/uploads/999", "/metrics/nope", "/tasks/%00"):
        answer = client.get(f"/api/v1{path}")
        assert (answer.status_code, answer["Content-Type"]) == (404, "application/problem+json")
    wrong = client.delete("/api/v1/runs")
    assert (wrong.status_code, wrong["Content-Type"], sorted(wrong["Allow"].split(", "))) == (
        405, "application/problem+json", ["GET", "POST"],
    )  # fmt: skip


def test_only_the_fields_that_were_asked_for(birch: Run, get: Get) -> None:
    assert get("/runs", fields="slug,model")["items"] == [{"slug": birch.slug, "model": "birch"}]
    assert get(f"/runs/{birch.slug}", fields="reading") == {"reading": None}


def test_what_did_not_change_is_not_sent_again(client: Client, birch: Run, get: Get) -> None:
    attempt = get("/attempts", limit=1)["items"][0]["id"]
    for path in ("/runs", f"/attempts/{attempt}/steps", f"/attempts/{attempt}/raw"):
        etag = client.get(f"/api/v1{path}")["ETag"]
        again = client.get(f"/api/v1{path}", headers={"If-None-Match": f"W/{etag}"})
        assert (again.status_code, again.content, again["ETag"]) == (304, b"", etag)
        assert client.get(f"/api/v1{path}", headers={"If-None-Match": '"other"'}).status_code == 200
    before = client.get("/api/v1/runs")["ETag"]
    Run.objects.update(model="elm")
    assert client.get("/api/v1/runs", headers={"If-None-Match": before}).status_code == 200


def test_an_unchanged_attempt_is_not_even_read(
    client: Client, birch: Run, get: Get, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    attempt = get("/attempts", limit=1)["items"][0]["id"]
    etag = client.get(f"/api/v1/attempts/{attempt}/states")["ETag"]
    with django_assert_num_queries(1):
        client.get(f"/api/v1/attempts/{attempt}/states", headers={"If-None-Match": etag})


def test_structs_become_json_with_what_follows_from_them() -> None:
    made = plain(Numbers(k=2, tasks=1, expected=2, recorded=2, passed=1))
    assert (made["pass_at_1"], made["missing"], made["consistency"]) == (0.5, 0, 0.0)
    assert json.loads(encoded({"text": "\ud800", "raw": msgspec.Raw(b"[1]")})) == {"text": "\ud800", "raw": [1]}


def test_pages_are_asked_for_once_each() -> None:
    asked = []

    def page(number: int) -> tuple[list[int], object]:
        asked.append(number)
        return paginate(list(range(25)), number, 10)

    rows: InPages[int] = InPages(page, 10)  # type: ignore[arg-type]
    assert rows.some(8, 9) == list(range(8, 17))
    assert (rows.some(23, 9), rows.some(40, 3), rows.total, asked) == ([23, 24], [], 25, [1, 2, 3, 5])
