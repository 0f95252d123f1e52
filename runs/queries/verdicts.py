"""The words for verdicts, one for all pages."""

from __future__ import annotations

from runs.records import ErrorReason, Verdict

__all__ = ["NOT_RECORDED", "verdict_word"]

NOT_RECORDED = "Not recorded"

_WORDS = {
    (Verdict.PASSED, ""): "Passed",
    (Verdict.FAILED, ""): "Failed",
    (Verdict.ERROR, ErrorReason.SYSTEM): "System error",
    (Verdict.ERROR, ErrorReason.GRADER): "Grader error",
    (Verdict.ERROR, ErrorReason.NOT_GRADED): "Not graded",
}


def verdict_word(verdict: str, reason: str = "") -> str:
    """What a page calls the verdict: `Passed`, `System error`. An error without a reason is a system error."""
    if verdict != Verdict.ERROR:
        return _WORDS[Verdict(verdict), ""]
    return _WORDS[Verdict.ERROR, ErrorReason(reason or ErrorReason.SYSTEM)]
