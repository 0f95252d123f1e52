"""Whether a message says that the work is done. English only: a text in another language claims nothing here."""

from __future__ import annotations

import re

from runs.signatures.endings import MARKER

__all__ = ["claimed_success"]

_LONGEST = 10_000
"""Characters at each end of a message that are read."""

_VERB = (
    r"(?:"
    "accepted|activated|added|adjusted|allocated|amended|applied|approved|arranged|assigned|booked|"
    "canceled|cancelled|changed|charged|closed|completed|confirmed|corrected|created|credited|"
    "deactivated|deleted|done|enrolled|escalated|extended|filed|fixed|forwarded|generated|"
    "granted|handled|initiated|installed|issued|linked|lodged|logged|made|marked|modified|moved|"
    "notified|opened|ordered|paid|placed|postponed|processed|provisioned|raised|recorded|refunded|"
    "registered|reinstated|released|removed|renewed|replaced|reported|requested|rescheduled|reserved|"
    "reset|resolved|restored|retired|reversed|revoked|scheduled|sent|set|settled|shared|solved|"
    "sorted|started|submitted|suspended|switched|transferred|unlocked|updated|upgraded|upheld|"
    "waived|withdrawn"
    r")\b"
)
_SOON = r"(?:(?:now|also|already|just|successfully|both|all|fully|then)\s+){0,3}"
_DONE = re.compile(
    rf"\b(?:I|we)(?:['’]ve|\s+have)?\s+{_SOON}{_VERB}"
    rf"|\b(?:has|have)\s+{_SOON}been\s+{_SOON}{_VERB}"
    rf"|\b(?:was|were)\s+{_SOON}{_VERB}"
    rf"|\b(?:is|are)\s+(?:now|all|already)\s+(?:successfully\s+)?{_VERB}"
    rf"|\byour\b[^.!?\n]{{1,60}}?\b(?:is|are)\s+{_VERB}"
    rf"|^[ \t]*(?:[-*•–]|\d{{1,3}}[.)])[ \t]+(?:\*\*)?{_VERB}"
    r"|\btaken care of\b|\ball set\b|\bsuccessfully\b|^\W{0,3}(?:all )?done\b(?=\W)"
    r"|\bhere(?:['’]s| is| are)\s+(?:a summary of )?what (?:I|we)(?:['’]ve|\s+have)?\s+(?:done|did)\b",
    re.IGNORECASE | re.MULTILINE,
)
_FAILURE = re.compile(
    r"\b(?:I|we)(?:['’](?:m|re)|\s+(?:am|are|was|were|have been|had been))?\s+(?:also\s+|currently\s+|still\s+)?"
    r"(?:unable to|not able to|could not|couldn['’]t|(?:was|were)n['’]t able to|failed to|did not manage)"
    r"|\b(?:went wrong|did(?:n['’]t| not) (?:go through|succeed|work|work out)|was (?:not successful|unsuccessful))\b"
    r"|\b(?:an|the|a system|a technical) (?:error|problem) (?:occurred|prevented|came up|kept)\b"
    r"|\b(?:got|received|ran into|encountered|hit) (?:an|a system|a technical) error\b"
    r"|\bsystem (?:would|did) not (?:take|accept|allow)\b",
    re.IGNORECASE,
)
_NOT_YET = re.compile(r"\b(?:once|until|unless|if|as soon as|after|when|whenever|whether|before)\b", re.IGNORECASE)
_BORDER = re.compile(r"[.!?\n]")


def claimed_success(text: str) -> tuple[int, int] | None:
    """Start and end of the words that say that something was done for the user; None when nothing says so.

    A message that admits that something failed claims no success, and neither does a question or a condition ("once it
    has been processed").
    """
    text = text.replace(MARKER, " " * len(MARKER))
    parts = (
        [(0, text)] if len(text) <= 2 * _LONGEST else [(0, text[:_LONGEST]), (len(text) - _LONGEST, text[-_LONGEST:])]
    )
    if any(_FAILURE.search(part) for _, part in parts):
        return None
    for offset, part in parts:
        for match in _DONE.finditer(part):
            if _stands(match, part):
                return offset + match.start(), offset + match.end()
    return None


def _stands(match: re.Match[str], text: str) -> bool:
    """Whether the sentence around the words asserts them."""
    start = max((text.rfind(border, 0, match.start()) for border in ".!?\n"), default=-1) + 1
    end = _BORDER.search(text, match.end())
    return _NOT_YET.search(text, start, match.start()) is None and (end is None or end[0] != "?")
