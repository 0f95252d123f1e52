"""Three-way comparison of a backend's records: what was there before, what the agent left, what the task required.

    compare_server    one server of one attempt: effects, and how they were found
    diff_states       three states and the rules of what is graded: effects
    changes, apply    two states, exactly: what turns the one into the other

Records are matched by key, never by position, and a table that is the same text in all states is not even decoded.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import msgspec
from msgspec import Raw

from runs.canonical import canonical_json
from runs.records import Effect, EffectKind, ServerGrading, ServerStates
from runs.shared_objects import ByObject
from runs.statediff.exact import Change, apply, changes
from runs.statediff.fields import created_effects, existing_effects, graded_content, table_effect
from runs.statediff.grading_rules import NO_RULES, Rules, TableRules, as_value, decide, hash_of, key_of, shipped_rules
from runs.statediff.matching import Identity, Row, index_rows, key_order, pair_created, rows_without_key, share
from runs.statediff.tables import Table, decode_table, rows_of

__all__ = [
    "Change", "Rules", "TableRules", "apply", "changes", "compare_server", "diff_states", "effect_order", "hash_of",
    "shipped_rules",
]  # fmt: skip

State = Mapping[str, Raw] | Mapping[str, bytes]

_FAILING = frozenset({EffectKind.WRONG, EffectKind.MISSING, EffectKind.EXTRA})
_NO_TABLE = Table(records=[])


class _Matched(NamedTuple):
    """One table with its records matched."""

    table: str
    rules: TableRules
    key: tuple[str, ...]
    before: dict[Identity, Row]
    after: dict[Identity, Row]
    required: dict[Identity, Row]
    duplicates: list[str]

    @property
    def created_required(self) -> list[Row]:
        return [row for identity, row in self.required.items() if identity not in self.before]

    @property
    def created_after(self) -> list[Row]:
        return [row for identity, row in self.after.items() if identity not in self.before]


class _Found(NamedTuple):
    effects: list[Effect]
    duplicates: list[str]
    same_tables: list[str]
    rows: dict[str, int]


def diff_states(
    before: State | None, after: State, required: State, grading: Rules, *, server: str = ""
) -> list[Effect]:
    """The effects between three states (table → JSON text of its records), failing first.

    `grading` holds the rules of a table; a table without rules is compared in all fields. With `before` None nobody
    knows what was there: then only differences between after and required are given. Never raises, whatever shape the
    tables have.
    """
    texts = _texts(before, after, required)
    return _compare(server, texts[0], texts[1], texts[2], grading, known_before=before is not None).effects


def compare_server(
    server: str, states: ServerStates, *, listed: Mapping[str, Rules] | None = None
) -> tuple[list[Effect], ServerGrading]:
    """The effects on one server of an attempt, failing first, and how they were found.

    `listed` says what is graded on known servers: the shipped list when None, `{}` to withhold it. States that are
    not recorded have no effects.
    """
    if listed is not None:
        return _compare_server(server, states, listed)
    # Repetitions that end alike have the very same objects as states: a reader gives equal ones as one.
    place = (server, id(states.before), id(states.after), id(states.required))
    found = _compared.get(place)
    if found is None or found[0] != states:
        if len(_compared) >= _MOST_COMPARED:
            _compared.clear()
        found = _compared[place] = states, _compare_server(server, states, shipped_rules())
    return found[1]


_MOST_COMPARED = 32
_compared: dict[tuple[str, int, int, int], tuple[ServerStates, tuple[list[Effect], ServerGrading]]] = {}
"""Server and states as objects → the same, and what was found. The states are kept, so no other has their number."""


def _compare_server(
    server: str, states: ServerStates, listed: Mapping[str, Rules]
) -> tuple[list[Effect], ServerGrading]:
    before, after, required = _texts(states.before, states.after, states.required)
    decision = decide(server, states, after, required, listed)
    positional = None if states.diff is None else len(states.diff)
    if not states.recorded:
        return [], ServerGrading(server=server, grading=decision.grading, positional=positional)
    known_before = states.before is not None
    found = _compare(server, before, after, required, decision.rules, known_before=known_before)
    disagrees = False
    if states.after_hash is not None and states.required_hash is not None:
        disagrees = (states.after_hash == states.required_hash) == any(
            effect.kind in _FAILING for effect in found.effects
        )
    return found.effects, ServerGrading(
        server=server,
        grading=decision.grading,
        tables=len(before.keys() | after.keys() | required.keys()),
        same_tables=len(found.same_tables),
        same_rows=sum(rows_of(required[table]) for table in found.same_tables if table in required),
        rows=found.rows,
        before_recorded=known_before,
        positional=positional,
        disagrees=disagrees,
        duplicates=found.duplicates,
    )


def effect_order(effects: list[Effect]) -> list[Effect]:
    """Failing first, then correct, then ungraded; a table's effects together, tables with failures first, time stamps
    last in a record.

    A total order that the order of records in the states cannot change.
    """
    failing = {(effect.server, effect.table) for effect in effects if effect.counts}

    def place(effect: Effect) -> tuple[object, ...]:
        field = effect.field or ""
        rank = 0 if effect.counts else 2 if effect.kind is EffectKind.UNGRADED else 1
        return (
            rank, (effect.server, effect.table) not in failing, effect.server, effect.table,
            effect.kind is EffectKind.EXTRA and rank == 0, key_order(effect.key),
            field.endswith("_at"), field, effect.kind,
        )  # fmt: skip

    placed = [(place(effect), number, effect) for number, effect in enumerate(effects)]
    if len({one[0] for one in placed}) == len(placed):
        return [effect for _, _, effect in sorted(placed)]
    # Only records without a key can be equal in all of that, and then their contents decide.
    return sorted(effects, key=lambda effect: (place(effect), canonical_json(effect)))


def _texts(*states: State | None) -> list[dict[str, bytes]]:
    """The tables of the states as bytes; equal tables of one name are one object, whose hash is computed once."""
    result: list[dict[str, bytes]] = []
    first: dict[str, bytes] = {}
    for state in states:
        texts = {}
        for name, text in _state_texts(state).items() if state else ():
            known = first.setdefault(name, text)
            texts[name] = known if known == text else text
        result.append(texts)
    return result


_text = ByObject(bytes, most=2048)
_state_texts: ByObject[State, dict[str, bytes]] = ByObject(
    lambda state: {name: _text(raw) for name, raw in state.items()}, most=64
)


def _compare(
    server: str,
    before: Mapping[str, bytes],
    after: Mapping[str, bytes],
    required: Mapping[str, bytes],
    rules: Rules,
    *,
    known_before: bool,
) -> _Found:
    effects: list[Effect] = []
    matched: list[_Matched] = []
    same_tables: list[str] = []
    for table in sorted(before.keys() | after.keys() | required.keys()):
        raws = before.get(table), after.get(table), required.get(table)
        if raws[1] == raws[2] and (raws[0] == raws[1] or not known_before):
            same_tables.append(table)
            continue
        tables = [_NO_TABLE if raw is None else decode_table(raw) for raw in raws]
        if any(one.records is None for one in tables):
            effects += table_effect(server, table, *map(as_value, raws))
        elif _equal(tables, known_before):
            same_tables.append(table)
        else:
            matched.append(_match(table, tables, rules.get(table, NO_RULES)))
    ids_required = _created_ids(matched, required=True)
    ids_after = _created_ids(matched, required=False)
    for one in matched:
        effects += _table_effects(server, one, ids_required, ids_after)
    if not known_before:
        effects = [
            msgspec.structs.replace(effect, created=False, before=msgspec.UNSET)
            for effect in effects
            if effect.kind is not EffectKind.CORRECT
        ]
    duplicates = [f"{one.table} {key}" for one in matched for key in one.duplicates]
    rows = {one.table: len(one.after.keys() | one.required.keys()) for one in matched}
    return _Found(effect_order(effects), duplicates, same_tables, rows)


def _equal(tables: list[Table], known_before: bool) -> bool:
    """Whether the tables hold the same records, in any order."""
    first, *others = (sorted(one.texts) for one in (tables if known_before else tables[1:]))
    return all(first == other for other in others)


def _match(table: str, tables: list[Table], rules: TableRules) -> _Matched:
    key = key_of(rules, [one.records or [] for one in tables])
    if not key:
        before, after, required = rows_without_key(*tables)
        return _Matched(table, rules, key, before, after, required, [])
    indexed = [index_rows(one, key) for one in tables]
    duplicates = sorted({name for _, twice in indexed for name in twice}, key=key_order)
    return _Matched(table, rules, key, indexed[0][0], indexed[1][0], indexed[2][0], duplicates)


def _created_ids(matched: list[_Matched], *, required: bool) -> frozenset[str]:
    """The keys of all records created in a state, over all tables: such a value refers to a new record."""
    return frozenset(
        row.key
        for one in matched
        if len(one.key) == 1
        for row in (one.created_required if required else one.created_after)
    )


def _table_effects(server: str, one: _Matched, ids_required: frozenset[str], ids_after: frozenset[str]) -> list[Effect]:
    ungraded = one.rules.ungraded.difference(one.key)
    effects: list[Effect] = []
    for identity, row in one.before.items():
        after, required = one.after.get(identity), one.required.get(identity)
        if after is None or required is None or not (row.text == after.text == required.text):
            effects += existing_effects(server, one.table, row, after, required, ungraded)
    made_required, made_after = one.created_required, one.created_after
    if not made_required and not made_after:
        return effects

    def without_ids(row: Row, ids: frozenset[str]) -> bytes:
        content = graded_content(row.record, ungraded)
        # A list holds no text, so it stands for a reference without being equal to any plain value.
        return canonical_json(
            {
                name: [None] if type(value) is str and value in ids else value
                for name, value in content.items()
                if name not in one.key
            }
        )

    pairs = pair_created(
        made_required,
        made_after,
        key=one.key,
        shared=lambda mine, theirs: share(
            graded_content(mine.record, ungraded), graded_content(theirs.record, ungraded)
        ),
        content=lambda row: canonical_json(graded_content(row.record, ungraded)),
        content_without_ids=(lambda row: without_ids(row, ids_required), lambda row: without_ids(row, ids_after)),
    )
    for mine, theirs in pairs:
        effects += created_effects(server, one.table, mine, theirs, ungraded, by_key=bool(one.key))
    return effects
