from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec import UNSET

from runs.claims import Claim, ClaimCounts, Differences, Positional, count_claims, read_claim, read_differences
from runs.records import Check, CheckKind, Effect, EffectKind, GradedAttempt, ServerStates, Step, StepKind, TestResult
from tests.runs.evidence import call
from tests.runs.paper_cases import attempt, say

DONE = "I have closed your ticket. <DONE>"
REFUSED = "Tool execution failed: no"
WROTE = GradedAttempt(write_steps=[1])
put, failed_put = call(1, "put", {}, {"ok": True}), call(1, "put", {}, None, error=REFUSED)


def signs(*steps: Step, graded: GradedAttempt = WROTE) -> tuple[bool, bool, bool, bool, bool]:
    claim = read_claim(attempt(*steps), graded)
    return (
        claim.ended_cleanly, claim.called_write, claim.last_response_ok, claim.claimed_success,
        claim.looked_like_success,
    )  # fmt: skip


STRAY = Step(index=2, kind=StepKind.RESPONSE, role="tool", content="Error: busy", error="Error: busy")
SIGNS = {
    "all of them": ([put, say(2, DONE)], (True, True, True, True, True)),
    "without words of success": ([put, say(2, "Goodbye. <DONE>")], (True, True, True, False, True)),
    "ended on a question": ([put, say(2, "I have closed it. Is that all? <DONE>")], (False, True, True, True, False)),
    "the only write failed": ([failed_put, say(2, DONE)], (True, True, False, True, False)),
    "an error before the last response": (
        [failed_put, call(2, "get", {}, {}), say(3, DONE)],
        (True, True, True, True, True),
    ),
    "an answer to no call": ([put, STRAY, say(3, DONE)], (True, True, False, True, False)),
    "a last call without an answer": (
        [failed_put, call(2, "stop", {}), say(3, DONE)],
        (True, True, False, True, False),
    ),
    "nothing said": ([put], (False, True, True, False, False)),
}


@pytest.mark.parametrize("name", SIGNS)
def test_the_signs_of_success(name: str) -> None:
    steps, expected = SIGNS[name]
    assert signs(*steps) == expected


def test_without_a_write_call_or_any_call() -> None:
    assert signs(say(1, DONE), graded=GradedAttempt()) == (True, False, True, True, False)


def test_the_words_of_the_claim() -> None:
    claim = read_claim(attempt(put, say(2, f"{'Thanks. ' * 50}{DONE}")), WROTE)
    assert (claim.step, claim.words.startswith("…"), "I have closed your ticket. <DONE>" in claim.words) == (
        2,
        True,
        True,
    )
    assert read_claim(attempt(put, say(2, "Goodbye. <DONE>")), WROTE).words == ""


def effect(kind: EffectKind, field: str | None = "f", **facts: object) -> Effect:
    return msgspec.structs.replace(Effect(kind=kind, server="s", table="t", key="1", field=field), **facts)


DIFFERENCES: dict[str, tuple[list[Effect], dict[str, Any]]] = {
    "none": ([], {}),
    "correct and ungraded ones": ([effect(EffectKind.CORRECT), effect(EffectKind.UNGRADED)], {}),
    "a wrong field": ([effect(EffectKind.WRONG)], {"wrong": True, "row_wrong": True}),
    "an update not made": ([effect(EffectKind.MISSING)], {"missing": True, "row_wrong": True}),
    "an unintended change": ([effect(EffectKind.EXTRA)], {"extra": True, "row_wrong": True}),
    "a row too few": (
        [effect(EffectKind.MISSING, None, after=UNSET, required={"id": 1})],
        {"missing": True, "row_missing": True},
    ),
    "a row too many": (
        [effect(EffectKind.EXTRA, None, after={"id": 1}, required=UNSET)],
        {"extra": True, "row_extra": True},
    ),
    "a reported one": ([effect(EffectKind.REPORTED, note="value mismatch")], {"wrong": True, "reported": True}),
}  # fmt: skip


@pytest.mark.parametrize("name", DIFFERENCES)
def test_the_kinds_of_difference(name: str) -> None:
    effects, expected = DIFFERENCES[name]
    state = Check(kind=CheckKind.STATE, name="s", passed=False)
    graded = GradedAttempt(effects=effects, checks=[state], write_steps=[1])
    assert read_differences(attempt(put), graded) == Differences(state_differs=True, **expected)


def test_whether_the_state_differs() -> None:
    checks = [Check(kind=CheckKind.STATE, name="s", passed=passed) for passed in (True, False, None)]
    found = [read_differences(attempt(), GradedAttempt(checks=[check])).state_differs for check in checks]
    assert found == [False, True, None]


TYPES = {
    "value mismatch": Positional(wrong=True),
    "type mismatch": Positional(wrong=True),
    "result is None, golden is not": Positional(missing=True),
    "missing in result (present in golden)": Positional(missing=True),
    "result is not None, golden is None": Positional(extra=True),
    "present in result (missing in golden)": Positional(extra=True),
    "length mismatch": Positional(length=True),
    "another": Positional(),
}


@pytest.mark.parametrize("kind", TYPES)
def test_the_classes_of_the_positional_list(kind: str) -> None:
    recorded = attempt(servers={"s": ServerStates(diff=[{"path": "t[0].f", "type": kind}, {"path": "t"}])})
    hashes = f"Result hash: {'a' * 64}\nGolden hash: {'b' * 64}\n"
    printed = attempt(
        test=TestResult(passed=False, traceback=f"{hashes}Found 1 difference(s):\n\n1. Path: t[0].f\n   Type: {kind}\n")
    )
    found = [read_differences(record, GradedAttempt()).positional for record in (recorded, printed, attempt())]
    assert found == [TYPES[kind], TYPES[kind], None]


def test_counts_are_nested_and_share_one_base() -> None:
    good = Claim(ended_cleanly=True, called_write=True, last_response_ok=True, claimed_success=True)
    claims = [
        good,
        msgspec.structs.replace(good, claimed_success=False),
        msgspec.structs.replace(good, last_response_ok=False),
        msgspec.structs.replace(good, called_write=False),
        msgspec.structs.replace(good, ended_cleanly=False),
    ]
    differences = [
        Differences(
            state_differs=True, wrong=True, extra=True, row_wrong=True, positional=Positional(wrong=True, length=True)
        ),
        Differences(state_differs=True, missing=True, row_missing=True, positional=Positional(missing=True)),
        Differences(state_differs=True, extra=True, row_extra=True, positional=Positional(extra=True)),
        Differences(state_differs=False),
        Differences(state_differs=None),
    ]
    counts = count_claims(zip(claims, differences, strict=True))
    assert counts == ClaimCounts(
        failed=5, clean=4, clean_and_wrote=3, looked_like_success=2, claimed_success=4, looked_and_claimed=1,
        state_differs=3, wrong=1, missing=1, extra=2, row_wrong=1, row_missing=1, row_extra=1,
        positional=3, positional_wrong=1, positional_missing=1, positional_extra=1, positional_length=1,
    )  # fmt: skip
    assert (counts.share("looked_like_success"), ClaimCounts().share("clean"), (counts + counts).failed) == (
        0.4,
        None,
        10,
    )
    assert msgspec.to_builtins(count_claims([])) == dict.fromkeys(ClaimCounts.__struct_fields__, 0)
