"""The study's four examples get the signature that the study gives them, with the evidence for it."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec
import pytest

from runs.claims import read_claim, read_differences
from runs.grading import grade
from runs.records import EffectKind, GradedAttempt
from runs.signatures import Diagnosis, Evidence, EvidenceKind, Label, Signature, classify
from runs.signatures.facts import Facts
from tests.runs.paper_cases import CASES


def diagnosed(case: str) -> tuple[Diagnosis, GradedAttempt]:
    graded = grade(CASES[case])
    diagnosis = classify(CASES[case], graded)
    assert diagnosis is not None
    return diagnosis, graded


SIGNATURE_EVIDENCE: dict[str, list[Evidence]] = {
    "tool_usage": [
        Evidence(
            kind=EvidenceKind.UNREPAIRED_ERROR, step=6, words="Tool execution failed: the employee already has access"
        )
    ],
    "no_state_changing_action": [
        Evidence(kind=EvidenceKind.DIFFERENCE, effect=0),
        Evidence(kind=EvidenceKind.DIFFERENCE, effect=1),
    ],
    "incomplete_user_resolution": [Evidence(kind=EvidenceKind.QUESTION, step=14, words="a new one? <DONE>")],
    "wrong_state_update": [
        *[Evidence(kind=EvidenceKind.DIFFERENCE, effect=number, step=9) for number in range(4)],
        Evidence(kind=EvidenceKind.WRITE, step=8, words="zendesk_create_item"),
        Evidence(kind=EvidenceKind.WRITE, step=9, words="billing_grant_extension"),
        Evidence(kind=EvidenceKind.WRITE, step=10, words="zendesk_update_item"),
    ],
}


@pytest.mark.parametrize("case", SIGNATURE_EVIDENCE)
def test_the_signature_and_its_evidence(case: str) -> None:
    diagnosis, _ = diagnosed(case)
    found = [piece for piece in diagnosis.evidence if piece.label is None]
    assert (diagnosis.signature, diagnosis.version, found) == (case, 1, SIGNATURE_EVIDENCE[case])


LABELS = {
    "tool_usage": [Label.TOOL_ERROR_NOT_RECOVERED, Label.ERROR_THEN_CLAIMED_SUCCESS, Label.MISSING_EFFECT],
    "no_state_changing_action": [Label.EMPTY_LOOKUP, Label.MISSING_EFFECT],
    "incomplete_user_resolution": [
        Label.EMPTY_LOOKUP,
        Label.ENDED_ON_A_QUESTION,
        Label.EXTRA_EFFECT,
        Label.MISSING_EFFECT,
    ],
    "wrong_state_update": [Label.EXTRA_EFFECT],
    "wrong_state_update, other outcome": [Label.WRONG_FIELD_VALUE, Label.EXTRA_EFFECT],
}


@pytest.mark.parametrize("case", LABELS)
def test_the_finer_labels(case: str) -> None:
    diagnosis, _ = diagnosed(case)
    assert (diagnosis.signature, diagnosis.labels) == (Signature(case.partition(",")[0]), LABELS[case])


# explicit errors; empty look-ups; writes called and answered; marker; question mark; clean; last response an error;
# hashes differ; length of the positional list; by row: wrong, missing, extra
FLAGS: dict[str, tuple[Any, ...]] = {
    "tool_usage": ([6], [], [6], [], True, False, True, True, True, None, True, True, False),
    "no_state_changing_action": ([], [8], [], [], True, False, True, False, True, 2, True, False, False),
    "incomplete_user_resolution": ([], [8], [10, 13], [10, 13], True, True, False, False, True, 4, True, False, True),
    "wrong_state_update": ([], [], [8, 9, 10], [8, 9, 10], True, False, True, False, True, 4, True, False, False),
    "wrong_state_update, other outcome": (
        [], [], [8, 9, 10], [8, 9, 10], True, False, True, False, True, 5, True, False, False,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", FLAGS)
def test_the_evidence_flags(case: str) -> None:
    record = CASES[case]
    graded = grade(record)
    facts, claim, differences = Facts(record, graded), read_claim(record, graded), read_differences(record, graded)
    assert (
        [error.step for error in facts.errors],
        facts.empty_lookups,
        graded.write_steps,
        facts.writes_done,
        facts.ending.marker,
        facts.ending.question_mark,
        claim.ended_cleanly,
        not claim.last_response_ok,
        differences.state_differs,
        graded.servers[0].positional,
        differences.row_wrong,
        differences.row_missing,
        differences.row_extra,
    ) == FLAGS[case]


# missing rows, rows with an update not made, wrong values, unintended field changes, extra rows
THREE_WAY = {
    "tool_usage": (2, 1, 0, 0, 0),
    "no_state_changing_action": (0, 1, 0, 0, 0),
    "incomplete_user_resolution": (0, 1, 0, 0, 1),
    "wrong_state_update": (0, 0, 0, 4, 0),
    "wrong_state_update, other outcome": (0, 0, 1, 4, 0),
}


@pytest.mark.parametrize("case", THREE_WAY)
def test_the_differences_by_row(case: str) -> None:
    effects = [effect for effect in grade(CASES[case]).effects if effect.counts]
    whole = Counter(effect.kind for effect in effects if effect.field is None)
    fields = Counter(effect.kind for effect in effects if effect.field is not None)
    not_updated = {effect.key for effect in effects if effect.kind is EffectKind.MISSING and effect.field is not None}
    assert (
        whole[EffectKind.MISSING],
        len(not_updated),
        fields[EffectKind.WRONG],
        fields[EffectKind.EXTRA],
        whole[EffectKind.EXTRA],
    ) == THREE_WAY[case]


def test_an_empty_lookup_is_no_tool_error_even_where_the_same_tool_never_succeeds_on_that_table() -> None:
    record = CASES["incomplete_user_resolution"]
    without_ticket = [step for step in record.steps if step.index not in (10, 13)]
    diagnosis = classify(msgspec.structs.replace(record, steps=without_ticket), grade(record))
    assert diagnosis is not None
    assert Label.TOOL_ERROR_NOT_RECOVERED not in diagnosis.labels


def test_the_hash_decides_and_not_the_list_of_differences() -> None:
    record = CASES["wrong_state_update"]
    (name, states), *_ = record.servers.items()
    equal = msgspec.structs.replace(states, after_hash=states.required_hash)
    changed = msgspec.structs.replace(record, servers={name: equal})
    diagnosis = classify(changed, grade(changed))
    assert diagnosis is not None
    assert (diagnosis.signature, Label.EXTRA_EFFECT in diagnosis.labels) == (Signature.RESPONSE_CHECK, True)


def test_the_order_of_arguments_and_tables_says_nothing() -> None:
    for record in CASES.values():
        graded = grade(record)
        turned = msgspec.structs.replace(
            record,
            steps=[
                msgspec.structs.replace(step, arguments=dict(reversed(step.arguments.items())))
                if isinstance(step.arguments, dict)
                else step
                for step in record.steps
            ],
            tools=list(reversed(record.tools)),
        )
        assert classify(turned, graded) == classify(record, graded)
