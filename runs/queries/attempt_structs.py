"""What the trace page is made of beside its state pane: one struct a piece, read by whatever shows an attempt."""

from __future__ import annotations

from typing import Any

import msgspec

from runs.queries.attempt_cost import AttemptCost
from runs.queries.attempt_state_structs import PassingWrite, StatePanel, StepLink, Wrote
from runs.queries.attempt_why import WhyPanel
from runs.queries.values import Shown
from runs.records import Check, Problem, ServerGrading, Tool, Usage


class CompareLink(msgspec.Struct, frozen=True, kw_only=True):
    """Two attempts to compare, the passing one on the left, and what the other one is called."""

    left: int
    right: int
    label: str
    verdict: str
    """Of the other one."""


class Dot(msgspec.Struct, frozen=True, kw_only=True):
    """One repetition. `pk` is None where nothing is recorded."""

    repetition: int
    pk: int | None
    verdict: str
    """`passed`, `failed`, `error` or `none`."""
    word: str
    current: bool = False


class Head(msgspec.Struct, frozen=True, kw_only=True):
    """The head of the page: which attempt this is, and where its neighbours are."""

    pk: int
    run_slug: str
    run_model: str
    benchmark: str
    uid: str
    name: str
    domain: str
    verdict: str
    word: str
    repetition: int
    dots: list[Dot]
    tally: str
    previous: int | None = None
    next: int | None = None
    previous_failed: int | None = None
    next_failed: int | None = None
    usage: Usage | None = None
    cost: AttemptCost | None = None
    """None where the run has no price for it."""
    duration: float | None = None
    """Seconds."""
    timers: dict[str, float] = {}
    finish_reason: str = ""
    masked: int = 0
    """Different secrets that are masked here, or were before the row was stored."""
    masked_kinds: str = ""
    """`2 API keys, 1 password`."""
    masked_for_good: bool = False
    """They were masked before the row was stored."""
    replaced_by: int | None = None
    """This row is history: a later row took its place, at this attempt."""


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    step: int
    text: str
    size: int
    """Bytes of the whole message; `text` is its beginning where `cut`."""
    cut: bool = False
    is_last: bool = True
    """It is the last message of the attempt."""


class EffectLine(msgspec.Struct, frozen=True, kw_only=True):
    """One effect in one line: `missing · tickets 20 status · is solved · required hold · last written by 20`."""

    number: int
    kind: str
    word: str
    table: str
    key: str
    field: str | None
    has: Shown | None = None
    must: Shown | None = None
    sentence: str = ""
    links: list[StepLink] = []
    before_that: list[StepLink] = []
    passing: PassingWrite | None = None


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """The line that stands against the claim. `quote` is text of the bundle, shown as it is."""

    headline: str
    line: EffectLine | None = None
    kind: str = ""
    sentence: str = ""
    quote: str = ""
    note: str = ""
    tab: str = "state"
    """Where it leads."""


class StepLine(msgspec.Struct, frozen=True, kw_only=True):
    """A step as one row of the list."""

    index: int
    letter: str
    """u user, a agent, s system, t thought, c call, w state-changing call, e failed call, x failed state-changing call,
    r response without a call."""
    glyph: str
    classes: str
    who: str = ""
    tool: str | None = None
    say: str = ""
    cut: bool = False
    """`say` is the beginning of a longer text."""
    size: int | None = None
    """Bytes of the text, or of the response; None where there is none."""
    error: str | None = None
    note: str = ""
    excerpt: str = ""
    """The words that were asked for, with what is around them, where the row itself does not show them."""
    excerpt_of: str = ""
    """`arguments`, `response` or `text`."""
    wrote: list[Wrote] = []
    more_wrote: int = 0
    opens: bool = False
    """There is more than this row shows, to be asked for."""
    current: bool = False
    marks: list[str] = []


class Block(msgspec.Struct, frozen=True, kw_only=True):
    """Steps `first` to `last`. Without lines they are asked for when they come into view."""

    first: int
    last: int
    lines: list[StepLine] = []
    find: str = ""
    """The words that were asked for, to be marked in the lines."""


