"""A server with people of every role, and texts in it that not everybody may read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from django.contrib.auth.models import User
from django.http.response import HttpResponseBase
from django.test import Client

from inspector.sharing import share_by_link, token_of
from inspector.tokens import make_token
from runs.access import Access, Role, access_for
from runs.boards.edit import BoardChanges, create_board
from runs.costs import Price
from runs.models import Attempt, Leaderboard, Note, Run, SavedView, Upload, Visibility
from runs.notes import add_note
from runs.prices import create_list
from runs.search import anything_waits, index_some
from runs.signatures import SIGNATURE_TITLES, Signature
from tests.factories import SERVER, UID, make_row, state_hash
from tests.inspector.server_mode import make_account, routes
from tests.stored import upload_of

__all__ = ["HIDDEN", "SECRET", "Scene", "make_scene", "text_of"]

HIDDEN = {
    "golden value": "golden-returned-4711",
    "private context": "private-context-4712",
    "assertion": "check-text-4713",
    "note": "note-on-the-attempt-4714",
    "file": "file-name-4715",
    "metadata": "raw-metadata-4716",
    "diagnosis": SIGNATURE_TITLES[Signature.TOOL_USAGE],
}
"""What who may not evaluate must never get, in any answer."""
SECRET = {
    "model": "secret-model-4801",
    "file": "secret-file-4802",
    "note": "secret-note-4803",
    "said": "secret-words-4804",
    "label": "secret-label-4805",
    "benchmark": "secret-bench-4806",
    "task": "secret-task-4807",
}
"""Of a private run: for its owner and admins."""


@dataclass
class Scene:
    people: dict[str, User]
    """vera reads, eve and bob evaluate, ada looks after everything. What is there is eve's."""
    runs: dict[bool, Run]
    """Private or not → run."""
    attempts: dict[bool, list[Attempt]]
    uploads: dict[bool, Upload]
    notes: dict[bool, Note]
    board: Leaderboard
    link: str
    view: SavedView
    tokens: dict[str, int] = field(default_factory=dict)
    bearers: dict[str, str] = field(default_factory=dict)
    """Texts of tokens that a test made."""
    clients: dict[str, Client] = field(default_factory=dict)
    """Whoever asks → their browser; `stranger` has no account."""

    def addresses(self, name: str, pattern: str, *, who: str, theirs: bool = False) -> Iterator[str]:
        """Those of a route, with things in them that are there; `theirs`: with eve's own, where somebody else asks."""
        made = [pattern]
        for whole, parameter in re.findall(r"(<[^:>]+:([^>]+)>)", pattern):
            values = self._values(name, parameter, who, theirs)
            made = [address.replace(whole, str(value)) for address in made for value in values]
        yield from made

    def _values(self, name: str, parameter: str, who: str, theirs: bool) -> list[Any]:
        run, attempts = self.runs[theirs], self.attempts[theirs]
        if parameter == "slug":
            return [self.board.slug if name.startswith("leaderboard") else "list" if "price" in name else run.slug]
        if parameter == "pk":
            things = {
                "token_revoke": self.tokens["eve" if theirs else who] if who in self.tokens else 1,
                "account_change": self.people["bob"].pk,
                "view_forget": self.view.pk,
                "note_delete": self.notes[theirs].pk,
            }
            if name == "attempt_value":
                # The others have no differences.
                return [attempts[0].pk]
            if name.startswith("upload"):
                return [self.uploads[theirs].pk]
            return [things[name]] if name in things else [attempt.pk for attempt in attempts]
        values: dict[str, list[Any]] = {
            "uid": [attempts[0].task.uid],
            "repetition": [0],
            "left": [attempts[0].pk],
            "right": [attempts[1].pk],
            "step": [1, 4, 5],
            "number": [0],
            "side": ["before", "after"],
            "kind": ["csv", "json"],
            "version": [1],
            "address": [self.link if who != "stranger" else "no-such-link"],
        }
        return values[parameter]


def access(user: User) -> Access:
    return access_for(Role(user.account.role), user=user.pk, name=user.username)


