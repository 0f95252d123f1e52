"""Whatever an attempt holds, it gets a diagnosis, and always the same one."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from runs.claims import read_claim, read_differences
from runs.errorclasses import classify_error
from runs.records import (
    AttemptRecord,
    Check,
    CheckKind,
    Effect,
    EffectKind,
    ErrorReason,
    GradedAttempt,
    ServerStates,
    Step,
    StepKind,
    TestResult,
    Tool,
    Verdict,
)
from runs.signatures import Diagnosis, classify
from runs.signatures.v1 import diagnose

SAID = [
    "<DONE>", "?", "Error: function 'x' does not exist", "Error: Expecting value: line 1", '{"items": []}', "[" * 500,
    "Tool execution failed: no", "null", "I have updated it. <DONE>", "\0", "Error calling x init",
]  # fmt: skip
PLAIN = st.text(max_size=20) | st.sampled_from(SAID)
TEXTS = PLAIN | st.sampled_from(["\ud800", "a \udfff?"])
"""Texts of messages and calls can hold what is no Unicode; values of stored states cannot."""


def values(texts: st.SearchStrategy[str]) -> st.SearchStrategy[Any]:
    plain = st.none() | st.booleans() | st.integers() | st.floats() | texts
    return plain | st.lists(plain, max_size=2) | st.dictionaries(texts, plain, max_size=2)


VALUES = values(TEXTS)
SETTABLE = st.just(UNSET) | values(PLAIN)
NAMES = st.sampled_from(["zendesk_update_item", "get_order", "", "okta_api_add", "🎉"])
STEPS = st.lists(
    st.builds(
        Step,
        index=st.integers(1, 8),
        kind=st.sampled_from(StepKind),
        role=st.sampled_from(["user", "assistant", "system", "tool", "x"]),
        content=st.none() | TEXTS,
        name=st.none() | NAMES,
        arguments=st.just(UNSET) | VALUES,
        error=st.none() | TEXTS,
        batch=st.none() | st.integers(1, 2),
        dummy=st.booleans(),
    ),
    max_size=8,
)
EFFECTS = st.lists(
    st.builds(
        Effect,
        kind=st.sampled_from(EffectKind),
        server=st.just("s"),
        table=NAMES,
        key=PLAIN,
        field=st.none() | PLAIN,
        before=SETTABLE,
        after=SETTABLE,
        required=SETTABLE,
        created=st.booleans(),
        note=st.sampled_from(["value mismatch", "length mismatch", "", "x; y"]),
        positional=st.booleans(),
    ),
    max_size=6,
)
CHECKS = st.lists(
    st.builds(
        Check,
        kind=st.sampled_from(CheckKind),
        name=TEXTS,
        passed=st.none() | st.booleans(),
        message=TEXTS,
    ),
    max_size=4,
)
GRADED = st.builds(
    GradedAttempt, effects=EFFECTS, checks=CHECKS, write_steps=st.lists(st.integers(0, 9), max_size=4, unique=True)
)
SERVERS = st.dictionaries(
    NAMES, st.builds(ServerStates, diff=st.none() | st.lists(st.dictionaries(TEXTS, VALUES, max_size=2), max_size=2))
)
RECORDS = st.builds(
    AttemptRecord,
    uid=st.just("f.py:test"),
    repetition=st.just(0),
    verdict=st.sampled_from(Verdict),
    reason=st.none() | st.sampled_from(ErrorReason),
    finish_reason=st.none() | st.sampled_from(["done", "user_limit", "skipped", "?"]),
    steps=STEPS,
    tools=st.lists(st.builds(Tool, name=NAMES, ends_turn=st.booleans()), max_size=3),
    servers=SERVERS,
    test=st.none() | st.builds(TestResult, passed=st.booleans(), reward=st.none() | st.floats(), traceback=TEXTS),
    error=st.none() | TEXTS,
    error_traceback=TEXTS,
)


@given(RECORDS, GRADED)
def test_nothing_raises_and_all_of_it_can_be_stored(record: AttemptRecord, graded: GradedAttempt) -> None:
    diagnosis = classify(record, graded)
    assert (diagnosis is None) == (record.verdict is not Verdict.FAILED)
    found = diagnose(record, graded)
    assert msgspec.json.decode(msgspec.json.encode(found), type=Diagnosis) == found
    for fact in (read_claim(record, graded), read_differences(record, graded), classify_error(record)):
        assert "\0" not in msgspec.json.encode(fact).decode()


@given(RECORDS, GRADED, st.randoms(use_true_random=False))
def test_no_order_decides(record: AttemptRecord, graded: GradedAttempt, random: Any) -> None:
    def shuffled(values: list[Any]) -> list[Any]:
        turned: list[Any] = random.sample(values, len(values))
        return turned

    turned = msgspec.structs.replace(
        graded,
        effects=shuffled(graded.effects),
        checks=shuffled(graded.checks),
        write_steps=shuffled(graded.write_steps),
    )
    other = msgspec.structs.replace(
        record, tools=shuffled(record.tools), servers=dict(reversed(record.servers.items()))
    )
    one, two = diagnose(record, graded), diagnose(other, turned)
    assert (one.signature, one.labels) == (two.signature, two.labels)
    assert read_claim(record, graded) == read_claim(other, turned)
    assert read_differences(record, graded) == read_differences(other, turned)


@given(RECORDS, GRADED)
def test_the_same_attempt_gets_the_same_diagnosis(record: AttemptRecord, graded: GradedAttempt) -> None:
    assert diagnose(record, graded) == diagnose(record, graded)
