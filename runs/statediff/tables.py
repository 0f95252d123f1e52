"""Tables as a bundle has them: JSON texts, decoded once for all attempts that share them.

Before and required repeat for all repetitions of a task, and most tables never change, so both the records of a table
and the text that the state hash sees are kept by the table's bytes. What is kept is bounded in bytes, whatever a
bundle holds.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from typing import Any, Generic, TypeVar

import msgspec

from runs.canonical import canonical_json

__all__ = ["Record", "Table", "decode_table", "rows_of", "same", "sorted_plain", "stable_text", "state_hash"]

Record = dict[str, Any]
T = TypeVar("T")

_CACHE_BYTES = 8 * 2**20
"""Bytes of table text whose results each cache keeps."""
_DECODED_BYTES = 3 * 2**20
"""The same for decoded tables, which take more than ten times as much memory."""
_RAW_RECORDS = msgspec.json.Decoder(list[msgspec.Raw])
_PRINTED_OTHERWISE = re.compile(rb"[0-9][eE]|[0-9]{16}|0\.0000|\x7f")
"""Where the standard library's JSON, which the hash is made of, may print a value in another way than ours."""


class _Item(msgspec.Struct):
    """A record, decoded once for all tables that hold it."""

    record: Record
    text: bytes
    stable: dict[frozenset[str], bytes] = {}
    """Ungraded fields → the record as the state hash sees it."""


class Table(msgspec.Struct, frozen=True, kw_only=True):
    """A decoded table. Lists of plain values are sorted, since they are compared as multisets."""

    records: list[Record] | None
    """None when the value is not a list of objects."""
    texts: list[bytes] = []
    """Canonical JSON of each record, in the same order."""
    value: Any = None
    """The decoded value of a table that is no list of objects; a text when it cannot be decoded at all."""
    items: list[_Item] = []
    indexes: dict[tuple[str, ...], Any] = {}
    """Key fields → the records by key: made once for all attempts that share the table."""


class _Kept(Generic[T]):
    """Results by key, in two generations: when the younger is full, the older is dropped."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._size = 0
        self._young: dict[Any, tuple[T, int]] = {}
        self._old: dict[Any, tuple[T, int]] = {}

    def get(self, key: Any) -> T | None:
        found = self._young.get(key)
        if found is None:
            found = self._old.pop(key, None)
            if found is None:
                return None
            self.put(key, *found)
        return found[0]

    def put(self, key: Any, value: T, size: int) -> None:
        if size > self._limit // 8:  # one huge table must not push out all the others
            return
        if self._size + size > self._limit // 2:
            self._old, self._young, self._size = self._young, {}, 0
        self._young[key] = value, size
        self._size += size


_items: _Kept[_Item] = _Kept(_DECODED_BYTES)
_tables: _Kept[Table] = _Kept(_DECODED_BYTES)
_stable: _Kept[bytes] = _Kept(_CACHE_BYTES)
_rows: _Kept[int] = _Kept(_CACHE_BYTES)
_hashes: _Kept[str] = _Kept(_CACHE_BYTES)


def same(one: Any, other: Any) -> bool:
    """Whether two decoded JSON values are the same: 1, 1.0 and true are three values, keys may come in any order."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict | list):
        return canonical_json(one) == canonical_json(other)
    if isinstance(one, float):
        return repr(one) == repr(other)  # 0.0 and -0.0 are two texts
    return bool(one == other)


def sorted_plain(value: Any) -> Any:
    """The value with each list of texts, numbers and booleans sorted, at any depth."""
    if isinstance(value, dict):
        return {name: sorted_plain(item) if isinstance(item, dict | list) else item for name, item in value.items()}
    if isinstance(value, list):
        if all(isinstance(item, str) for item in value):
            return sorted(value)
        if all(isinstance(item, int | float) for item in value):
            return sorted(value, key=lambda item: (item, canonical_json(item)))
        if all(isinstance(item, str | int | float) for item in value):
            return sorted(value, key=canonical_json)  # the harness cannot sort texts beside numbers at all
        return [sorted_plain(item) if isinstance(item, dict | list) else item for item in value]
    return value


