"""What the evidence says about the state: as required or not, and which differences there are."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from msgspec import UNSET

from runs.records import CheckKind, Effect, EffectKind, GradedAttempt
from runs.statediff.tables import same

__all__ = ["Outcome", "difference_of", "failed_rubrics", "missing_changes", "state_changed", "state_outcome"]

_REPORTED = {
    "value mismatch": EffectKind.WRONG,
    "type mismatch": EffectKind.WRONG,
    "result is None, golden is not": EffectKind.MISSING,
    "missing in result (present in golden)": EffectKind.MISSING,
    "result is not None, golden is None": EffectKind.EXTRA,
    "present in result (missing in golden)": EffectKind.EXTRA,
}


class Outcome(StrEnum):
    """Whether the state that the agent left is the required one."""

    RIGHT = "right"
    WRONG = "wrong"
    UNKNOWN = "unknown"


def state_outcome(graded: GradedAttempt) -> Outcome:
    """The outcome of the state check of a failed attempt.

    Equal hashes decide, not the list of differences. Where nothing about the state is recorded, an assertion that
    failed and is no rubric is taken to be the state check: it is the one that comes first.
    """
    states = [check.passed for check in graded.checks if check.kind is CheckKind.STATE]
    if False in states:
        return Outcome.WRONG
    if states and all(states):
        return Outcome.RIGHT
    if failed_rubrics(graded):  # rubrics are asked only where the state is as required
        return Outcome.RIGHT
    told = any(
        check.kind is CheckKind.ASSERTION and check.passed is False and (check.message or check.name)
        for check in graded.checks
    )
    return Outcome.WRONG if told or graded.differences else Outcome.UNKNOWN


def failed_rubrics(graded: GradedAttempt) -> list[int]:
    """Positions of the rubric questions among the checks that were answered No."""
    return [
        number for number, check in enumerate(graded.checks) if check.kind is CheckKind.RUBRIC and check.passed is False
    ]


def state_changed(effects: Sequence[Effect]) -> bool:
    """Whether the states show that something was written, graded or not. False where only differences are reported."""
    return any(effect.kind is not EffectKind.REPORTED and _changed(effect) for effect in effects)


def missing_changes(effects: Sequence[Effect], *, wrote: bool) -> list[int]:
    """Positions of the required changes that were not made; see `difference_of`."""
    return [number for number, effect in enumerate(effects) if difference_of(effect, wrote=wrote) is EffectKind.MISSING]


def difference_of(effect: Effect, *, wrote: bool) -> EffectKind | None:
    """Whether an effect counts as wrong, missing or extra; None when it counts for nothing.

    A `reported` difference has no before, so its kind comes from the harness's own word. `wrote` says whether any
    state-changing call ran: if none did, the value is the one that was there, and what is wrong is a missing change.
    """
    if not effect.counts:
        return None
    if effect.kind is not EffectKind.REPORTED:
        return effect.kind
    word = effect.note.partition(";")[0]
    if word == "length mismatch":
        if isinstance(effect.after, int) and isinstance(effect.required, int):
            return EffectKind.EXTRA if effect.after > effect.required else EffectKind.MISSING
        return EffectKind.MISSING
    kind = _REPORTED.get(word, EffectKind.WRONG)
    return EffectKind.MISSING if kind is EffectKind.WRONG and not wrote else kind


def _changed(effect: Effect) -> bool:
    if effect.before is UNSET:
        # A field without a before may be one whose before nobody recorded.
        return effect.created or (effect.field is None and effect.after is not UNSET)
    return effect.after is UNSET or not same(effect.before, effect.after)
