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

__all__ = ["read_tables", "read_tools", "shared_text"]

_Value = TypeVar("_Value")
_any = msgspec.json.Decoder()
_tables = msgspec.json.Decoder(dict[str, Raw])
_NULL = Raw(b"null")


class _Alike(Generic[_Value]):
    """What was made of recent texts as they stand in a row, up to a number of bytes of text; the longest unused goes
    first. They are found by their length and a sample, then compared as a whole.

    To compare costs a tenth of what it costs to copy and hash them.
    """

    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes
        self._held = 0
        self._values: dict[tuple[int, bytes, bytes], list[tuple[Raw, _Value]]] = {}

    def get(self, text: Raw) -> _Value | None:
        key = _sample(text)
        found = self._values.pop(key, None)
        if found is not None:
            self._values[key] = found
            for known, value in found:
                if known == text:
                    return value
        return None

    def put(self, text: Raw, value: _Value) -> None:
        """`text` is a copy of its own: a view would keep the whole row in memory."""
        size = len(text)
        if size > self._most // 8:
            return
        found = self._values.setdefault(_sample(text), [])
        found.append((text, value))
        self._held += size
        if len(found) > _MOST_ALIKE:
            del found[0]
            self._held -= size
        while self._held > self._most:
            oldest = self._values.pop(next(iter(self._values)))
            self._held -= sum(len(known) for known, _ in oldest)


def _sample(text: Raw) -> tuple[int, bytes, bytes]:
    view = memoryview(text)
    middle = len(view) // 2
    return len(view), bytes(view[middle : middle + _SAMPLED]), bytes(view[-_SAMPLED:])


_MOST_ALIKE = 16
_SAMPLED = 64
_known_states: _Alike[dict[str, Raw]] = _Alike(8 << 20)
_known_tables: _Alike[Raw] = _Alike(8 << 20)
_known_texts: _Alike[Raw] = _Alike(4 << 20)
_known_tools: _Alike[list[Tool]] = _Alike(4 << 20)


def read_tables(state: Raw, path: str) -> dict[str, Raw] | None:
    """A state by table, each the JSON text of a list of objects; None for null.

    Raises `BadRecord` with the path below `path` for another shape, `msgspec.DecodeError` for values that are no JSON.
    """
    if state == _NULL:
        return None
    if (known := _known_states.get(state)) is not None:
        return known
    try:
        tables = _tables.decode(state)
    except msgspec.ValidationError:
        raise wrong(path, _any.decode(state), "an object of tables, or null") from None
    checked = {name: _checked_table(table, f"{path}.{name}") for name, table in tables.items()}
    _known_states.put(Raw(bytes(state)), checked)
    return checked


def _checked_table(table: Raw, path: str) -> Raw:
    if (known := _known_tables.get(table)) is not None:
        return known
    records = _any.decode(table)
    if not isinstance(records, list):
        raise wrong(path, records, "a list of records")
    for position, record in enumerate(records):
        if not isinstance(record, dict):
            raise wrong(f"{path}.{position}", record, "an object")
    checked = Raw(bytes(table))  # a copy: a view would keep the whole line in memory
    _known_tables.put(checked, checked)
    return checked


def shared_text(text: Raw) -> Raw:
    """A text of its own, the same object for equal texts of recent rows."""
    if (known := _known_texts.get(text)) is None:
        known = Raw(bytes(text))
        _known_texts.put(known, known)
    return known


def read_tools(tools: Raw) -> list[Tool]:
    """The tools that were offered; an empty list for null."""
    if (known := _known_tools.get(tools)) is not None:
        return known
    decoded = _any.decode(tools)
    if decoded is None:
        return []
    if not isinstance(decoded, list):
        raise wrong("tools", decoded, "a list or null")
    made = [_tool(Fields(tool, f"tools.{position}")) for position, tool in enumerate(decoded)]
    _known_tools.put(Raw(bytes(tools)), made)
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
