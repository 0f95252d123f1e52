"""Rows that meet: the same again, a result after an error, another result. Through the command, as people do it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from runs.models import Attempt, AttemptEffect, AttemptLabel, Run, TaskTally, ToolUse, UploadProblem
from tests.factories import UID, make_row, write_jsonl
from tests.runs.test_ingest_shared import counts, expected, ingest

pytestmark = pytest.mark.django_db


def stored() -> list[tuple[int, str, bool, int]]:
    """(repetition, verdict, current, line) of every attempt."""
    return list(Attempt.objects.order_by("repetition", "pk").values_list("repetition", "verdict", "current", "line"))


def test_columns_and_narrow_rows_of_a_failed_attempt(tmp_path: Path) -> None:
    ingest(write_jsonl(tmp_path / "rows.jsonl", [make_row()]), "--model", "m")
    columns = Attempt.objects.values(
        "verdict", "reason", "finish_reason", "state_source", "differences", "steps", "tool_calls", "tool_errors",
        "write_calls", "model_calls", "input_tokens", "cached_tokens", "output_tokens", "reasoning_tokens", "duration",
        "signature", "signature_version", "ended_cleanly", "called_write", "last_response_ok", "claimed_success",
        "error_class", "retryable", "disagrees",
    ).get()  # fmt: skip
    assert columns == {
        "verdict": "failed",
        "reason": "",
        "finish_reason": "done",
        "state_source": "recorded",
        "differences": 1,
        "steps": 6,
        "tool_calls": 3,
        "tool_errors": 1,
        "write_calls": 1,
        "model_calls": 1,
        "input_tokens": 1200,
        "cached_tokens": 1000,
        "output_tokens": 80,
        "reasoning_tokens": 60,
        "duration": 3.25,
        "signature": "tool_usage",
        "signature_version": 1,
        "ended_cleanly": True,
        "called_write": True,
        "last_response_ok": False,
        "claimed_success": False,
        "error_class": "",
        "retryable": None,
        "disagrees": False,
    }
    effects = AttemptEffect.objects.values_list("kind", "table", "key", "field", "after", "required")
    assert list(effects) == [("wrong", "rentals", "7", "status", '"closed"', '"returned"')]
    labels = AttemptLabel.objects.order_by("label").values_list("label", flat=True)
    assert list(labels) == ["tool_error_not_recovered", "wrong_field_value"]
    tools = ToolUse.objects.order_by("name").values_list("name", "calls", "errors")
    assert list(tools) == [("find_notes", 1, 1), ("find_rentals", 1, 0), ("update_rental", 1, 0)]


def test_a_tally_adds_up_to_its_attempts(tmp_path: Path) -> None:
    outcomes = {0: "passed", 1: "failed", 3: "system", 4: "grader", 5: "not_graded"}
    rows = [make_row(repetition=number, outcome=outcome) for number, outcome in outcomes.items()]  # type: ignore[arg-type]
    answer = ingest(write_jsonl(tmp_path / "rows.jsonl", rows), "--model", "m")
    assert counts(answer) == expected(5, 1, 1, 3, missing=1)
    tally = TaskTally.objects.values("recorded", "passed", "failed", "errors", "verdicts", "with_usage").get()
    assert tally == {"recorded": 5, "passed": 1, "failed": 1, "errors": 3, "verdicts": "pf.eee", "with_usage": 5}
    errors = Attempt.objects.filter(verdict="error").order_by("repetition")
    assert list(errors.values_list("reason", flat=True)) == ["system", "grader", "not_graded"]
    run = Run.objects.get()
    assert (run.repetitions, run.repetitions_inferred) == (6, True)


def test_a_row_twice_in_one_file_counts_once(tmp_path: Path) -> None:
    answer = ingest(write_jsonl(tmp_path / "rows.jsonl", [make_row(), make_row()]), "--model", "m")
    assert counts(answer) == expected(1, 0, 1, 0, read=2, same=1)
    again = ingest(write_jsonl(tmp_path / "more.jsonl", [make_row(), make_row(), make_row()]), "--run", answer["run"])
    assert counts(again) == expected(0, 0, 1, 0, read=3, same=3)


def test_two_results_for_one_place_keep_the_first_and_list_the_other(tmp_path: Path) -> None:
    answer = ingest(write_jsonl(tmp_path / "rows.jsonl", [make_row(), make_row(outcome="passed")]), "--model", "m")
    assert counts(answer) == expected(1, 0, 1, 0, read=2, conflicts=1)
    assert answer["conflicts"] == [{"line": 2, "uid": UID, "repetition": 0, "kept": "line 1"}]
    assert stored() == [(0, "failed", True, 1)]
    other = ingest(write_jsonl(tmp_path / "other.jsonl", [make_row(outcome="passed")]), "--run", answer["run"])
    assert other["conflicts"] == [{"line": 1, "uid": UID, "repetition": 0, "kept": "line 1 of rows.jsonl"}]
    assert other["exit"] == 1
    assert stored() == [(0, "failed", True, 1)]


def test_a_result_replaces_an_error_of_the_same_file(tmp_path: Path) -> None:
    rows = [make_row(outcome="system"), make_row(outcome="passed")]
    answer = ingest(write_jsonl(tmp_path / "rows.jsonl", rows), "--model", "m")
    assert counts(answer) == expected(1, 1, 0, 0, read=2, replaced=1)
    assert sorted(stored()) == [(0, "error", False, 1), (0, "passed", True, 2)]
    assert TaskTally.objects.values_list("recorded", "passed", "errors", "verdicts").get() == (1, 1, 0, "p")


def test_an_error_never_replaces_a_result(tmp_path: Path) -> None:
    rows = [make_row(outcome="passed"), make_row(outcome="system")]
    answer = ingest(write_jsonl(tmp_path / "rows.jsonl", rows), "--model", "m")
    assert counts(answer) == expected(1, 1, 0, 0, read=2, conflicts=1)


def test_the_same_file_into_another_run_is_stored(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "rows.jsonl", [make_row()])
    first = ingest(path, "--model", "m")
    second = ingest(path, "--model", "another")
    assert second["run"] != first["run"]
    assert counts(second) == expected(1, 0, 1, 0)


def test_k_can_be_said_and_is_then_not_inferred(tmp_path: Path) -> None:
    answer = ingest(write_jsonl(tmp_path / "rows.jsonl", [make_row()]), "--model", "m", "--repetitions", "4")
    run = Run.objects.get()
    assert (run.repetitions, run.repetitions_inferred, answer["missing"]) == (4, False, 3)


def test_rows_of_another_benchmark_than_the_run_s_are_refused(tmp_path: Path) -> None:
    own = ingest(write_jsonl(tmp_path / "rows.jsonl", [make_row()]), "--model", "m")
    foreign = make_row(uid="sandbox_external_retail_group1.py:test_case_ST003_006")
    path = write_jsonl(tmp_path / "foreign.jsonl", [foreign])
    refused = ingest(path, "--run", own["run"])
    assert (refused["exit"], refused["stored"], Attempt.objects.count()) == (1, 0, 1)
    assert "belongs to ThinkingBox-Bench v1.0" in refused["error"]
    answer = ingest(path, "--model", "m")
    assert (answer["exit"], answer["stored"]) == (0, 1)


def test_nul_and_half_surrogates_are_kept_in_the_row_and_replaced_in_columns(tmp_path: Path) -> None:
    row: dict[str, Any] = make_row()
    row["messages"][2]["content"] = "before\0after"
    row["finish_reason"] = "do\0ne"
    ingest(write_jsonl(tmp_path / "rows.jsonl", [row]), "--model", "m")
    assert Attempt.objects.get().finish_reason == "do\ufffdne"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"uid": "x" * 1001}, "uid: the task's name has 1,001 characters, and 1,000 are the most that can be stored."),
        ({"uid": "a\0b"}, "uid: the task's name holds U+0000 or half of a surrogate pair, which no name can have."),
        ({"uid": " "}, "uid: the task's name is empty."),
    ],
)
def test_a_name_that_no_database_can_hold_is_listed(change: dict[str, str], reason: str, tmp_path: Path) -> None:
    rows = [make_row(), make_row(repetition=1, **change)]  # type: ignore[arg-type]
    answer = ingest(write_jsonl(tmp_path / "rows.jsonl", rows), "--model", "m")
    assert answer["stored"] == 1
    assert answer["rejected"] == [{"line": 2, "reason": reason}]
    assert UploadProblem.objects.filter(kind="rejected").count() == 1


def test_a_repetition_beyond_all_reason_is_listed(tmp_path: Path) -> None:
    row = make_row()
    row["metadata"]["repetition"] = 100_000
    answer = ingest(write_jsonl(tmp_path / "rows.jsonl", [make_row(), row]), "--model", "m")
    assert [problem["line"] for problem in answer["rejected"]] == [2]
    assert answer["rejected"][0]["reason"] == (
        "metadata.repetition: found the number 100000 where a whole number from 0 to 99999 is expected."
    )
    row["metadata"]["repetition"] = 99_999
    assert ingest(write_jsonl(tmp_path / "more.jsonl", [row]), "--run", answer["run"])["stored"] == 1
    assert Run.objects.get().repetitions == 100_000
