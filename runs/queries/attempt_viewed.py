"""The trace page of who may not see what a task requires: steps, and the records before and after, in table order.

Nothing here is derived from the required state: which field comes first, how many there are, and what they are called
depend on what the agent changed alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

import msgspec
from msgspec import UNSET

from runs.access import Access
from runs.queries.attempt_detail import step_detail
from runs.queries.attempt_same import full_record
from runs.queries.attempt_state import writes_by_step
from runs.queries.attempt_steps import SHOWS, letters_of, step_list, timeline
from runs.queries.attempt_structs import Head, StepDetail, StepList, TaskPanel, Timeline
from runs.queries.attempts import (
    AttemptView,
    attempt_seen,
    head_of,
    open_attempt,
    selected_step,
    siblings_of,
    task_of,
)
from runs.queries.values import Shown, ValueKind, shown
from runs.records import Effect, GradedAttempt, StateSource

__all__ = ["VIEWED_TABS", "ChangedField", "ChangedRecord", "ChangedTable", "Changes", "ViewedAttempt", "viewed_attempt"]

VIEWED_TABS = ("state", "task")
MOST = 200
"""Fields that are shown, unless all are asked for."""


class ChangedField(msgspec.Struct, frozen=True, kw_only=True):
    number: int
    """Its address within the page."""
    field: str
    """Empty: the value of a table that is no list of records."""
    before: Shown
    after: Shown
    steps: list[int]
    """That wrote it, last first; inferred."""


class ChangedRecord(msgspec.Struct, frozen=True, kw_only=True):
    key: str
    created: bool = False
    removed: bool = False
    whole: bool = False
    """It was created, removed or changed as a whole; its fields follow from it."""
    number: int
    fields: list[ChangedField]


class ChangedTable(msgspec.Struct, frozen=True, kw_only=True):
    server: str
    table: str
    records: list[ChangedRecord]


class Changes(msgspec.Struct, frozen=True, kw_only=True):
    recorded: bool
    """Whether the records before and after are known."""
    tables: list[ChangedTable]
    total: int
    """Fields that changed; `shown` of them are in the tables."""
    shown: int


class ViewedAttempt(msgspec.Struct, frozen=True, kw_only=True):
    head: Head
    tab: str
    narrow: str
    step: int
    timeline: Timeline
    steps: StepList
    detail: StepDetail | None
    changes: Changes
    task: TaskPanel | None = None
    """Without the private context."""


def viewed_attempt(pk: int, view: AttemptView, *, access: Access) -> ViewedAttempt | None:
    """The page of an attempt as a viewer gets it, whoever asks; None without one. Some ten queries."""
    access = replace(access, evaluates=False)
    attempt = attempt_seen(pk, access)
    if attempt is None:
        return None
    opened = open_attempt(attempt, access)
    record, graded = opened.record, opened.graded
    siblings = siblings_of(attempt)
    letters = letters_of(record.steps, graded.write_steps)
    wrote = writes_by_step(graded)
    step = selected_step(view, record.steps, letters, None)
    tab = view.tab if view.tab in VIEWED_TABS else VIEWED_TABS[0]
    return ViewedAttempt(
        head=head_of(attempt, record, siblings),
        tab=tab,
        narrow=view.narrow if view.narrow in {"steps", *VIEWED_TABS} else "steps",
        step=step,
        timeline=timeline(record.steps, letters, current=step, cause=None),
        steps=step_list(
            record.steps,
            letters,
            wrote,
            current=step,
            show=view.show if view.show in SHOWS else "all",
            find=view.find,
        ),
        detail=step_detail(pk, record.steps[step - 1], wrote.get(step, [])) if step else None,
        changes=changes_of(graded, everything=view.everything),
        task=task_of(attempt, record, siblings, full_record(attempt).tools) if tab == "task" else None,
    )


def changes_of(graded: GradedAttempt, *, everything: bool = False) -> Changes:
    """What a plain record was graded to, by server, table, key and field."""
    found = sorted(enumerate(graded.effects), key=lambda pair: _place(pair[1]))
    fields = [(effect, row) for number, effect in found for row in _fields(number, effect)]
    listed = fields if everything else fields[:MOST]
    return Changes(
        recorded=graded.state_source is StateSource.RECORDED,
        tables=[
            ChangedTable(server=server, table=table, records=_records(list(rows)))
            for (server, table), rows in groupby(listed, key=lambda pair: (pair[0].server, pair[0].table))
        ],
        total=len(fields),
        shown=len(listed),
    )


def _place(effect: Effect) -> tuple[str, str, bool, int, str, str]:
    number = effect.key.isdecimal()
    return effect.server, effect.table, not number, len(effect.key) if number else 0, effect.key, effect.field or ""


def _records(rows: Sequence[tuple[Effect, ChangedField]]) -> list[ChangedRecord]:
    records = []
    for key, group in groupby(rows, key=lambda pair: pair[0].key):
        pairs = list(group)
        whole = [effect for effect, _ in pairs if effect.field is None]
        records.append(
            ChangedRecord(
                key=key,
                created=any(effect.before is UNSET for effect in whole),
                removed=any(effect.after is UNSET for effect in whole),
                whole=bool(whole),
                number=pairs[0][1].number,
                fields=[row for _, row in pairs],
            )
        )
    return records


def _fields(number: int, effect: Effect) -> list[ChangedField]:
    """One of a field; of a whole record, one of each of its fields."""
    if effect.field is not None:
        return [_field(number, effect, effect.field, effect.before, effect.after)]
    sides = [side if isinstance(side, dict) else None for side in (effect.before, effect.after)]
    names = dict.fromkeys(name for side in sides if side is not None for name in side)
    if not names:
        return [_field(number, effect, "", effect.before, effect.after)]
    return [
        _field(number, effect, name, *(UNSET if side is None else side.get(name, UNSET) for side in sides))
        for name in names
    ]


def _field(number: int, effect: Effect, name: str, before: Any, after: Any) -> ChangedField:
    absent = ValueKind.NO_FIELD if effect.field is not None else ValueKind.NO_ROW
    return ChangedField(
        number=number,
        field=name,
        before=shown(before, absent=absent),
        after=shown(after, absent=absent),
        steps=effect.steps,
    )
