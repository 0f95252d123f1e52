"""`/api/v1/compare`."""

from __future__ import annotations

import json

import pytest
from django.core.management import call_command

from runs.access import EVERYTHING
from runs.models import Run
from runs.queries.compare_runs import PairFilters, compared_runs
from tests.inspector.api.conftest import Get


def test_the_comparison_is_that_of_the_command(
    birch: Run, alder: Run, get: Get, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("report", birch.slug, alder.slug, json=True)
    printed = json.loads(capsys.readouterr().out)
    assert get("/compare", base=birch.slug, candidate=alder.slug) == printed
    assert printed["comparison"]["lift"] > 0


def test_tasks_and_changes_are_those_of_the_page(birch: Run, alder: Run, get: Get) -> None:
    page = compared_runs(PairFilters(base=birch.slug, candidate=alder.slug), access=EVERYTHING)
    pair = {"base": birch.slug, "candidate": alder.slug}
    assert [(row["uid"], row["gain"], row["word"]) for row in get("/compare/tasks", **pair)["items"]] == [
        (row.uid, row.gain, row.word) for row in page.rows
    ]
    assert [choice["count"] for choice in get("/compare/changes", **pair)["changes"]] == [
        choice.count for choice in page.changes
    ]
    won = get("/compare/tasks", change="won", **pair)["items"]
    assert [row["uid"] for row in won] == ["desk.py:test_2"]


def test_a_run_that_is_not_there(birch: Run, get: Get) -> None:
    assert get("/compare", 404, base=birch.slug, candidate="none")["status"] == 404
