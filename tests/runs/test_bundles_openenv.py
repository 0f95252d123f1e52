"""Result and error rows of `thinkingbox-eval`."""

from __future__ import annotations

import json
from typing import Any

import pytest

from runs.benchmarks import THINKINGBOX_BENCH
from runs.bundles import reader_named
from runs.bundles.thinkingbox_openenv import lineage_of
from runs.errors import BadRecord
from runs.records import AttemptRecord, ErrorReason, Verdict
from tests.bundles import put_together, read_bytes
from tests.bundles.make import line
from tests.canonical import make_error, make_provenance, make_result
from tests.factories import UID, make_row

READER = reader_named("thinkingbox-openenv")


def read(row: dict[str, Any]) -> AttemptRecord:
    read = READER.read(line(row))
    assert put_together(READER, read) == row
    stored = READER.normalise(read.detached.skeleton)
    assert (stored.verdict, stored.tried, stored.error) == (read.record.verdict, read.record.tried, read.record.error)
    return read.record


def test_a_result_is_the_harness_own_row_with_its_try_and_its_provenance() -> None:
    record = read(make_result(outcome="failed", repetition=2, tried=3))
    assert (record.uid, record.repetition, record.tried, record.verdict) == (UID, 2, 3, Verdict.FAILED)
    assert [step.name for step in record.steps if step.name] == ["find_rentals", "update_rental", "find_notes"]
    assert record.said is not None
    assert record.said["provenance"] == make_provenance()
    assert record.said["execution"]["config_sha256"] == "c" * 64
    assert (record.said["schema_version"], record.said["forbidden"], record.notes) == (3, [], [])


def test_an_error_row_is_a_system_error_without_steps() -> None:
    record = read(make_error(repetition=1, tried=2))
    assert (record.uid, record.repetition, record.tried, record.verdict, record.reason) == (
        UID, 1, 2, Verdict.ERROR, ErrorReason.SYSTEM,
    )  # fmt: skip
    assert (record.error, record.error_traceback) == ("RuntimeError: The endpoint answered 500.", "Traceback: 500")
    assert (record.steps, record.metadata["retryable"], record.notes) == ([], True, [])
    assert record.said is not None
    assert record.said["forbidden"] == []


def test_results_and_errors_may_be_in_one_file() -> None:
    reading = read_bytes(line(make_error()) + line(make_result(tried=2)) + line(make_row(repetition=1)))
    assert reading.reader is READER
    assert [(record.verdict.value, record.tried) for record in reading.records] == [
        ("error", 1), ("passed", 2), ("failed", None),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({"test_context": make_row()["test_context"], "tools": make_row()["tools"]}, ["test_context", "tools"]),
        ({"tools": [{"name": "x"}]}, ["tools"]),
        ({"tools": None, "test_context": None, "raw_messages": None}, []),
        (
            {"golden_db_state": {"t": []}, "result_db_hash": "0", "rubrics_yesno": None},
            ["golden_db_state", "result_db_hash"],
        ),
        ({"test_result": {"result": False, "tb": "AssertionError", "prints": ""}}, ["prints", "tb"]),
    ],
)
def test_fields_of_the_evaluator_are_found(changes: dict[str, Any], found: list[str]) -> None:
    record = READER.read(line(make_result(**changes))).record
    assert record.said is not None
    assert record.said["forbidden"] == found


def test_what_a_tool_was_called_with_is_no_field_of_the_evaluator() -> None:
    row = make_result()
    call = next(message for message in row["messages"] if message["T"] == "ParallelToolCall")["tool_calls"][0]
    call["arguments"] = {"token": "x", "nested": {"assertions": 1}}
    said = read(row).said
    assert said is not None
    assert said["forbidden"] == []


def test_a_row_that_contradicts_itself_is_noted() -> None:
    row = make_result()
    row["metadata"]["repetition_id"] = "other::repeat::0"
    row["metadata"]["step_counts"]["native_messages"] = 99
    assert read(row).notes == [
        f"metadata.repetition_id is not '{UID}::repeat::0'; task and repetition were taken from their fields.",
        "metadata.step_counts.native_messages is 99, and the row has 10.",
    ]


def test_a_task_of_the_benchmark_has_its_domain_though_no_row_names_it() -> None:
    uid = min(THINKINGBOX_BENCH.uids)
    for row in (make_result(uid=uid), make_error(uid=uid)):
        row.get("metadata", {}).pop("scenario", None)
        assert read(row).domain in set(THINKINGBOX_BENCH.labels.values())


@pytest.mark.parametrize("change", [{"uid": 3}, {"repetition": -1}, {"error": []}])
def test_a_wrong_type_is_named(change: dict[str, Any]) -> None:
    with pytest.raises(BadRecord) as caught:
        READER.read(line(make_error() | change))
    assert caught.value.field == next(iter(change))


def test_a_row_tells_model_benchmark_and_repetitions_of_its_run() -> None:
    for row in (make_result(), make_error()):
        header = READER.header(line(row))
        assert header is not None
        assert (header.model, header.benchmark, header.repetitions) == ("birch-2", "rental-bench-v2", 4)
        assert header.parameters["judge_model"] == "sim-judge"
    assert READER.header(line(make_row())) is None
    assert READER.header(b"{") is None
    assert READER.header(b'{"metadata": {"provenance": {"run": 3, "config": []}}}') is not None


def test_shards_of_a_run_have_one_lineage_and_everything_else_another() -> None:
    first = lineage_of(make_provenance(shard_index=0, shard_count=2))
    assert lineage_of(make_provenance(shard_index=1, shard_count=2, selected_uids_sha256="9" * 64)) == first
    assert lineage_of(make_provenance(shard_index=0, shard_count=3)) != first
    assert lineage_of(make_provenance(shard_count=2) | {"python": "3.13.0"}) != first


def test_a_provenance_that_no_database_takes_is_told_apart_and_the_row_kept() -> None:
    row = make_result(provenance=make_provenance(agent="x" * 100_000))
    record = READER.read(line(row)).record
    assert (record.verdict, record.said) == (Verdict.PASSED, None)
    assert json.loads(READER.attach(READER.read(line(row)).detached.skeleton, {})) == row
