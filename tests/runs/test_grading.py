from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec import UNSET

from runs.checks import failure_message
from runs.grading import grade
from runs.records import (
    AttemptRecord,
    Check,
    CheckKind,
    GradedAttempt,
    Grading,
    ServerGrading,
    ServerStates,
    StateSource,
    TestResult,
    Tool,
    Verdict,
    Write,
)
from tests.runs.evidence import call, read_bundle, shown, state, states

BEFORE = state(tickets=[{"id": "20", "status": "solved"}])
REQUIRED = state(tickets=[{"id": "20", "status": "hold"}])
QUESTIONS = ["Is it polite?", "Is it true?", "Is it short?"]
FRAMES = 'Traceback (most recent call last):\n  File "<string>", line 47, in validate\n'


def attempt(*steps: Any, servers: Any = None, test: TestResult | None = None, **facts: Any) -> AttemptRecord:
    return AttemptRecord(
        uid="f.py:test",
        repetition=0,
        verdict=Verdict.FAILED,
        steps=list(steps),
        servers=servers or {},
        test=test,
        **facts,
    )


def test_an_attempt_with_states() -> None:
    set_status = call(2, "set_status", {"ticket_id": "20", "status": "open"}, {"success": True})
    look = call(1, "get_ticket", {"ticket_id": "20"}, {"id": "20", "status": "solved"})
    after = state(tickets=[{"id": "20", "status": "open"}])
    servers = {"desk": states(BEFORE, after, REQUIRED, after_hash="a", required_hash="b")}
    graded = grade(attempt(look, set_status, servers=servers))
    assert [(shown(one), one.writes) for one in graded.effects] == [
        (("wrong", "tickets", "20", "status", "solved", "open", "hold"), [Write(step=2, value="open")])
    ]
    assert graded.state_source is StateSource.RECORDED
    assert graded.write_steps == [2]
    assert graded.differences == 1
    assert graded.servers == [ServerGrading(server="desk", grading=Grading.ALL, tables=1, rows={"tickets": 1})]
    assert graded.checks == [
        Check(
            kind=CheckKind.STATE,
            name="desk",
            passed=False,
            message="The state is not as required: 1 difference.",
            after_hash="a",
            required_hash="b",
        )
    ]


def test_annotations_and_hands_decide_which_tools_write() -> None:
    steps = [call(1, "a", {}), call(2, "b", {}), call(3, "c", {})]
    tools = [Tool(name="a", read_only=False), Tool(name="b", read_only=True), Tool(name="c")]
    assert grade(attempt(*steps, tools=tools)).write_steps == [1]
    assert grade(attempt(*steps, tools=tools), overrides={"a": False, "b": True}).write_steps == [2]


def test_the_benchmark_s_list_decides_for_its_scenarios() -> None:
    steps = [
        call(1, "box_api", {"action": "grant_folder_access"}),
        call(2, "box_api", {"action": "get_folder"}),
        call(3, "zendesk_update_item", {}, error="failed calls count: they are calls of a tool that changes state"),
        call(4, "zendesk_get_items", {}),
    ]
    assert grade(attempt(*steps, scenario="sandbox_consulting")).write_steps == [1, 3]


def test_effects_of_several_servers_are_one_list_failing_first() -> None:
    fine = states(BEFORE, REQUIRED, REQUIRED)
    late = states(BEFORE, BEFORE, REQUIRED)
    graded = grade(attempt(servers={"a": fine, "b": late}))
    assert [(one.server, one.kind.value) for one in graded.effects] == [("b", "missing"), ("a", "correct")]
    assert [one.server for one in graded.servers] == ["a", "b"]


