"""Every route, asked by everybody, against the table of docs/access.md; and no answer has what its reader must not see.

A new route needs a row there. A new kind of reader is a column there, and an entry in `READERS`.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest
from django.db import transaction
from django.http.response import HttpResponseBase
from django.test import Client
from pytest_django import Settings

from inspector.tokens import make_token
from runs.access import Scope
from tests.inspector.access_scene import HIDDEN, SECRET, Scene, all_routes, make_scene, text_of
from tests.inspector.access_tables import rows_of
from tests.inspector.server_mode import turn_login_on

pytestmark = pytest.mark.django_db


class Reader(NamedTuple):
    who: str
    """As the scene calls them; their client and things are the scene's."""
    theirs: bool = False
    """Asks for what is eve's own."""


READERS = {
    "Anonymous": Reader("stranger"),
    "Share link": Reader("friend"),
    "Viewer": Reader("vera"),
    "Evaluator": Reader("eve"),
    "Admin": Reader("ada"),
    "Another's": Reader("bob", theirs=True),
}
"""Column of the table → who asks."""
ANSWERS = {"open", "login", "403", "404", "–"}
POSTED: dict[str, dict[str, Any]] = {
    "account_change": {"do": "role", "role": "viewer"},
    "login": {"name": "nobody", "password": "wrong"},
}


@pytest.fixture
def scene(settings: Settings) -> Scene:
    turn_login_on(settings)
    scene = make_scene()
    scene.clients["friend"] = Client()
    return scene


def table() -> Iterator[tuple[str, str, dict[str, str]]]:
    """Route, method, and what each column says."""
    for (name, method), cells in rows_of("Route", "Method"):
        yield name, method, cells


def outcome(answered: Answered, reader: Reader) -> str:
    answer = answered.response
    if answer.status_code in {403, 404}:
        return str(answer.status_code)
    if answer.status_code == 401:
        return "login"
    if (
        answer.status_code == 303
        and answer.headers["Location"].startswith("/login/")
        and reader.who in {"stranger", "friend"}
    ):
        return "login"
    return "open" if answer.status_code in {200, 201, 302, 303, 409, 422} else f"status {answer.status_code}"


class Answered(NamedTuple):
    response: HttpResponseBase
    text: str
    """Body and headers."""


def asked(scene: Scene, reader: Reader, method: str, address: str, data: dict[str, Any], **headers: str) -> Answered:
    """The answer, and everything as it was before."""
    with transaction.atomic():
        client = scene.clients[reader.who]
        cookies = copy.deepcopy(client.cookies)
        send: Callable[..., HttpResponseBase] = getattr(client, method.lower())
        answer = send(address, data, headers=headers)
        text = text_of(answer)
        client.cookies = cookies
        transaction.set_rollback(True)
    return Answered(answer, text)


def test_every_route_is_in_the_table_and_every_row_is_a_route() -> None:
    rows = list(table())
    assert {name for name, _, _ in rows} == set(all_routes())
    assert "" not in all_routes()
    assert {cell for *_, cells in rows for cell in cells.values()} == ANSWERS
    assert {column for *_, cells in rows for column in cells} == set(READERS)
    seen = [(name, method) for name, method, _ in rows]
    assert len(set(seen)) == len(seen)


def test_every_method_that_a_view_takes_is_in_the_table(scene: Scene) -> None:
    """A view that is asked with the other method answers 405 to an admin."""
    rows = {(name, method) for name, method, _ in table()}
    missing = set()
    for name, pattern in all_routes().items():
        for method in ("GET", "POST"):
            if (name, method) in rows:
                continue
            address = next(scene.addresses(name, pattern, who="ada"))
            if asked(scene, READERS["Admin"], method, address, {}).response.status_code != 405:
                missing.add((name, method))
    assert missing == set()


def test_everybody_gets_what_the_table_says(scene: Scene) -> None:
    patterns = all_routes()
    wrong = {}
    for name, method, cells in table():
        for column, expected in cells.items():
            if expected == "–":
                continue
            reader = READERS[column]
            data = POSTED.get(name, {}) if method == "POST" else {}
            for address in scene.addresses(name, patterns[name], who=reader.who, theirs=reader.theirs):
                got = outcome(asked(scene, reader, method, address, data), reader)
                if got != expected:
                    wrong[name, method, column, address] = (got, expected)
    assert wrong == {}


def test_a_token_opens_no_page(scene: Scene) -> None:
    """With every scope, and of an admin: what is no API answers as to somebody without an account."""
    text = make_token(scene.people["ada"], "all", set(Scope)).text
    scene.clients["program"] = Client(headers={"Authorization": f"Bearer {text}"})
    patterns, wrong = all_routes(), {}
    for name, method, cells in table():
        for address in scene.addresses(name, patterns[name], who="stranger"):
            got = outcome(asked(scene, Reader("program"), method, address, POSTED.get(name, {})), READERS["Anonymous"])
            if got != cells["Anonymous"]:
                wrong[name, method, address] = (got, cells["Anonymous"])
    assert wrong == {}


QUERIES = {
    "attempt": (
        "?tab=checks",
        "?tab=task",
        "?tab=raw",
        "?part=state",
        "?part=task",
        "?part=raw",
        "?effects=all",
        "?block=1",
    ),
    "attempt_step": ("?text=response", "?only=response"),
    "run": ("?colour=signature", "?sort=-differences", "?errors=excluded"),
    "leaderboard": ("?recompute=1",),
    "search": ("?q=golden-returned-4711", "?q=secret", "?q=7", "?q=a"),
    "compare_runs": (
        "?base=desk-birch&candidate=secret-bench-4806-secret-model-4801",
        "?base=desk-birch&candidate=desk-oak",
    ),
}
"""Route → what else it is asked for."""


def leaks(scene: Scene, who: str, closed: dict[str, str], **headers: str) -> dict[str, set[str]]:
    """What of the closed texts the answers to somebody hold, but for what they said themselves → where."""
    found: dict[str, set[str]] = {}
    patterns = all_routes()
    for name, method, _ in table():
        addresses = [
            *scene.addresses(name, patterns[name], who=who),
            *scene.addresses(name, patterns[name], who=who, theirs=True),
        ]
        data = POSTED.get(name, {}) if method == "POST" else {}
        for address in dict.fromkeys(addresses):
            for query in ("", *(QUERIES.get(name, ()) if method == "GET" else ())):
                text = asked(scene, Reader(who), method, address + query, data, **headers).text
                for what, words in closed.items():
                    if words in text and words not in address + query:
                        found.setdefault(what, set()).add(f"{method} {address}{query}")
    return found


def test_what_is_hidden_could_be_seen(scene: Scene) -> None:
    """Else the next tests would say nothing."""
    assert set(leaks(scene, "eve", HIDDEN | {f"secret {key}": text for key, text in SECRET.items()})) == {
        *HIDDEN,
        *(f"secret {key}" for key in SECRET),
    }


@pytest.mark.parametrize(
    ("who", "headers"), [("stranger", {}), ("friend", {}), ("vera", {}), ("vera", {"HX-Request": "true"})]
)
def test_who_may_not_evaluate_learns_nothing_of_what_is_required(
    scene: Scene, who: str, headers: dict[str, str]
) -> None:
    assert leaks(scene, who, HIDDEN, **headers) == {}


@pytest.mark.parametrize("who", ["stranger", "friend", "vera", "bob"])
def test_a_private_run_is_nowhere(scene: Scene, who: str) -> None:
    found = leaks(scene, who, {**SECRET, "address": scene.runs[True].slug})
    assert found == {}
