"""What an attempt did not change: the other fields of its records, and the tables that are equal in all states."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec
from msgspec import UNSET, Raw

from runs.bundles import reader_named
from runs.masking import mask_value
from runs.models import Attempt
from runs.payloads import restore_row
from runs.queries.attempt_state_structs import FieldRow, StatePanel
from runs.queries.values import Shown, ValueKind, shown, unrecorded
from runs.records import AttemptRecord, ServerStates
from runs.statediff import TableRules, shipped_rules
from runs.statediff.grading_rules import key_of
from runs.statediff.matching import Row, index_rows
from runs.statediff.tables import decode_table, same

__all__ = ["SameTable", "SameTables", "full_record", "same_tables", "with_unchanged"]

ROWS = 50
"""Records of a table that are shown at once."""


class SameTable(msgspec.Struct, frozen=True, kw_only=True):
    server: str
    table: str
    rows: int


class SameRecord(msgspec.Struct, frozen=True, kw_only=True):
    fields: list[tuple[str, Shown]]


class SameTables(msgspec.Struct, frozen=True, kw_only=True):
    """The tables that are equal before, after and as required; of one of them also records."""

    pk: int
    name: str
    repetition: int
    tables: list[SameTable]
    opened: SameTable | None = None
    records: list[SameRecord] = []
    first: int = 0
    next: int | None = None


def full_record(attempt: Attempt, *, masked: bool = True) -> AttemptRecord:
    """The attempt with its states and tools, as its file had it, its secrets masked. Some five queries.

    What compares states must not have them masked: two different secrets look the same then.
    """
    return reader_named(attempt.trace.reader).read(restore_row(attempt, masked=masked)).record


def with_unchanged(panel: StatePanel, record: AttemptRecord) -> StatePanel:
    """The panel with the fields of its records that no effect names."""
    tables = []
    for group in panel.tables:
        states = record.servers.get(group.server)
        rows = _rows(states, group.server, group.table)
        known_before = states is not None and states.before is not None
        cards = [
            card
            if card.whole or rows is None
            else msgspec.structs.replace(card, same=_others(card.key, card.after_key, card.rows, rows, known_before))
            for card in group.records
        ]
        tables.append(msgspec.structs.replace(group, records=cards))
    return msgspec.structs.replace(panel, tables=tables)


def same_tables(attempt: Attempt, *, server: str = "", table: str = "", first: int = 0) -> SameTables:
    """The tables that are equal in all states, and the records of one of them from position `first` on."""
    record = full_record(attempt, masked=False)
    found = []
    opened = None
    records: list[SameRecord] = []
    following = None
    for name, states in record.servers.items():
        for title, raw in (states.required or {}).items():
            if not _equal(states, title):
                continue
            rows = decode_table(bytes(raw)).records or []
            entry = SameTable(server=name, table=title, rows=len(rows))
            found.append(entry)
            if (name, title) == (server, table):
                opened = entry
                records = [
                    SameRecord(
                        fields=[(field, shown(row[field])) for field in sorted(row, key=lambda name: name != "id")]
                    )
                    for row in mask_value(list(rows[first : first + ROWS]))
                ]
                following = first + ROWS if first + ROWS < len(rows) else None
    return SameTables(
        pk=attempt.pk,
        name=attempt.task.name,
        repetition=attempt.repetition,
        tables=sorted(found, key=lambda entry: (entry.server, entry.table)),
        opened=opened,
        records=records,
        first=first,
        next=following,
    )


def _equal(states: ServerStates, table: str) -> bool:
    sides = [states.after, states.required]
    if states.before is not None:
        sides.append(states.before)
    raws = [_table(side, table) for side in sides]
    return len({None if raw is None else bytes(raw) for raw in raws}) == 1


def _table(state: Mapping[str, Raw] | None, table: str) -> Raw | None:
    return None if state is None else state.get(table)


def _rows(states: ServerStates | None, server: str, table: str) -> tuple[dict[str, Row], ...] | None:
    """The records of a table by key, before, after and required; None when the table has no key."""
    if states is None:
        return None
    raws = [_table(state, table) for state in (states.before, states.after, states.required)]
    tables = [decode_table(b"[]" if raw is None else bytes(raw)) for raw in raws]
    rules = shipped_rules().get(server, {}).get(table, TableRules())
    key = key_of(rules, [one.records or [] for one in tables])
    if not key:
        return None
    return tuple({row.key: row for row in index_rows(one, key)[0].values()} for one in tables)


def _others(
    key: str, after_key: str | None, rows: Iterable[FieldRow], states: tuple[dict[str, Row], ...], known_before: bool
) -> list[FieldRow]:
    shown_names = {row.field for row in rows}
    before, after, required = states[0].get(key), states[1].get(after_key or key), states[2].get(key)
    records = [{} if row is None else row.record for row in (before, after, required)]
    names = dict.fromkeys(name for record in (records[2], records[1], records[0]) for name in record)
    result = []
    for name in names:
        if name in shown_names:
            continue
        values = [record.get(name, UNSET) for record in records]
        kind = "same" if not known_before or before is not None or not same(values[1], values[2]) else "correct"
        cells = [
            shown(value, absent=ValueKind.NO_ROW if row is None else ValueKind.NO_FIELD)
            for value, row in zip(values, (before, after, required), strict=True)
        ]
        if not known_before:
            cells[0] = unrecorded
        result.append(
            FieldRow(number=-1, field=name, kind=kind, word="correct" if kind == "correct" else "", before=cells[0],
                     after=cells[1], required=cells[2])
        )  # fmt: skip
    return result
