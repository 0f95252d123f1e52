"""The structs that all hops speak: what a reader gives, what grading adds.

Plain data, no behaviour beyond trivial derived values. After the reader no code knows which harness wrote a bundle.
A value that a record does not have is `UNSET` ("no such row", "not recorded"), which is not null and not empty.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import msgspec
from msgspec import UNSET, Raw

__all__ = [
    "UNSET", "AttemptRecord", "BundleHeader", "Check", "CheckKind", "Effect", "EffectKind", "ErrorReason",
    "GradedAttempt", "Grading", "Problem", "ProblemKind", "Raw", "SaidRow", "ServerGrading", "ServerStates",
    "StateSource", "Step", "StepKind", "TestResult", "Tool", "Usage", "Verdict", "Write",
]  # fmt: skip


class Verdict(StrEnum):
    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"


class ErrorReason(StrEnum):
    """Why an attempt has the verdict `error`."""

    SYSTEM = "system"
    """The row is a system error: the harness, an endpoint or the simulated user broke."""
    GRADER = "grader"
    """The attempt ran, and its test broke."""
    NOT_GRADED = "not_graded"
    """The row has no test result."""


class StepKind(StrEnum):
    MESSAGE = "message"
    THOUGHT = "thought"
    CALL = "call"
    """A tool call together with its response."""
    RESPONSE = "response"
    """A tool response that answers no call of the transcript."""


class EffectKind(StrEnum):
    CORRECT = "correct"
    WRONG = "wrong"
    MISSING = "missing"
    EXTRA = "extra"
    UNGRADED = "ungraded"
    REPORTED = "reported"
    """Known only from the text of the check: what was there before is not recorded."""


class CheckKind(StrEnum):
    STATE = "state"
    ASSERTION = "assertion"
    RUBRIC = "rubric"


class StateSource(StrEnum):
    """Where the effects of an attempt come from."""

    RECORDED = "recorded"
    REPORTED = "reported"
    NONE = "none"


class Grading(StrEnum):
    """How it was decided which fields of a server the benchmark grades."""

    LISTED = "listed"
    """The shipped list of a known server, proven by recomputing the recorded hashes of this attempt."""
    COMPARED = "compared"
    """The harness's own positional comparison was repeated: a differing field that it does not name is not graded."""
    ALL = "all"
    """Nothing says it, so each field counts as graded."""


class ProblemKind(StrEnum):
    REJECTED = "rejected"
    CONFLICT = "conflict"
    NOTE = "note"
    """The line was stored; something about it is worth knowing (a NaN kept as text, a duplicate key)."""


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """Something about one line of a bundle that a person has to see. Lines count from 1."""

    line: int
    kind: ProblemKind
    reason: str
    uid: str = ""
    repetition: int | None = None
    kept: str = ""
    """For a conflict: where the row that was kept came from, for example `line 6`."""


class Tool(msgspec.Struct, frozen=True, kw_only=True):
    """A tool that was offered to the agent."""

    name: str
    description: str = ""
    read_only: bool | None = None
    """The tool's own `readOnlyHint`; None where it has none."""
    ends_turn: bool = False


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens of one model call, or the sum of several, as recorded. `reasoning` is a part of `output`.

    `cached` and `cache_write` are parts of `input`; where the usage is `beside` (Anthropic-style) they lie beside it.
    """

    input: int = 0
    cached: int = 0
    cache_write: int = 0
    output: int = 0
    reasoning: int = 0
    calls: int = 0
    beside: bool = False

    @property
    def total(self) -> int:
        return self.input + self.output + (self.cached + self.cache_write if self.beside else 0)


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that happened in an attempt. Steps count from 1, from the first message that is not an instruction."""

    index: int
    kind: StepKind
    role: str
    """`user`, `assistant`, `system` or `tool` (a response without a call)."""
    content: str | None = None
    """The text of a message or thought; for a call the text of its response, None where there is none."""
    name: str | None = None
    """The name of the tool."""
    arguments: Any = UNSET
    """The arguments of a call as decoded JSON; a text when the model's JSON was broken; UNSET when not a call."""
    call_id: str | None = None
    error: str | None = None
    """The text of the tool error, by the four published signs; never derived from a business field."""
    batch: int | None = None
    """Number of the parallel batch, from 1, where several calls were made at once."""
    tag: str | None = None
    """The harness's own tag of a text: `text`, `think`, `direct`."""
    dummy: bool = False
    """The harness put this message in; nobody said it."""
    message: int | None = None
    """Position of the (first) source message in the row, from 0."""

    @property
    def is_agent(self) -> bool:
        return self.kind is StepKind.MESSAGE and self.role == "assistant"


class ServerStates(msgspec.Struct, frozen=True, kw_only=True):
    """What a tool server recorded of one attempt: table → JSON text of the list of its records.

    A state that was not recorded is None. The texts are as the bundle has them, so equal texts are equal tables.
    """

    before: dict[str, Raw] | None = None
    after: dict[str, Raw] | None = None
    required: dict[str, Raw] | None = None
    after_hash: str | None = None
    required_hash: str | None = None
    diff: list[dict[str, Any]] | None = None
    """The harness's own list of differences by position; None where it is not recorded."""
    rubrics: list[str] = []
    """The yes/no questions that a judge answers about the final message."""

    @property
    def recorded(self) -> bool:
        return self.after is not None and self.required is not None


class TestResult(msgspec.Struct, frozen=True, kw_only=True):
    """What the harness's test said."""

    __test__ = False  # not a test case, whatever a test collector makes of the name

    passed: bool
    reward: float | None = None
    broke: bool = False
    """The test itself broke: a grader error."""
    traceback: str = ""
    prints: str = ""
    line: int | None = None
    line_content: str = ""
    judgements: list[dict[str, Any]] | None = None
    """Answers of the judge: `question`, `answer` (boolean), `motivation`; None when not recorded."""


class AttemptRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One attempt as its bundle tells it, in the words of this project."""

    uid: str
    repetition: int
    verdict: Verdict
    tried: int | None = None
    """Which try at this repetition it was, from 1; None where the row does not say."""
    said: dict[str, Any] | None = None
    """What the row says of where it came from (`runs.bundles.canonical_rows.read_said`); None where it says nothing."""
    reason: ErrorReason | None = None
    finish_reason: str | None = None
    domain: str = ""
    """A label for people (`Retail`); the empty text when the row names none."""
    scenario: str = ""
    instructions: str | None = None
    """The first system message: what the harness tells every agent."""
    policy: str | None = None
    """The second system message: the business's own rules."""
    query: str | None = None
    """The first user message."""
    private_context: str | None = None
    """What only the simulated user knows; None when not recorded."""
    steps: list[Step] = []
    tools: list[Tool] = []
    usage: list[Usage] | None = None
    """One entry a model call; None when the row has no usage."""
    duration: float | None = None
    """Seconds from start to end of the attempt."""
    timers: dict[str, float] = {}
    """Seconds by part, for example `agent`, `tool`, `user`, `test`."""
    servers: dict[str, ServerStates] = {}
    test: TestResult | None = None
    error: str | None = None
    """The text of a system error: type and message."""
    error_traceback: str = ""
    tags: dict[str, Any] = {}
    metadata: dict[str, Any] = {}
    """The row's metadata, whole."""
    notes: list[str] = []
    """What reading had to decide, in sentences."""

    @property
    def total_usage(self) -> Usage | None:
        if self.usage is None:
            return None
        return Usage(
            input=sum(u.input for u in self.usage),
            cached=sum(u.cached for u in self.usage),
            cache_write=sum(u.cache_write for u in self.usage),
            output=sum(u.output for u in self.usage),
            reasoning=sum(u.reasoning for u in self.usage),
            calls=len(self.usage),
            beside=any(u.beside for u in self.usage),
        )


class SaidRow(msgspec.Struct, frozen=True):
    """What a row says of where it came from, and its digest."""

    digest: str
    value: dict[str, Any]


class BundleHeader(msgspec.Struct, frozen=True, kw_only=True):
    """What a bundle says about the run as a whole: an allow-list. Endpoints, keys and headers are never in it."""

    model: str | None = None
    parameters: dict[str, Any] = {}
    benchmark: str | None = None
    repetitions: int | None = None
    """k, as the run was planned."""
    lineage: str | None = None
    """A digest that all files of one run share."""
    started_at: str | None = None
    """ISO 8601."""
    duration: float | None = None
    """Seconds."""


class Write(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One step that wrote a field, and the value it wrote (UNSET when the step only shows that it wrote)."""

    step: int
    value: Any = UNSET


class Effect(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One difference between before, after and required.

    `field` is None for a whole record; the three values are then its graded fields, UNSET for "no such record".
    For a field, UNSET says that the record, or the field in it, is absent. With kind `reported`, before is UNSET since
    nobody recorded it.
    """

    kind: EffectKind
    server: str
    table: str
    key: str
    field: str | None = None
    before: Any = UNSET
    after: Any = UNSET
    required: Any = UNSET
    created: bool = False
    """A field of a record that is absent in before and exists in after and required."""
    after_key: str | None = None
    """The record's key in after, where it is another than in required."""
    touched: bool = False
    """Only for `missing`: the record was changed, but not to the required value."""
    note: str = ""
    """Only for `reported`: the harness's own word for the difference, and what was folded."""
    positional: bool = False
    """Only for `reported`: follows from a length mismatch of its table, so it counts for nothing."""
    writes: list[Write] = []
    """Steps that wrote the field (of a whole record: any field), last first; inferred by matching values."""

    @property
    def steps(self) -> list[int]:
        return [write.step for write in self.writes]

    @property
    def counts(self) -> bool:
        """Whether this is a graded difference from the required state."""
        return self.kind in {EffectKind.WRONG, EffectKind.MISSING, EffectKind.EXTRA} or (
            self.kind is EffectKind.REPORTED and not self.positional
        )


class Check(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One executable condition."""

    kind: CheckKind
    name: str
    """The server of a state comparison, the failing line of an assertion, the question of a rubric."""
    passed: bool | None
    """None: not asked, or not recorded."""
    message: str = ""
    after_hash: str | None = None
    required_hash: str | None = None
    line: int | None = None
    motivation: str | None = None


class ServerGrading(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How one server's states were compared."""

    server: str
    grading: Grading
    tables: int = 0
    """Tables in the states."""
    same_tables: int = 0
    """Tables that are equal in all three states."""
    same_rows: int = 0
    """Records in those tables."""
    rows: dict[str, int] = {}
    """Of each table that differs: records, those of after and required together."""
    before_recorded: bool = True
    """False: only after and required are known, so nobody knows what was changed."""
    positional: int | None = None
    """Length of the harness's own list of differences; None when not recorded."""
    disagrees: bool = False
    """The hashes and the differences found here contradict each other."""
    duplicates: list[str] = []
    """Keys that occur twice in one table, as `table key`: a comparison by key cannot see the second."""


class GradedAttempt(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the evidence says about an attempt. Stored beside the trace."""

    effects: list[Effect] = []
    """Failing first, then correct, then ungraded; tables with failures first."""
    checks: list[Check] = []
    state_source: StateSource = StateSource.NONE
    servers: list[ServerGrading] = []
    write_steps: list[int] = []
    """Steps that called a state-changing tool, in order."""

    @property
    def differences(self) -> int:
        """Number of graded differences from the required state."""
        return sum(effect.counts for effect in self.effects)
