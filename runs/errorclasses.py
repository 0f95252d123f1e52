"""System errors by class: which part broke, and whether running the attempt again can help.

Nothing says it outright: the class is read from the harness's message and from the files that its traceback names.
"""

from __future__ import annotations

import re
from enum import StrEnum

import msgspec

from runs.checks import failure_message
from runs.records import AttemptRecord, ErrorReason, Verdict
from runs.signatures.base import quote

__all__ = ["ERROR_CLASS_TITLES", "ErrorClass", "ErrorDiagnosis", "classify_error"]


class ErrorClass(StrEnum):
    """The part that broke."""

    AGENT_ENDPOINT = "agent_endpoint"
    SIMULATED_USER = "simulated_user"
    JUDGE = "judge"
    SANDBOX_SETUP = "sandbox_setup"
    HARNESS = "harness"
    GRADER = "grader"
    NOT_GRADED = "not_graded"
    """Nothing broke: the attempt ran and was not tested."""


ERROR_CLASS_TITLES = {
    ErrorClass.AGENT_ENDPOINT: "Agent endpoint",
    ErrorClass.SIMULATED_USER: "Simulated user",
    ErrorClass.JUDGE: "Judge",
    ErrorClass.SANDBOX_SETUP: "Sandbox set-up",
    ErrorClass.HARNESS: "Harness",
    ErrorClass.GRADER: "Grader",
    ErrorClass.NOT_GRADED: "Not graded",
}


class ErrorDiagnosis(msgspec.Struct, frozen=True, kw_only=True):
    """Why an attempt has the verdict error."""

    kind: ErrorClass
    retryable: bool
    """Whether the same attempt, run again as it is, may end otherwise."""
    status: int | None = None
    """HTTP status of the endpoint's answer."""
    words: str = ""
    """What the part said, without addresses; empty where nothing is recorded."""


_SETUP = re.compile(r"Error calling \S+ init\b|Data patch validation failed|\bsession_create\b")
_USER = re.compile(r"Error during user LLM simulation|user_simulated_answer\.py|\b_?simulate_user\b")
_JUDGE = re.compile(r"\bJudgeException\b|[/\\]judge\.py\b|Error getting Judge completion")
_DECODING = re.compile(r"Error during decoding turn \d+|\bagent_session\.py\b|\baoai_session\.py\b")
_TOOLS = re.compile(r"\bmcp_proxy_client\.py\b")
_UNREADABLE = re.compile(r"\d+ validation errors? for \w+|\bJSONDecodeError\b|\b_decode_message\b")
"""The model answered, and the harness could not take the answer."""
_ENDPOINT = re.compile(
    r"(?:Server|Client) error '\d{3}|\bhttpx\.|\bopenai\.|\baiohttp\.|'type': '\w*_error'|\"type\": ?\"\w*_error\"",
    re.IGNORECASE,
)
_STATUS = re.compile(
    r"(?:Server|Client) error '(\d{3})|\b(?:HTTP|status(?: code)?|Error code):? ?([45]\d\d)\b", re.IGNORECASE
)
_TRANSIENT = re.compile(
    r"time[d ]?-?out|Timeout|connection (?:error|refused|reset|aborted|closed)|connect(?:ion)?Error|RemoteProtocolError"
    r"|reset by peer|disconnected|temporarily unavailable|service unavailable|overloaded|rate.?limit|too many requests"
    r"|upstream connect error|bad gateway|server_error|internal server error",
    re.IGNORECASE,
)
_PASSING_STATUS = frozenset({408, 409, 425, 429})
"""Client errors that pass by themselves; the others say that the request itself is wrong."""

_LONGEST = 50_000
"""Characters at each end of a text that are read: a traceback begins with the cause and ends with the last wrapper."""
_WRAPPED = re.compile(r"^\w+(?:\.\w+)*: Error during [\w ]+? for test case \S+: ", re.DOTALL)
_MESSAGE = re.compile(r"""['"]message\\?['"]: ?\\?(?:"((?:[^"\\]|\\[^"])+)|'([^'\\]+))""")
_ADDRESS = re.compile(r"\b\w+://\S+")


def classify_error(record: AttemptRecord) -> ErrorDiagnosis | None:
    """The class of an attempt's error, from this attempt alone; None for one that passed or failed."""
    if record.verdict is not Verdict.ERROR:
        return None
    if record.reason is ErrorReason.NOT_GRADED:
        return ErrorDiagnosis(kind=ErrorClass.NOT_GRADED, retryable=False)
    if record.reason is ErrorReason.GRADER:
        traceback = _ends(record.test.traceback if record.test is not None else "")
        kind = ErrorClass.JUDGE if _JUDGE.search(traceback) else ErrorClass.GRADER
        return _found(kind, failure_message(traceback), traceback)
    said = record.error or ""
    text = _ends(f"{said}\n{record.error_traceback}")
    return _found(_system_class(text), said, text)


def _ends(text: str) -> str:
    return text if len(text) <= 2 * _LONGEST else f"{text[:_LONGEST]}\n{text[-_LONGEST:]}"


def _system_class(text: str) -> ErrorClass:
    if _SETUP.search(text):
        return ErrorClass.SANDBOX_SETUP
    if _USER.search(text):
        return ErrorClass.SIMULATED_USER
    if _JUDGE.search(text):
        return ErrorClass.JUDGE
    if _UNREADABLE.search(text) or _TOOLS.search(text) or not _DECODING.search(text):
        return ErrorClass.HARNESS
    return ErrorClass.AGENT_ENDPOINT if _ENDPOINT.search(text) or _TRANSIENT.search(text) else ErrorClass.HARNESS


def _found(kind: ErrorClass, said: str, text: str) -> ErrorDiagnosis:
    status = _status(text)
    return ErrorDiagnosis(kind=kind, retryable=_retryable(kind, status, text), status=status, words=_words(said))


def _status(text: str) -> int | None:
    found = _STATUS.search(text)
    return None if found is None else int(found[1] or found[2])


def _retryable(kind: ErrorClass, status: int | None, text: str) -> bool:
    if kind is ErrorClass.HARNESS and _UNREADABLE.search(text):
        return True  # the model may answer otherwise
    if status is not None:
        return status >= 500 or status in _PASSING_STATUS
    return _TRANSIENT.search(text) is not None


def _words(said: str) -> str:
    """The innermost message, in one line."""
    text = _WRAPPED.sub("", said[:_LONGEST])
    inner = _MESSAGE.search(text)
    if inner is not None:
        text = inner[1] or inner[2]
    return quote(_ADDRESS.sub("(address)", text))