def test_without_states_the_message_is_read() -> None:
    traceback = (
        f"{FRAMES}AssertionError: Database hash after test execution does not match expected golden hash\n"
        f"Result hash: {'a' * 64}\nGolden hash: {'b' * 64}\n\nFound 1 difference(s):\n\n"
        '1. Path: zendesk_tickets[2].status\n   Type: value mismatch\n   Result:  "solved"\n   Golden:  "hold"\n\n'
    )
    test = TestResult(passed=False, traceback=traceback, line=40, line_content="        assert False, error_msg")
    graded = grade(attempt(test=test, scenario="desk"))
    assert [shown(one) for one in graded.effects] == [
        ("reported", "zendesk_tickets", "[2]", "status", UNSET, "solved", "hold")
    ]
    assert graded.state_source is StateSource.REPORTED
    assert graded.checks == [
        Check(
            kind=CheckKind.STATE,
            name="desk",
            passed=False,
            message="The check reports 1 difference. The states themselves are not recorded.",
            after_hash="a" * 64,
            required_hash="b" * 64,
        ),
        Check(
            kind=CheckKind.ASSERTION,
            name="assert False, error_msg",
            passed=False,
            message="Database hash after test execution does not match expected golden hash",
            line=40,
        ),
    ]


def test_nothing_recorded() -> None:
    assert grade(attempt()) == GradedAttempt()
    passed = grade(attempt(test=TestResult(passed=True)))
    assert passed.state_source is StateSource.NONE
    assert [(one.kind.value, one.passed) for one in passed.checks] == [("state", True)]
    unrecorded = grade(attempt(servers={"desk": ServerStates()}))
    assert [(one.passed, one.message) for one in unrecorded.checks] == [(None, "The states are not recorded.")]


@pytest.mark.parametrize(
    ("hashes", "after", "passed", "message"),
    [
        ({}, REQUIRED, True, "The state is as required. No hashes are recorded."),
        ({}, BEFORE, False, "The state is not as required: 1 difference. No hashes are recorded."),
        (
            {"after_hash": "a", "required_hash": "a", "diff": [{"path": "tickets[0].status"}]},
            BEFORE,
            True,
            "The hashes are equal, but the comparison finds 1 difference.",
        ),
        (
            {"after_hash": "a", "required_hash": "b"},
            REQUIRED,
            False,
            "The hashes are different, but the comparison finds no differences.",
        ),
    ],
)
def test_the_state_check(hashes: dict[str, Any], after: Any, passed: bool, message: str) -> None:
    (check,) = grade(attempt(servers={"desk": states(BEFORE, after, REQUIRED, **hashes)})).checks
    assert (check.passed, check.message) == (passed, message)


def rubrics(test: TestResult | None, questions: list[str] = QUESTIONS) -> list[tuple[str, bool | None, str | None]]:
    servers = {"desk": states(BEFORE, REQUIRED, REQUIRED, after_hash="a", required_hash="a", rubrics=questions)}
    checks = grade(attempt(servers=servers, test=test)).checks
    return [(one.name, one.passed, one.motivation) for one in checks if one.kind is CheckKind.RUBRIC]


def failed(traceback: str, judgements: list[dict[str, Any]] | None = None) -> TestResult:
    return TestResult(passed=False, traceback=FRAMES + traceback, judgements=judgements)


ANSWERS: list[dict[str, Any]] = [
    {"question": QUESTIONS[0], "answer": True, "motivation": "It thanks."},
    {"question": QUESTIONS[1], "answer": False, "motivation": "It is not."},
    {"question": ["odd"], "answer": "No"},
]


@pytest.mark.parametrize(
    ("test", "answers", "motivations"),
    [
        (TestResult(passed=True), [True, True, True], [None, None, None]),
        (failed("AssertionError: Rubric yesno failed: Is it true?"), [True, False, None], [None, None, None]),
        (failed("AssertionError: Rubric yesno failed: Is it true? (No.)"), [True, False, None], [None, None, None]),
        (
            failed("AssertionError: Rubric yesno failed: Is it true?", ANSWERS),
            [True, False, None],
            ["It thanks.", "It is not.", None],
        ),
        (failed("AssertionError: Database hash differs"), [None, None, None], [None, None, None]),
        (TestResult(passed=False, broke=True, traceback="JudgeException: no"), [None, None, None], [None, None, None]),
        (None, [None, None, None], [None, None, None]),
    ],
)
def test_rubric_questions(test: TestResult | None, answers: list[bool | None], motivations: list[str | None]) -> None:
    assert rubrics(test) == list(zip(QUESTIONS, answers, motivations, strict=True))


