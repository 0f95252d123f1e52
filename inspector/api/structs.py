"""What the API answers with where no page shows just that. All else are the structs of the queries."""

from __future__ import annotations

from typing import Any

import msgspec

from runs.queries.attempt_structs import Claim, CompareLink, Evidence, Head
from runs.queries.attempt_why import WhyPanel
from runs.queries.failures import FacetList
from runs.queries.numbers import Numbers
from runs.queries.run_worth import RunWorth
from runs.queries.runs import Choice, Coverage, DomainRow, RunFacts, Source
from runs.records import Effect

__all__ = [
    "AttemptOutline", "AttemptSummary", "BenchmarkRow", "EffectItem", "FailureFacets", "NamedTask", "PushLine",
    "PushReport", "RunChanges", "RunCreated", "RunDetail", "Sender", "StateRow", "StateTable", "StepItem",
    "UploadProgress",
]  # fmt: skip


class Sender(msgspec.Struct, frozen=True, kw_only=True):
    """Who asks, and what they may."""

    name: str
    evaluates: bool
    writes: bool
    administers: bool


class RunDetail(msgspec.Struct, frozen=True, kw_only=True):
    """A run as its page shows it, without its tasks, which are a list of their own."""

    run: RunFacts
    numbers: Numbers
    worth: RunWorth
    domains: list[DomainRow]
    coverage: Coverage | None
    classes: list[Choice]
    """Tasks that passed always, sometimes, never, and incomplete ones; the empty value counts all."""
    sources: list[Source]
    reading: int | None
    """The upload that is being read into it."""
    reading_share: float


class RunCreated(msgspec.Struct, frozen=True, kw_only=True):
    """A run to push attempts to."""

    slug: str
    model: str
    benchmark: str
    repetitions: int
    created: bool
    """False: it was there already, with the same facts."""


class BenchmarkRow(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    tasks: int
    runs: int


class NamedTask(msgspec.Struct, frozen=True, kw_only=True):
    """A task of a benchmark, whichever runs tried it."""

    uid: str
    name: str
    domain: str
    benchmark: str
    runs: int


class AttemptSummary(msgspec.Struct, frozen=True, kw_only=True):
    """An attempt in a list."""

    pk: int
    run: str
    model: str
    benchmark: str
    task: str
    """Its uid."""
    domain: str
    repetition: int
    current: bool
    """False: an error that a later row replaced; it counts nowhere."""
    verdict: str
    reason: str
    finish_reason: str
    state_source: str
    differences: int
    """Graded differences from the required state."""
    signature: str
    """Empty where the attempt has none."""
    looked_like_success: bool | None
    claimed_success: bool | None
    disagrees: bool
    error_class: str
    retryable: bool | None
    steps: int
    tool_calls: int
    tool_errors: int
    write_calls: int
    model_calls: int | None
    input_tokens: int | None
    cached_tokens: int | None
    output_tokens: int | None
    reasoning_tokens: int | None
    duration: float | None
    """Seconds."""
    digest: str
    """SHA-256 of its row: two attempts with one digest are the same row."""


class AttemptOutline(msgspec.Struct, frozen=True, kw_only=True):
    """An attempt as the head of its page shows it; steps, effects, checks and states are lists of their own."""

    summary: AttemptSummary
    head: Head
    query: str | None
    policy: str | None
    private_context: str | None
    claim: Claim | None
    """The agent's last message."""
    evidence: Evidence | None
    """What stands against it."""
    why: WhyPanel | None
    """The signature with its evidence, of a failed attempt."""
    failing: int
    """Graded differences from the required state."""
    first_failing_step: int | None
    """The step behind the first of them."""
    compare: CompareLink | None
    """An attempt to compare with."""
    steps: int
    calls: int
    writes: int
    errors: int
    letters: str
    """One letter a step: u user, a agent, s system, t thought, c call, w state-changing call, e failed call, x failed
    state-changing call, r response without a call."""


class StepItem(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that happened, as recorded. Steps count from 1."""

    index: int
    kind: str
    role: str
    letter: str
    name: str | None
    """Of the tool."""
    arguments: Any
    """Of a call; null for what is no call."""
    content: str | None
    """The text, or the response."""
    length: int
    """Characters of the whole content."""
    cut: bool
    """`content` is its beginning."""
    error: str | None
    call_id: str | None
    batch: int | None
    tag: str | None
    effects: list[int]
    """Numbers of the effects that it wrote."""


class EffectItem(msgspec.Struct, frozen=True, kw_only=True):
    number: int
    """Its place among the attempt's effects, from 0."""
    effect: Effect


class StateTable(msgspec.Struct, frozen=True, kw_only=True):
    """A table of a server's state. Numbers of records are null where that side was not recorded."""

    server: str
    table: str
    rows_before: int | None
    rows_after: int | None
    rows_required: int | None
    changed: bool | None
    """After is another than before."""
    same: bool | None
    """After is as required, field by field, graded or not."""
    differences: int
    """Graded differences in it."""


class StateRow(msgspec.Struct, frozen=True, kw_only=True):
    position: int
    """In its table, from 0."""
    record: Any


class FailureFacets(msgspec.Struct, frozen=True, kw_only=True):
    """What failures can be filtered by, with counts beside the filters that are set."""

    stored: int
    """All failed attempts, before filtering."""
    total: int
    tasks: int
    runs: int
    waiting: int
    """Transcripts that are not in the index of words yet."""
    facets: list[FacetList]


class RunChanges(msgspec.Struct, frozen=True, kw_only=True):
    """How tasks moved from one run to the other, counted."""

    base: str
    candidate: str
    other_benchmark: bool
    changes: list[Choice]
    domains: list[str]


class UploadProgress(msgspec.Struct, frozen=True, kw_only=True):
    """How much of a file has arrived."""

    sha256: str
    offset: int
    """Bytes received; the next one to send."""
    size: int | None
    """Of the whole file, where it was said."""
    complete: bool


class PushLine(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one line."""

    line: int
    """In the request, from 1."""
    outcome: str
    """stored, same, replaced, conflict or rejected."""
    uid: str = ""
    repetition: int | None = None
    reason: str = ""
    """Why it was not stored, or what else is to be said."""


class PushReport(msgspec.Struct, frozen=True, kw_only=True):
    run: str
    upload: int
    """The entry in the history of uploads that lists what was pushed into the run."""
    stored: int
    same: int
    replaced: int
    conflicts: int
    rejected: int
    lines: list[PushLine]
