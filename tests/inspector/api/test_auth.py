"""Who may ask the API for what."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings

from inspector.api import auth
from runs.access import EVERYTHING, Access
from runs.models import Attempt, Run
from tests.factories import make_states
from tests.inspector.api.conftest import text_of
from tests.inspector.server_mode import PASSWORD, make_owner, turn_login_on

BODY = json.dumps({"model": "birch", "benchmark": "desk"})


def may(monkeypatch: pytest.MonkeyPatch, access: Access) -> None:
    monkeypatch.setattr(auth, "access_of", lambda request: access)


def test_who_asks(client: Client, db: None) -> None:
    assert client.get("/api/v1/access").json() == {
        "name": "", "evaluates": True, "writes": True, "administers": True,
    }  # fmt: skip


def test_a_stranger_is_told_to_say_who_they_are(client: Client, db: None, settings: Settings) -> None:
    turn_login_on(settings)
    for path in ("/runs", "/openapi.json", "/attempts/1/raw"):
        answer = client.get(f"/api/v1{path}")
        assert (answer.status_code, answer["Content-Type"]) == (401, "application/problem+json")
        assert answer["WWW-Authenticate"] == "Bearer"


def test_a_session_reads_and_needs_the_token_against_forged_requests_to_write(db: None, settings: Settings) -> None:
    turn_login_on(settings)
    make_owner("ada")
    client = Client(enforce_csrf_checks=True)
    client.login(username="ada", password=PASSWORD)
    assert client.get("/api/v1/access").json()["name"] == "ada"
    refused = client.post("/api/v1/runs", BODY, content_type="application/json")
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (403, "X-CSRFToken")
    page = client.get("/api/v1/docs").content.decode()
    token = page.split('data-csrf="')[1].split('"')[0]
    made = client.post("/api/v1/runs", BODY, content_type="application/json", headers={"X-CSRFToken": token})
    assert made.status_code == 201


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Referer": "https://evil.example/"},
        {"Origin": "null", "Authorization": "Basic YTpi"},
    ],
)
def test_another_sites_page_cannot_write_where_nobody_logs_in(db: None, headers: dict[str, str]) -> None:
    client = Client(enforce_csrf_checks=True)
    refused = client.post("/api/v1/runs", BODY, content_type="application/json", headers=headers)
    assert (refused.status_code, Run.objects.count()) == (403, 0)
    assert client.post("/api/v1/runs", BODY, content_type="application/json").status_code == 201


def test_who_may_only_read_writes_nothing(client: Client, birch: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    may(monkeypatch, dataclasses.replace(EVERYTHING, writes=False))
    attempt = Attempt.objects.filter(run=birch)[0].pk
    answers = [
        client.post("/api/v1/runs", BODY, content_type="application/json"),
        client.post(f"/api/v1/runs/{birch.slug}/attempts", b"{}\n", content_type="application/x-ndjson"),
        client.post(f"/api/v1/attempts/{attempt}/notes", '{"text": "x"}', content_type="application/json"),
        client.put(f"/api/v1/uploads/{'0' * 64}", b"x"),
        client.head(f"/api/v1/uploads/{'0' * 64}"),
        client.delete("/api/v1/notes/1"),
        *(
            client.post(f"/api/v1/uploads/1/{verb}", "{}", content_type="application/json")
            for verb in ("stop", "retry")
        ),
    ]
    assert [answer.status_code for answer in answers] == [403] * len(answers)


def test_who_does_not_evaluate_gets_nothing_that_the_required_state_tells(
    client: Client, birch: Run, alder: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    may(monkeypatch, Access(user=1, name="vera"))
    pk = Attempt.objects.filter(run=birch, verdict="failed")[0].pk
    pair = f"base={birch.slug}&candidate={alder.slug}"
    closed = [
        f"/runs/{birch.slug}/failures", f"/runs/{birch.slug}/grid?colour=signature", f"/attempts/{pk}/effects",
        f"/attempts/{pk}/checks", f"/attempts/{pk}/raw", f"/attempts/{pk}/notes", "/notes", "/failures", "/errors",
        "/failures/facets", "/failures/groups", "/look-next", f"/attempts/{pk}/vs/{pk}", f"/compare/changes?{pair}",
        f"/attempts/{pk}/states/records?server=rental_desk&table=rentals&side=required",
        "/attempts?signature=tool_usage",
        f"/runs/{birch.slug}/attempts.ndjson?content=row", f"/runs/{birch.slug}/tasks?sort=-differences", "/uploads",
    ]  # fmt: skip
    assert {path: client.get(f"/api/v1{path}").status_code for path in closed} == dict.fromkeys(closed, 403)
    opened = [
        "/runs", f"/runs/{birch.slug}", f"/runs/{birch.slug}/report", f"/runs/{birch.slug}/tasks", f"/attempts/{pk}",
        f"/runs/{birch.slug}/tasks/desk.py:test_2", f"/runs/{birch.slug}/attempts", f"/attempts/{pk}/steps",
        f"/attempts/{pk}/states", f"/attempts/{pk}/states/records?server=rental_desk&table=rentals&side=after",
        "/tasks/desk.py:test_2", f"/compare?{pair}", f"/compare/tasks?{pair}", "/search?q=mixer", "/tasks",
        f"/runs/{birch.slug}/attempts.ndjson", f"/runs/{birch.slug}/grid", f"/runs/{birch.slug}/worth",
    ]  # fmt: skip
    golden = make_states()["required"]["rentals"][0]["status"]
    for path in opened:
        answer = client.get(f"/api/v1{path}")
        text = text_of(answer).decode()
        assert answer.status_code == 200, path
        # The agent wrote `closed`; `returned` is what was required, and the policy names it.
        told = text.replace("A returned item is set to `returned`", "").replace("returned_at", "")
        assert golden not in told, path
        for name in ("differences", "signature", "effects", "private_context", "required", "mistakes", "evidence"):
            assert f'"{name}"' not in text, (path, name)


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/attempts", "signature"),
        ("/runs/{run}/attempts", "differences"),
        ("/runs/{run}/tasks", "differences"),
        ("/tasks/desk.py:test_2", "mistakes"),
        ("/attempts/{attempt}", "evidence"),
        ("/attempts/{attempt}/steps", "effects"),
        ("/attempts/{attempt}/states", "same"),
        ("/compare/tasks?base={run}&candidate={other}", "changes"),
        ("/search?q=mixer", "records"),
    ],
)
def test_a_field_that_the_sender_does_not_get_is_refused_by_its_name(
    client: Client, birch: Run, alder: Run, monkeypatch: pytest.MonkeyPatch, path: str, name: str
) -> None:
    """Left out in silence, the answer would look like one that has nothing to say."""
    pk = Attempt.objects.filter(run=birch, verdict="failed")[0].pk
    address = "/api/v1" + path.format(run=birch.slug, other=alder.slug, attempt=pk)
    address += ("&" if "?" in address else "?") + "fields="
    assert client.get(address + name).status_code == 200
    may(monkeypatch, Access(user=1, name="vera"))
    refused = client.get(address + name)
    assert (refused.status_code, refused["Content-Type"]) == (403, "application/problem+json")
    problem = refused.json()
    assert [(error["field"], error["place"]) for error in problem["errors"]] == [("fields", "query")]
    assert problem["detail"] == (
        f"fields: {name} shows what the required state tells. It needs the role evaluator, and a token with the scope "
        "evaluate. Leave it out."
    )
    assert client.get(address + "nope").status_code == 422


def test_evaluators_find_those_names(client: Client, birch: Run) -> None:
    """Else the test before would find nothing, whatever is sent."""
    pk = Attempt.objects.filter(run=birch, verdict="failed")[0].pk
    for path, name in {
        f"/attempts/{pk}": "evidence",
        "/tasks/desk.py:test_2": "mistakes",
        "/attempts": "signature",
    }.items():
        assert f'"{name}"' in client.get(f"/api/v1{path}").content.decode()


def test_the_schema_says_who_may(settings: Settings, client: Client, db: None) -> None:
    schema: Any = client.get("/api/v1/openapi.json").json()
    assert schema["paths"]["/api/v1/runs"]["get"]["security"] == [{"token": []}, {"session": []}, {}]
    assert schema["components"]["securitySchemes"].keys() == {"token", "session"}
