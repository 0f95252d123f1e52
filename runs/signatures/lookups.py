"""Calls that brought nothing: look-ups with an empty answer, and calls that repeat an earlier one."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Any

import msgspec

from runs.canonical import canonical_json
from runs.records import Step, StepKind
from runs.signatures.toolcalls import answered

__all__ = ["empty_lookups", "is_empty_answer", "repeated_calls"]

_LONGEST = 2000
"""Bytes beyond which an answer is taken to say something."""
_DEEPEST = 3
_SUCCESS = frozenset({"success", "ok", "found"})
"""Names of yes/no values that say how a look-up went, not what it found."""
_NOTHING = re.compile(r"\s*(?:no|nothing|0)\b[\w ]{0,60}\b(?:found|match|matches|results?)\b", re.IGNORECASE)


def empty_lookups(steps: Sequence[Step], *, write_steps: Collection[int]) -> list[int]:
    """Steps that looked something up and got an answer without content, whatever the agent did about it."""
    return [
        step.index
        for step in steps
        if answered(step) and step.index not in write_steps and is_empty_answer(step.content or "", step.arguments)
    ]


def is_empty_answer(content: str, arguments: Any = None) -> bool:
    """Whether an answer has no content: `[]`, `{"items": []}`, or empty lists beside an echo of the arguments.

    `{"count": 0}` and `{"allowed": false}` are answers.
    """
    if len(content) > _LONGEST:
        return False
    if not content.strip():
        return True
    if content.lstrip()[:1] not in {"{", "[", "n"}:
        return _NOTHING.match(content) is not None
    if "[]" not in content and "{}" not in content and "null" not in content and "[ ]" not in content:
        return False
    try:
        value = msgspec.json.decode(content.encode("utf-8", "surrogatepass"))
    except (msgspec.DecodeError, RecursionError):
        return _NOTHING.match(content) is not None
    given = {one for one in arguments.values() if isinstance(one, str | int)} if isinstance(arguments, dict) else set()
    return _says_nothing(value, given, 0)


def _says_nothing(value: Any, given: set[str | int], depth: int) -> bool:
    if value is None or value in ([], {}):
        return True
    if not isinstance(value, dict) or depth > _DEEPEST:
        return False
    empty = False
    for name, one in value.items():
        if one is None or isinstance(one, list | dict):
            if not _says_nothing(one, given, depth + 1):
                return False
            empty = True
        elif isinstance(one, bool):
            if name not in _SUCCESS:
                return False
        elif one not in ("", 0) and not (isinstance(one, str | int) and one in given):
            return False
    return empty


def repeated_calls(steps: Sequence[Step], *, write_steps: Collection[int]) -> list[int]:
    """Steps that make the same call as an earlier one: same tool, equal arguments.

    Looking again after something was written is no repetition; writing the same again is.
    """
    seen: set[tuple[str, bytes, int]] = set()
    repeated = []
    written = 0
    for step in steps:
        if step.kind is not StepKind.CALL:
            continue
        writes = step.index in write_steps
        try:
            arguments = canonical_json(None if step.arguments is msgspec.UNSET else step.arguments)
        except (TypeError, ValueError, RecursionError):  # no JSON, so nothing can be said to be equal to it
            continue
        call = (step.name or "", arguments, -1 if writes else written)
        if call in seen:
            repeated.append(step.index)
        seen.add(call)
        if writes and answered(step):
            written += 1
    return repeated
