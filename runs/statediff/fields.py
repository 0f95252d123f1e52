"""From records that belong together to effects, field by field."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import UNSET

from runs.records import Effect, EffectKind
from runs.statediff.matching import Row
from runs.statediff.tables import Record, same

__all__ = ["created_effects", "existing_effects", "graded_content", "table_effect"]


def graded_content(record: Record, ungraded: frozenset[str]) -> Record:
    """The record without its ungraded fields."""
    return {name: value for name, value in record.items() if name not in ungraded} if ungraded else record


def _kind(before: Any, after: Any, required: Any) -> EffectKind | None:
    """What a graded value is; None when nothing happened and nothing had to."""
    if same(after, required):
        return None if same(before, required) else EffectKind.CORRECT
    if same(before, required):
        return EffectKind.EXTRA
    return EffectKind.MISSING if same(after, before) else EffectKind.WRONG


def existing_effects(
    server: str, table: str, before: Row, after: Row | None, required: Row | None, ungraded: frozenset[str]
) -> Iterator[Effect]:
    """The effects on a record that was there before."""
    if after is None or required is None:
        values = [UNSET if row is None else graded_content(row.record, ungraded) for row in (before, after, required)]
        kind = _kind(*values)
        if kind is not None:
            touched = kind is EffectKind.MISSING and after is not None and after.text != before.text
            yield Effect(
                kind=kind, server=server, table=table, key=before.key,
                before=values[0], after=values[1], required=values[2], touched=touched,
            )  # fmt: skip
        return
    touched = after.text != before.text
    for name in dict.fromkeys([*before.record, *after.record, *required.record]):
        values = [row.record.get(name, UNSET) for row in (before, after, required)]
        kind = _kind(*values)
        if kind is None:
            continue
        if name in ungraded:
            kind = EffectKind.UNGRADED
        yield Effect(
            kind=kind, server=server, table=table, key=before.key, field=name,
            before=values[0], after=values[1], required=values[2], touched=touched and kind is EffectKind.MISSING,
        )  # fmt: skip


def created_effects(
    server: str, table: str, required: Row | None, after: Row | None, ungraded: frozenset[str], *, by_key: bool
) -> Iterator[Effect]:
    """The effects on a record that was not there before: one for it all, or one for each graded field that differs."""
    if required is None or after is None:
        row = required or after
        assert row is not None
        content = graded_content(row.record, ungraded)
        if after is None:
            yield Effect(kind=EffectKind.MISSING, server=server, table=table, key=row.key, required=content)
        else:
            yield Effect(kind=EffectKind.EXTRA, server=server, table=table, key=row.key, after=content)
        return
    after_key = after.key if by_key and after.key != required.key else None
    differing = [
        name
        for name in dict.fromkeys([*required.record, *after.record])
        if name not in ungraded and not same(required.record.get(name, UNSET), after.record.get(name, UNSET))
    ]
    if not differing:
        yield Effect(
            kind=EffectKind.CORRECT, server=server, table=table, key=required.key, after_key=after_key,
            after=graded_content(after.record, ungraded), required=graded_content(required.record, ungraded),
        )  # fmt: skip
    for name in differing:
        yield Effect(
            kind=EffectKind.WRONG, server=server, table=table, key=required.key, field=name,
            created=True, after_key=after_key,
            after=after.record.get(name, UNSET), required=required.record.get(name, UNSET),
        )  # fmt: skip


def table_effect(server: str, table: str, before: Any, after: Any, required: Any) -> Iterator[Effect]:
    """The effect on a table that is not a list of records, as one value. UNSET where the state has no such table."""
    kind = _kind(before, after, required)
    if kind is not None:
        yield Effect(kind=kind, server=server, table=table, key="", before=before, after=after, required=required)