def test_a_rubric_that_no_list_names_is_known_from_the_message() -> None:
    test = failed("AssertionError: Rubric yesno failed: Is it kind?")
    assert rubrics(test, []) == [("Is it kind?", False, None)]
    graded = grade(attempt(test=test, scenario="desk"))
    assert [(one.kind.value, one.name, one.passed) for one in graded.checks] == [
        ("state", "desk", True),
        ("assertion", "Rubric yesno failed: Is it kind?", False),
        ("rubric", "Is it kind?", False),
    ]


@pytest.mark.parametrize(
    ("traceback", "message"),
    [
        ("", ""),
        (FRAMES + "AssertionError: one\ntwo\n", "one\ntwo"),
        (FRAMES + "    exec(code)\n    ^^^^^\nKeyError: 'k'\n", "KeyError: 'k'"),
        ("E: first\n\nThe above exception was the cause:\n\n" + FRAMES + "E: second", "E: second"),
        (FRAMES, ""),
        ("no frames at all", "no frames at all"),
    ],
)
def test_the_message_of_a_failure(traceback: str, message: str) -> None:
    assert failure_message(traceback) == message


def test_a_test_that_broke_failed_no_assertion() -> None:
    test = TestResult(passed=False, broke=True, traceback=FRAMES + "KeyError: 'k'", line=3, line_content="  x['k']")
    assert grade(attempt(test=test)).checks == [
        Check(kind=CheckKind.ASSERTION, name="x['k']", passed=None, message="KeyError: 'k'", line=3)
    ]


@pytest.mark.shared
def test_the_ticket_that_should_be_on_hold(shared: Path) -> None:
    found = {}
    for record in read_bundle(shared / "bundles" / "smoke" / "smoke.jsonl.gz"):
        if record.uid == "sandbox_external_retail_group1.py:test_case_ST003_006" and record.verdict is Verdict.FAILED:
            graded = grade(record)
            first = graded.effects[0]
            names = [next(step.name for step in record.steps if step.index == write.step) for write in first.writes]
            found[record.repetition] = (shown(first), first.touched, names, [write.value for write in first.writes])
            assert graded.differences == 1
            assert first.steps == sorted(first.steps, reverse=True) == graded.write_steps[::-1]
    expected = (
        ("missing", "zendesk_tickets", "20", "status", "solved", "solved", "hold"),
        True,
        ["zendesk_update_item", "zendesk_update_item"],
        ["solved", "open"],
    )
    assert found == {1: expected, 2: expected, 3: expected}


@pytest.mark.shared
@pytest.mark.parametrize(
    ("bundle", "inferred", "silent"),
    [("smoke/smoke.jsonl.gz", 58, 0), ("five-domains/five-domains.delta-medium.jsonl.zst", 2355, 0)],
)
def test_each_change_of_a_state_has_a_step_that_made_it(shared: Path, bundle: str, inferred: int, silent: int) -> None:
    """Every effect whose value after differs from before was written by some step."""
    written = unwritten = 0
    for record in read_bundle(shared / "bundles" / bundle):
        for effect in grade(record).effects:
            if effect.after is not UNSET and effect.after != effect.before:
                written += bool(effect.writes)
                unwritten += not effect.writes
    assert (written, unwritten) == (inferred, silent)


@pytest.mark.shared
def test_grading_twice_gives_the_same(shared: Path) -> None:
    records = list(read_bundle(shared / "bundles" / "smoke" / "smoke.jsonl.gz"))
    assert [grade(record) for record in records] == [grade(record) for record in reversed(records)][::-1]
