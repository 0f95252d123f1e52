"""What the state pane of the trace page is made of."""

from __future__ import annotations

import msgspec

from runs.queries.values import Shown
from runs.records import ServerGrading


class StepLink(msgspec.Struct, frozen=True):
    step: int
    state: str = ""
    """`over`: a later step wrote the same field; `bad`: the call failed."""


class PassingWrite(msgspec.Struct, frozen=True, kw_only=True):
    """Where a passing attempt at the same task wrote what this one did not."""

    pk: int
    step: int
    where: str


class OldValue(msgspec.Struct, frozen=True):
    value: Shown
    link: StepLink


class Version(msgspec.Struct, frozen=True):
    """What a field held from step `since` on (0: from the start), until the next version. `now`: at the step shown."""

    since: int
    value: Shown
    now: bool = False


class FieldRow(msgspec.Struct, frozen=True, kw_only=True):
    """One field, or one value of a whole record."""

    number: int
    """Position of its effect in the attempt's effects: its address within the page."""
    field: str
    kind: str
    place: str = ""
    """Table, key and field in one text."""
    word: str = ""
    before: Shown
    after: Shown
    required: Shown
    changed: bool = False
    """The value after is another than before."""
    links: list[StepLink] = []
    """Last first."""
    old: list[OldValue] = []
    earlier: int = 0
    """Writes before those in `old`."""
    versions: list[Version] = []
    """Earlier values, oldest first; the final value is `after`, from step `since` on."""
    since: int = 0
    now: bool = True
    """The final value stands at the step shown."""
    steps: list[int] = []
    passing: PassingWrite | None = None


class RecordCard(msgspec.Struct, frozen=True, kw_only=True):
    number: int
    server: str
    table: str
    key: str
    after_key: str | None = None
    whole: bool = False
    """The record as a whole is the effect; its fields follow from it."""
    kind: str = ""
    title: str = ""
    why: str = ""
    void_before: bool = False
    void_after: bool = False
    void_required: bool = False
    links: list[StepLink] = []
    more_links: int = 0
    steps: list[int] = []
    tried: StepLink | None = None
    """A failed call that named the record."""
    passing: PassingWrite | None = None
    rows: list[FieldRow] = []
    same: list[FieldRow] = []
    """Fields that no effect names, where they were asked for."""
    since: int = 0


class TableGroup(msgspec.Struct, frozen=True, kw_only=True):
    server: str
    table: str
    failing: int
    rows: int | None = None
    """Records of the table, those after and required together; None where they are not counted."""
    records: list[RecordCard]


class SumItem(msgspec.Struct, frozen=True):
    kind: str
    text: str


class StatePanel(msgspec.Struct, frozen=True, kw_only=True):
    source: str
    sums: list[SumItem] = []
    tables: list[TableGroup] = []
    positional: list[FieldRow] = []
    """Only for reported differences: entries that follow from a length mismatch and count for nothing."""
    total: int = 0
    """Effects in all; `shown` of them are in `tables`."""
    shown: int = 0
    later: int = 0
    """Effects that are written after the step shown."""
    step: int = 0
    servers: list[ServerGrading] = []
    gradings: list[str] = []
    several_servers: bool = False
    attributed: bool = False


class Wrote(msgspec.Struct, frozen=True, kw_only=True):
    """What one step wrote of one effect."""

    number: int
    table: str
    key: str
    field: str | None
    was: Shown | None = None
    value: Shown | None = None
    row: str = ""
    """For a whole record: `new row`, `row removed`, `row written again`."""
    failing: bool = False
