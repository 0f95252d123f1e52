"""No secret of a trace leaves the server: all pages, all answers of the API and of the MCP server, searched as text."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

import pytest
from django.core.management import call_command
from django.test import Client
from pytest_django import Settings

from inspector.mcp_server.attempt_tools import attempt_checks, attempt_outline, attempt_steps, attempt_text
from inspector.mcp_server.divergence_tools import first_divergence
from inspector.mcp_server.failure_tools import find_attempts, run_failures
from inspector.mcp_server.run_tools import run_report
from inspector.models import AuditEntry
from runs.access import Role
from runs.models import Attempt, Run
from runs.notes import add_note
from runs.payloads import restore_row
from runs.search import anything_waits, index_some
from tests.factories import SERVER, UID, make_row
from tests.inspector.access_scene import text_of
from tests.inspector.mcp_server.asking import NO_EVALUATOR, ask
from tests.inspector.server_mode import make_account, turn_login_on
from tests.secret_rows import secret, secret_row
from tests.stored import store

pytestmark = pytest.mark.django_db

_LINK = re.compile(r"(?:href|hx-get|src|action|data-[a-z-]+)=\"(/[^\"#]*)")
_PASSED_OVER = re.compile(r"/(static|api)/|/delete/|unmasked|/prices/|/leaderboards/new")
_MOST_PAGES = 500


class Scene:
    """A run of three attempts with secrets, one that passed, and one that broke."""

    def __init__(self) -> None:
        self.secrets: dict[str, str] = {}
        rows = [secret_row(self.secrets, repetition=number) for number in range(3)]
        error = make_row(repetition=4, outcome="system")
        self.secrets["error"] = error["metadata"]["error"]["message"] = secret("error")
        self.secrets["error traceback"] = error["metadata"]["error"]["tb"] = secret("error traceback")
        refused = make_row(repetition=5)
        self.secrets["refused line"] = refused["test_result"]["metadata"]["judge_motivation"] = secret("refused line")
        self.run = store([refused, *rows, make_row(repetition=3, outcome="passed"), error], repetitions=5)
        while anything_waits():
            index_some()
        self.attempts = list(Attempt.objects.filter(run=self.run).select_related("trace").order_by("repetition"))
        self.secrets["note"] = secret("note")
        add_note(self.attempts[0], step=1, label=secret("note")[:50], text=f"see {secret('note')}", author="ada")

    def leaks(self, body: str) -> list[str]:
        """Where the secrets in a text stand in the row; half of one is one too."""
        plain = html.unescape(body)
        return [name for name, value in self.secrets.items() if value in plain or value[: len(value) * 2 // 3] in plain]


@pytest.fixture
def scene() -> Scene:
    return Scene()


def pages_from(client: Client, start: str) -> Iterator[tuple[str, str]]:
    """Every page that can be reached by links, and its text."""
    waiting, seen = [start], {start}
    while waiting:
        address = waiting.pop(0)
        answer = client.get(address)
        text = text_of(answer)
        yield address, text
        if not str(answer.headers.get("Content-Type", "")).startswith("text/html"):
            continue
        for found in map(html.unescape, _LINK.findall(text)):
            if found not in seen and not _PASSED_OVER.search(found) and len(seen) < _MOST_PAGES:
                seen.add(found)
                waiting.append(found)


def test_each_secret_is_in_what_is_stored(scene: Scene) -> None:
    rows = "".join(json.dumps(json.loads(restore_row(attempt, masked=False))) for attempt in scene.attempts)
    assert set(scene.secrets) - set(scene.leaks(rows)) == {"note", "refused line"}
    assert scene.leaks("".join(restore_row(attempt).decode() for attempt in scene.attempts)) == []


def test_no_page_has_one(scene: Scene, client: Client) -> None:
    first = scene.attempts[0].pk
    starts = [
        "/",
        f"/runs/{scene.run.slug}/provenance/",
        *(f"/attempts/{first}/?tab={tab}&unchanged=1&effects=all" for tab in ("state", "checks", "task", "raw")),
        *(
            f"/attempts/{first}/steps/{step}/?text={part}"
            for step in range(1, 9)
            for part in ("text", "arguments", "response")
        ),
        f"/attempts/{first}/same/?server={SERVER}&table=notes",
        f"/attempts/{first}/?find=mixer",
        f"/attempts/{first}/vs/{scene.attempts[3].pk}/",
        f"/attempts/{first}/vs/{scene.attempts[1].pk}/",
        "/failures/?q=mixer",
        f"/failures/?q={scene.secrets['claim 0']}",
        "/failures/export.jsonl",
        f"/search/?q={scene.secrets['before 0']}",
        "/notes/",
        "/notes/export/",
        "/errors/",
    ]
    visited = {}
    for start in starts:
        for address, text in pages_from(client, start) if start == "/" else [(start, text_of(client.get(start)))]:
            # A search page has the words that were asked for in its own form.
            asked = unquote(address.partition("q=")[2]) or "\0"
            visited[address] = scene.leaks(text.replace(asked, ""))
    assert len(visited) > 60
    assert {address: names for address, names in visited.items() if names} == {}


def test_no_answer_of_the_api_has_one(scene: Scene, client: Client) -> None:
    schema = client.get("/api/v1/openapi.json").json()
    known = {
        "slug": scene.run.slug, "uid": UID, "number": 5, "left": scene.attempts[0].pk, "right": scene.attempts[3].pk,
        "key": scene.attempts[0].upload_id, "name": "pass_at_1", "version": 1,
    }  # fmt: skip
    opened = 0
    for path, operations in schema["paths"].items():
        if "get" not in operations:
            continue
        for attempt in scene.attempts[:1]:
            address = path
            for name, value in {**known, "attempt_id": attempt.pk}.items():
                address = re.sub(r"\{" + name + r"\}", str(value), address)
            for query in _queries(path, scene):
                answer = client.get(address if address.startswith("/api") else f"/api/v1{address}", query)
                opened += answer.status_code == 200
                assert (address, query, scene.leaks(text_of(answer))) == (address, query, [])
    assert opened > 40


def _queries(path: str, scene: Scene) -> list[dict[str, Any]]:
    if path.endswith("/records"):
        sides = ("before", "after", "required")
        return [
            {"server": SERVER, "table": table, "side": side}
            for table in ("rentals", "customers", "notes")
            for side in sides
        ]
    if path.endswith(".ndjson"):
        return [{"content": "row"}, {"content": "summary"}]
    return [{}, {"q": "mixer"}, {"base": scene.run.slug, "candidate": scene.run.slug}]


def test_no_answer_of_the_mcp_server_has_one(scene: Scene) -> None:
    pk = scene.attempts[0].pk
    asked = [
        ask(attempt_outline, attempt=pk),
        ask(attempt_outline, NO_EVALUATOR, attempt=pk),
        ask(attempt_checks, attempt=pk, everything=True),
        ask(attempt_steps, attempt=pk, characters=2000),
        *(ask(attempt_text, attempt=pk, step=step, part="arguments") for step in (3, 4, 5)),
        *(ask(attempt_text, attempt=pk, step=step, part="response") for step in (3, 4, 5)),
        ask(first_divergence, attempt=pk),
        ask(first_divergence, attempt=pk, other=scene.attempts[1].pk),
        ask(find_attempts, words="mixer"),
        *(ask(find_attempts, values_of=facet) for facet in ("tool", "finish", "rubric", "effect", "field")),
        ask(run_failures, run=scene.run.slug),
        ask(run_report, run=scene.run.slug),
    ]
    assert [scene.leaks(json.dumps(answer.data) + answer.text) for answer in asked] == [[]] * len(asked)


def test_the_command_shows_none(scene: Scene, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("show", scene.run.slug, UID, 0)
    call_command("show", scene.run.slug, UID, 0, "--json")
    call_command("show", scene.run.slug, UID, 4)
    assert scene.leaks(capsys.readouterr().out) == []


def test_a_viewers_page_has_none_and_shows_that_a_password_changed(scene: Scene, settings: Settings) -> None:
    turn_login_on(settings)
    client = Client()
    client.force_login(make_account("vera", Role.VIEWER))
    visited = dict(pages_from(client, f"/attempts/{scene.attempts[0].pk}/"))
    assert {address: names for address, text in visited.items() if (names := scene.leaks(text))} == {}
    page = visited[f"/attempts/{scene.attempts[0].pk}/"]
    assert page.count("[masked: password]") >= 1
    assert "secrets masked" not in page


def test_an_attempts_page_says_how_many_and_which(scene: Scene, client: Client) -> None:
    [failed, passed] = [scene.attempts[0], scene.attempts[3]]
    page = client.get(f"/attempts/{failed.pk}/").content.decode()
    assert failed.masked is not None
    assert f"{failed.masked} secrets masked" in page
    [title] = re.findall(r'<div title="([^"]*)"><dt class="vh">secrets', page)
    assert sum(map(int, re.findall(r"\d+", title))) == failed.masked
    assert ("secrets masked" in client.get(f"/attempts/{passed.pk}/").content.decode(), passed.masked) == (False, 0)
    provenance = client.get(f"/runs/{scene.run.slug}/provenance/").content.decode()
    assert "4 attempts have secrets" in provenance


def test_what_was_masked_before_it_was_stored_cannot_be_downloaded_with_its_secrets(client: Client) -> None:
    links = []
    for mask in (False, True):
        run = store([secret_row({})], mask=mask, model=f"mask {mask}")
        page = client.get(f"/attempts/{Attempt.objects.get(run=run).pk}/?tab=raw").content.decode()
        links.append(("?unmasked=1" in page, "masked before it was stored" in page))
    assert links == [(True, False), (False, True)]


def test_only_an_admin_takes_a_row_with_its_secrets_and_the_log_says_so(scene: Scene, settings: Settings) -> None:
    turn_login_on(settings)
    answers = {}
    for name in ("viewer", "evaluator", "admin"):
        client = Client()
        client.force_login(make_account(name, Role(name)))
        answer = client.get(f"/attempts/{scene.attempts[0].pk}/raw/?unmasked=1")
        answers[name] = (answer.status_code, scene.secrets["query 0"] in answer.content.decode())
    assert answers == {"viewer": (403, False), "evaluator": (403, False), "admin": (200, True)}
    entries = AuditEntry.objects.filter(action="unmasked").values_list("who", "about")
    assert list(entries) == [("admin", f"{scene.run.slug}, {UID}, repetition 0")]
    client.get(f"/attempts/{scene.attempts[0].pk}/raw/")
    assert entries.count() == 1


def test_a_runs_metadata_is_masked(client: Client) -> None:
    answer = client.post(
        "/api/v1/runs",
        json.dumps({"model": "m", "benchmark": "b", "parameters": {"api_key": "k" + secret("x")}}),
        content_type="application/json",
    )
    assert answer.status_code == 201
    assert Run.objects.get().settings == {"api_key": "[masked: API key]"}
