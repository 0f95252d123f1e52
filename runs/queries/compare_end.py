"""Where two attempts at a task end: their effects side by side, field by field."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple

from msgspec import UNSET

from runs.queries.compare_structs import EndRecord, EndRow, EndState
from runs.queries.values import Shown, ValueKind, shown
from runs.records import Effect, EffectKind, GradedAttempt, StateSource
from runs.statediff.tables import same

__all__ = ["end_state"]

ROWS = 80
"""Fields in a first answer."""
_NAMED = 3
"""Records that a sentence names."""
_VALUE = 160
_Place = tuple[str, str, str]
_Record = Mapping[str | None, Effect]
_Places = Mapping[_Place, _Record]
_Value = Literal["before", "after", "required"]


class _Side(NamedTuple):
    """What an attempt did to one record."""

    effects: _Record
    known: bool
    """Its states are recorded."""
    before_known: bool
    as_required: bool
    """A field that no effect names is as required: the record is new, or its state before is not recorded."""


class _End(NamedTuple):
    """What an attempt left in one field."""

    kind: str
    """Of the effect that says so; "" for a field that is as it was before."""
    value: Any
    shown: Shown


def end_state(
    left: GradedAttempt, right: GradedAttempt, labels: tuple[str, str], *, everything: bool = False
) -> EndState:
    """Every place that an effect of either names. What differs comes first, what is not graded is only counted."""
    ours, theirs = _by_place(left), _by_place(right)
    records = []
    ungraded = 0
    for place in dict.fromkeys([*ours, *theirs]):
        sides = _side(left, place, ours.get(place, {})), _side(right, place, theirs.get(place, {}))
        rows = [_row(name, sides, labels) for name in _names(sides[0].effects, sides[1].effects)]
        graded = [row for row in rows if row.kind != EffectKind.UNGRADED.value]
        ungraded += len(rows) - len(graded)
        if graded:
            graded.sort(key=lambda row: not row.differs)
            records.append(EndRecord(server=place[0], table=place[1], key=place[2], rows=graded))
    records.sort(key=lambda record: not any(row.differs for row in record.rows))
    total = sum(len(record.rows) for record in records)
    listed = records if everything else _first(records)
    rows = [row for record in records for row in record.rows]
    return EndState(
        records=listed,
        differing=sum(row.differs for row in rows),
        equal=sum(row.known and not row.differs for row in rows),
        ungraded=ungraded,
        total=total,
        shown=sum(len(record.rows) for record in listed),
        notes=[*_notes((left, right), labels), *_note_of_new(_partly_wrong(ours, theirs))],
        left_steps=frozenset(row.left_step for row in rows if row.differs and row.left_step is not None),
        right_steps=frozenset(row.right_step for row in rows if row.differs and row.right_step is not None),
    )


def _by_place(graded: GradedAttempt) -> _Places:
    found: dict[_Place, dict[str | None, Effect]] = {}
    for effect in graded.effects:
        if not effect.positional:
            found.setdefault((effect.server, effect.table, effect.key), {})[effect.field] = effect
    return found


def _names(one: _Record, other: _Record) -> list[str]:
    """The fields to list: those that an effect names; of a whole record those of its values; "" for the record."""
    names = dict.fromkeys(field for record in (one, other) for field in record if field is not None)
    for record in (one, other):
        whole = record.get(None)
        if whole is not None:
            sides = [side for side in (whole.required, whole.after, whole.before) if isinstance(side, dict)]
            names |= dict.fromkeys(name for side in sides for name in side)
    return list(names) or [""]


def _side(graded: GradedAttempt, place: _Place, effects: _Record) -> _Side:
    known = graded.state_source is StateSource.RECORDED
    before_known = known and all(one.before_recorded for one in graded.servers if one.server == place[0])
    is_new = any(effect.created for effect in effects.values())
    return _Side(effects, known, before_known, as_required=is_new or (known and not before_known))


def _row(name: str, sides: tuple[_Side, _Side], labels: tuple[str, str]) -> EndRow:
    one, other = (side.effects for side in sides)
    mine, yours = _of(one, name), _of(other, name)
    before = _first_value(name, "before", one, other)
    required = _first_value(name, "required", one, other)
    left, right = (_end(name, side, before, required) for side in sides)
    kinds = left.kind, right.kind
    unknown = [
        label for end, label in zip((left, right), labels, strict=True) if end.shown.kind is ValueKind.UNRECORDED
    ]
    # The values themselves are compared: what is shown of them may be cut.
    equal = kinds[0] == kinds[1] and left.shown.kind == right.shown.kind and same(left.value, right.value)
    differs = not unknown and not equal
    kind = next((kind for kind in (kinds[1], kinds[0]) if kind not in {"", "correct", "ungraded"}), "")
    kind = kind or next((kind for kind in kinds if kind), "correct")
    before_known = EffectKind.REPORTED.value not in kinds and any(side.before_known for side in sides)
    return EndRow(
        field=name,
        kind=kind,
        word=f"not recorded in {unknown[0]}" if unknown else _word(kinds, labels, differs=differs),
        differs=differs,
        known=not unknown,
        before=_shown(before, ValueKind.NO_ROW if before_known else ValueKind.UNRECORDED),
        left=left.shown,
        right=right.shown,
        required=_shown(required, ValueKind.NO_ROW),
        left_kind=kinds[0],
        right_kind=kinds[1],
        left_step=_step(mine),
        right_step=_step(yours),
    )


def _of(record: _Record, name: str) -> Effect | None:
    """The effect that says something of the field: its own, else that of the whole record."""
    return record.get(name) or record.get(None)


def _first_value(name: str, side: _Value, one: _Record, other: _Record) -> Any:
    """Before and required are the same for both attempts, so either may tell."""
    for record in (one, other):
        effect = _of(record, name)
        if effect is not None:
            return _part(effect, side, name)
    return UNSET


def _part(effect: Effect, side: _Value, name: str) -> Any:
    value = getattr(effect, side)
    if effect.field is None and isinstance(value, dict) and name:
        return value.get(name, UNSET)
    return value


def _end(name: str, side: _Side, before: Any, required: Any) -> _End:
    """What the attempt left. A field that none of its effects names is as required in a new record, else as before."""
    effect = _of(side.effects, name)
    if effect is not None:
        value = _part(effect, "after", name)
        return _End(effect.kind.value, value, _shown(value, _absent(effect)))
    if not side.known:
        return _End("", UNSET, Shown(kind=ValueKind.UNRECORDED))
    if side.as_required:
        absent = ValueKind.NO_FIELD if side.effects else ValueKind.NO_ROW
        return _End(EffectKind.CORRECT.value, required, _shown(required, absent))
    return _End("", before, _shown(before, ValueKind.NO_ROW))


def _absent(effect: Effect) -> ValueKind:
    """How to call a value that is not there after: where the record is, only the field is absent."""
    is_there = effect.created if effect.field is not None else effect.after is not UNSET
    return ValueKind.NO_FIELD if is_there else ValueKind.NO_ROW


def _shown(value: Any, absent: ValueKind) -> Shown:
    return shown(value, absent=absent, limit=_VALUE)


def _step(effect: Effect | None) -> int | None:
    return effect.writes[0].step if effect is not None and effect.writes else None


def _word(kinds: tuple[str, str], labels: tuple[str, str], *, differs: bool) -> str:
    if not differs:
        return "equal" if kinds[0] in {"correct", "ungraded", ""} else f"{kinds[0]} in both"
    told = [f"{kind} in {label}" for kind, label in zip(kinds, labels, strict=True) if kind not in {"", "correct"}]
    if len(told) == 2 and kinds[0] == kinds[1]:
        return f"{kinds[0]} in both, with another value"
    return ", ".join(told) or "another value, both count as correct"


def _first(records: Iterable[EndRecord]) -> list[EndRecord]:
    listed: list[EndRecord] = []
    left = ROWS
    for record in records:
        if left <= 0:
            break
        rows = record.rows[:left]
        listed.append(EndRecord(server=record.server, table=record.table, key=record.key, rows=rows))
        left -= len(rows)
    return listed


def _notes(sides: tuple[GradedAttempt, GradedAttempt], labels: tuple[str, str]) -> list[str]:
    notes = []
    for graded, label in zip(sides, labels, strict=True):
        if graded.state_source is StateSource.NONE:
            notes.append(f"The states of {label} are not recorded, so nothing can be said of where it ends.")
        elif graded.state_source is StateSource.REPORTED:
            notes.append(f"Of {label} only the differences that the check reports are known.")
    return notes


def _partly_wrong(ours: _Places, theirs: _Places) -> list[str]:
    """The records that both attempts made, each with something wrong: effects name only those of their fields."""
    return [
        f"{place[1]} {place[2]}"
        for place in ours
        if place in theirs and all(_is_partly_wrong(record) for record in (ours[place], theirs[place]))
    ]


def _is_partly_wrong(record: _Record) -> bool:
    return None not in record and any(effect.created for effect in record.values())


def _note_of_new(records: list[str]) -> list[str]:
    if not records:
        return []
    more = len(records) - _NAMED
    named = ", ".join(records[:_NAMED]) + (f" and {more:,} more" if more > 0 else "")
    return [
        f"New in both attempts, and partly wrong in both: {named}. Of such a record only the fields that are wrong in "
        "one or both are listed; its other graded fields are as required in both."
    ]
