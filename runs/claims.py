"""The claim against the evidence: did a failed attempt look like a success, and what was wrong with it all the same.

The three signs of success are the benchmark study's own, nested and all with the same base: ended cleanly, and called a
state-changing tool, and got a last tool response without an error. Whether the final message *says* that the work is
done is a sign of this project's, and read from English words only.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from runs.records import AttemptRecord, EffectKind, GradedAttempt, Step, StepKind
from runs.reported import parse_differences, recorded_hashes
from runs.signatures.base import quote
from runs.signatures.facts import Facts
from runs.signatures.outcomes import Outcome, difference_of

__all__ = ["Claim", "ClaimCounts", "Differences", "Positional", "count_claims", "read_claim", "read_differences"]


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """What an attempt made of itself."""

    ended_cleanly: bool
    """The final message is not empty, has the completion marker, and has no question mark."""
    called_write: bool
    """A state-changing tool was called, whatever came of it."""
    last_response_ok: bool
    """The last tool response is no explicit error; so too where there is no tool response at all."""
    claimed_success: bool
    """The final message says that something was done for the user, and admits no failure."""
    step: int | None = None
    """The final message."""
    words: str = ""
    """The words of the claim."""

    @property
    def looked_like_success(self) -> bool:
        """The study's three signs together."""
        return self.ended_cleanly and self.called_write and self.last_response_ok


class Positional(msgspec.Struct, frozen=True, kw_only=True):
    """The harness's own comparison by position: which classes of difference it lists.

    The study's shares were taken from it, as far as can be told. One surplus row makes nearly every row behind it
    "wrong".
    """

    wrong: bool = False
    missing: bool = False
    extra: bool = False
    length: bool = False


class Differences(msgspec.Struct, frozen=True, kw_only=True):
    """Which kinds of difference a failed attempt has; an attempt can have several."""

    state_differs: bool | None
    """By the hashes, where there are any; None when nothing tells."""
    wrong: bool = False
    """Before, after and required compared: a field was written to another value (or, `reported`, differs)."""
    missing: bool = False
    """A required change was not made."""
    extra: bool = False
    """Something was changed or created that had to stay as it was."""
    row_wrong: bool = False
    """After and required compared, rows matched by key: a row that is in both differs."""
    row_missing: bool = False
    row_extra: bool = False
    reported: bool = False
    """Known from the check's message only, so rows were not matched and `row_…` says nothing."""
    positional: Positional | None = None
    """None where the harness's list is not recorded."""


class ClaimCounts(msgspec.Struct, frozen=True, kw_only=True):
    """Failed attempts counted; the base of every share is `failed`."""

    failed: int = 0
    clean: int = 0
    clean_and_wrote: int = 0
    looked_like_success: int = 0
    """Clean, and wrote, and the last tool response is free of error."""
    claimed_success: int = 0
    looked_and_claimed: int = 0
    """Looked like a success and said so."""
    state_differs: int = 0
    wrong: int = 0
    missing: int = 0
    extra: int = 0
    row_wrong: int = 0
    row_missing: int = 0
    row_extra: int = 0
    positional: int = 0
    """Attempts with the harness's own list; the base of the four below is still `failed`."""
    positional_wrong: int = 0
    positional_missing: int = 0
    positional_extra: int = 0
    positional_length: int = 0

    def __add__(self, other: ClaimCounts) -> ClaimCounts:
        return ClaimCounts(**{name: getattr(self, name) + getattr(other, name) for name in self.__struct_fields__})

    def share(self, name: str) -> float | None:
        """The share (0 to 1) of the failed attempts; None when there are none."""
        count: int = getattr(self, name)
        return count / self.failed if self.failed else None


def read_claim(record: AttemptRecord, graded: GradedAttempt) -> Claim:
    """The claim of an attempt of any verdict, from this attempt alone."""
    facts = Facts(record, graded)
    said = facts.claim
    return Claim(
        ended_cleanly=facts.ending.clean,
        called_write=bool(graded.write_steps),
        last_response_ok=not _last_response_failed(record.steps),
        claimed_success=said is not None,
        step=facts.ending.step,
        words="" if said is None else quote(facts.ending.text, around=(said[0] + said[1]) // 2),
    )


def read_differences(record: AttemptRecord, graded: GradedAttempt) -> Differences:
    """How the state that a failed attempt left differs from the required one."""
    facts = Facts(record, graded)
    counting = [effect for effect in graded.effects if effect.counts]
    kinds = {difference_of(effect, wrote=facts.wrote) for effect in counting}
    rows = [effect for effect in counting if effect.kind is not EffectKind.REPORTED]
    whole = [effect for effect in rows if effect.field is None]
    return Differences(
        state_differs=None if facts.state is Outcome.UNKNOWN else facts.state is Outcome.WRONG,
        wrong=EffectKind.WRONG in kinds,
        missing=EffectKind.MISSING in kinds,
        extra=EffectKind.EXTRA in kinds,
        row_wrong=len(whole) < len(rows),
        row_missing=any(effect.after is msgspec.UNSET for effect in whole),
        row_extra=any(effect.required is msgspec.UNSET for effect in whole),
        reported=len(rows) < len(counting),
        positional=_positional(record),
    )


def count_claims(attempts: Iterable[tuple[Claim, Differences]]) -> ClaimCounts:
    """The failed attempts of a set, counted. A nested sign counts only attempts that the signs before it hold for."""
    total = ClaimCounts()
    for claim, differences in attempts:
        total += _one(claim, differences)
    return total


def _one(claim: Claim, differences: Differences) -> ClaimCounts:
    positional = differences.positional or Positional()
    return ClaimCounts(
        failed=1,
        clean=claim.ended_cleanly,
        clean_and_wrote=claim.ended_cleanly and claim.called_write,
        looked_like_success=claim.looked_like_success,
        claimed_success=claim.claimed_success,
        looked_and_claimed=claim.looked_like_success and claim.claimed_success,
        state_differs=differences.state_differs is True,
        wrong=differences.wrong,
        missing=differences.missing,
        extra=differences.extra,
        row_wrong=differences.row_wrong,
        row_missing=differences.row_missing,
        row_extra=differences.row_extra,
        positional=differences.positional is not None,
        positional_wrong=positional.wrong,
        positional_missing=positional.missing,
        positional_extra=positional.extra,
        positional_length=positional.length,
    )


def _last_response_failed(steps: Sequence[Step]) -> bool:
    last = next(
        (
            step
            for step in reversed(steps)
            if step.kind in {StepKind.CALL, StepKind.RESPONSE} and (step.content is not None or step.error is not None)
        ),
        None,
    )
    return last is not None and last.error is not None


_POSITIONAL = {
    "value mismatch": "wrong",
    "type mismatch": "wrong",
    "result is None, golden is not": "missing",
    "missing in result (present in golden)": "missing",
    "result is not None, golden is None": "extra",
    "present in result (missing in golden)": "extra",
    "length mismatch": "length",
}


def _positional(record: AttemptRecord) -> Positional | None:
    """The classes of the harness's own list: as recorded, else as a failed check printed it."""
    lists = [states.diff for states in record.servers.values() if states.diff is not None]
    kinds: set[Any] = {entry.get("type") if isinstance(entry, dict) else None for diff in lists for entry in diff}
    if not lists:
        if record.test is None or recorded_hashes(record.test.traceback).after is None:
            return None
        kinds = {entry.type for entry in parse_differences(record.test.traceback)}
    classes = {_POSITIONAL.get(kind) for kind in kinds if isinstance(kind, str)}
    return Positional(**{name: name in classes for name in Positional.__struct_fields__})
