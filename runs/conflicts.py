"""What becomes of a row whose place (run, task, repetition) is already taken. Pure, and the same in whatever order
rows arrive.

- A row identical to the stored one is *same*.
- A non-error replaces an error; the error stays as history.
- Where both say which try they were, the later one replaces an error, and an earlier error is history.
- Of two other rows the first is kept, and the other is listed as a conflict. First is the earlier line of one upload,
  else the one stored earlier.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec

from runs.records import Verdict

__all__ = ["Outcome", "Placed", "decide"]


class Outcome(StrEnum):
    SAME = "same"
    """Nothing to store. The row stands on the earlier of the two lines, where both are of one upload."""
    REPLACE = "replace"
    """The incoming row becomes current, the stored error becomes history."""
    HISTORY = "history"
    """The incoming error is stored as history: the current row is a later try, or a later line of the same upload."""
    KEEP = "keep"
    """A conflict: the stored row stays, the incoming one is listed."""
    DISPLACE = "displace"
    """A conflict that the incoming row wins, since it stands on an earlier line of the same upload: the stored one is
    listed.
    """


class Placed(msgspec.Struct, frozen=True):
    """A row at a place: what the decision needs of it."""

    digest: str
    verdict: Verdict
    upload: int | None
    line: int
    tried: int | None = None
    """Which try at its place it was, where the row says that."""


def decide(stored: Placed, incoming: Placed) -> Outcome:
    """What to do with `incoming` where `stored` is the current row of the same place."""
    if stored.digest == incoming.digest:
        return Outcome.SAME
    if stored.tried is not None and incoming.tried is not None and stored.tried != incoming.tried:
        if incoming.tried > stored.tried and stored.verdict is Verdict.ERROR:
            return Outcome.REPLACE
        if incoming.tried < stored.tried and incoming.verdict is Verdict.ERROR:
            return Outcome.HISTORY
    earlier = stored.upload is not None and stored.upload == incoming.upload and incoming.line < stored.line
    stored_error = stored.verdict is Verdict.ERROR
    incoming_error = incoming.verdict is Verdict.ERROR
    if stored_error and not incoming_error:
        # An earlier line that is no error would have been first, and the error behind it a conflict.
        return Outcome.DISPLACE if earlier else Outcome.REPLACE
    if incoming_error and not stored_error and earlier:
        return Outcome.HISTORY
    return Outcome.DISPLACE if earlier else Outcome.KEEP
