"""A run's rows again, as they came in: equal as JSON, in the order of its files, errors that were replaced included."""

from __future__ import annotations

from collections.abc import Iterator

from runs.models import Attempt, Run
from runs.payloads import KnownTexts, restore_row

__all__ = ["export_rows"]

_AT_ONCE = 50
_KEPT_BYTES = 64 << 20
"""Bytes of shared parts that stay at hand: the repetitions of a task follow each other in most files."""


def export_rows(run: Run, *, current: bool = False) -> Iterator[bytes]:
    """The rows as JSON texts without a line end. `current` leaves out the errors that a later row replaced.

    Read in that order by one `ingest`, they give the same run again. Rows that were conflicts are in no run, so they
    are not among them. Memory does not grow with the run.
    """
    order = ("upload_id", "line", "pk")
    attempts = Attempt.objects.filter(run=run, **({"current": True} if current else {}))
    ids = list(attempts.order_by(*order).values_list("pk", flat=True))
    known = KnownTexts(_KEPT_BYTES)
    for start in range(0, len(ids), _AT_ONCE):
        part = ids[start : start + _AT_ONCE]
        stored = Attempt.objects.select_related("trace__dictionary").in_bulk(part)
        for pk in part:
            if pk in stored:  # a row that an earlier line took the place of meanwhile is not the run's any more
                yield restore_row(stored[pk], known, masked=False)
