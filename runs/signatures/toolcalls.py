"""Tool errors, and whether a later step repaired them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Sequence
from enum import StrEnum
from typing import NamedTuple

from runs.records import Step, StepKind

__all__ = ["ErrorKind", "ToolError", "answered", "has_invalid_arguments", "ran", "system_of", "tool_errors"]

_RAN = "Tool execution failed:"
"""How a server's error begins when the tool ran and refused: a failed precondition, a record that does not exist."""
_LOOKED_AT = 400
"""Characters of an error in which its kind is looked for."""
_UNKNOWN = re.compile(
    r"\b(?:function|tool)\s+['\"`]?[\w.:/-]{1,100}['\"`]?\s+"
    r"(?:does not exist|not found|is not (?:defined|available|known))"
    r"|\b(?:unknown|no such|nonexistent) (?:tool|function)\b",
    re.IGNORECASE,
)
_INVALID = re.compile(
    r"^(?:Error: )?(?:Expecting |Unterminated string|Extra data: |Invalid (?:control character|\\escape|\\u))"
    r"|\bvalidation errors? for\b|\b(?:input|schema) validation error\b|\binvalid (?:tool )?arguments\b"
    r"|\bmissing (?:\d+ )?required (?:(?:positional|keyword-only) )?(?:argument|parameter)"
    r"|\bunexpected keyword argument\b|\bis a required property\b",
    re.IGNORECASE,
)
_VERBS = frozenset({
    "add", "allocate", "apply", "approve", "assign", "book", "cancel", "change", "charge", "check", "close", "create",
    "delete", "escalate", "file", "find", "get", "grant", "issue", "list", "lookup", "make", "modify", "open",
    "order", "place", "process", "provision", "put", "query", "read", "refund", "reject", "remove", "request",
    "reschedule", "reset", "reship", "retire", "revoke", "schedule", "search", "send", "set", "submit", "transfer",
    "update", "verify", "write"
})  # fmt: skip
"""First words of tool names that say what is done, not where."""


class ErrorKind(StrEnum):
    UNKNOWN_TOOL = "unknown_tool"
    INVALID_ARGUMENTS = "invalid_arguments"
    READ = "read"
    WRITE = "write"

    @property
    def never_ran(self) -> bool:
        return self in {ErrorKind.UNKNOWN_TOOL, ErrorKind.INVALID_ARGUMENTS}


class ToolError(NamedTuple):
    """An explicit error in response to a call."""

    step: int
    kind: ErrorKind
    tool: str
    words: str
    repaired_by: int | None
    """The first step that repairs it."""


class _Successes(NamedTuple):
    """Answered calls without an error, in order."""

    all: list[Step]
    by_place: dict[tuple[str, str], list[Step]]
    """What a write was done with or to (tool, table, backend system) → the state-changing ones."""


def tool_errors(
    steps: Sequence[Step],
    *,
    write_steps: Collection[int],
    offered: Collection[str] = (),
    ending_tools: Collection[str] = (),
) -> list[ToolError]:
    """The explicit errors in order.

    A write that failed is repaired by a later write that succeeded with the same tool, on the same table or in the same
    backend system. A read that failed, and a call that never ran, is repaired by any later success. Calls of the same
    parallel batch are not later. `offered` are the names of the tools there were, empty where that is not recorded.
    """
    failed = [step for step in steps if step.error is not None]
    if not failed:
        return []
    successes = _successes(steps, write_steps, ending_tools)
    return [_tool_error(step, successes, write_steps, offered) for step in failed]


def answered(step: Step) -> bool:
    """Whether a step is a call that was answered without an error."""
    return step.kind is StepKind.CALL and step.error is None and step.content is not None


def ran(step: Step, *, offered: Collection[str] = ()) -> bool:
    """Whether a call reached its tool: not so when the tool does not exist or its arguments could not be read."""
    return step.error is None or not _kind(step, (), offered).never_ran


def has_invalid_arguments(step: Step) -> bool:
    """Whether the arguments of a call were broken JSON, or were refused for their shape."""
    if step.kind is StepKind.CALL and isinstance(step.arguments, str):
        return True
    return step.error is not None and _INVALID.search(step.error[:_LOOKED_AT].removeprefix(_RAN).lstrip()) is not None


def system_of(tool: str) -> str | None:
    """The backend system that a tool's name begins with (`zendesk`, `okta_api`); None when it begins with a verb."""
    words = [word for word in re.split(r"[^a-z0-9]+", tool.lower()) if word]
    if "api" in words[1:]:
        return "_".join(words[: words.index("api", 1) + 1])
    return words[0] if len(words) > 1 and words[0] not in _VERBS else None


def _successes(steps: Sequence[Step], write_steps: Collection[int], ending_tools: Collection[str]) -> _Successes:
    found = [step for step in steps if answered(step) and step.name not in ending_tools]
    by_place: dict[tuple[str, str], list[Step]] = {}
    for step in found:
        if step.index in write_steps:
            for place in _places(step):
                by_place.setdefault(place, []).append(step)
    return _Successes(found, by_place)


def _places(step: Step) -> list[tuple[str, str]]:
    places = [("tool", step.name or "")]
    table = step.arguments.get("table") if isinstance(step.arguments, dict) else None
    if isinstance(table, str):
        places.append(("table", table))
    if (system := system_of(step.name or "")) is not None:
        places.append(("system", system))
    return places


def _tool_error(step: Step, successes: _Successes, write_steps: Collection[int], offered: Collection[str]) -> ToolError:
    kind = _kind(step, write_steps, offered)
    if kind is ErrorKind.WRITE:
        repairs = [_first_later(step, successes.by_place.get(place, [])) for place in _places(step)]
    else:
        repairs = [_first_later(step, successes.all)]
    return ToolError(
        step=step.index,
        kind=kind,
        tool=step.name or "",
        words=step.error or "",
        repaired_by=min((index for index in repairs if index is not None), default=None),
    )


def _kind(step: Step, write_steps: Collection[int], offered: Collection[str]) -> ErrorKind:
    words = (step.error or "")[:_LOOKED_AT]
    if not words.startswith(_RAN):
        if _UNKNOWN.search(words):
            return ErrorKind.UNKNOWN_TOOL
        if has_invalid_arguments(step):
            return ErrorKind.INVALID_ARGUMENTS
        if offered and step.name is not None and step.name not in offered:
            return ErrorKind.UNKNOWN_TOOL
    return ErrorKind.WRITE if step.index in write_steps else ErrorKind.READ


def _first_later(failed: Step, successes: Sequence[Step]) -> int | None:
    start = bisect_right(successes, failed.index, key=lambda step: step.index)
    for step in successes[start:]:
        if step.batch is None or step.batch != failed.batch:
            return step.index
    return None
