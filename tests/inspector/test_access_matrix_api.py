"""Every operation of the API, asked by everybody, against the second table of docs/access.md.

And no answer has what its reader must not see.

A new operation needs a row there. A new kind of reader is a column there, and an entry in `READERS`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.test import Client
from pytest_django import Settings

from runs.access import Scope
from tests.inspector.access_scene import HIDDEN, SECRET, Scene, make_scene
from tests.inspector.access_tables import rows_of
from tests.inspector.api_scene import PREFIX, Answer, Reader, ask, asked_addresses, operations
from tests.inspector.server_mode import routes, turn_login_on

pytestmark = pytest.mark.django_db

READERS = {
    "Anonymous": [Reader("stranger")],
    "Share link": [Reader("friend")],
    "Viewer": [Reader("vera"), Reader("vera", set(Scope))],
    "Evaluator": [Reader("bob"), Reader("bob", set(Scope))],
    "Admin": [Reader("ada"), Reader("ada", set(Scope))],
    "read": [Reader("ada", {Scope.READ})],
    "evaluate": [Reader("ada", {Scope.EVALUATE})],
    "write": [Reader("ada", {Scope.WRITE})],
    "admin": [Reader("ada", {Scope.ADMIN})],
    "Another's": [
        Reader("bob", theirs=True),
        Reader("bob", set(Scope), theirs=True),
        Reader("ada", set(Scope) - {Scope.ADMIN}, theirs=True),
    ],
    "Another's, admin": [Reader("ada", theirs=True), Reader("ada", set(Scope), theirs=True)],
}
"""Column of the table → who asks, each of whom gets the same."""
ANSWERS = {"open", "401", "403", "404", "–"}


@pytest.fixture
def scene(settings: Settings, tmp_path: Path) -> Scene:
    turn_login_on(settings)
    settings.API_RATE = 0
    settings.UPLOADS_DIR = tmp_path
    scene = make_scene()
    scene.clients["friend"] = Client()
    # The link was opened in this browser.
    assert scene.clients["friend"].get(f"/share/{scene.link}/").status_code == 200
    return scene


def table() -> Iterator[tuple[str, str, dict[str, str]]]:
    for (path, method), cells in rows_of("Operation", "Method"):
        yield path, method, cells


def outcome(answer: Answer) -> str:
    if answer.status in {401, 403, 404}:
        return str(answer.status)
    # 409: what was asked for is there, and contradicts what is stored.
    return "open" if answer.status in {200, 201, 202, 204, 409} else f"status {answer.status}: {answer.text[:200]}"


def test_every_operation_is_in_the_table_and_every_row_is_an_operation() -> None:
    rows = list(table())
    assert {(path.partition("?")[0], method) for path, method, _ in rows} == operations()
    assert {cell for *_, cells in rows for cell in cells.values()} == ANSWERS
    assert {column for *_, cells in rows for column in cells} == set(READERS)
    seen = [(path, method) for path, method, _ in rows]
    assert len(set(seen)) == len(seen)


def test_every_route_of_the_api_is_an_operation() -> None:
    """One that the schema leaves out would be in no table."""
    paths = {re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", pattern.replace("^", "")) for _, pattern in routes()}
    mine = {path for path in paths if path.startswith("/api/")} - {"/api/", f"{PREFIX}/", f"{PREFIX}/docs"}
    assert mine == {f"{PREFIX}{path}" for path, _ in operations()}


def test_what_is_no_operation_is_refused(scene: Scene) -> None:
    """Other methods than those in the table, asked by an admin."""
    known = operations()
    taken = {}
    for path in {path for path, _ in known}:
        for method in ("GET", "POST", "PUT", "PATCH", "DELETE"):
            if (path, method) not in known:
                address = next(asked_addresses(scene, path, method, theirs=False))
                status = ask(scene, Reader("ada"), method, path, address).status
                if status != 405:
                    taken[path, method] = status
    assert taken == {}


def test_everybody_gets_what_the_table_says(scene: Scene) -> None:
    wrong = {}
    for path, method, cells in table():
        for column, expected in cells.items():
            for reader in READERS[column] if expected != "–" else ():
                for address in asked_addresses(scene, path, method, theirs=reader.theirs):
                    got = outcome(ask(scene, reader, method, path.partition("?")[0], address))
                    if got != expected:
                        wrong[path, method, column, str(reader.scopes), address] = (got, expected)
    assert wrong == {}


def leaks(scene: Scene, who: str, scopes: set[Scope] | None, closed: dict[str, str]) -> dict[str, set[str]]:
    """What of the closed texts the answers to somebody hold, but for what they said themselves → where."""
    found: dict[str, set[str]] = {}
    for path, method, _ in table():
        if path == "/openapi.json":
            continue  # the same for everybody, and full of names
        for theirs in (False, True):
            for address in asked_addresses(scene, path, method, theirs=theirs):
                for query in QUERIES.get(path, ("",)):
                    whole = f"{address}{'&' if '?' in address and query else ''}{query}"
                    text = ask(scene, Reader(who, scopes), method, path.partition("?")[0], whole).text
                    for what, words in closed.items():
                        if words in text and words not in whole:
                            found.setdefault(what, set()).add(f"{method} {whole}")
    return found


QUERIES = {
    "/attempts": ("", "?verdict=failed", "?replaced=true", "?run=desk-birch"),
    "/runs/{slug}": ("", "?errors=excluded"),
    "/runs/{slug}/tasks": ("", "?sort=-failed", "?q=secret"),
    "/leaderboards/{slug}": ("", "?recompute=true"),
    "/tasks": ("", "?q=secret", "?q=a"),
}
"""Path → what else it is asked for."""
ALL = set(Scope)
TOLD = HIDDEN | {
    f"field {name}": f'"{name}":'
    for name in (
        "signature", "signatures", "differences", "disagrees", "claim", "claimed_success", "evidence",
        "failing", "private_context", "required", "effects", "mistakes", "retryable",
    )
}  # fmt: skip
"""Also the names of what is derived: a count of differences is no text that could be searched for."""


def test_what_is_hidden_could_be_seen(scene: Scene) -> None:
    """Else the next tests would say nothing."""
    hidden = TOLD | {f"secret {key}": text for key, text in SECRET.items()}
    assert set(leaks(scene, "eve", ALL, hidden)) == set(hidden)


@pytest.mark.parametrize(
    ("who", "scopes"),
    [
        ("stranger", None),
        ("friend", None),
        ("vera", None),
        ("vera", ALL),
        ("eve", {Scope.READ}),
        ("ada", {Scope.READ}),
        ("ada", {Scope.ADMIN}),
    ],
)
def test_who_may_not_evaluate_learns_nothing_of_what_is_required(
    scene: Scene, who: str, scopes: set[Scope] | None
) -> None:
    assert leaks(scene, who, scopes, TOLD) == {}


def test_who_may_only_send_files_learns_their_names_and_no_more(scene: Scene) -> None:
    assert set(leaks(scene, "ada", {Scope.WRITE}, TOLD)) == {"file"}


@pytest.mark.parametrize(
    ("who", "scopes"),
    [
        ("stranger", None),
        ("friend", None),
        ("vera", ALL),
        ("bob", None),
        ("bob", ALL),
        ("ada", ALL - {Scope.ADMIN}),
    ],
)
def test_a_private_run_is_nowhere(scene: Scene, who: str, scopes: set[Scope] | None) -> None:
    closed = {**SECRET, "address": scene.runs[True].slug, "digest": scene.attempts[True][0].digest}
    assert leaks(scene, who, scopes, closed) == {}


def test_nobody_learns_whether_a_private_file_is_here(scene: Scene) -> None:
    known = scene.uploads[True].sha256
    told = {}
    for who in ("bob", "eve", "ada"):
        answer = scene.clients[who].head(f"{PREFIX}/uploads/{known}")
        told[who] = (answer["Upload-Offset"], answer["Upload-Complete"])
    size = str(scene.uploads[True].size)
    assert told == {"bob": ("0", "?0"), "eve": (size, "?1"), "ada": (size, "?1")}
