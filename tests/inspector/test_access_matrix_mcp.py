"""Every tool, resource and prompt of `/mcp`, asked by everybody, against the third table of docs/access.md.

And no answer has what its reader must not see.

A new tool needs a row there, and arguments in `calls`. A row may name an argument that changes who is answered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
from django.conf import settings as site
from django.core.exceptions import PermissionDenied
from django.test import Client
from mcp.server.mcpserver.exceptions import ResourceNotFoundError, ToolError
from pytest_django import Settings

from inspector.mcp_server import resources
from inspector.mcp_server.auth import SCOPE_KEY, access_for_header
from inspector.mcp_server.endpoint import McpBeside
from inspector.mcp_server.server import TOOLS, make_server
from inspector.tokens import make_token
from runs.access import Access, Scope
from runs.signatures import Signature
from tests.inspector.access_scene import HIDDEN, SECRET, Scene, make_scene
from tests.inspector.access_tables import rows_of
from tests.inspector.mcp_server.asking import ask
from tests.inspector.mcp_server.test_endpoint import asked, page
from tests.inspector.server_mode import turn_login_on

pytestmark = pytest.mark.django_db

ALL = set(Scope)


class Reader(NamedTuple):
    who: str
    scopes: set[Scope]
    theirs: bool = False


READERS: dict[str, list[Reader]] = {
    "No token": [],
    "Viewer's": [Reader("vera", ALL)],
    "Evaluator's": [Reader("bob", ALL)],
    "read": [Reader("ada", {Scope.READ})],
    "evaluate": [Reader("ada", {Scope.EVALUATE})],
    "write": [Reader("ada", {Scope.WRITE})],
    "admin": [Reader("ada", {Scope.ADMIN})],
    "Another's": [Reader("bob", ALL, theirs=True), Reader("ada", ALL - {Scope.ADMIN}, theirs=True)],
    "Another's, admin": [Reader("ada", ALL, theirs=True)],
}
"""Column of the table → whose tokens are sent, each of which gets the same."""
ANSWERS = {"open", "401", "refused", "unknown", "–"}
RESOURCES: dict[str, Callable[..., str]] = {
    "twentyfold://attempts/{attempt}": resources.attempt_resource,
    "twentyfold://leaderboards/{slug}": resources.board_resource,
}
PROMPT = "diagnose_failures"


@pytest.fixture
def scene(settings: Settings) -> Scene:
    turn_login_on(settings)
    return make_scene()


def table() -> Iterator[tuple[str, dict[str, str]]]:
    for (name,), cells in rows_of("Tool"):
        yield name, cells


def access(scene: Scene, reader: Reader) -> Access:
    """As the endpoint finds it."""
    text = make_token(scene.people[reader.who], "agent", reader.scopes).text
    found = access_for_header(f"Bearer {text}")
    assert found is not None
    return found


def calls(scene: Scene, name: str, *, theirs: bool) -> list[Mapping[str, Any]]:
    """Arguments to ask with, for things that are there."""
    run, attempts = scene.runs[theirs].slug, [attempt.pk for attempt in scene.attempts[theirs]]
    each: list[Mapping[str, Any]] = [{"attempt": pk} for pk in attempts]
    known: dict[str, list[Mapping[str, Any]]] = {
        "list_runs": [{}],
        "run_report": [{"run": run}],
        "compare_runs": [{"base": run, "candidate": "desk-oak"}, {"base": "desk-oak", "candidate": run}],
        "run_failures": [{"run": run}],
        "find_attempts": [
            {"run": run},
            {"run": run, "values_of": "task"},
            *({"run": run, "verdict": v} for v in ("any", "error")),
        ],
        "find_attempts(signature)": [{"run": run, "signature": Signature.TOOL_USAGE.value}],
        "find_attempts(field)": [{"run": run, "field": "rentals.status"}],
        "find_attempts(group)": [{"run": run, "group": "same"}],
        "find_attempts(words)": [{"run": run, "words": "done"}],
        "find_attempts(values_of)": [{"run": run, "values_of": "field"}],
        "attempt_outline": each,
        "attempt_steps": [{"attempt": pk, "characters": 4000} for pk in attempts],
        "attempt_text": [{"attempt": pk, "step": 1, "part": "text"} for pk in attempts],
        "attempt_checks": [{"attempt": pk, "everything": True} for pk in attempts],
        "first_divergence": [{"attempt": attempts[0], "other": attempts[1]}],
        "leaderboard": [{"slug": scene.board.slug}],
        "metric_definition": [{"name": "pass_at_1"}],
    }
    return known[name]


EVERYWHERE: dict[str, list[Mapping[str, Any]]] = {
    "list_runs": [{"search": "secret"}],
    "run_report": [{"run": "secret-bench"}],
    "find_attempts": [
        {},
        {"group": "same"},
        {"words": "secret"},
        *({"values_of": facet} for facet in ("run", "task", "model")),
        {"verdict": "any"},
        {"verdict": "any", "values_of": "run"},
        {"verdict": "any", "task": "secret-task"},
    ],
    "leaderboard": [{}],
}
"""What else tools are asked: lists, and names that are nearly those of something else."""


_WORDS = {"There is no ": "unknown", "the scope `evaluate`": "refused", "have no task in common": "open"}
"""What an error says → the table's word."""


