"""What a diagnosis is: one signature, any number of finer labels, and the evidence for both."""

from __future__ import annotations

from enum import StrEnum

import msgspec

__all__ = [
    "EVIDENCE_TITLES", "LABEL_TITLES", "MOST_WORDS", "SIGNATURE_TITLES", "Diagnosis", "Evidence", "EvidenceKind",
    "Label", "Signature", "quote",
]  # fmt: skip

MOST_WORDS = 160
"""Characters that a piece of evidence quotes."""


class Signature(StrEnum):
    """The one diagnosis of a failed attempt."""

    TOOL_USAGE = "tool_usage"
    NO_STATE_CHANGING_ACTION = "no_state_changing_action"
    INCOMPLETE_USER_RESOLUTION = "incomplete_user_resolution"
    WRONG_STATE_UPDATE = "wrong_state_update"
    RESPONSE_CHECK = "response_check"
    UNDETERMINED = "undetermined"


class Label(StrEnum):
    """A finer label. An attempt can have several, whatever its signature is."""

    TOOL_ERROR_NOT_RECOVERED = "tool_error_not_recovered"
    ERROR_THEN_CLAIMED_SUCCESS = "error_then_claimed_success"
    EMPTY_LOOKUP = "empty_lookup"
    REPEATED_IDENTICAL_CALL = "repeated_identical_call"
    UNKNOWN_TOOL = "unknown_tool"
    INVALID_ARGUMENTS = "invalid_arguments"
    TURN_LIMIT = "turn_limit"
    ENDED_ON_A_QUESTION = "ended_on_a_question"
    WRONG_FIELD_VALUE = "wrong_field_value"
    EXTRA_EFFECT = "extra_effect"
    MISSING_EFFECT = "missing_effect"
    RUBRIC_FAILED = "rubric_failed"


class EvidenceKind(StrEnum):
    """What a piece of evidence shows."""

    UNREPAIRED_ERROR = "unrepaired_error"
    TOOL_ERROR = "tool_error"
    LOOKUP = "lookup"
    REPEAT = "repeat"
    DIFFERENCE = "difference"
    WRITE = "write"
    NO_MESSAGE = "no_message"
    EMPTY_MESSAGE = "empty_message"
    QUESTION = "question"
    LINK_QUESTION = "link_question"
    NO_MARKER = "no_marker"
    FINISH_REASON = "finish_reason"
    CLAIM = "claim"
    RUBRIC = "rubric"
    ASSERTION = "assertion"
    REWARD = "reward"
    NOTHING_RECORDED = "nothing_recorded"


SIGNATURE_TITLES = {
    Signature.TOOL_USAGE: "Tool usage",
    Signature.NO_STATE_CHANGING_ACTION: "No state-changing action",
    Signature.INCOMPLETE_USER_RESOLUTION: "Incomplete user resolution",
    Signature.WRONG_STATE_UPDATE: "Wrong state update",
    Signature.RESPONSE_CHECK: "Response check",
    Signature.UNDETERMINED: "Undetermined",
}

LABEL_TITLES = {
    Label.TOOL_ERROR_NOT_RECOVERED: "Tool error not recovered",
    Label.ERROR_THEN_CLAIMED_SUCCESS: "Error, then claimed success",
    Label.EMPTY_LOOKUP: "Empty lookup",
    Label.REPEATED_IDENTICAL_CALL: "Repeated identical call",
    Label.UNKNOWN_TOOL: "Unknown tool",
    Label.INVALID_ARGUMENTS: "Invalid arguments",
    Label.TURN_LIMIT: "Turn limit",
    Label.ENDED_ON_A_QUESTION: "Ended on a question",
    Label.WRONG_FIELD_VALUE: "Wrong field value",
    Label.EXTRA_EFFECT: "Extra effect",
    Label.MISSING_EFFECT: "Missing effect",
    Label.RUBRIC_FAILED: "Rubric failed",
}

EVIDENCE_TITLES = {
    EvidenceKind.UNREPAIRED_ERROR: "A tool error that no later step repaired",
    EvidenceKind.TOOL_ERROR: "A tool error",
    EvidenceKind.LOOKUP: "A look-up that found nothing",
    EvidenceKind.REPEAT: "The same call as an earlier one",
    EvidenceKind.DIFFERENCE: "A difference from the required state",
    EvidenceKind.WRITE: "A call that changes state",
    EvidenceKind.NO_MESSAGE: "The agent said nothing",
    EvidenceKind.EMPTY_MESSAGE: "The final message is empty",
    EvidenceKind.QUESTION: "The final message asks a question",
    EvidenceKind.LINK_QUESTION: "The final message has a question mark in a link",
    EvidenceKind.NO_MARKER: "The final message has no completion marker",
    EvidenceKind.FINISH_REASON: "How the attempt ended",
    EvidenceKind.CLAIM: "The final message says that it is done",
    EvidenceKind.RUBRIC: "A rubric question answered No",
    EvidenceKind.ASSERTION: "The assertion that failed",
    EvidenceKind.REWARD: "The reward",
    EvidenceKind.NOTHING_RECORDED: "Neither states, hashes nor the text of an assertion are recorded",
}


class Evidence(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One thing that shows what a diagnosis says."""

    kind: EvidenceKind
    step: int | None = None
    """The step, from 1; None where it is not about a step."""
    words: str = ""
    """The words that count, as the attempt has them; cut ones end with an ellipsis."""
    effect: int | None = None
    """Position in the attempt's effects, from 0."""
    label: Label | None = None
    """The finer label that it is for; None: for the signature."""


class Diagnosis(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Why an attempt failed, as far as a rule can tell. Stored beside the version of the rule that gave it."""

    signature: Signature
    version: int
    labels: list[Label] = []
    """In the order of `Label`."""
    evidence: list[Evidence] = []
    """For the signature first, then label by label; a few pieces for each, in the order of the steps or effects."""


def quote(text: str, *, around: int = 0) -> str:
    """The words around a position of a text, as one line that any database and JSON can hold."""
    start = max(0, min(around - MOST_WORDS // 2, len(text) - MOST_WORDS))
    part = text[start : start + MOST_WORDS]
    plain = " ".join(part.replace("\0", " ").split()).encode("utf-8", "replace").decode("utf-8")
    return f"{'…' if start else ''}{plain}{'…' if start + MOST_WORDS < len(text) else ''}"