def make_scene() -> Scene:
    """With the login turned on."""
    people = {
        name: make_account(name, role)
        for name, role in (
            ("vera", Role.VIEWER),
            ("eve", Role.EVALUATOR),
            ("bob", Role.EVALUATOR),
            ("ada", Role.ADMIN),
        )
    }
    eve = access(people["eve"])
    # Another one, to compare with.
    upload_of([_golden_row(0)], file_name="oak.jsonl", model="oak")
    rows = [
        _golden_row(0),
        _golden_row(1),
        make_row(repetition=2, outcome="passed"),
        make_row(repetition=3, outcome="system"),
    ]
    theirs = [_golden_row(number, said=SECRET["said"], uid=f"a.py:{SECRET['task']}") for number in range(2)]
    uploads = {
        False: upload_of(rows, file_name=f"{HIDDEN['file']}.jsonl", repetitions=4),
        True: upload_of(
            theirs, file_name=f"{SECRET['file']}.jsonl", model=SECRET["model"], benchmark=SECRET["benchmark"]
        ),
    }
    runs = {}
    for private, upload in uploads.items():
        assert upload.run is not None
        visibility = Visibility.PRIVATE if private else Visibility.TEAM
        Run.objects.filter(pk=upload.run.pk).update(owner=people["eve"], visibility=visibility)
        Upload.objects.filter(pk=upload.pk).update(owner=people["eve"], visibility=visibility)
        runs[private] = Run.objects.get(pk=upload.run.pk)
    attempts = {key: list(Attempt.objects.filter(run=run).order_by("pk")) for key, run in runs.items()}
    notes = {
        key: add_note(
            attempts[key][0],
            step=1,
            label=SECRET["label"] if key else "look",
            text=SECRET["note"] if key else HIDDEN["note"],
            author="eve",
        )
        for key in runs
    }
    board = create_board(
        BoardChanges(title="Desk", runs=tuple(run.slug for run in runs.values()), published=("GPT-5.4",)), access=eve
    )
    link = token_of(share_by_link(board, None, access=eve))
    assert link is not None
    create_list("List", [Price(model="birch", provider="", date="2026-01-01", source="")])
    view = SavedView.objects.create(name="mine", query="signature=x")
    scene = Scene(people, runs, attempts, uploads, notes, board, link, view)
    while anything_waits():
        index_some()
    scene.clients["stranger"] = Client()
    for name, user in people.items():
        scene.tokens[name] = make_token(user, "ci").token.pk
        scene.clients[name] = Client()
        scene.clients[name].force_login(user)
    return scene


def _golden_row(repetition: int, said: str = "done", uid: str = UID) -> dict[str, Any]:
    """A failed attempt whose hidden parts each hold a text of their own."""
    row = make_row(uid=uid, repetition=repetition)
    effects = row["test_context"]["effects"][SERVER]
    required = effects["golden_db_state"]
    required["rentals"][0]["status"] = HIDDEN["golden value"]
    effects["golden_db_hash"] = state_hash(required)
    effects["diff"][0]["golden"] = HIDDEN["golden value"]
    row["messages"][-1]["content"] = f"{said} <DONE>"
    row["test_result"]["tb"] = f"AssertionError: {HIDDEN['assertion']}"
    row["test_result"]["line_content"] = HIDDEN["assertion"]
    row["metadata"]["note"] = HIDDEN["metadata"]
    row["user_llm_history"] = [[{"role": "user", "content": HIDDEN["private context"]}]]
    return row


def text_of(answer: HttpResponseBase) -> str:
    """Body and headers."""
    body = b"".join(answer) if answer.streaming else answer.content  # type: ignore[attr-defined]
    return body.decode(errors="replace") + repr(dict(answer.headers))


def all_routes() -> dict[str, str]:
    """Name → pattern, of all but the API's operations, which have a table of their own."""
    found = {name: pattern.replace("^", "") for name, pattern in routes()}
    kept = {"/api/", "/api/v1/", "/api/v1/docs"}
    return {name: pattern for name, pattern in found.items() if not pattern.startswith("/api/") or pattern in kept}
