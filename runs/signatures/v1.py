"""Version 1 of the rule that gives a failed attempt its signature: ordered, and the first that matches wins.

The four published signatures keep their published order. What the study leaves open is decided here and explained in
docs/signatures.md. A change of what any of these rules, or the building blocks below them, answers is a new version.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice

import msgspec

from runs.records import AttemptRecord, CheckKind, GradedAttempt
from runs.signatures.base import Diagnosis, Evidence, EvidenceKind, Signature, quote
from runs.signatures.endings import BROKEN_OFF
from runs.signatures.facts import Facts
from runs.signatures.labels import MOST_EVIDENCE, label_evidence, tool_error_not_recovered
from runs.signatures.outcomes import Outcome, failed_rubrics, missing_changes

__all__ = ["RULES", "VERSION", "diagnose"]

VERSION = 1

Rule = Callable[[Facts], list[Evidence] | None]
"""Gives the evidence when the rule matches, else None."""


def state_is_right(facts: Facts) -> list[Evidence] | None:
    """Response check: the state is as required, so something else failed: a rubric, an assertion, the reward."""
    if facts.state is not Outcome.RIGHT:
        return None
    checks, test = facts.graded.checks, facts.record.test
    evidence = [
        Evidence(kind=EvidenceKind.RUBRIC, step=facts.ending.step, words=quote(checks[number].name))
        for number in failed_rubrics(facts.graded)
    ]
    evidence += [] if evidence else _assertions(facts)
    if not evidence and test is not None and test.reward is not None:
        evidence = [Evidence(kind=EvidenceKind.REWARD, words=quote(str(test.reward)))]
    return evidence


def nothing_to_judge_by(facts: Facts) -> list[Evidence] | None:
    """Undetermined: neither states, hashes nor the text of an assertion are recorded."""
    return [Evidence(kind=EvidenceKind.NOTHING_RECORDED)] if facts.state is Outcome.UNKNOWN else None


def an_error_was_not_repaired(facts: Facts) -> list[Evidence] | None:
    """Tool usage: one explicit tool error that no later step repaired is enough."""
    return list(islice(tool_error_not_recovered(facts), MOST_EVIDENCE)) if facts.unrepaired else None


def nothing_was_written(facts: Facts) -> list[Evidence] | None:
    """No state-changing action: no state-changing call reached its tool, and the state is not as required."""
    if facts.wrote:
        return None
    return [
        Evidence(kind=EvidenceKind.DIFFERENCE, effect=number)
        for number in missing_changes(facts.graded.effects, wrote=False)[:MOST_EVIDENCE]
    ] or _assertions(facts)


def did_not_end_cleanly(facts: Facts) -> list[Evidence] | None:
    """Incomplete user resolution: broken off, or the final message is empty, has no marker or has a question mark."""
    ending = facts.ending
    evidence = []
    if facts.record.finish_reason in BROKEN_OFF:
        evidence.append(Evidence(kind=EvidenceKind.FINISH_REASON, words=quote(facts.record.finish_reason or "")))
    if ending.step is None:
        evidence.append(Evidence(kind=EvidenceKind.NO_MESSAGE))
    elif ending.empty:
        evidence.append(Evidence(kind=EvidenceKind.EMPTY_MESSAGE, step=ending.step))
    elif not ending.marker:
        last = quote(ending.text, around=len(ending.text))
        evidence.append(Evidence(kind=EvidenceKind.NO_MARKER, step=ending.step, words=last))
    if ending.question_mark:
        position = ending.question
        kind = EvidenceKind.LINK_QUESTION if position is None else EvidenceKind.QUESTION
        at = ending.text.rfind("?") if position is None else position
        evidence.append(Evidence(kind=kind, step=ending.step, words=quote(ending.text, around=at)))
    return evidence or None


def the_state_is_wrong(facts: Facts) -> list[Evidence] | None:
    """Wrong state update: something was written, and the state is not as required."""
    effects = facts.graded.effects
    differences = [
        Evidence(kind=EvidenceKind.DIFFERENCE, effect=number, step=effect.writes[0].step if effect.writes else None)
        for number, effect in enumerate(effects)
        if effect.counts
    ]
    writes = [
        Evidence(kind=EvidenceKind.WRITE, step=step, words=quote(facts.by_index[step].name or ""))
        for step in facts.writes_run
    ]
    return (differences[:MOST_EVIDENCE] or _assertions(facts)) + writes[:MOST_EVIDENCE]


RULES: Sequence[tuple[Signature, Rule]] = (
    (Signature.RESPONSE_CHECK, state_is_right),
    (Signature.UNDETERMINED, nothing_to_judge_by),
    (Signature.TOOL_USAGE, an_error_was_not_repaired),
    (Signature.NO_STATE_CHANGING_ACTION, nothing_was_written),
    (Signature.INCOMPLETE_USER_RESOLUTION, did_not_end_cleanly),
    (Signature.WRONG_STATE_UPDATE, the_state_is_wrong),
)


def diagnose(record: AttemptRecord, graded: GradedAttempt) -> Diagnosis:
    """The diagnosis of a failed attempt, from this attempt alone. The last rule matches whatever is left."""
    facts = Facts(record, graded)
    signature, evidence = next(
        (signature, evidence) for signature, rule in RULES if (evidence := rule(facts)) is not None
    )
    labels = []
    for label, found in label_evidence(facts):
        labels.append(label)
        evidence = evidence + [msgspec.structs.replace(piece, label=label) for piece in found]
    return Diagnosis(signature=signature, version=VERSION, labels=labels, evidence=evidence)


def _assertions(facts: Facts) -> list[Evidence]:
    return [
        Evidence(kind=EvidenceKind.ASSERTION, words=quote(check.message or check.name))
        for check in facts.graded.checks
        if check.kind is CheckKind.ASSERTION
    ]
