"""`/api/v1/tasks` and `/api/v1/benchmarks`."""

from __future__ import annotations

from urllib.parse import quote

from inspector.paths import UidConverter
from runs.access import EVERYTHING
from runs.models import Run
from runs.queries.task_runs import task_across
from tests.inspector.api.conftest import Get
from tests.stored import outcomes, store


def test_benchmarks_and_their_tasks(alder: Run, get: Get) -> None:
    assert get("/benchmarks")["items"] == [{"name": "desk", "tasks": 2, "runs": 2}]
    found = get("/tasks", benchmark="desk", q="test_1")["items"]
    assert found == [
        {"uid": "desk.py:test_1", "name": "test_1", "domain": found[0]["domain"], "benchmark": "desk", "runs": 2}
    ]


def test_a_task_across_runs_is_what_its_page_shows(alder: Run, get: Get) -> None:
    page, found = task_across("desk.py:test_2", access=EVERYTHING), get("/tasks/desk.py:test_2")
    assert [(run["slug"], run["verdicts"]) for run in found["runs"]] == [(run.slug, run.verdicts) for run in page.runs]
    assert [(each["field"], each["attempts"], each["shared"]) for each in found["mistakes"]] == [
        (each.field, each.attempts, each.shared) for each in page.mistakes
    ]
    assert get("/tasks/none", 404)["detail"] == "There is no such task."


def test_a_uid_with_a_slash_and_other_signs(db: None, get: Get) -> None:
    uid = "a/b ~ü?.py:test#1"
    run = store(outcomes(uid, "p"))
    address = quote(UidConverter().to_url(uid))
    assert get(f"/tasks/{address}")["uid"] == get(f"/runs/{run.slug}/tasks/{address}")["uid"] == uid
