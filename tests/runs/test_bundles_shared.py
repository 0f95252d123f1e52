"""The reference bundles: every row is read, with the verdicts that the harness counts, and comes back as it was."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from runs.benchmarks import is_bench_uid
from runs.bundles import read_rows
from runs.bundles.base import RawRecord
from runs.records import AttemptRecord, Problem, StepKind
from tests.bundles import MAX_LINE, put_together

pytestmark = pytest.mark.shared


def read_file(path: Path, *, attach: bool = False) -> tuple[list[AttemptRecord], list[Problem]]:
    records, problems = [], []
    with path.open("rb") as source:
        reader, rows = read_rows(source, name=path.name, max_line=MAX_LINE)
        for row in rows:
            if isinstance(row, Problem):
                problems.append(row)
                continue
            read = reader.read(row.text)
            records.append(read.record)
            if attach:
                assert put_together(reader, read) == json.loads(row.text)
    return records, problems


def verdicts(records: list[AttemptRecord]) -> dict[str, int]:
    return dict(Counter(record.reason.value if record.reason else record.verdict.value for record in records))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("smoke/smoke.jsonl.gz", {"passed": 8, "failed": 11, "system": 1}),
        ("retail-20x/retail-20x.aster-large.jsonl.zst", {"passed": 200, "failed": 37, "system": 3}),
        ("retail-20x/retail-20x.briza-mini.jsonl.zst", {"passed": 123, "failed": 113, "system": 4}),
        ("retail-20x/retail-20x.cedar-8b.jsonl.zst", {"passed": 80, "failed": 157, "system": 3}),
        ("retail-20x/retail-20x.aster-large.retry.jsonl.zst", {"passed": 202, "failed": 38}),
        (
            "five-domains/five-domains.aster-large.jsonl.zst",
            {"passed": 644, "failed": 152, "system": 3, "grader": 1},
        ),
        ("five-domains/five-domains.delta-medium.jsonl.zst", {"passed": 378, "failed": 415, "system": 7}),
        ("variants/no-dump.jsonl.gz", {"passed": 5, "failed": 10, "system": 3, "grader": 2}),
        ("variants/limits.jsonl.zst", {"passed": 5, "failed": 10, "system": 7, "grader": 6}),
        ("variants/no-test.jsonl.zst", {"not_graded": 13, "system": 2}),
        ("variants/full-dump.jsonl.zst", {"passed": 3, "failed": 5, "system": 1, "grader": 1}),
        ("variants/skip-agent.jsonl.zst", {"failed": 5}),
        ("variants/single.yaml", {"failed": 1}),
        ("variants/single-pass.yaml", {"passed": 1}),
        ("variants/single-error.yaml", {"system": 1}),
        ("variants/single-loop.yaml", {"failed": 1}),
    ],
)
def test_every_row_is_read_with_its_verdict(shared: Path, name: str, expected: dict[str, int]) -> None:
    is_small = name.startswith(("smoke", "variants"))
    records, problems = read_file(shared / "bundles" / name, attach=is_small)
    assert (verdicts(records), problems, [record.notes for record in records if record.notes]) == (expected, [], [])
    # Each response answers a call; only the harness's own end-of-turn tool, or a call that an error cut off, has none.
    assert [step for record in records for step in record.steps if step.kind is StepKind.RESPONSE] == []
    assert all(
        step.content is not None or record.finish_reason == "end_turn_tool" or record.reason is not None
        for record in records
        for step in record.steps
    )


@pytest.mark.parametrize(
    ("name", "rows", "rejected"),
    [("duplicate.jsonl.zst", 21, []), ("truncated.jsonl", 8, [9]), ("missing-repetition.jsonl.zst", 19, [])],
)
def test_damaged_files_lose_nothing_but_the_broken_line(
    shared: Path, name: str, rows: int, rejected: list[int]
) -> None:
    records, problems = read_file(shared / "bundles" / "damaged" / name, attach=True)
    assert (len(records), [problem.line for problem in problems]) == (rows, rejected)


def test_the_failing_ticket_of_the_smoke_run_in_detail(shared: Path) -> None:
    records, _ = read_file(shared / "bundles" / "smoke" / "smoke.jsonl.gz")
    uid = "sandbox_external_retail_group1.py:test_case_ST003_006"
    record = next(r for r in records if r.uid == uid and r.verdict.value == "failed")
    writes = [step for step in record.steps if step.name == "zendesk_update_item"]
    assert [step.arguments["item"]["status"] for step in writes] == ["open", "solved"]
    server = record.servers["sandbox_external_retail"]
    assert server.before is not None
    assert server.diff is not None
    assert (len(server.before), record.domain, is_bench_uid(uid)) == (22, "Retail", True)
    assert [(entry["result"], entry["golden"]) for entry in server.diff if "status" in entry["path"]] == [
        ("solved", "hold")
    ]
    assert record.instructions is not None
    assert record.policy is not None
    assert record.query is not None
    assert record.instructions.startswith("You are an AI Agent.")
    assert record.policy.startswith("# TECHHOME DIRECT")
    assert record.query.startswith("My order was supposed to arrive")


def test_tool_errors_and_what_is_no_error(shared: Path) -> None:
    records, _ = read_file(shared / "bundles" / "variants" / "no-dump.jsonl.gz")
    errors = [step for record in records for step in record.steps if step.error is not None]
    assert [step.error for step in errors if step.arguments == {}] == [
        "Error: Expecting ',' delimiter: line 1 column 59 (char 58)"
    ]
    assert all(step.kind is StepKind.CALL for step in errors)


def test_the_private_context_of_the_full_dump(shared: Path) -> None:
    records, _ = read_file(shared / "bundles" / "variants" / "full-dump.jsonl.zst")
    known = [record.private_context for record in records if record.private_context is not None]
    assert len(known) == 3
    assert all("Do not invent or provide any data not present" in context for context in known)
    assert not any("CONVERSATION_HISTORY" in context or "LAST_ASSISTANT" in context for context in known)


def test_the_same_result_as_yaml_and_as_json_is_the_same_row(shared: Path) -> None:
    path = shared / "bundles" / "variants" / "single-pass.yaml"
    with path.open("rb") as source:
        reader, rows = read_rows(source, name=path.name, max_line=MAX_LINE)
        (row,) = rows
    assert isinstance(row, RawRecord)
    read = reader.read(row.text)
    assert (row.line, row.notes, read.record.uid, read.record.repetition) == (
        1,
        [],
        "sandbox_external_retail_group1.py:test_case_ST003_006",
        0,
    )
    server = read.record.servers["sandbox_external_retail"]
    assert server.after_hash == server.required_hash
