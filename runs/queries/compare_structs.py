"""What the comparison of two attempts is made of."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from runs.queries.attempt_state_structs import Wrote
from runs.queries.paging import Page
from runs.queries.values import Shown

__all__ = [
    "Argument", "Bar", "Cell", "Choice", "CompareLine", "ComparePage", "CompareView", "EndRecord", "EndRow", "EndState",
    "Piece", "ShowLines", "Side",
]  # fmt: skip


class ShowLines(StrEnum):
    """Which lines of the comparison are listed."""

    DIFFERENCES = "differences"
    ALL = "all"
    WRITES = "writes"


class CompareView(msgspec.Struct, frozen=True, kw_only=True):
    """What of a comparison is looked at, as the address says it."""

    show: ShowLines = ShowLines.DIFFERENCES
    thoughts: bool = False
    page: int = 1
    everything: bool = False
    """All fields of the end state, also where they are very many."""


class Side(msgspec.Struct, frozen=True, kw_only=True):
    """One of the two attempts."""

    pk: int
    run_slug: str
    model: str
    verdict: str
    word: str
    repetition: int
    label: str
    """How the page calls it: by its repetition, and by its model where the two are of different runs."""
    steps: int
    thoughts: int
    tokens: int | None
    duration: float | None
    """Seconds."""


class Piece(msgspec.Struct, frozen=True):
    """A part of a text. `differs`: the other side does not have it."""

    text: str
    differs: bool = False


class Argument(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    pieces: list[Piece]
    differs: bool = False
    absent: bool = False
    """The other side gives this argument, this one does not."""
    worth: str = ""
    """Only where it differs and is graded: `must` for the required value, `is` for another."""


class Cell(msgspec.Struct, frozen=True, kw_only=True):
    """A step on one side of a line."""

    index: int
    glyph: str
    who: str = ""
    tool: str | None = None
    arguments: list[Argument] = []
    equal: int = 0
    """Arguments that are the same on both sides, beyond those listed."""
    pieces: list[Piece] = []
    cut: bool = False
    error: str = ""
    note: str = ""
    wrote: list[Wrote] = []
    more_wrote: int = 0


class Bar(msgspec.Struct, frozen=True, kw_only=True):
    """A sentence across both sides, before the line that it is about."""

    title: str
    sentence: str
    field: str = ""
    """Named at the end of the sentence."""
    after: str = ""
    write: bool = False


class CompareLine(msgspec.Struct, frozen=True, kw_only=True):
    relation: str
    left: Cell | None = None
    right: Cell | None = None
    bar: Bar | None = None
    graded: bool = False
    """The two differ in a graded value."""
    folded: int = 0
    """This line stands for so many equal ones."""


class EndRow(msgspec.Struct, frozen=True, kw_only=True):
    field: str
    kind: str
    word: str
    differs: bool
    known: bool
    """The value is known on both sides."""
    before: Shown
    left: Shown
    right: Shown
    required: Shown
    left_kind: str = ""
    right_kind: str = ""
    left_step: int | None = None
    """The step that wrote the value last."""
    right_step: int | None = None


class EndRecord(msgspec.Struct, frozen=True, kw_only=True):
    server: str
    table: str
    key: str
    rows: list[EndRow]


class EndState(msgspec.Struct, frozen=True, kw_only=True):
    records: list[EndRecord]
    differing: int
    equal: int
    ungraded: int
    total: int
    shown: int
    notes: list[str]
    left_steps: frozenset[int] = frozenset()
    """The steps of the left attempt that wrote a value that differs."""
    right_steps: frozenset[int] = frozenset()


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """A run with its attempts at the task, to be put on the right instead."""

    model: str
    benchmark: str
    run_slug: str
    attempts: list[tuple[int, int, str, str]]
    """Id, repetition, verdict, word."""


class ComparePage(msgspec.Struct, frozen=True, kw_only=True):
    uid: str
    name: str
    run_slug: str
    run_name: str
    left: Side
    right: Side
    end: EndState
    lines: list[CompareLine]
    page: Page
    view: CompareView
    differences: int
    total: int
    writes: int
    first_write: int | None
    """The page of lines with the first divergent write; None where there is none in this view."""
    first: int | None
    """The page with the first difference; None where that is the first divergent write."""
    in_pieces: bool
    choices: list[Choice]

    @property
    def sides(self) -> tuple[Side, Side]:
        return self.left, self.right
