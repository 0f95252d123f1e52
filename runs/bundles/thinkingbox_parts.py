"""The large parts of a row: states by table and the tool list. Equal texts are decoded once and share one object.

The twenty repetitions of a task hold the same state before and required, and most tables of after are equal too, so
most of a row's bytes are recognised instead of decoded. What is kept for that is bounded.
"""

from __future__ import annotations

from typing import Any, Generic, TypeVar

import msgspec
from msgspec import Raw

from runs.bundles.fields import Fields, wrong
from runs.records import Tool

__all__ = ["read_tables", "read_tools"]

_Value = TypeVar("_Value")
_any = msgspec.json.Decoder()
_tables = msgspec.json.Decoder(dict[str, Raw])


class _Bounded(Generic[_Value]):
    """What was made of recent texts, up to a number of bytes of text; the longest unused goes first."""

    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes
        self._held = 0
        self._values: dict[bytes, _Value] = {}

    def get(self, text: bytes) -> _Value | None:
        value = self._values.pop(text, None)
        if value is not None:
            self._values[text] = value
        return value

    def put(self, text: bytes, value: _Value) -> None:
        if len(text) > self._most // 8 or text in self._values:
            return
        self._values[text] = value
        self._held += len(text)
        while self._held > self._most:
            self._held -= len(oldest := next(iter(self._values)))
            del self._values[oldest]


_known_states: _Bounded[dict[str, Raw]] = _Bounded(8 << 20)
_known_tables: _Bounded[Raw] = _Bounded(8 << 20)
_known_tools: _Bounded[list[Tool]] = _Bounded(4 << 20)


def read_tables(state: Raw, path: str) -> dict[str, Raw] | None:
    """A state by table, each the JSON text of a list of objects; None for null.

    Raises `BadRecord` with the path below `path` for another shape, `msgspec.DecodeError` for values that are no JSON.
    """
    text = bytes(state)
    if text == b"null":
        return None
    if (known := _known_states.get(text)) is not None:
        return known
    try:
        tables = _tables.decode(text)
    except msgspec.ValidationError:
        raise wrong(path, _any.decode(text), "an object of tables, or null") from None
    checked = {name: _checked_table(table, f"{path}.{name}") for name, table in tables.items()}
    _known_states.put(text, checked)
    return checked


def _checked_table(table: Raw, path: str) -> Raw:
    text = bytes(table)  # a copy: a view would keep the whole line in memory
    if (known := _known_tables.get(text)) is not None:
        return known
    records = _any.decode(text)
    if not isinstance(records, list):
        raise wrong(path, records, "a list of records")
    for position, record in enumerate(records):
        if not isinstance(record, dict):
            raise wrong(f"{path}.{position}", record, "an object")
    checked = Raw(text)
    _known_tables.put(text, checked)
    return checked


def read_tools(tools: Raw) -> list[Tool]:
    """The tools that were offered; an empty list for null."""
    text = bytes(tools)
    if (known := _known_tools.get(text)) is not None:
        return known
    decoded = _any.decode(text)
    if decoded is None:
        return []
    if not isinstance(decoded, list):
        raise wrong("tools", decoded, "a list or null")
    made = [_tool(Fields(tool, f"tools.{position}")) for position, tool in enumerate(decoded)]
    _known_tools.put(text, made)
    return made


def _tool(tool: Fields) -> Tool:
    annotations: Any = tool.values.get("annotations")
    hint = annotations.get("readOnlyHint") if isinstance(annotations, dict) else None
    return Tool(
        name=tool.text("name"),
        description=tool.maybe_text("description") or "",
        read_only=hint if isinstance(hint, bool) else None,
        ends_turn=tool.flag("is_end_turn"),
    )
