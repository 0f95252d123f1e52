from __future__ import annotations

import io
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from runs.models import Attempt, AttemptEffect, TaskTally, ToolUse
from runs.payloads import load_evidence
from tests.factories import make_row, write_jsonl
from tests.runs.test_ingest_shared import ingest

pytestmark = pytest.mark.django_db


def tools(*arguments: str) -> str:
    out = io.StringIO()
    call_command("tools", *arguments, stdout=out, stderr=io.StringIO())
    return out.getvalue()


def writes() -> list[tuple[int, list[int], list[int]]]:
    """(columns' count, writing steps, steps of the first effect) of each attempt."""
    found = []
    for attempt in Attempt.objects.order_by("pk").select_related("trace"):
        graded = load_evidence(attempt.trace).graded
        found.append((attempt.write_calls, graded.write_steps, graded.effects[0].steps))
    return found


def test_what_is_said_of_a_tool_by_hand_changes_stored_attempts_and_can_be_forgotten(tmp_path: Path) -> None:
    rows = [make_row(repetition=number) for number in range(60)]
    ingest(write_jsonl(tmp_path / "rows.jsonl", rows), "--model", "m", "--benchmark", "desk")
    before = (list(TaskTally.objects.values()), AttemptEffect.objects.count(), ToolUse.objects.count())
    first = writes()
    assert first == [(1, [4], [4])] * 60
    answer = tools("desk", "--reads", "update_rental")
    assert "update_rental: changes nothing, by hand" in answer
    assert writes() == [(0, [], [])] * 60
    tools("desk", "--forget", "update_rental")
    assert writes() == first
    assert (list(TaskTally.objects.values()), AttemptEffect.objects.count(), ToolUse.objects.count()) == before


def test_an_unknown_benchmark_is_named_with_those_there_are(tmp_path: Path) -> None:
    ingest(write_jsonl(tmp_path / "rows.jsonl", [make_row()]), "--model", "m", "--benchmark", "desk")
    with pytest.raises(CommandError, match="no benchmark named 'dsk'"):
        tools("dsk")
