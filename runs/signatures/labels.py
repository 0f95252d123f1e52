"""The finer labels of version 1: each a rule of its own, so an attempt can have several."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from runs.records import EffectKind
from runs.signatures.base import Evidence, EvidenceKind, Label, quote
from runs.signatures.endings import TURN_LIMITS
from runs.signatures.facts import Facts
from runs.signatures.outcomes import difference_of, failed_rubrics
from runs.signatures.toolcalls import ErrorKind, has_invalid_arguments

__all__ = ["LABEL_RULES", "MOST_EVIDENCE", "label_evidence"]

MOST_EVIDENCE = 8
"""Pieces of evidence that are kept for a signature or a label."""

LabelRule = Callable[[Facts], Iterator[Evidence]]
"""Gives the evidence for a label; none means that the label does not apply."""


def tool_error_not_recovered(facts: Facts) -> Iterator[Evidence]:
    for error in facts.unrepaired:
        yield Evidence(kind=EvidenceKind.UNREPAIRED_ERROR, step=error.step, words=quote(error.words))


def error_then_claimed_success(facts: Facts) -> Iterator[Evidence]:
    if facts.unrepaired and facts.claim is not None:
        error = facts.unrepaired[-1]
        yield Evidence(kind=EvidenceKind.UNREPAIRED_ERROR, step=error.step, words=quote(error.words))
        yield Evidence(
            kind=EvidenceKind.CLAIM, step=facts.ending.step, words=quote(facts.ending.text, around=facts.claim[0])
        )


def empty_lookup(facts: Facts) -> Iterator[Evidence]:
    for step in facts.empty_lookups:
        yield Evidence(kind=EvidenceKind.LOOKUP, step=step, words=quote(facts.by_index[step].content or ""))


def repeated_identical_call(facts: Facts) -> Iterator[Evidence]:
    for step in facts.repeated_calls:
        yield Evidence(kind=EvidenceKind.REPEAT, step=step, words=quote(facts.by_index[step].name or ""))


def unknown_tool(facts: Facts) -> Iterator[Evidence]:
    for error in facts.errors:
        if error.kind is ErrorKind.UNKNOWN_TOOL:
            yield Evidence(kind=EvidenceKind.TOOL_ERROR, step=error.step, words=quote(error.words))


def invalid_arguments(facts: Facts) -> Iterator[Evidence]:
    for step in facts.record.steps:
        if has_invalid_arguments(step):
            yield Evidence(kind=EvidenceKind.TOOL_ERROR, step=step.index, words=quote(step.error or ""))


def turn_limit(facts: Facts) -> Iterator[Evidence]:
    if facts.record.finish_reason in TURN_LIMITS:
        yield Evidence(
            kind=EvidenceKind.FINISH_REASON, step=facts.ending.step, words=quote(facts.record.finish_reason or "")
        )


def ended_on_a_question(facts: Facts) -> Iterator[Evidence]:
    position = facts.ending.question
    if position is not None:
        words = quote(facts.ending.text, around=position)
        yield Evidence(kind=EvidenceKind.QUESTION, step=facts.ending.step, words=words)


def wrong_field_value(facts: Facts) -> Iterator[Evidence]:
    return _differences(facts, EffectKind.WRONG)


def extra_effect(facts: Facts) -> Iterator[Evidence]:
    return _differences(facts, EffectKind.EXTRA)


def missing_effect(facts: Facts) -> Iterator[Evidence]:
    return _differences(facts, EffectKind.MISSING)


def rubric_failed(facts: Facts) -> Iterator[Evidence]:
    for number in failed_rubrics(facts.graded):
        yield Evidence(kind=EvidenceKind.RUBRIC, step=facts.ending.step, words=quote(facts.graded.checks[number].name))


def _differences(facts: Facts, kind: EffectKind) -> Iterator[Evidence]:
    for number, effect in enumerate(facts.graded.effects):
        if difference_of(effect, wrote=facts.wrote) is kind:
            step = effect.writes[0].step if effect.writes else None
            yield Evidence(kind=EvidenceKind.DIFFERENCE, step=step, effect=number)


LABEL_RULES: Sequence[tuple[Label, LabelRule]] = (
    (Label.TOOL_ERROR_NOT_RECOVERED, tool_error_not_recovered),
    (Label.ERROR_THEN_CLAIMED_SUCCESS, error_then_claimed_success),
    (Label.EMPTY_LOOKUP, empty_lookup),
    (Label.REPEATED_IDENTICAL_CALL, repeated_identical_call),
    (Label.UNKNOWN_TOOL, unknown_tool),
    (Label.INVALID_ARGUMENTS, invalid_arguments),
    (Label.TURN_LIMIT, turn_limit),
    (Label.ENDED_ON_A_QUESTION, ended_on_a_question),
    (Label.WRONG_FIELD_VALUE, wrong_field_value),
    (Label.EXTRA_EFFECT, extra_effect),
    (Label.MISSING_EFFECT, missing_effect),
    (Label.RUBRIC_FAILED, rubric_failed),
)


def label_evidence(facts: Facts) -> Iterator[tuple[Label, list[Evidence]]]:
    """The labels that apply, in the order of `Label`, each with its first pieces of evidence."""
    for label, rule in LABEL_RULES:
        found = []
        for piece in rule(facts):
            found.append(piece)
            if len(found) == MOST_EVIDENCE:
                break
        if found:
            yield label, found
