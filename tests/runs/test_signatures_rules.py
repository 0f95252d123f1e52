"""Each rule of version 1: where it matches, where it does not, and which one goes first."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec import UNSET

from runs.records import (
    AttemptRecord,
    Check,
    CheckKind,
    Effect,
    EffectKind,
    ErrorReason,
    GradedAttempt,
    Step,
    TestResult,
    Tool,
    Verdict,
)
from runs.signatures import CURRENT, VERSIONS, Evidence, EvidenceKind, Label, Signature, classify
from runs.signatures.v1 import RULES, diagnose
from tests.runs.evidence import call
from tests.runs.paper_cases import attempt, say

STATE_WRONG = Check(kind=CheckKind.STATE, name="desk", passed=False)
STATE_RIGHT = Check(kind=CheckKind.STATE, name="desk", passed=True)
STATE_UNKNOWN = Check(kind=CheckKind.STATE, name="desk", passed=None)
ASSERTED = Check(kind=CheckKind.ASSERTION, name="assert False, message", passed=False, message="The hash differs")
ANSWERED_NO = Check(kind=CheckKind.RUBRIC, name="Is it polite?", passed=False)
NOT_MADE = Effect(
    kind=EffectKind.MISSING, server="desk", table="tickets", key="20", field="status", before="a", after="a"
)
WRONG = Effect(kind=EffectKind.WRONG, server="desk", table="tickets", key="20", field="status", before="a", after="b")
CLEAN = "I have updated your ticket. <DONE>"
FAILED = "Tool execution failed: no such ticket"


def graded(*checks: Check, effects: list[Effect] | None = None, writes: list[int] | None = None) -> GradedAttempt:
    return GradedAttempt(checks=list(checks), effects=effects or [], write_steps=writes or [])


def write(index: int, **facts: Any) -> Step:
    return call(index, "desk_update", {"table": "tickets"}, {"id": "20"}, **facts)


def signature(record: AttemptRecord, evidence: GradedAttempt) -> Signature:
    diagnosis = classify(record, evidence)
    assert diagnosis is not None
    return diagnosis.signature


def test_only_a_failed_attempt_has_a_diagnosis() -> None:
    record = attempt(say(1, CLEAN))
    passed = msgspec.structs.replace(record, verdict=Verdict.PASSED)
    broken = msgspec.structs.replace(record, verdict=Verdict.ERROR, reason=ErrorReason.SYSTEM)
    answers = [classify(one, graded(STATE_WRONG)) is None for one in (record, passed, broken)]
    assert answers == [False, True, True]


def test_there_is_one_version_and_another_is_refused() -> None:
    assert (list(VERSIONS), CURRENT, VERSIONS[1].title) == ([1], 1, "Version 1: explicit errors, strict repair")
    with pytest.raises(KeyError):
        classify(attempt(), graded(), version=2)


def test_the_rules_in_their_order() -> None:
    assert [one for one, _ in RULES] == [
        "response_check",
        "undetermined",
        "tool_usage",
        "no_state_changing_action",
        "incomplete_user_resolution",
        "wrong_state_update",
    ]


def test_a_diagnosis_is_the_same_after_json() -> None:
    diagnosis = diagnose(attempt(write(1, error=FAILED)), graded(STATE_WRONG, effects=[WRONG], writes=[1]))
    assert msgspec.json.decode(msgspec.json.encode(diagnosis), type=type(diagnosis)) == diagnosis


RESPONSE_CHECKS = {
    "equal hashes and a rubric": ([STATE_RIGHT, ANSWERED_NO], Signature.RESPONSE_CHECK),
    "equal hashes and an assertion": ([STATE_RIGHT, ASSERTED], Signature.RESPONSE_CHECK),
    "equal hashes alone": ([STATE_RIGHT], Signature.RESPONSE_CHECK),
    "all of two servers": ([STATE_RIGHT, STATE_RIGHT], Signature.RESPONSE_CHECK),
    "one of two servers": ([STATE_RIGHT, STATE_WRONG], Signature.TOOL_USAGE),
    "a rubric, which is asked only where the state is right": ([STATE_UNKNOWN, ANSWERED_NO], Signature.RESPONSE_CHECK),
    "an assertion alone": ([ASSERTED], Signature.TOOL_USAGE),
    "nothing about the second server": ([STATE_RIGHT, STATE_UNKNOWN], Signature.UNDETERMINED),
    "states that nobody recorded": ([STATE_UNKNOWN], Signature.UNDETERMINED),
    "nothing at all": ([], Signature.UNDETERMINED),
}


@pytest.mark.parametrize("name", RESPONSE_CHECKS)
def test_the_state_is_decided_before_everything_else(name: str) -> None:
    checks, expected = RESPONSE_CHECKS[name]
    record = attempt(write(1, error=FAILED), say(2, "Shall I go on?"), finish_reason="user_limit")
    assert signature(record, graded(*checks, writes=[1])) == expected


def test_the_evidence_for_a_response_check() -> None:
    record = attempt(say(3, CLEAN), test=TestResult(passed=False, reward=0.5))
    found = [
        diagnose(record, graded(STATE_RIGHT, ANSWERED_NO, ASSERTED)).evidence[0],
        diagnose(record, graded(STATE_RIGHT, ASSERTED)).evidence[0],
        diagnose(record, graded(STATE_RIGHT)).evidence[0],
    ]
    assert found == [
        Evidence(kind=EvidenceKind.RUBRIC, step=3, words="Is it polite?"),
        Evidence(kind=EvidenceKind.ASSERTION, words="The hash differs"),
        Evidence(kind=EvidenceKind.REWARD, words="0.5"),
    ]


def test_an_undetermined_attempt_keeps_its_finer_labels() -> None:
    diagnosis = diagnose(attempt(write(1, error=FAILED), say(2, CLEAN)), graded(writes=[1]))
    assert (diagnosis.signature, diagnosis.labels, diagnosis.evidence[0]) == (
        Signature.UNDETERMINED,
        [Label.TOOL_ERROR_NOT_RECOVERED, Label.ERROR_THEN_CLAIMED_SUCCESS],
        Evidence(kind=EvidenceKind.NOTHING_RECORDED),
    )


def test_one_unrepaired_error_goes_before_the_other_three() -> None:
    failed, repaired = write(1, error=FAILED), write(2)
    cases = [
        signature(attempt(failed, say(3, CLEAN)), graded(STATE_WRONG, effects=[WRONG], writes=[1])),
        signature(attempt(failed, repaired, say(3, CLEAN)), graded(STATE_WRONG, effects=[WRONG], writes=[1, 2])),
        signature(attempt(repaired, msgspec.structs.replace(failed, index=2)), graded(STATE_WRONG, writes=[1, 2])),
    ]
    assert cases == [Signature.TOOL_USAGE, Signature.WRONG_STATE_UPDATE, Signature.TOOL_USAGE]


def test_no_write_call_goes_before_the_ending() -> None:
    look = call(1, "desk_get", {}, {"id": "20"})
    record = attempt(look, say(2, "Shall I go on?"), finish_reason="user_limit")
    cases = [
        signature(record, graded(STATE_WRONG, effects=[NOT_MADE])),
        signature(record, graded(ASSERTED)),
        signature(record, graded(STATE_WRONG, effects=[NOT_MADE], writes=[1])),
    ]
    assert cases == [
        Signature.NO_STATE_CHANGING_ACTION,
        Signature.NO_STATE_CHANGING_ACTION,
        Signature.INCOMPLETE_USER_RESOLUTION,
    ]
    assert diagnose(record, graded(STATE_WRONG, effects=[NOT_MADE])).evidence[0] == Evidence(
        kind=EvidenceKind.DIFFERENCE, effect=0
    )


def test_a_write_that_never_ran_is_no_state_changing_action() -> None:
    never_ran = write(1, error="Error: Expecting ',' delimiter: line 1 column 9 (char 8)")
    look = call(2, "desk_get", {}, {"id": "20"})
    record = attempt(never_ran, look, say(3, CLEAN))
    assert signature(record, graded(STATE_WRONG, effects=[NOT_MADE], writes=[1])) == Signature.NO_STATE_CHANGING_ACTION


CHANGES = {
    "a field": (WRONG, True),
    "a field that had to change": (NOT_MADE, False),
    "a created record": (
        Effect(kind=EffectKind.EXTRA, server="desk", table="t", key="1", before=UNSET, after={"id": "1"}),
        True,
    ),
    "a record that is missing": (
        Effect(kind=EffectKind.MISSING, server="desk", table="t", key="1", required={"id": "1"}),
        False,
    ),
    "a deleted record": (
        Effect(kind=EffectKind.EXTRA, server="desk", table="t", key="1", before={"id": "1"}, required={"id": "1"}),
        True,
    ),
    "a field without a recorded before": (
        Effect(kind=EffectKind.WRONG, server="desk", table="t", key="1", field="f", after="a", required="b"),
        False,
    ),
    "a difference that is only reported": (
        Effect(kind=EffectKind.REPORTED, server="desk", table="t", key="[1]", field="f", after="a", required="b"),
        False,
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_state_that_changed_shows_that_something_was_written_whatever_the_tools_are_called(name: str) -> None:
    effect, changed = CHANGES[name]
    expected = Signature.WRONG_STATE_UPDATE if changed else Signature.NO_STATE_CHANGING_ACTION
    record = attempt(call(1, "touch", {}, {"id": "1"}), say(2, CLEAN))
    assert signature(record, graded(STATE_WRONG, effects=[effect])) == expected


ENDINGS: dict[str, tuple[list[Step], str | None, list[EvidenceKind]]] = {
    "clean": ([say(2, CLEAN)], "done", []),
    "clean, and a message of the user after it": ([say(2, CLEAN)], "user_done", []),
    "clean, ended by a tool": ([say(2, CLEAN)], "end_turn_tool", []),
    "the marker alone": ([say(2, "<DONE>")], None, []),
    "no marker": ([say(2, "I have updated your ticket.")], "done", [EvidenceKind.NO_MARKER]),
    "a question": ([say(2, "Is that all? <DONE>")], "done", [EvidenceKind.QUESTION]),
    "a question mark in a link": ([say(2, "See https://e.example/?a=1 <DONE>")], "done", [EvidenceKind.LINK_QUESTION]),
    "a question without a marker": ([say(2, "Is that all?")], "done", [EvidenceKind.NO_MARKER, EvidenceKind.QUESTION]),
    "an empty message after a clean one": ([say(2, CLEAN), say(3, " \n")], "done", [EvidenceKind.EMPTY_MESSAGE]),
    "a message without a text": ([say(2, None)], "done", [EvidenceKind.EMPTY_MESSAGE]),
    "nothing said": ([], "done", [EvidenceKind.NO_MESSAGE]),
    "what the harness put in": ([say(2, CLEAN), say(3, "Go on?", dummy=True)], "done", []),
    "user limit": ([say(2, CLEAN)], "user_limit", [EvidenceKind.FINISH_REASON]),
    "agent limit": ([say(2, CLEAN)], "agent_limit", [EvidenceKind.FINISH_REASON]),
    "agent error": ([say(2, CLEAN)], "agent_error", [EvidenceKind.FINISH_REASON]),
}


@pytest.mark.parametrize("name", ENDINGS)
def test_an_ending_that_is_not_clean_goes_before_the_wrong_state(name: str) -> None:
    said, finish_reason, kinds = ENDINGS[name]
    record = attempt(write(1), *said, finish_reason=finish_reason)
    diagnosis = diagnose(record, graded(STATE_WRONG, effects=[WRONG], writes=[1]))
    expected = Signature.INCOMPLETE_USER_RESOLUTION if kinds else Signature.WRONG_STATE_UPDATE
    found = [piece.kind for piece in diagnosis.evidence if piece.label is None]
    assert (diagnosis.signature, found if kinds else []) == (expected, kinds)


def test_the_evidence_of_a_wrong_state_without_any_difference_is_the_assertion() -> None:
    diagnosis = diagnose(attempt(write(1), say(2, CLEAN)), graded(ASSERTED, writes=[1]))
    assert (diagnosis.signature, diagnosis.evidence) == (
        Signature.WRONG_STATE_UPDATE,
        [
            Evidence(kind=EvidenceKind.ASSERTION, words="The hash differs"),
            Evidence(kind=EvidenceKind.WRITE, step=1, words="desk_update"),
        ],
    )


def test_much_evidence_is_kept_in_part() -> None:
    steps = [write(number, error=f"{FAILED} {number}") for number in range(1, 31)]
    diagnosis = diagnose(attempt(*steps), graded(STATE_WRONG, effects=[WRONG] * 30, writes=list(range(1, 31))))
    kept = [piece for piece in diagnosis.evidence if piece.label is None]
    assert (len(kept), len(diagnosis.evidence)) == (8, 8 + 8 + 8 + 8)  # not recovered, repeated, wrong field value


def test_offered_tools_that_end_the_turn_repair_nothing() -> None:
    look = call(1, "desk_get", {}, None, error="Error: no such record")
    stop = call(2, "stop", {}, {"ok": True})
    tools = [Tool(name="desk_get"), Tool(name="stop", ends_turn=True)]
    cases = [
        signature(attempt(look, stop, say(3, CLEAN), tools=tools), graded(STATE_WRONG, effects=[NOT_MADE])),
        signature(attempt(look, stop, say(3, CLEAN)), graded(STATE_WRONG, effects=[NOT_MADE])),
    ]
    assert cases == [Signature.TOOL_USAGE, Signature.NO_STATE_CHANGING_ACTION]
