"""Two states, exactly: the changes that turn the one into the other, and their application.

States are decoded: table → value. Every difference counts here, the order of records in a table excepted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from msgspec import UNSET

from runs.canonical import canonical_json
from runs.statediff.matching import find_key
from runs.statediff.tables import Record, same

__all__ = ["Change", "apply", "changes"]


class Change(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One change. Without `field` it is about a whole record, without `record` about a whole table; UNSET: absent."""

    table: str
    record: dict[str, Any] | None = None
    """The key fields of the record with their values; the whole record where the table has no key."""
    field: str | None = None
    before: Any = UNSET
    after: Any = UNSET


def changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Change]:
    """What turns `before` into `after`: tables by name, the records of a table by key."""
    found: list[Change] = []
    for table in sorted(before.keys() | after.keys()):
        old, new = before.get(table, UNSET), after.get(table, UNSET)
        if not (_is_table(old) and _is_table(new)):
            if not same(old, new):
                found.append(Change(table=table, before=old, after=new))
            continue
        key = find_key([old, new])
        if key and _tells_apart(key, old) and _tells_apart(key, new):
            found += _by_key(table, key, old, new)
        else:
            found += _by_content(table, old, new)
    return found


def apply(changes: Iterable[Change], before: Mapping[str, Any]) -> dict[str, Any]:
    """The state after the changes; `before` is not touched. Raises KeyError when a change is about a record that is not
    there.
    """
    state = dict(before)
    for change in changes:
        if change.record is None:
            if change.after is UNSET:
                del state[change.table]
            else:
                state[change.table] = change.after
            continue
        state[change.table] = _applied(change, change.record, state[change.table])
    return state


def _is_table(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(record, dict) for record in value)


def _named(record: Record, key: tuple[str, ...]) -> Record:
    return {name: record[name] for name in key}


def _tells_apart(key: tuple[str, ...], records: list[Record]) -> bool:
    return len({canonical_json(_named(record, key)) for record in records}) == len(records)


def _by_key(table: str, key: tuple[str, ...], before: list[Record], after: list[Record]) -> list[Change]:
    old = {canonical_json(_named(record, key)): record for record in before}
    new = {canonical_json(_named(record, key)): record for record in after}
    found = []
    for identity in sorted(old.keys() | new.keys()):
        one, other = old.get(identity), new.get(identity)
        if one is None or other is None:
            present = one or other
            assert present is not None
            values = UNSET if one is None else one, UNSET if other is None else other
            found.append(Change(table=table, record=_named(present, key), before=values[0], after=values[1]))
            continue
        for name in dict.fromkeys([*one, *other]):
            values = one.get(name, UNSET), other.get(name, UNSET)
            if not same(*values):
                found.append(
                    Change(table=table, record=_named(one, key), field=name, before=values[0], after=values[1])
                )
    return found


def _by_content(table: str, before: list[Record], after: list[Record]) -> list[Change]:
    records = {canonical_json(record): record for record in [*before, *after]}
    old, new = Counter(map(canonical_json, before)), Counter(map(canonical_json, after))
    gone = [Change(table=table, record=records[text], before=records[text]) for text in sorted((old - new).elements())]
    return gone + [
        Change(table=table, record=records[text], after=records[text]) for text in sorted((new - old).elements())
    ]


def _is_named(record: Record, named: Record) -> bool:
    return all(name in record and same(record[name], value) for name, value in named.items())


def _applied(change: Change, named: Record, records: list[Record]) -> list[Record]:
    if change.field is None and change.before is UNSET:
        return [*records, change.after]
    whole = change.field is None  # a record without a key is told by its content alone
    place = next(
        (n for n, record in enumerate(records) if (same(record, change.before) if whole else _is_named(record, named))),
        None,
    )
    if place is None:
        raise KeyError(f"The table {change.table} has no record {canonical_json(named).decode()}.")
    if change.field is None:
        return [*records[:place], *records[place + 1 :]]
    rest = dict(records[place])
    if change.after is UNSET:
        del rest[change.field]
    else:
        rest[change.field] = change.after
    return [*records[:place], rest, *records[place + 1 :]]