class StepList(msgspec.Struct, frozen=True, kw_only=True):
    total: int
    blocks: list[Block]
    letters: str
    """One letter a step, as in `StepLine.letter`."""
    show: str = "all"
    find: str = ""
    matching: int = 0
    """Steps that the filter or the words leave; `listed` of them are in the blocks."""
    listed: int = 0
    calls: int = 0
    writes: int = 0
    errors: int = 0

    @property
    def filtered(self) -> bool:
        return self.show != "all" or bool(self.find)


class Mark(msgspec.Struct, frozen=True):
    step: int
    kind: str
    label: str


class Timeline(msgspec.Struct, frozen=True, kw_only=True):
    """Up to 300 steps are marks; longer ones are drawn, one path a kind, x in steps."""

    total: int
    step: int
    cause: int | None = None
    marks: list[Mark] = []
    dense: bool = False
    paths: list[tuple[str, str]] = []
    writes_only: bool = False


class Pair(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    inside: str = ""
    """The object that the field is in, where that is not the payload itself."""
    value: Shown
    hit: bool = False
    """The step wrote this field."""


class PayloadPart(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments, a response or a text: as pairs where it is a small JSON object, else as a window of its text."""

    name: str
    """`arguments`, `response`, `text`."""
    title: str
    size: int
    """Bytes."""
    pairs: list[Pair] = []
    nulls: list[Pair] = []
    """Arguments that are null, which say nothing: shown on demand."""
    rest: list[Pair] = []
    """Fields that the step did not write, where it wrote some."""
    text: str | None = None
    start: int = 0
    """Characters before the window, and `end` after its last one, of `length`."""
    end: int = 0
    length: int = 0
    empty: str = ""
    """What is said where there is nothing to show."""

    @property
    def shown(self) -> int:
        """Bytes up to the end of the window, of `size`."""
        return self.size * self.end // self.length if self.length else 0


class StepDetail(msgspec.Struct, frozen=True, kw_only=True):
    pk: int
    index: int
    title: str
    parts: list[PayloadPart]
    facts: list[tuple[str, str]] = []
    """Name and text of the bundle: the call's id, the harness's tag."""


class StateCheck(msgspec.Struct, frozen=True, kw_only=True):
    """A state comparison with the differences that explain it."""

    check: Check
    grading: ServerGrading | None = None
    lines: list[EffectLine] = []
    more: int = 0
    sentence: str = ""


class ChecksPanel(msgspec.Struct, frozen=True, kw_only=True):
    states: list[StateCheck] = []
    assertions: list[Check] = []
    rubrics: list[Check] = []
    failed: int = 0
    positional: int | None = None
    traceback: str = ""
    prints: str = ""
    error: str = ""


class TaskPanel(msgspec.Struct, frozen=True, kw_only=True):
    query: str | None
    domain: str
    uid: str
    expected: int
    expected_inferred: bool
    recorded: int
    instructions: str | None
    policy: str | None
    private_context: str | None
    tools: list[Tool]


class HistoryEntry(msgspec.Struct, frozen=True):
    pk: int
    word: str


class RawPanel(msgspec.Struct, frozen=True, kw_only=True):
    origin: str
    line: int
    notes: list[str]
    problems: list[Problem]
    metadata: dict[str, Any]
    tags: dict[str, Any]
    test: str | None
    """As JSON, with the names that the file has."""
    traceback: str
    prints: str
    error: str
    error_traceback: str
    usage: list[Usage] | None
    history: list[HistoryEntry]


class AttemptPage(msgspec.Struct, frozen=True, kw_only=True):
    head: Head
    tab: str
    narrow: str
    """The pane that is open on a narrow screen: `steps`, or the tab."""
    step: int
    claim: Claim | None
    evidence: Evidence
    timeline: Timeline
    steps: StepList
    detail: StepDetail | None
    state: StatePanel
    unchanged: bool
    """Fields that are the same in all three states are shown as well."""
    checks: ChecksPanel
    failing: int
    """Graded differences from the required state."""
    why: WhyPanel | None = None
    compare: CompareLink | None = None
    """None where there is no attempt to compare with."""
    task: TaskPanel | None = None
    raw: RawPanel | None = None
