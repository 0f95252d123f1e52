"""Which fields of a server the benchmark grades, decided from one attempt alone so that the order of reading changes
nothing.
"""

from __future__ import annotations

import functools
from bisect import bisect_left
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from runs.records import Grading, ServerStates
from runs.statediff.matching import find_key
from runs.statediff.tables import Record, decode_table, same, stable_text, state_hash

__all__ = ["NO_RULES", "Rules", "TableRules", "as_value", "decide", "hash_of", "key_of", "shipped_rules"]

_SHIPPED = Path(__file__).parent.parent / "data" / "graded_fields.json"


class TableRules(msgspec.Struct, frozen=True):
    """What is known of one table. Fields that are named nowhere are graded."""

    key: tuple[str, ...] = ()
    """Empty: the key is found in the records."""
    ungraded: frozenset[str] = frozenset()


NO_RULES = TableRules()
Rules = Mapping[str, TableRules]
"""Table → its rules."""


class Decision(NamedTuple):
    grading: Grading
    rules: Rules


class _Listed(msgspec.Struct, frozen=True):
    key: tuple[str, ...]
    ungraded: frozenset[str]


class _Shipped(msgspec.Struct, frozen=True):
    servers: dict[str, dict[str, _Listed]]


@functools.cache
def shipped_rules() -> Mapping[str, Rules]:
    """The rules that the product ships: server → table → rules."""
    data = msgspec.json.decode(_SHIPPED.read_bytes(), type=_Shipped)
    return {
        server: {name: TableRules(listed.key, listed.ungraded) for name, listed in tables.items()}
        for server, tables in data.servers.items()
    }


def hash_of(state: Mapping[str, bytes], rules: Rules) -> str | None:
    """The harness's hash of a state under these rules, None when a table has no such form."""
    texts = []
    for name, raw in state.items():
        text = stable_text(raw, rules.get(name, NO_RULES).ungraded)
        if text is None:
            return None
        texts.append((name, text))
    return state_hash(texts)


def _proven(states: ServerStates, after: Mapping[str, bytes], required: Mapping[str, bytes], rules: Rules) -> bool:
    """Whether the rules reproduce each recorded hash, of which there must be one."""
    if states.after_hash is None and states.required_hash is None:
        return False
    return (states.after_hash is None or hash_of(after, rules) == states.after_hash) and (
        states.required_hash is None or hash_of(required, rules) == states.required_hash
    )


def decide(
    server: str,
    states: ServerStates,
    after: Mapping[str, bytes],
    required: Mapping[str, bytes],
    listed: Mapping[str, Rules],
) -> Decision:
    """What is graded: the list of a known server when this attempt's hashes prove it, else what the harness's own list
    of differences shows.
    """
    known = listed.get(server)
    if known is not None and _proven(states, after, required, known):
        return Decision(Grading.LISTED, known)
    diff = states.diff
    if diff is None and states.after_hash is not None and states.after_hash == states.required_hash:
        diff = []  # equal hashes: the harness had no difference to list
    if diff is None:
        return Decision(Grading.ALL, {})
    paths = sorted(path for entry in diff if isinstance(path := entry.get("path"), str))
    rules = {
        table: TableRules(ungraded=unnamed)
        for table in after.keys() & required.keys()
        if after[table] != required[table] and (unnamed := _unnamed(table, after[table], required[table], paths))
    }
    return Decision(Grading.COMPARED, rules)


def _unnamed(table: str, after: bytes, required: bytes, paths: list[str]) -> frozenset[str]:
    """Fields that differ between two records at one position, and that the harness's list does not name there."""
    ours, theirs = _by_position(after), _by_position(required)
    named: set[str] = set()
    unnamed: set[str] = set()
    for position, (one, other) in enumerate(zip(ours, theirs, strict=False)):
        for name in one.keys() | other.keys():
            if name in named or (name in one and name in other and same(one[name], other[name])):
                continue
            (named if _is_named(f"{table}[{position}].{name}", paths) else unnamed).add(name)
    return frozenset(unnamed - named).difference(find_key([ours, theirs]))


def _by_position(raw: bytes) -> list[Record]:
    return sorted(decode_table(raw).records or [], key=lambda record: str(record.get("id", "")))


def _is_named(path: str, paths: list[str]) -> bool:
    """Whether a sorted list of paths holds the path, or a path inside its value."""

    def starts(text: str) -> bool:
        place = bisect_left(paths, text)
        return place < len(paths) and paths[place].startswith(text)

    place = bisect_left(paths, path)
    return (place < len(paths) and paths[place] == path) or starts(path + ".") or starts(path + "[")


def key_of(rules: TableRules, tables: list[list[Record]]) -> tuple[str, ...]:
    """The key fields of a table: the listed ones, else those that its records show."""
    return rules.key or find_key(tables)


def as_value(raw: bytes | None) -> Any:
    """A table as one value; msgspec's UNSET where the state has no such table."""
    if raw is None:
        return msgspec.UNSET
    table = decode_table(raw)
    return table.value if table.records is None else table.records
