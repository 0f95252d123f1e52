"""The harness's own bundles, through the command, against what the harness's own tool computes from them."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from runs.models import Attempt, Run, TaskTally

pytestmark = [pytest.mark.shared, pytest.mark.django_db]

BUNDLES = {
    "smoke/smoke.jsonl.gz": ("delta-medium", (20, 8, 11, 1)),
    "retail-20x/retail-20x.aster-large.jsonl.zst": ("aster-large", (240, 200, 37, 3)),
    "retail-20x/retail-20x.briza-mini.jsonl.zst": ("briza-mini", (240, 123, 113, 4)),
    "retail-20x/retail-20x.cedar-8b.jsonl.zst": ("cedar-8b", (240, 80, 157, 3)),
    "retail-20x/retail-20x.aster-large.retry.jsonl.zst": ("aster-large", (240, 202, 38, 0)),
    "five-domains/five-domains.aster-large.jsonl.zst": ("aster-large", (800, 644, 152, 4)),
    "five-domains/five-domains.delta-medium.jsonl.zst": ("delta-medium", (800, 378, 415, 7)),
    "variants/no-dump.jsonl.gz": ("cedar-8b", (20, 5, 10, 5)),
    "variants/limits.jsonl.zst": ("cedar-8b", (28, 5, 10, 13)),
    "variants/no-test.jsonl.zst": ("cedar-8b", (15, 0, 0, 15)),
    "variants/full-dump.jsonl.zst": ("cedar-8b", (10, 3, 5, 2)),
    "variants/skip-agent.jsonl.zst": (None, (5, 0, 5, 0)),
}
"""Bundle → the model its metadata names, and (stored, passed, failed, errors) by the bundles' README."""

COUNTS = ("read", "stored", "same", "replaced", "passed", "failed", "errors", "conflicts", "rejected", "missing")


def ingest(*arguments: str | Path) -> dict[str, Any]:
    """Runs the command on one file and returns its JSON answer, with the exit status as `exit`."""
    out = io.StringIO()
    status: str | int | None = 0
    try:
        call_command("ingest", *map(str, arguments), "--json", stdout=out, stderr=io.StringIO())
    except SystemExit as ended:
        status = ended.code
    answer: dict[str, Any] = json.loads(out.getvalue()) | {"exit": status}
    return answer


def counts(answer: dict[str, Any]) -> dict[str, int]:
    return {name: len(answer[name]) if isinstance(answer[name], list) else answer[name] for name in COUNTS}


def expected(rows: int, passed: int, failed: int, errors: int, **others: int) -> dict[str, int]:
    known = {"read": rows, "stored": rows, "passed": passed, "failed": failed, "errors": errors}
    return dict.fromkeys(COUNTS, 0) | known | others


@pytest.mark.parametrize("bundle", BUNDLES)
def test_a_bundle_counts_as_the_harness_counts_it(bundle: str, shared: Path) -> None:
    model, numbers = BUNDLES[bundle]
    path = shared / "bundles" / bundle
    answer = ingest(path)
    assert counts(answer) == expected(*numbers)
    run = Run.objects.get(slug=answer["run"])
    if model is not None:
        assert (run.model, run.model_inferred) == (model, False)
    stem = path.name.removesuffix(".gz").removesuffix(".zst").removesuffix(".jsonl")
    reference = path.with_name(f"{stem}.tb_agg.json")
    per_test = {
        test["uid"]: (test["runs"], test["passed"], test["failed"], test["error"])
        for test in json.loads(reference.read_text(encoding="utf-8"))["per_test"]
    }
    tallies = TaskTally.objects.filter(run=run).select_related("task")
    assert {t.task.uid: (t.recorded, t.passed, t.failed, t.errors) for t in tallies} == per_test


def test_the_same_file_again_stores_nothing_and_changes_no_number(shared: Path) -> None:
    path = shared / "bundles/smoke/smoke.jsonl.gz"
    first = ingest(path)
    before = list(TaskTally.objects.order_by("pk").values())
    second = ingest(path)
    assert second["run"] == first["run"]
    assert counts(second) == expected(20, 8, 11, 1, stored=0, same=20)
    assert list(TaskTally.objects.order_by("pk").values()) == before
    assert (Run.objects.count(), Attempt.objects.count()) == (1, 20)


def test_a_retry_replaces_the_errors_of_the_first_run_and_keeps_them_as_history(shared: Path) -> None:
    folder = shared / "bundles/retail-20x"
    first = ingest(folder / "retail-20x.aster-large.jsonl.zst")
    retry = ingest(folder / "retail-20x.aster-large.retry.jsonl.zst", "--run", first["run"])
    assert counts(retry) == expected(240, 202, 38, 0, stored=0, same=237, replaced=3)
    history = Attempt.objects.filter(current=False)
    assert [(attempt.verdict, attempt.reason) for attempt in history] == [("error", "system")] * 3
    assert Attempt.objects.filter(current=True).count() == 240
    again = ingest(folder / "retail-20x.aster-large.retry.jsonl.zst", "--run", first["run"])
    assert counts(again) == expected(240, 202, 38, 0, stored=0, same=240)


def test_damaged_files_lose_only_what_is_damaged(shared: Path) -> None:
    folder = shared / "bundles/damaged"
    duplicate = ingest(folder / "duplicate.jsonl.zst", "--model", "delta-medium")
    assert counts(duplicate) == expected(20, 8, 11, 1, read=21, same=1)
    truncated = ingest(folder / "truncated.jsonl", "--model", "cedar-8b")
    assert counts(truncated) | {"passed": 0, "failed": 0, "errors": 0, "missing": 0} == expected(8, 0, 0, 0, rejected=1)
    assert truncated["rejected"][0]["line"] == 9
    missing = ingest(folder / "missing-repetition.jsonl.zst", "--model", "delta-medium")
    assert (missing["stored"], missing["missing"]) == (19, 1)


@pytest.mark.parametrize("name", ["single", "single-pass", "single-error", "single-loop"])
def test_one_result_as_a_yaml_document(name: str, shared: Path) -> None:
    answer = ingest(shared / f"bundles/variants/{name}.yaml", "--model", "cedar-8b")
    verdicts = {"single": "failed", "single-pass": "passed", "single-error": "error", "single-loop": "failed"}
    assert list(Attempt.objects.values_list("verdict", flat=True)) == [verdicts[name]]
    assert answer["stored"] == 1


def test_the_failing_attempts_of_the_known_task_show_the_ticket_that_had_to_be_on_hold(shared: Path) -> None:
    answer = ingest(shared / "bundles/smoke/smoke.jsonl.gz")
    uid = "sandbox_external_retail_group1.py:test_case_ST003_006"
    failing = Attempt.objects.filter(task__uid=uid, verdict="failed").values_list("repetition", flat=True)
    assert sorted(failing) == [1, 2, 3]
    for repetition in failing:
        out = io.StringIO()
        call_command("show", answer["run"], uid, str(repetition), "--json", stdout=out)
        shown = json.loads(out.getvalue())
        first = shown["effects"][0]
        assert {name: first[name] for name in ("kind", "table", "key", "field", "before", "after", "required")} == {
            "kind": "missing",
            "table": "zendesk_tickets",
            "key": "20",
            "field": "status",
            "before": "solved",
            "after": "solved",
            "required": "hold",
        }
        names = {step["index"]: step["name"] for step in shown["steps"]}
        updates = [index for index, name in names.items() if name == "zendesk_update_item"]
        assert first["steps"] == sorted(updates, reverse=True)
        assert len(updates) == 2
