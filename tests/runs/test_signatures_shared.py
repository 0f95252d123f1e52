"""What was provoked in each attempt of the reference bundles, against the signature that the rule assigns."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from runs.claims import ClaimCounts, count_claims, read_claim, read_differences
from runs.errorclasses import ErrorClass, classify_error
from runs.grading import grade
from runs.records import AttemptRecord, GradedAttempt, Verdict
from runs.signatures import Signature, classify
from runs.signatures.facts import Facts
from tests.runs.evidence import read_bundle

pytestmark = pytest.mark.shared

BUNDLES = [
    "smoke/smoke.jsonl.gz",
    "retail-20x/retail-20x.aster-large.jsonl.zst",
    "retail-20x/retail-20x.briza-mini.jsonl.zst",
    "retail-20x/retail-20x.cedar-8b.jsonl.zst",
    "five-domains/five-domains.aster-large.jsonl.zst",
    "five-domains/five-domains.delta-medium.jsonl.zst",
    "variants/no-dump.jsonl.gz",
    "variants/limits.jsonl.zst",
    "variants/no-test.jsonl.zst",
    "variants/full-dump.jsonl.zst",
]

Attempts = list[tuple[str, str, AttemptRecord, GradedAttempt]]


@pytest.fixture(scope="module")
def attempts(shared: Path) -> Attempts:
    """Bundle, provoked script, attempt, grading."""
    lines = (shared / "bundles" / "provoked.jsonl").read_text().splitlines()
    provoked = {(row["file"], row["uid"], row["repetition"]): row["script"] for row in map(json.loads, lines)}
    return list(_attempts(shared / "bundles", provoked))


def _attempts(
    folder: Path, provoked: dict[tuple[str, str, int], str]
) -> Iterator[tuple[str, str, AttemptRecord, GradedAttempt]]:
    for bundle in BUNDLES:
        name = bundle.partition(".jsonl")[0]
        for record in read_bundle(folder / bundle):
            yield name, provoked[name, record.uid, record.repetition], record, grade(record)


# Provoked script → tool usage, no state-changing action, incomplete user resolution, wrong state update,
# response check, undetermined
CONFUSION = {
    "wrong_value": (0, 0, 8, 373, 0, 0),
    "missing_effect": (49, 0, 3, 115, 0, 0),
    "extra_effect": (0, 0, 0, 64, 0, 0),
    "partial": (0, 0, 0, 17, 0, 0),
    "tool_error_giveup": (83, 0, 0, 0, 0, 0),
    "malformed_giveup": (30, 0, 0, 0, 0, 0),
    "no_action": (0, 78, 0, 0, 0, 0),
    "user_limit": (0, 23, 0, 0, 0, 0),
    "injection_end": (0, 17, 0, 0, 0, 0),
    "empty_reply": (0, 11, 0, 0, 0, 0),
    "agent_loop": (0, 3, 0, 0, 0, 0),
    "rubric_no": (0, 0, 0, 0, 36, 0),
}


def test_provoked_against_assigned(attempts: Attempts) -> None:
    found: Counter[tuple[str, str]] = Counter()
    for _, script, record, graded in attempts:
        diagnosis = classify(record, graded)
        if diagnosis is not None:
            found[script, diagnosis.signature] += 1
    order = (
        Signature.TOOL_USAGE,
        Signature.NO_STATE_CHANGING_ACTION,
        Signature.INCOMPLETE_USER_RESOLUTION,
        Signature.WRONG_STATE_UPDATE,
        Signature.RESPONSE_CHECK,
        Signature.UNDETERMINED,
    )
    table = {script: tuple(found[script, signature] for signature in order) for script in {one for one, _ in found}}
    assert table == CONFUSION


def test_the_surprising_cells_have_one_cause_each(attempts: Attempts) -> None:
    unrepaired: Counter[str] = Counter()
    linked: Counter[str] = Counter()
    for _, script, record, graded in attempts:
        if record.verdict is not Verdict.FAILED:
            continue
        facts = Facts(record, graded)
        if script == "missing_effect" and facts.unrepaired:
            # The ticket was never created, so the update of the ticket that would have been new fails.
            unrepaired[facts.unrepaired[0].words.partition("ID")[0]] += 1
        diagnosis = classify(record, graded)
        if diagnosis is not None and diagnosis.signature is Signature.INCOMPLETE_USER_RESOLUTION:
            # Published: no question mark in the text. Theirs stands in the address of a link.
            linked[script] += facts.ending.question_mark and facts.ending.question is None
    assert (unrepaired, linked) == (
        Counter({"Tool execution failed: Item with ": 49}),
        Counter({"wrong_value": 8, "missing_effect": 3}),
    )


def test_no_passing_attempt_has_an_error_that_nothing_repaired(attempts: Attempts) -> None:
    passed = [(record, graded) for _, _, record, graded in attempts if record.verdict is Verdict.PASSED]
    errors = [Facts(record, graded) for record, graded in passed]
    assert (
        len(passed),
        sum(bool(facts.errors) for facts in errors),
        sum(bool(facts.unrepaired) for facts in errors),
    ) == (
        1446,
        103,
        0,
    )


def test_an_attempt_keeps_its_signature_without_its_states(attempts: Attempts) -> None:
    """The text of the assertion says as much as the states do, as far as the signature goes."""
    same: Counter[bool] = Counter()
    for _, _, record, graded in attempts:
        if record.verdict is Verdict.FAILED and record.servers:
            bare = msgspec.structs.replace(record, servers={})
            one, two = classify(record, graded), classify(bare, grade(bare))
            assert one is not None
            assert two is not None
            same[one.signature is two.signature] += 1
    assert same == Counter({True: 900})


def test_the_signs_of_success_of_one_run(attempts: Attempts) -> None:
    counts = count_claims(
        (read_claim(record, graded), read_differences(record, graded))
        for bundle, _, record, graded in attempts
        if bundle == "five-domains/five-domains.delta-medium" and record.verdict is Verdict.FAILED
    )
    assert counts == ClaimCounts(
        failed=415, clean=393, clean_and_wrote=350, looked_like_success=292,
        claimed_success=405, looked_and_claimed=292, state_differs=385,
        wrong=169, missing=156, extra=84, row_wrong=244, row_missing=116, row_extra=65,
        positional=415, positional_wrong=271, positional_missing=166, positional_extra=91, positional_length=191,
    )  # fmt: skip


ERRORS = {
    "sys500": (ErrorClass.AGENT_ENDPOINT, True, 500),
    "sys_user500": (ErrorClass.SIMULATED_USER, True, 500),
    "badargs_system": (ErrorClass.HARNESS, True, None),
    "judge_error": (ErrorClass.JUDGE, True, 500),
    "broken_init": (ErrorClass.SANDBOX_SETUP, False, 400),
    "broken_test": (ErrorClass.GRADER, False, None),
}


def test_each_provoked_error_gets_its_class(attempts: Attempts) -> None:
    found: Counter[tuple[str, tuple[ErrorClass, bool, int | None]]] = Counter()
    not_graded = 0
    for bundle, script, record, _ in attempts:
        error = classify_error(record)
        if error is None:
            continue
        if error.kind is ErrorClass.NOT_GRADED:
            not_graded += bundle == "variants/no-test"
            continue
        found[script, (error.kind, error.retryable, error.status)] += 1
    counts = {"sys500": 20, "sys_user500": 7, "badargs_system": 3, "judge_error": 6, "broken_init": 4, "broken_test": 4}
    assert (found, not_graded) == (Counter({(script, ERRORS[script]): n for script, n in counts.items()}), 13)