def outcome(scene: Scene, name: str, who: Access, arguments: Mapping[str, Any]) -> tuple[str, str]:
    """In the table's words; and the whole answer."""
    try:
        if name in RESOURCES:
            context = SimpleNamespace(request_context=SimpleNamespace(request=SimpleNamespace(scope={SCOPE_KEY: who})))
            return "open", RESOURCES[name].__wrapped__(context, **arguments)  # type: ignore[attr-defined]
        if name == PROMPT:
            return "open", resources.diagnose(**arguments)
        answer = ask({tool.__name__: tool for _, tool in TOOLS}[name.partition("(")[0]], who, **arguments)
    except (ToolError, ResourceNotFoundError) as error:
        return next(word for start, word in _WORDS.items() if start in str(error)), str(error)
    except PermissionDenied as error:
        return "refused", str(error)
    return "open", f"{answer.data!r}\n{answer.text}"


def asked_with(scene: Scene, name: str, *, theirs: bool) -> list[Mapping[str, Any]]:
    if name == PROMPT:
        return [{"run": scene.runs[theirs].slug}]
    if name == "twentyfold://attempts/{attempt}":
        return [{"attempt": str(attempt.pk)} for attempt in scene.attempts[theirs]]
    if name in RESOURCES:
        return [{"slug": scene.board.slug}]
    return calls(scene, name, theirs=theirs)


def test_every_tool_is_in_the_table_and_every_row_is_one() -> None:
    rows = dict(table())
    server = make_server()
    known = {tool.name for tool in server._tool_manager.list_tools()}
    known |= {str(template.uri_template) for template in server._resource_manager.list_templates()}
    known |= {prompt.name for prompt in server._prompt_manager.list_prompts()}
    assert {name.partition("(")[0] for name in rows} == known
    assert len(rows) == len(list(table()))
    assert {cell for cells in rows.values() for cell in cells.values()} == ANSWERS
    assert {column for cells in rows.values() for column in cells} == set(READERS)


def test_without_a_token_nothing_is_answered(scene: Scene) -> None:
    """Nor to a browser that is logged in: a session is for pages."""
    client: Client = scene.clients["ada"]
    cookie = f"{site.SESSION_COOKIE_NAME}={client.cookies[site.SESSION_COOKIE_NAME].value}"
    told = [
        asked(McpBeside(page), **headers)[0]["status"]
        for headers in ({}, {"cookie": cookie}, {"referer": f"http://localhost/share/{scene.link}/"})
    ]
    assert told == [401] * 3
    assert {cells["No token"] for _, cells in table()} == {"401"}


def test_everybody_gets_what_the_table_says(scene: Scene) -> None:
    wrong = {}
    for name, cells in table():
        for column, expected in cells.items():
            for reader in READERS[column] if expected != "–" else ():
                who = access(scene, reader)
                for arguments in asked_with(scene, name, theirs=reader.theirs):
                    got = outcome(scene, name, who, arguments)
                    if got[0] != expected:
                        wrong[name, column, str(reader), str(arguments)] = (got, expected)
    assert wrong == {}


def leaks(scene: Scene, who: Access, closed: dict[str, str]) -> dict[str, set[str]]:
    """What of the closed texts the answers hold, but for what was asked → where."""
    found: dict[str, set[str]] = {}
    for name, _ in table():
        more = EVERYWHERE.get(name, [])
        for arguments in [*(a for theirs in (False, True) for a in asked_with(scene, name, theirs=theirs)), *more]:
            _, text = outcome(scene, name, who, arguments)
            for what, words in closed.items():
                if words in text and words not in repr(arguments):
                    found.setdefault(what, set()).add(f"{name} {arguments}")
    return found


def test_what_is_hidden_could_be_seen(scene: Scene) -> None:
    """Else the next tests would say nothing. Files, notes, and private context are in no answer of a tool."""
    hidden = HIDDEN | {f"secret {key}": text for key, text in SECRET.items()}
    missing = set(hidden) - set(leaks(scene, access(scene, Reader("eve", ALL)), hidden))
    assert missing == {
        "private context", "note", "file", "metadata", "secret note", "secret file", "secret label",
    }  # fmt: skip


@pytest.mark.parametrize(
    "reader",
    [
        Reader("vera", ALL),
        Reader("eve", {Scope.READ}),
        *(Reader("ada", {scope}) for scope in sorted(ALL - {Scope.EVALUATE})),
    ],
    ids=lambda reader: f"{reader.who} {' '.join(sorted(reader.scopes))}",
)
def test_who_may_not_evaluate_learns_nothing_of_what_is_required(scene: Scene, reader: Reader) -> None:
    assert leaks(scene, access(scene, reader), HIDDEN) == {}


@pytest.mark.parametrize("reader", [Reader("vera", ALL), Reader("bob", ALL), Reader("ada", ALL - {Scope.ADMIN})])
def test_a_private_run_is_nowhere(scene: Scene, reader: Reader) -> None:
    closed = {**SECRET, "address": scene.runs[True].slug}
    assert leaks(scene, access(scene, reader), closed) == {}
