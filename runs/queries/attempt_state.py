"""The evidence side of the trace page: effects as tables, records and fields, with the steps that wrote them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
from msgspec import UNSET

from runs.queries.attempt_state_structs import (
    FieldRow,
    OldValue,
    RecordCard,
    StatePanel,
    StepLink,
    SumItem,
    TableGroup,
    Version,
    Wrote,
)
from runs.queries.values import Shown, ValueKind, shown, shown_lists, unrecorded
from runs.records import Effect, EffectKind, GradedAttempt, Grading, StateSource, Step
from runs.statediff.tables import same

__all__ = ["first_failing", "state_panel", "step_link", "tried_steps", "writes_by_step"]

FIELD_LIMIT = 120
"""Rows of fields in a first answer."""
_VERSIONS = 40
"""Earlier values of one field that a page can go back to."""
_LINKS = 6
"""Steps named beside one value."""


_GRADINGS = {
    Grading.LISTED: "Which fields count: the list for this server, proven by recomputing the recorded hashes.",
    Grading.COMPARED: (
        "Which fields count: the harness's own comparison was repeated; "
        "a differing field that it does not name is ungraded."
    ),
    Grading.ALL: "Which fields count: all, since the record does not say which the benchmark leaves out.",
}

_WHOLE = {
    # (before is there, after is there, required is there): title, why
    (False, False, True): ("missing row", "required, never created"),
    (False, True, False): ("extra row", "created, not required"),
    (False, True, True): ("new row as required", ""),
    (True, False, False): ("row removed as required", ""),
    (True, False, True): ("extra removal", "removed, and required to stay"),
    (True, True, False): ("missing removal", "required to be removed, still there"),
}


def first_failing(effects: Sequence[Effect]) -> int | None:
    """Position of the first effect that counts as a difference; None when there is none."""
    return next((number for number, effect in enumerate(effects) if effect.counts), None)


def field_word(effect: Effect) -> str:
    """What the kind means for this field, said once beside it."""
    if effect.kind is EffectKind.MISSING:
        if effect.writes:
            return "missing: written, not to the required value"
        return "missing: row written, this field not" if effect.touched else "missing: change not made"
    if effect.kind is EffectKind.REPORTED:
        return effect.note or "reported by the check"
    return {"wrong": "wrong value", "extra": "extra change"}.get(effect.kind.value, effect.kind.value)


def step_link(step: int, last: int, failed: Iterable[int]) -> StepLink:
    return StepLink(step, "bad" if step in failed else "" if step == last else "over")


def state_panel(graded: GradedAttempt, steps: Sequence[Step], *, step: int, everything: bool = False) -> StatePanel:
    """Effects as the State pane shows them, with the values as of `step`. Effects keep their order: failing first."""
    failed = {line.index for line in steps if line.error is not None}
    counted = [(number, effect) for number, effect in enumerate(graded.effects) if not effect.positional]
    folded = [(number, effect) for number, effect in enumerate(graded.effects) if effect.positional]
    limit = len(counted) if everything else FIELD_LIMIT
    groups: dict[tuple[str, str], dict[tuple[str, int], list[tuple[int, Effect]]]] = {}
    shown_effects = counted[:limit]
    for number, effect in shown_effects:
        records = groups.setdefault((effect.server, effect.table), {})
        # A whole record stands alone; the fields of one record stand together.
        place = (effect.key, number if effect.field is None else -1)
        records.setdefault(place, []).append((number, effect))
    tables = []
    known = {one.server: one for one in graded.servers}
    for (server, table), records in groups.items():
        cards = [_record(entries, graded, steps, failed, step) for entries in records.values()]
        if server in known and not known[server].before_recorded:
            cards = [_without_before(card) for card in cards]
        rows = known[server].rows.get(table) if server in known else None
        failing = sum(any(effect.counts for _, effect in entries) for entries in records.values())
        tables.append(TableGroup(server=server, table=table, failing=failing, rows=rows, records=cards))
    return StatePanel(
        source=graded.state_source.value,
        sums=_sums(graded.effects),
        tables=tables,
        positional=[_field(number, effect, failed, step) for number, effect in folded[:limit]],
        total=len(counted),
        shown=len(shown_effects),
        later=sum(bool(effect.writes) and effect.writes[0].step > step for _, effect in counted),
        step=step,
        servers=graded.servers,
        gradings=list(dict.fromkeys(_GRADINGS[server.grading] for server in graded.servers))
        if graded.state_source is StateSource.RECORDED
        else [],
        several_servers=len({effect.server for effect in graded.effects}) > 1,
        attributed=any(effect.writes for effect in graded.effects),
    )


def writes_by_step(graded: GradedAttempt) -> dict[int, list[Wrote]]:
    """Step → what it wrote, failing effects first."""
    found: dict[int, list[Wrote]] = {}
    without_before = {one.server for one in graded.servers if not one.before_recorded}
    for number, effect in enumerate(graded.effects):
        is_known = effect.server not in without_before
        for place, write in enumerate(effect.writes):
            first = place == len(effect.writes) - 1
            previous = effect.before if first else effect.writes[place + 1].value
            whole = effect.field is None
            found.setdefault(write.step, []).append(
                Wrote(
                    number=number,
                    table=effect.table,
                    key=effect.after_key or effect.key,
                    field=effect.field,
                    was=None if whole or previous is UNSET else shown(previous, limit=60),
                    value=None if whole else shown(write.value, absent=ValueKind.UNKNOWN, limit=60),
                    row=_row_word(effect, first, is_known) if whole else "",
                    failing=effect.counts,
                )
            )
    return found


def tried_steps(effect: Effect, graded: GradedAttempt, steps: Sequence[Step]) -> list[int]:
    """Failed state-changing calls that name the record of a missing effect, last first."""
    if effect.kind is not EffectKind.MISSING or effect.writes or not effect.key:
        return []
    writers = set(graded.write_steps)
    return [
        line.index
        for line in reversed(steps)
        if line.index in writers and line.error is not None and _names(line.arguments, effect.key)
    ]


def _names(value: Any, key: str) -> bool:
    if isinstance(value, dict):
        return any(_names(item, key) for item in value.values())
    if isinstance(value, list):
        return any(_names(item, key) for item in value)
    return isinstance(value, (str, int)) and str(value) == key


def _row_word(effect: Effect, first: bool, is_known: bool) -> str:
    if not first:
        return "row written again"
    if effect.before is UNSET and is_known:
        return "new row"
    return "row removed" if effect.after is UNSET else "row written"


def _links(effect: Effect, failed: set[int]) -> list[StepLink]:
    steps = list(dict.fromkeys(effect.steps))
    return [step_link(step, steps[0], failed) for step in steps[:_LINKS]]


def _record(
    entries: list[tuple[int, Effect]], graded: GradedAttempt, steps: Sequence[Step], failed: set[int], step: int
) -> RecordCard:
    number, effect = entries[0]
    tried = next((found for _, entry in entries for found in tried_steps(entry, graded, steps)), None)
    if effect.field is None:
        return _whole(number, effect, failed, step, tried)
    writers = sorted({write.step for _, entry in entries for write in entry.writes}, reverse=True)
    reported = effect.kind is EffectKind.REPORTED
    return RecordCard(
        number=number, server=effect.server, table=effect.table, key=effect.key, after_key=effect.after_key,
        why="" if reported else _why(effect for _, effect in entries),
        links=[StepLink(writer, "bad" if writer in failed else "") for writer in sorted(writers[:_LINKS])],
        more_links=max(0, len(writers) - _LINKS), steps=sorted(writers),
        tried=None if tried is None else StepLink(tried, "bad"),
        rows=[_field(place, entry, failed, step) for place, entry in entries],
    )  # fmt: skip


def _without_before(card: RecordCard) -> RecordCard:
    """The record where what was there before is not recorded: then nobody knows what was created or changed."""
    rows = [
        msgspec.structs.replace(
            row,
            before=unrecorded,
            changed=False,
            versions=[
                msgspec.structs.replace(version, value=unrecorded) if version.since == 0 else version
                for version in row.versions
            ],
        )
        for row in card.rows
    ]
    why = ""
    if card.whole:
        why = "required, not there" if card.void_after else "there, not required" if card.void_required else ""
    return msgspec.structs.replace(card, rows=rows, why=why, void_before=False)


def _why(effects: Iterable[Effect]) -> str:
    found = list(effects)
    if any(effect.created for effect in found):
        return "new row"
    return "changed" if any(_changed(effect) for effect in found) else "not changed"


def _whole(number: int, effect: Effect, failed: set[int], step: int, tried: int | None) -> RecordCard:
    sides = (effect.before is not UNSET, effect.after is not UNSET, effect.required is not UNSET)
    reported = effect.kind is EffectKind.REPORTED
    title, why = (
        ("reported by the check", effect.note)
        if reported
        else _WHOLE.get(sides, ("wrong row", "changed, not to what is required"))
    )
    since = effect.writes[0].step if effect.writes else 0
    links = _links(effect, failed)
    return RecordCard(
        number=number, server=effect.server, table=effect.table, key=effect.key, after_key=effect.after_key,
        whole=True, kind=effect.kind.value, title=title, why=why,
        void_before=effect.before is UNSET and not reported, void_after=effect.after is UNSET and not reported,
        void_required=effect.required is UNSET and not reported,
        links=links, more_links=max(0, len(set(effect.steps)) - len(links)), steps=sorted(set(effect.steps)),
        tried=None if tried is None else StepLink(tried, "bad"),
        rows=[_part(number, effect, name, step) for name in _names_of(effect)], since=since,
    )  # fmt: skip


def _names_of(effect: Effect) -> list[str]:
    sides = [side for side in (effect.required, effect.after, effect.before) if isinstance(side, dict)]
    return list(dict.fromkeys(name for side in sides for name in side)) or [""]


def _part(number: int, effect: Effect, name: str, step: int) -> FieldRow:
    """A field of a whole record. What a write does not show of it stays as the write before left it."""
    before, after, required = (_side(side, name) for side in (effect.before, effect.after, effect.required))
    absent = ValueKind.UNRECORDED if effect.kind is EffectKind.REPORTED else ValueKind.NO_ROW
    marked = shown_lists(after, required)
    versions = []
    if effect.writes:
        value = shown(before, absent=ValueKind.NO_ROW)
        versions.append(Version(0, value))
        for write in reversed(effect.writes[1 : _VERSIONS + 1]):
            if isinstance(write.value, dict) and name in write.value:
                value = shown(write.value[name])
            elif value.kind is ValueKind.NO_ROW:
                value = Shown(kind=ValueKind.UNKNOWN)
            versions.append(Version(write.step, value))
    since = effect.writes[0].step if effect.writes else 0
    return FieldRow(
        number=number,
        field=name,
        kind=effect.kind.value,
        before=shown(before, absent=absent),
        after=marked[0] if marked else shown(after, absent=absent),
        required=marked[1] if marked else shown(required, absent=absent),
        versions=_at(versions, step) if step < since else versions,
        since=since,
        now=step >= since,
    )


def _at(versions: list[Version], step: int) -> list[Version]:
    """The versions with that one marked that stands at the step."""
    active = max((place for place, version in enumerate(versions) if version.since <= step), default=0)
    return [Version(version.since, version.value, place == active) for place, version in enumerate(versions)]


def _side(side: Any, name: str) -> Any:
    if isinstance(side, dict) and name:
        return side.get(name, UNSET)
    return side


def _changed(effect: Effect) -> bool:
    if effect.after is UNSET or effect.kind in {EffectKind.MISSING, EffectKind.REPORTED}:
        return False
    return not same(effect.after, effect.before)


def _field(number: int, effect: Effect, failed: set[int], step: int) -> FieldRow:
    reported = effect.kind is EffectKind.REPORTED
    absent = ValueKind.UNRECORDED if reported else ValueKind.NO_ROW if effect.created else ValueKind.NO_FIELD
    marked = shown_lists(effect.after, effect.required)
    links = _links(effect, failed)
    since = effect.writes[0].step if effect.writes else 0
    before = shown(effect.before, absent=absent)
    versions = []
    if effect.writes:
        kept = effect.writes[1 : _VERSIONS + 1]
        versions = [
            Version(0, before),
            *(Version(write.step, shown(write.value, absent=ValueKind.UNKNOWN)) for write in reversed(kept)),
        ]
        if len(effect.writes) > _VERSIONS + 1:
            # What the oldest writes left is not kept on the page, and the page says that it does not know.
            versions.insert(1, Version(effect.writes[-1].step, Shown(kind=ValueKind.UNKNOWN)))
    final = step >= since
    return FieldRow(
        number=number, field=effect.field or "", kind=effect.kind.value, word=field_word(effect), before=before,
        after=marked[0] if marked else shown(effect.after, absent=_absent_later(effect)),
        required=marked[1] if marked else shown(effect.required, absent=_absent_later(effect)),
        changed=_changed(effect), links=links,
        earlier=max(0, len(effect.writes) - 3),
        place=f"{effect.table}{effect.key} {effect.field or ''}",
        old=[
            OldValue(shown(write.value, absent=ValueKind.UNKNOWN, limit=70), step_link(write.step, since, failed))
            for write in effect.writes[1:3]
        ],
        versions=versions if final else _at(versions, step),
        since=since, now=final, steps=sorted(set(effect.steps)),
    )  # fmt: skip


def _absent_later(effect: Effect) -> ValueKind:
    return ValueKind.UNRECORDED if effect.kind is EffectKind.REPORTED else ValueKind.NO_FIELD


_NOUNS = {True: ("row", "rows"), False: ("field", "fields")}


def _sums(effects: Sequence[Effect]) -> list[SumItem]:
    """Counts in words, failing first: `1 missing field`, `2 correct new rows`, `230 ungraded`."""
    counts: Counter[tuple[str, bool]] = Counter(
        (effect.kind.value, effect.field is None) for effect in effects if not effect.positional
    )
    items = []
    for kind in ("wrong", "missing", "extra", "correct"):
        for whole in (False, True):
            number = counts[kind, whole]
            if number:
                noun = _NOUNS[whole][number != 1]
                items.append(SumItem(kind, f"{number:,} {kind} {'new ' if whole and kind == 'correct' else ''}{noun}"))
    reported = counts["reported", False] + counts["reported", True]
    if reported:
        items.append(SumItem("reported", f"{reported:,} reported difference{'' if reported == 1 else 's'}"))
    ungraded = counts["ungraded", False] + counts["ungraded", True]
    if ungraded:
        items.append(SumItem("ungraded", f"{ungraded:,} ungraded"))
    return items
