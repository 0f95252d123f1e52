"""Whether what is stored still is what came in: contents against their digests, counts against attempts, references.

Each check yields what it finds. It reads in short steps, so it may run beside everything else, and with `repair` it
mends what can be made again from the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from runs.verifying.contents import check_attempts, check_payloads
from runs.verifying.counts import check_tallies, check_uploads
from runs.verifying.findings import Finding
from runs.verifying.references import check_database, check_index, check_references

__all__ = ["CHECKS", "Finding", "verify"]

CHECKS: dict[str, Callable[[bool], Iterator[Finding]]] = {
    "the database's file": check_database,
    "references": check_references,
    "contents": check_payloads,
    "attempts": check_attempts,
    "tallies": check_tallies,
    "uploads": check_uploads,
    "the index of transcripts": check_index,
}
"""What is checked → the check, in an order in which a repair finds what it needs already mended."""


def verify(*, repair: bool = False) -> Iterator[Finding]:
    """Everything that is wrong, as it is found."""
    for check in CHECKS.values():
        yield from check(repair)
