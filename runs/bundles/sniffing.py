"""What the first bytes of a file say about its format, however little of the first row they hold."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

__all__ = [
    "is_companion",
    "is_list_on_one_line",
    "is_openenv",
    "is_spread_json",
    "is_thinkingbox_lines",
    "is_thinkingbox_yaml",
]

# Names that no other harness's row has at its top level, and two that several have.
_OWN = frozenset(
    {
        "uid", "test_result", "test_context", "test_tags", "raw_messages", "user_llm_history", "is_system_error",
        "finish_reason",
    }
)  # fmt: skip
_FIRST_OF_OPENENV = ["finish_reason", "is_system_error", "messages"]
"""The adapter writes its keys sorted; the harness begins with the uid."""
_MESSAGE = re.compile(r'"T"\s*:\s*"(?:Text|ToolCall|ParallelToolCall|ToolResponse)"')
_NAMED = re.compile(r'(?<!\\)"(' + "|".join(sorted(_OWN)) + r')"\s*:')
_YAML_NAME = re.compile(r"^([A-Za-z_]\w*):(?:\s|$)", re.MULTILINE)
_YAML_MESSAGE = re.compile(r"^\s*- T: (?:Text|ToolCall|ParallelToolCall|ToolResponse)\s*$", re.MULTILINE)
_SPACE = re.compile(r"[ \t\r\n]*")
_decoder = json.JSONDecoder()


def is_thinkingbox_lines(head: bytes) -> bool:
    """Whether a line of the head, whole or cut, is a `tb infer` row.

    Lines that are blank or broken say nothing. Where no line can be read at all (the first is broken and fills the
    head), the names in it decide.
    """
    lines = list(_lines(head))
    if any(_is_openenv_row(line) for line in lines):
        return False
    if any(_is_row(line) for line in lines):
        return True
    if any(_pairs(line) for line in lines) or is_spread_json(head):
        return False
    text = _text(head)
    return _MESSAGE.search(text) is not None and _NAMED.search(text) is not None


def is_openenv(head: bytes) -> bool:
    """Whether the head is of a `thinkingbox-eval` file: results or errors."""
    return any(_is_openenv_row(line) for line in _lines(head))


def is_spread_json(head: bytes) -> bool:
    """Whether the head is of `tb infer` rows, but as JSON over several lines, or as a list."""
    text = _text(head).lstrip()
    return _is_row(text.removeprefix("[").lstrip())


def is_list_on_one_line(head: bytes) -> bool:
    """Whether the head is of `tb infer` rows as a JSON list whose first row begins and goes on in its first line."""
    text = _text(head).lstrip()
    return text.startswith("[") and _is_row(text.partition("\n")[0].removeprefix("[").lstrip())


def is_thinkingbox_yaml(head: bytes) -> bool:
    """Whether the head is of one result as a YAML document."""
    names = _yaml_names(head)
    own = len(names & _OWN)
    return own > 1 or (own == 1 and _YAML_MESSAGE.search(_text(head)) is not None)


def is_companion(head: bytes) -> bool:
    """Whether the head is of the run metadata that the harness writes beside a result file."""
    names = _yaml_names(head)
    return "setup_config" in names and not names & _OWN


def _is_row(line: str) -> bool:
    names = _pairs(line).keys()
    own = len(names & _OWN)
    return own > 1 or (own == 1 and _MESSAGE.search(line) is not None)


def _is_openenv_row(line: str) -> bool:
    pairs = _pairs(line)
    if pairs.get("classification") == "operational_system_error":
        return True
    metadata = pairs.get("metadata", "")
    if isinstance(metadata, dict):
        return "schema_version" in metadata and "repetition_id" in metadata
    if "test_context" in pairs:
        return False
    if list(pairs) == _FIRST_OF_OPENENV and pairs["messages"] is None:
        return True  # cut in its messages; if it is a row of the harness after all, it is read as one
    # The value is cut: what is left of it is the end of the line.
    rest = line[line.find('"metadata"') :] if "metadata" in pairs else ""
    return '"execution_provenance"' in rest or '"repetition_id"' in rest


def _pairs(text: str) -> dict[str, Any]:
    """The fields of a JSON object that may be cut anywhere; a value that is cut or broken is None."""
    pairs: dict[str, Any] = {}
    at = _skip(text, 0)
    if text[at : at + 1] != "{":
        return pairs
    at = _skip(text, at + 1)
    try:
        while text[at : at + 1] == '"':
            name, at = _decoder.raw_decode(text, at)
            at = _skip(text, at)
            if text[at : at + 1] != ":":
                break
            pairs[name] = None
            pairs[name], at = _decoder.raw_decode(text, _skip(text, at + 1))
            at = _skip(text, at)
            if text[at : at + 1] != ",":
                break
            at = _skip(text, at + 1)
    except (ValueError, RecursionError):  # cut or broken here; what came before it counts
        pass
    return pairs


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _lines(head: bytes) -> Iterator[str]:
    return (line for line in _text(head).split("\n") if line.strip())


def _text(head: bytes) -> str:
    return head.decode("utf-8", errors="replace")


def _yaml_names(head: bytes) -> set[str]:
    text = _text(head)
    return set() if text.lstrip()[:1] in {"{", "["} else set(_YAML_NAME.findall(text))