def _exact_int(text: str) -> int | str:
    return int(text) if len(text) < 4000 else text


def _finite_float(text: str) -> float | str:
    number = float(text)
    return text if number in (float("inf"), float("-inf")) else number


def _decode(raw: bytes) -> Any:
    """The value of a JSON text; numbers that Python cannot hold stay texts, a text that cannot be decoded stays as it
    is.
    """
    try:
        return msgspec.json.decode(raw)
    except (msgspec.DecodeError, RecursionError):
        pass
    try:
        return json.loads(raw, parse_int=_exact_int, parse_float=_finite_float, parse_constant=str)
    except (ValueError, RecursionError):
        return raw.decode("utf-8", "replace")


def _item(raw: bytes) -> _Item | None:
    """The record of a JSON text; None when it is no object, or nested too deep."""
    found = _items.get(raw)
    if found is None:
        record = _decode(raw)
        if not isinstance(record, dict):
            return None
        record = sorted_plain(record)
        found = _Item(record, canonical_json(record))
        _items.put(raw, found, len(raw))
    return found


def _decode_table(raw: bytes) -> Table:
    try:
        # Most records of a table that changed are those of the table before, so they are looked up one by one.
        items = [_item(bytes(record)) for record in _RAW_RECORDS.decode(raw)]
        found = [item for item in items if item is not None]
        if len(found) == len(items):
            return Table(records=[item.record for item in found], texts=[item.text for item in found], items=found)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        pass
    try:
        value = sorted_plain(_decode(raw))
        canonical_json(value)
    except (RecursionError, UnicodeEncodeError):
        value = raw.decode("utf-8", "replace")
    return Table(records=None, value=value)


def decode_table(raw: bytes) -> Table:
    """The table of a JSON text. Never raises."""
    found = _tables.get(raw)
    if found is None:
        found = _decode_table(raw)
        _tables.put(raw, found, len(raw))
    return found


def rows_of(raw: bytes) -> int:
    """Number of records in a table; 0 when it is no list of objects."""
    found = _rows.get(raw)
    if found is None:
        found = len(decode_table(raw).records or [])
        _rows.put(raw, found, len(raw))
    return found


def stable_text(raw: bytes, ungraded: frozenset[str]) -> bytes | None:
    """The table as the harness's state hash sees it, None when the table has no such form.

    Ungraded fields dropped, records sorted by the text of `id` (a table without it keeps its order), keys sorted, no
    spaces, non-ASCII escaped.
    """
    found = _stable.get((raw, ungraded))
    if found is None:
        table = decode_table(raw)
        if table.records is None:
            return None
        try:
            items = sorted(table.items, key=lambda item: str(item.record.get("id", "")))
            found = b"[%b]" % b",".join([_stable_record(item, ungraded) for item in items])
        except RecursionError:
            return None
        _stable.put((raw, ungraded), found, len(raw))
    return found


def _stable_record(item: _Item, ungraded: frozenset[str]) -> bytes:
    found = item.stable.get(ungraded)
    if found is None:
        found = item.text
        kept = item.record
        if not ungraded.isdisjoint(kept):
            kept = {name: value for name, value in kept.items() if name not in ungraded}
            found = canonical_json(kept)
        if not found.isascii() or _PRINTED_OTHERWISE.search(found):
            found = json.dumps(kept, sort_keys=True, separators=(",", ":")).encode()
        item.stable[ungraded] = found
    return found


def state_hash(tables: Iterable[tuple[str, bytes]]) -> str:
    """The harness's hash of a state: its tables as name and stable text, in any order."""
    state = tuple(sorted(tables))
    found = _hashes.get(state)
    if found is None:
        parts = [b"%b:%b" % (json.dumps(name).encode(), text) for name, text in state]
        found = hashlib.sha256(b"{%b}" % b",".join(parts)).hexdigest()
        _hashes.put(state, found, sum(map(len, parts)))
    return found
