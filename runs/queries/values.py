"""Values of records as a page shows them. Absent, null, empty text, empty list and not recorded stay five things."""

from __future__ import annotations

import json
from collections import Counter
from enum import StrEnum
from typing import Any

import msgspec
from msgspec import UNSET

__all__ = [
    "CELL_LIMIT",
    "ListItem",
    "Shown",
    "ValueKind",
    "json_line",
    "json_pretty",
    "shown",
    "shown_lists",
    "stored_value",
    "unrecorded",
]

CELL_LIMIT = 600
"""Characters of a value that a first answer holds; the rest is asked for."""


class ValueKind(StrEnum):
    TEXT = "text"
    NUMBER = "number"
    BOOLEAN = "boolean"
    JSON = "json"
    LIST = "list"
    """A list of plain values, in `items`."""
    NULL = "null"
    EMPTY_TEXT = "empty_text"
    EMPTY_LIST = "empty_list"
    EMPTY_OBJECT = "empty_object"
    NO_ROW = "no_row"
    NO_FIELD = "no_field"
    UNRECORDED = "unrecorded"
    UNKNOWN = "unknown"
    """Something was written, and nothing says what."""


class ListItem(msgspec.Struct, frozen=True):
    text: str
    differs: bool = False
    """The other side of the comparison does not have this item."""


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """A value as text. `cut`: characters of the whole text, where `text` is only its beginning, else 0."""

    kind: ValueKind
    text: str = ""
    items: list[ListItem] = []
    cut: int = 0

    @property
    def is_long(self) -> bool:
        return len(self.text) > 70 or "\n" in self.text


unrecorded = Shown(kind=ValueKind.UNRECORDED)


def json_line(value: Any) -> str:
    """JSON on one line, readable: no escapes for letters of other scripts."""
    return json.dumps(value, ensure_ascii=False)


def json_pretty(value: Any) -> str:
    """JSON over several lines, indented by two."""
    return json.dumps(value, ensure_ascii=False, indent=2)


def shown(value: Any, *, absent: ValueKind = ValueKind.NO_FIELD, limit: int = CELL_LIMIT) -> Shown:
    """The value as a page shows it; UNSET becomes `absent`. Beyond `limit` characters it is cut, and `cut` says so."""
    if value is UNSET:
        return Shown(kind=absent)
    if value is None:
        return Shown(kind=ValueKind.NULL)
    if isinstance(value, bool):
        return Shown(kind=ValueKind.BOOLEAN, text="true" if value else "false")
    if isinstance(value, str):
        if not value:
            return Shown(kind=ValueKind.EMPTY_TEXT)
        return _cut(ValueKind.TEXT, value, limit)
    if isinstance(value, list):
        if not value:
            return Shown(kind=ValueKind.EMPTY_LIST)
        if all(_is_plain(item) for item in value):
            return _list(value, Counter(), marked=False, limit=limit)
    if isinstance(value, dict) and not value:
        return Shown(kind=ValueKind.EMPTY_OBJECT)
    if isinstance(value, (dict, list)):
        return _cut(ValueKind.JSON, json_line(value), limit)
    return Shown(kind=ValueKind.NUMBER, text=json_line(value))


def shown_lists(after: Any, required: Any) -> tuple[Shown, Shown] | None:
    """Two lists of plain values with the items marked that the other does not have; None where these are no such lists.

    The order of such lists does not count, so equal lists in another order have no mark.
    """
    if not (isinstance(after, list) and isinstance(required, list) and (after or required)):
        return None
    if not all(_is_plain(item) for item in [*after, *required]):
        return None
    have, want = Counter(map(json_line, after)), Counter(map(json_line, required))
    left = _list(after, have - want, marked=True, limit=CELL_LIMIT) if after else Shown(kind=ValueKind.EMPTY_LIST)
    right = (
        _list(required, want - have, marked=True, limit=CELL_LIMIT) if required else Shown(kind=ValueKind.EMPTY_LIST)
    )
    return left, right


def _list(values: list[Any], surplus: Counter[str], *, marked: bool, limit: int) -> Shown:
    whole = json_line(values)
    left = Counter(surplus)
    items: list[ListItem] = []
    used = 0
    for value in values:
        line = json_line(value)
        differs = marked and left[line] > 0
        left[line] -= differs
        used += len(line)
        if used > limit:
            break
        items.append(ListItem(value if isinstance(value, str) and value else line, differs))
    return Shown(
        kind=ValueKind.LIST, text=whole[:limit], items=items, cut=len(whole) if len(items) < len(values) else 0
    )


def _is_plain(value: Any) -> bool:
    return isinstance(value, (str, int, float, bool))


def _cut(kind: ValueKind, text: str, limit: int) -> Shown:
    if len(text) <= limit:
        return Shown(kind=kind, text=text)
    return Shown(kind=kind, text=text[:limit], cut=len(text))


def stored_value(text: str) -> str:
    """A stored value as people write it: texts without quotes, but for one that would read as another kind of value.

    The empty text stands for no value, as it is stored.
    """
    try:
        value = msgspec.json.decode(text)
    except msgspec.DecodeError:
        return f"{text.removeprefix(chr(34))}…" if text else ""
    if not isinstance(value, str):
        return text
    return text if _reads_as_json(value) else value or "empty text"


def _reads_as_json(text: str) -> bool:
    """Whether a text looks like a number, null or whatever else is no text."""
    try:
        msgspec.json.decode(text)
    except msgspec.DecodeError:
        return False
    return True
