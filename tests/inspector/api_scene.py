"""The operations of the API, with addresses and bodies that each of them takes, for a scene with people in it."""

from __future__ import annotations

import copy
import hashlib
import itertools
import json
import re
from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

from django.db import transaction
from django.http.response import HttpResponseBase

from inspector.api.app import api
from inspector.tokens import make_token
from runs.access import Scope
from tests.factories import make_row
from tests.inspector.access_scene import SECRET, Scene, text_of

__all__ = ["PREFIX", "Answer", "Reader", "ask", "asked_addresses", "operations"]

PREFIX = "/api/v1"
_FILE = json.dumps(make_row()).encode() + b"\n"
_QUERIES = {
    ("/compare", "GET"): "base={slug}&candidate=desk-oak",
    ("/compare/changes", "GET"): "base={slug}&candidate=desk-oak",
    ("/compare/tasks", "GET"): "base={slug}&candidate=desk-oak",
    ("/attempts/{attempt_id}/states/records", "GET"): "server=rental_desk&table=rentals&side=after",
    ("/search", "GET"): "q=a",
    ("/uploads/{key}", "PUT"): "model=new&benchmark=desk",
}
"""What operations must be asked with, where the row of the table does not say it."""
_BODIES: dict[tuple[str, str], tuple[bytes, str]] = {
    ("/runs", "POST"): (b'{"model": "new", "benchmark": "desk"}', "application/json"),
    ("/runs/{slug}/attempts", "POST"): (_FILE, "application/x-ndjson"),
    ("/attempts/{attempt_id}/notes", "POST"): (b'{"text": "seen"}', "application/json"),
    ("/uploads/{key}/answer", "POST"): (b'{"model": "new"}', "application/json"),
    ("/uploads/{key}", "PUT"): (_FILE, "application/octet-stream"),
}


class Reader(NamedTuple):
    who: str
    """As the scene calls them."""
    scopes: Collection[Scope] | None = None
    """Of the token that they send; None: they come with their browser."""
    theirs: bool = False
    """Asks for what is eve's own and private."""


class Answer(NamedTuple):
    status: int
    text: str
    """Body and headers."""


def operations() -> set[tuple[str, str]]:
    """Path below `PREFIX` and method of each, as the schema lists them."""
    paths = api.own_schema()["paths"]
    return {(path.removeprefix(PREFIX), method.upper()) for path, methods in paths.items() for method in methods}


def ask(scene: Scene, reader: Reader, method: str, path: str, address: str) -> Answer:
    """What is answered to a request at the address, which is one of the path's; and everything as it was before."""
    body, kind = _BODIES.get((path, method), (b"", "application/json"))
    headers = {"Authorization": f"Bearer {_token(scene, reader)}"} if reader.scopes is not None else {}
    # A token stands for itself: a program has no cookies.
    client = scene.clients["stranger" if reader.scopes is not None else reader.who]
    cookies = copy.deepcopy(client.cookies)
    with transaction.atomic():
        answer: HttpResponseBase = client.generic(method, address, body, content_type=kind, headers=headers)
        text = text_of(answer)
        transaction.set_rollback(True)
    client.cookies = cookies
    return Answer(answer.status_code, text)


def _token(scene: Scene, reader: Reader) -> str:
    assert reader.scopes is not None
    name = " ".join((reader.who, *sorted(reader.scopes)))
    if name not in scene.bearers:
        scene.bearers[name] = make_token(scene.people[reader.who], name, reader.scopes).text
    return scene.bearers[name]


def asked_addresses(scene: Scene, path: str, method: str, *, theirs: bool) -> Iterator[str]:
    """Addresses of an operation, with things in them that are there. A query that stands in the path stays."""
    bare, _, query = path.partition("?")
    query = query or _QUERIES.get((bare, method), "")
    names = re.findall(r"{(\w+)}", bare)
    given = [_values(scene, name, bare, method, theirs) for name in names]
    for values in itertools.product(*given):
        address = bare
        for name, value in zip(names, values, strict=True):
            address = address.replace(f"{{{name}}}", str(value))
        whole = f"{PREFIX}{address}{'?' if query else ''}{query.format(slug=scene.runs[theirs].slug)}"
        yield whole


def _values(scene: Scene, name: str, path: str, method: str, theirs: bool) -> list[Any]:
    # Not every attempt has recorded states.
    attempts = scene.attempts[theirs][: 2 if path.endswith("/records") else None]
    if name == "slug":
        slugs = {"/leaderboards": scene.board.slug, "/price-lists": "list"}
        return [next((slug for start, slug in slugs.items() if path.startswith(start)), scene.runs[theirs].slug)]
    if name == "key":
        known = scene.uploads[theirs].sha256
        digests = {"PUT": [hashlib.sha256(_FILE).hexdigest()], "HEAD": [known]}
        return digests.get(method, [scene.uploads[theirs].pk, known])
    values: dict[str, list[Any]] = {
        "uid": [f"a.py:{SECRET['task']}" if theirs else attempts[0].task.uid],
        "attempt_id": [attempt.pk for attempt in attempts],
        "left": [attempts[0].pk],
        "right": [attempts[1].pk],
        "number": [1, 4, 5],
        "version": [1],
        "note_id": [scene.notes[theirs].pk],
    }
    if path == "/metrics/{name}":
        return ["pass_at_1"]
    return values[name]
