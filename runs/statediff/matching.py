"""Which records belong together: by key, by unique fields, by best match.

The order of records never decides anything: where a tie is left, keys and then contents decide.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from runs.canonical import canonical_json, sha256_hex
from runs.statediff.tables import Record, Table, same

__all__ = ["ABSENT", "Identity", "Row", "find_key", "index_rows", "key_order", "pair_created", "rows_without_key"]

Identity = Any
"""What tells one record of a table from the others: hashable, never shown."""

_PAIR_FIELDS = 8
"""Fields that are tried as parts of a key of two; beyond them a table has no key worth searching for."""
_MOST_COMPARISONS = 40_000
"""Pairs that the best match looks at in one table; with more only records with the same key are paired."""
_LEAST_SHARE = 0.5


class _Absent:
    """A field that a record does not have, where null would be another value."""


ABSENT = _Absent()


class Row(NamedTuple):
    """A record with its place in the comparison."""

    identity: Identity
    key: str
    """For people: the values of the key fields, joined by colons."""
    record: Record
    text: bytes
    """Canonical JSON of the record."""


def _part(value: Any) -> Identity:
    if type(value) is str:
        return value
    if value is ABSENT:
        return (None,)
    return (type(value).__name__, canonical_json(value))


def _shown(value: Any) -> str:
    if type(value) is str:
        return value
    return "" if value is ABSENT else canonical_json(value).decode()


def key_order(key: str) -> tuple[int, int, str]:
    """A sort key that puts 9 before 10."""
    return (0, int(key), key) if key.isascii() and key.isdigit() and len(key) < 19 else (1, 0, key)


def find_key(tables: Sequence[Sequence[Record]]) -> tuple[str, ...]:
    """The fields that tell the records of one table apart in each of its states: `id`, else the first field or pair of
    fields that is unique in all of them. Empty when there is none, or no record at all.
    """
    records = [record for table in tables for record in table]
    if not records:
        return ()
    places: dict[str, int] = {}
    for record in records:
        for place, name in enumerate(record):
            places[name] = min(place, places.get(name, place))

    def plain(name: str) -> bool:
        return all(isinstance(record.get(name), str | int | float) for record in records)

    def unique(*names: str) -> bool:
        return all(
            len({tuple(_part(record[name]) for name in names) for record in table}) == len(table) for table in tables
        )

    if plain("id"):
        return ("id",)
    names = [name for name in sorted(places, key=lambda name: (places[name], name)) if plain(name)]
    for name in names:
        if unique(name):
            return (name,)
    for pair in itertools.combinations(names[:_PAIR_FIELDS], 2):
        if unique(*pair):
            return pair
    return ()


def index_rows(table: Table, fields: tuple[str, ...]) -> tuple[dict[Identity, Row], list[str]]:
    """The records of a table by their key, and the keys that occur more than once.

    The second record of a key is `key#2` and so on, in the order of their contents.
    """
    known: tuple[dict[Identity, Row], list[str]] | None = table.indexes.get(fields)
    if known is not None:
        return known
    rows: dict[Identity, Row] = {}
    twice: dict[Identity, list[Row]] = {}
    single = fields[0] if len(fields) == 1 else None
    for record, text in zip(table.records or [], table.texts, strict=True):
        if single is not None and type(value := record.get(single)) is str:
            row = Row(value, value, record, text)
        else:
            parts = [record.get(field, ABSENT) for field in fields]
            row = Row(tuple(map(_part, parts)), ":".join(map(_shown, parts)), record, text)
        if row.identity in rows:
            twice.setdefault(row.identity, [rows[row.identity]]).append(row)
        else:
            rows[row.identity] = row
    for identity, group in twice.items():
        group.sort(key=lambda row: row.text)
        rows[identity] = group[0]
        for number, row in enumerate(group[1:], start=2):
            rows[(identity, number)] = row._replace(identity=(identity, number), key=f"{row.key}#{number}")
    index = rows, sorted({group[0].key for group in twice.values()}, key=key_order)
    table.indexes[fields] = index
    return index


def rows_without_key(before: Table, after: Table, required: Table) -> tuple[dict[Identity, Row], ...]:
    """The records of a table that has no key, in the same shape as by key: records that belong together share an
    identity.

    Equal records belong together, then those with the largest share of equal fields (at least half). The key shown is
    a digest of the content.
    """

    def rows(table: Table, mark: str) -> list[Row]:
        found = []
        for number, (text, record) in enumerate(
            sorted(zip(table.texts, table.records or [], strict=True), key=lambda row: row[0])
        ):
            found.append(Row((mark, number), f"row-{sha256_hex(text)[:8]}", record, text))
        return found

    base = rows(before, "before")
    result: list[dict[Identity, Row]] = [{row.identity: row for row in base}]
    for table, mark in ((after, "after"), (required, "required")):
        others = rows(table, mark)
        pairs = pair_created(base, others, key=(), shared=lambda one, other: share(one.record, other.record))
        renamed = {theirs.identity: ours for ours, theirs in pairs if ours is not None and theirs is not None}
        state: dict[Identity, Row] = {}
        for row in others:
            ours = renamed.get(row.identity)
            row = row if ours is None else row._replace(identity=ours.identity, key=ours.key)
            state[row.identity] = row
        result.append(state)
    return tuple(result)


def share(one: Mapping[str, Any], other: Mapping[str, Any]) -> float:
    """The share of equal fields; fields that are null on both sides do not count."""
    equal = counted = 0
    for name in one.keys() | other.keys():
        mine, theirs = one.get(name), other.get(name)
        if mine is None and theirs is None:
            continue
        counted += 1
        equal += same(mine, theirs)
    return equal / counted if counted else 0.0


def pair_created(
    required: Sequence[Row],
    after: Sequence[Row],
    *,
    key: tuple[str, ...],
    shared: Callable[[Row, Row], float],
    content: Callable[[Row], bytes] = lambda row: row.text,
    content_without_ids: tuple[Callable[[Row], bytes], Callable[[Row], bytes]] | None = None,
) -> list[tuple[Row | None, Row | None]]:
    """Pairs of a required and a recorded row that mean the same record; a row without a counterpart is alone.

    In this order: the same key and equal content; equal content but for generated ids; the largest share of equal
    fields, where records with different keys need at least half. `content_without_ids` gives that content for a
    required and for a recorded row.
    """
    pairs: list[tuple[Row | None, Row | None]] = []
    left = {row.identity: row for row in sorted(required, key=lambda row: (key_order(row.key), row.text))}
    free = {row.identity: row for row in sorted(after, key=lambda row: (key_order(row.key), row.text))}

    def take(one: Row, other: Row) -> None:
        pairs.append((one, other))
        del left[one.identity], free[other.identity]

    of_required, of_after = content_without_ids or (content, content)
    if key:
        for of_one, of_other in ((content, content), (of_required, of_after)):
            for identity, row in list(left.items()):
                if identity in free and of_one(row) == of_other(free[identity]):
                    take(row, free[identity])
    alike: dict[bytes, deque[Row]] = {}
    for row in free.values() if left else ():
        alike.setdefault(of_after(row), deque()).append(row)
    for row in list(left.values()) if free else ():
        candidates = alike.get(of_required(row))
        if candidates:
            take(row, candidates.popleft())
    for one, other in _best(left, free, by_key=bool(key), shared=shared):
        take(one, other)
    return [*pairs, *((row, None) for row in left.values()), *((None, row) for row in free.values())]


def _best(
    left: Mapping[Identity, Row], free: Mapping[Identity, Row], *, by_key: bool, shared: Callable[[Row, Row], float]
) -> Iterable[tuple[Row, Row]]:
    candidates: Iterable[tuple[Row, Row]]
    if len(left) * len(free) <= _MOST_COMPARISONS:
        candidates = itertools.product(left.values(), free.values())
    else:
        candidates = [(row, free[row.identity]) for row in left.values() if by_key and row.identity in free]
    scored = []
    for number, (one, other) in enumerate(candidates):
        alike = by_key and one.identity == other.identity
        value = shared(one, other)
        if alike or value >= _LEAST_SHARE:
            scored.append((-value, not alike, number, one, other))
    scored.sort(key=lambda entry: entry[:3])
    taken: set[tuple[int, Identity]] = set()
    best = []
    for _, _, _, one, other in scored:
        if (0, one.identity) not in taken and (1, other.identity) not in taken:
            taken |= {(0, one.identity), (1, other.identity)}
            best.append((one, other))
    return best
