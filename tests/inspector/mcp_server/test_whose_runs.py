"""Two accounts: no tool tells one of the other's private run, not even by a count."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from mcp.server.mcpserver.exceptions import ToolError

from inspector.mcp_server.server import TOOLS
from runs.access import Access, Role, access_for
from runs.boards.edit import BoardChanges, create_board
from runs.models import Attempt, Run
from runs.search import anything_waits, index_some
from tests.factories import make_row
from tests.inspector.mcp_server.asking import ask
from tests.inspector.server_mode import make_account
from tests.stored import store

pytestmark = pytest.mark.django_db

NAMES = ("mine-benchmark-5201", "mine-task-5202", "mine-model-5203", "mine-words-5204")
LISTS: list[tuple[str, Mapping[str, Any]]] = [
    ("list_runs", {}),
    ("list_runs", {"search": "mine"}),
    ("find_attempts", {}),
    ("find_attempts", {"group": "same"}),
    ("find_attempts", {"group": "task"}),
    ("find_attempts", {"words": "done"}),
    ("find_attempts", {"values_of": "task"}),
    ("leaderboard", {"slug": "all"}),
    ("leaderboard", {}),
]


def account(name: str) -> Access:
    return access_for(Role.EVALUATOR, user=make_account(name, Role.EVALUATOR).pk, name=name)


@pytest.fixture
def eve() -> Access:
    return account("eve")


@pytest.fixture
def private(eve: Access) -> Run:
    """Eve's, beside a run that everybody sees, and both on a leaderboard."""
    seen = store([make_row(), make_row(repetition=1, outcome="passed")], repetitions=2)
    rows = [make_row(uid=f"mine.py:{NAMES[1]}", repetition=0),
            make_row(uid=f"mine.py:{NAMES[1]}", repetition=1, outcome="passed")]  # fmt: skip
    for row in rows:
        row["messages"][-1]["content"] = f"{NAMES[3]} <DONE>"
    run = store(rows, model=NAMES[2], benchmark=NAMES[0], repetitions=2)
    Run.objects.filter(pk=run.pk).update(owner=eve.user, visibility="private")
    while anything_waits():
        index_some()
    create_board(BoardChanges(title="All", runs=(seen.slug, run.slug), published=()), access=eve)
    return run


def told(who: Access, name: str, arguments: Mapping[str, Any]) -> tuple[str, Any]:
    """All that a tool says, and how many entries it counts."""
    tools = {tool.__name__: tool for _, tool in TOOLS}
    try:
        answer = ask(tools[name], who, **arguments)
    except ToolError as error:
        return str(error), None
    return f"{answer.data!r}\n{answer.text}", answer.data.get("total")


def test_lists_and_searches_leave_out_what_is_private(eve: Access, private: Run) -> None:
    bob = account("bob")
    texts = {str(each): [told(who, *each)[0] for who in (eve, bob)] for each in LISTS}
    named = {each: [any(name in text for name in (*NAMES, private.slug)) for text in both]
             for each, both in texts.items()}  # fmt: skip
    # What two answers name is no run: a title, and a difference that other runs have as well.
    nameless = {str(("leaderboard", {})), str(("find_attempts", {"group": "same"}))}
    assert named == {each: [each not in nameless, False] for each in texts}


def test_counts_are_those_of_a_server_without_it(eve: Access, private: Run) -> None:
    bob = account("bob")
    with_it = [told(bob, *each)[1] for each in LISTS]
    assert with_it != [told(eve, *each)[1] for each in LISTS]
    private.delete()
    assert [told(bob, *each)[1] for each in LISTS] == with_it


def test_asked_for_by_name_it_is_as_unknown_as_what_never_was(eve: Access, private: Run) -> None:
    bob = account("bob")
    attempt = Attempt.objects.filter(run=private)[0].pk
    run = {"run_report": "run", "run_failures": "run", "find_attempts": "run", "compare_runs": "candidate"}
    more: dict[str, Mapping[str, Any]] = {
        "compare_runs": {"base": "desk-birch"},
        "attempt_text": {"step": 1, "part": "text"},
    }
    pairs: list[tuple[str, str, Any, Any]] = [(name, key, private.slug, "never-was") for name, key in run.items()]
    by_id = ("attempt_outline", "attempt_steps", "attempt_text", "attempt_checks", "first_divergence")
    pairs.extend((name, "attempt", attempt, 10**6) for name in by_id)
    for name, key, private_one, no_one in pairs:
        given = more.get(name, {})
        words = told(bob, name, {**given, key: private_one})[0].replace(str(private_one), "X")
        never = told(bob, name, {**given, key: no_one})[0].replace(str(no_one), "X")
        assert words == never, name
        assert "There is no" in words, name
        assert "There is no" not in told(eve, name, {**given, key: private_one})[0], name
