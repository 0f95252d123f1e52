"""Why a failed attempt failed: one deterministic, versioned signature, finer labels, and the evidence for both.

    classify          record and grading → diagnosis
    VERSIONS          the versions of the rule there are
    CURRENT           the one that is used where none is named

Each stored diagnosis says which version gave it, so that old ones stay explainable. The rule as a table, what of it is
published and what is a decision of this project: docs/signatures.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from runs.records import AttemptRecord, GradedAttempt, Verdict
from runs.signatures import v1
from runs.signatures.base import (
    EVIDENCE_TITLES,
    LABEL_TITLES,
    SIGNATURE_TITLES,
    Diagnosis,
    Evidence,
    EvidenceKind,
    Label,
    Signature,
)

__all__ = [
    "CURRENT", "EVIDENCE_TITLES", "LABEL_TITLES", "SIGNATURE_TITLES", "VERSIONS", "Diagnosis", "Evidence",
    "EvidenceKind", "Label", "Signature", "Version", "classify",
]  # fmt: skip


class Version(msgspec.Struct, frozen=True, kw_only=True):
    """One version of the rule."""

    number: int
    title: str
    """For people."""
    diagnose: Callable[[AttemptRecord, GradedAttempt], Diagnosis]


VERSIONS: Mapping[int, Version] = {
    v1.VERSION: Version(number=v1.VERSION, title="Version 1: explicit errors, strict repair", diagnose=v1.diagnose)
}
CURRENT = v1.VERSION


def classify(record: AttemptRecord, graded: GradedAttempt, *, version: int = CURRENT) -> Diagnosis | None:
    """The diagnosis of a failed attempt; None for one that passed, and for an error, which is not the agent's failure.

    Raises KeyError for a version that does not exist.
    """
    rule = VERSIONS[version]
    return rule.diagnose(record, graded) if record.verdict is Verdict.FAILED else None
