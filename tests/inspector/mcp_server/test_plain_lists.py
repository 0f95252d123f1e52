"""Attempts in plain facts: for who may not see what went wrong, and of what did not fail."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from mcp.server.mcpserver.exceptions import ToolError

from inspector.mcp_server.attempt_tools import attempt_outline
from inspector.mcp_server.failure_tools import find_attempts
from runs.access import EVERYTHING, Access
from runs.models import Attempt, Run
from runs.queries.run_grid import GridView, run_grid
from tests.factories import UID
from tests.inspector.mcp_server.asking import NO_EVALUATOR, ask
from tests.stored import outcomes, store

pytestmark = pytest.mark.django_db

OTHER = "rental_desk_group1.py:test_return_002"
ORDER = [(UID, 0), (UID, 1), (UID, 2), (OTHER, 0), (OTHER, 1), (OTHER, 2)]


@pytest.fixture
def run() -> Run:
    return store([*outcomes(UID, "ffp"), *outcomes(OTHER, "fep")], repetitions=3)


def walked(who: Access, **asked: Any) -> list[dict[str, Any]]:
    lines: list[dict[str, Any]] = []
    offset: int | None = 0
    while offset is not None:
        data = ask(find_attempts, who, offset=offset, **asked).data
        lines += data["found"]
        offset = data["next_offset"]
    assert len(lines) == data["total"] == data["attempts"]
    return lines


def test_a_viewer_finds_ids_and_reads_the_attempt(run: Run) -> None:
    found = ask(find_attempts, NO_EVALUATOR, run=run.slug)
    assert (found.data["verdict"], found.data["attempts"], found.data["tasks"]) == ("failed", 3, 2)
    first = found.data["found"][0]
    pk = Attempt.objects.get(task__uid=UID, repetition=0).pk
    assert first == {
        "attempt": pk, "run": run.slug, "task": UID, "domain": "rental_desk", "repetition": 0, "verdict": "failed",
        "finish_reason": "done", "steps": 6, "signature": None, "differences": None, "first_difference": None,
        "claim": None, "excerpts": [],
    }  # fmt: skip
    assert f'attempt {pk} of run {run.slug}: "{UID}" repetition 0, failed, 6 steps, finished with "done"' in found.text
    assert found.data["next"] == [f"attempt_outline(attempt={pk}) shows the first one."]
    assert found.data["cut"] == ["What went wrong: the token needs the scope `evaluate`."]
    seen = ask(attempt_outline, NO_EVALUATOR, attempt=pk).data
    assert [seen[name] for name in ("verdict", "signature", "signature_rule", "claim", "evidence")] == [
        "failed", None, None, None, None,
    ]  # fmt: skip


def test_it_is_what_the_grid_and_the_rest_api_show_a_viewer(
    run: Run, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("inspector.api.auth.access_of", lambda request: NO_EVALUATOR)
    for verdict, query in (("any", ""), ("failed", "?verdict=failed"), ("passed", "?verdict=passed")):
        lines = walked(NO_EVALUATOR, run=run.slug, verdict=verdict)
        items = client.get(f"/api/v1/runs/{run.slug}/attempts{query}").json()["items"]
        told = [(x["attempt"], x["task"], x["repetition"], x["verdict"], x["finish_reason"], x["steps"]) for x in lines]
        items.sort(key=lambda x: (x["task"], x["repetition"]))
        assert told == [
            (x["id"], x["task"], x["repetition"], x["verdict"], x["finish_reason"], x["steps"]) for x in items
        ]
    grid = run_grid(run.slug, GridView(), access=NO_EVALUATOR)
    cells = {task.uid: task.cells for band in grid.bands for task in band.tasks}
    letters: dict[str, str] = {}
    for line in walked(NO_EVALUATOR, run=run.slug, verdict="any"):
        letters[line["task"]] = letters.get(line["task"], "") + line["verdict"][0]
    assert {uid: "".join(sorted(text)) for uid, text in letters.items()} == {
        uid: "".join(sorted(text)) for uid, text in cells.items()
    }


@pytest.mark.parametrize("who", [NO_EVALUATOR, EVERYTHING], ids=["viewer", "evaluator"])
@pytest.mark.parametrize(
    ("asked", "places"),
    [
        ({"verdict": "any"}, ORDER),
        ({"verdict": "passed"}, [(UID, 2), (OTHER, 2)]),
        ({"verdict": "error"}, [(OTHER, 1)]),
        ({"verdict": "any", "task": OTHER}, ORDER[3:]),
        ({"verdict": "any", "task": OTHER, "tool": "update_rental"}, ORDER[3:]),
        ({"verdict": "any", "finish": "done", "domain": "rental_desk", "model": "birch"}, ORDER),
        ({"verdict": "any", "tool": "update_rental", "erred": "find_notes"}, ORDER),
        ({"verdict": "any", "sort": "-steps"}, [ORDER[at] for at in (4, 0, 3, 1, 2, 5)]),
        ({"verdict": "any", "sort": "-duration"}, [ORDER[at] for at in (1, 0, 3, 4, 2, 5)]),
    ],
)  # fmt: skip
def test_attempts_of_any_verdict(run: Run, who: Access, asked: dict[str, Any], places: list[tuple[str, int]]) -> None:
    store(outcomes(UID, "e"), model="oak", repetitions=1)
    Attempt.objects.filter(run=run, task__uid=OTHER, repetition=1).update(steps=99)
    Attempt.objects.filter(run=run).update(duration=None)
    Attempt.objects.filter(run=run, task__uid=UID, repetition=1).update(duration=9.0)
    lines = walked(who, run=run.slug, **asked)
    assert [(line["task"], line["repetition"]) for line in lines] == places
    assert {(line["signature"], line["first_difference"], line["claim"]) for line in lines} == {(None, None, None)}


def test_values_are_counted_by_plain_facts(run: Run) -> None:
    store(outcomes(UID, "e"), model="oak", repetitions=1)
    counted = {
        facet: {value["value"]: value["count"] for value in ask(
            find_attempts, NO_EVALUATOR, verdict="any", run=run.slug, values_of=facet
        ).data["values"]}
        for facet in ("run", "task", "domain", "model", "tool", "erred")
    }  # fmt: skip
    assert counted == {
        "run": {run.slug: 6}, "task": {UID: 3, OTHER: 3}, "domain": {"rental_desk": 6}, "model": {"birch": 6},
        "tool": {"find_notes": 6, "find_rentals": 6, "update_rental": 6}, "erred": {"find_notes": 6},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        ({"words": "mixer"}, "`words`"),
        ({"signature": "tool_usage"}, "`signature`"),
        ({"label": "x"}, "`label`"),
        ({"effect": "wrong"}, "`effect`"),
        ({"table": "rentals", "field": "rentals.status"}, "`table`, `field`"),
        ({"rubric": "x"}, "`rubric`"),
        ({"looked_like_success": False}, "`looked_like_success`"),
        ({"claimed_success": True}, "`claimed_success`"),
        ({"group": "same"}, "`group`"),
        ({"group": "task"}, "`group`"),
        ({"sort": "-differences"}, "`sort='-differences'`"),
        ({"values_of": "field"}, "`values_of='field'`"),
        ({"values_of": "same"}, "`values_of='same'`"),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_what_tells_the_required_state_is_refused_by_its_name(run: Run, asked: dict[str, Any], named: str) -> None:
    with pytest.raises(ToolError) as caught:
        ask(find_attempts, NO_EVALUATOR, **asked)
    words = str(caught.value)
    assert words.startswith(f"{named} asks for what went wrong, which tells what tasks require.")
    assert "That needs the scope `evaluate`, and an account that is an evaluator's." in words
    with pytest.raises(ToolError) as caught:
        ask(find_attempts, verdict="any", **asked)
    assert str(caught.value).startswith(f"{named} asks for what went wrong, and only failed attempts have that.")


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"run": "desk-birc"}, 'There is no run "desk-birc". Similar ones: "desk-birch".'),
        ({"task": OTHER[:-1]}, f'There is no task "{OTHER[:-1]}". Similar ones: "{OTHER}"'),
        ({"tool": "find_rental"}, 'There is no tool "find_rental". Similar ones: "find_rentals"'),
        ({"erred": "find_note"}, 'There is no erred "find_note". Similar ones: "find_notes"'),
        ({"finish": "dome"}, 'There is no finish "dome". Similar ones: "done"'),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)  # fmt: skip
def test_a_name_that_no_attempt_has_is_told_with_those_like_it(run: Run, asked: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ToolError) as caught:
        ask(find_attempts, NO_EVALUATOR, **asked)
    assert str(caught.value).startswith(sentence)


def test_names_that_are_there_and_fit_nothing_together(run: Run) -> None:
    data = ask(find_attempts, NO_EVALUATOR, task=UID, verdict="error").data
    assert (data["found"], data["next"]) == (
        [], ["Nothing fits all filters together. Leave one out: task, verdict; or a smaller offset."],
    )  # fmt: skip
    assert ask(find_attempts, NO_EVALUATOR, offset=10**9).data["found"] == []


def test_thousands_are_walked_without_a_gap(run: Run) -> None:
    store([row for number in range(60) for row in outcomes(f"desk.py:test_{number:03}", "pfe")], repetitions=3)
    for sort in ("task", "steps", "-tokens", "-duration"):
        lines = walked(NO_EVALUATOR, verdict="any", sort=sort)
        assert sorted(line["attempt"] for line in lines) == sorted(Attempt.objects.values_list("pk", flat=True))
