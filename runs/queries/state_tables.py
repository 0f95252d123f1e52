"""The states of an attempt table by table: what there is, what differs, and the records of one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Raw

from runs.access import Access
from runs.models import Attempt
from runs.payloads import load_evidence
from runs.queries.attempt_same import full_record
from runs.records import ServerStates
from runs.statediff.tables import decode_table

__all__ = ["SIDES", "TableFacts", "state_tables", "table_records"]

SIDES = ("before", "after", "required")


class TableFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A table. Numbers are None where that side was not recorded."""

    server: str
    table: str
    before: int | None
    after: int | None
    required: int | None
    changed: bool | None
    same: bool | None
    differences: int


def state_tables(attempt: Attempt, *, access: Access) -> list[TableFacts]:
    """All tables of all servers, by name. Some five queries. Empty where no state was recorded.

    Who may not evaluate does not learn of tables that only the required state has.
    """
    record = full_record(attempt, masked=False)
    effects = load_evidence(attempt.trace).graded.effects
    counts = Counter((effect.server, effect.table) for effect in effects if effect.counts)
    found = []
    for server, states in record.servers.items():
        shown = [side for name, side in _sides(states).items() if name != "required" or access.evaluates]
        names = {name for side in shown if side is not None for name in side}
        for name in sorted(names):
            texts = {side: _text(state, name) for side, state in _sides(states).items()}
            found.append(
                TableFacts(
                    server=server,
                    table=name,
                    before=_rows(texts["before"]),
                    after=_rows(texts["after"]),
                    required=_rows(texts["required"]),
                    changed=_differ(texts["before"], texts["after"]),
                    same=None if (other := _differ(texts["after"], texts["required"])) is None else not other,
                    differences=counts[server, name],
                )
            )
    return sorted(found, key=lambda facts: (facts.server, facts.table))


def table_records(attempt: Attempt, server: str, table: str, side: str) -> list[Any] | None:
    """The records of one table on one side; None where there is no such table, or that side was not recorded."""
    states = full_record(attempt).servers.get(server)
    text = None if states is None else _text(_sides(states)[side], table)
    return None if text is None else _records(text)


def _sides(states: ServerStates) -> dict[str, Mapping[str, Raw] | None]:
    return {"before": states.before, "after": states.after, "required": states.required}


def _text(state: Mapping[str, Raw] | None, table: str) -> bytes | None:
    """None where the side was not recorded; a table that it lacks is empty."""
    if state is None:
        return None
    return bytes(state[table]) if table in state else b"[]"


def _records(text: bytes) -> list[Any]:
    records = decode_table(text).records
    if records is not None:
        return list(records)
    value = msgspec.json.decode(text)
    return value if isinstance(value, list) else [value]


def _rows(text: bytes | None) -> int | None:
    return None if text is None else len(_records(text))


def _differ(one: bytes | None, other: bytes | None) -> bool | None:
    if one is None or other is None:
        return None
    return one != other and _records(one) != _records(other)
