"""What the tools about one attempt or two answer, and how it reads."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from inspector.mcp_server.budget import Answer, Listed, Part
from inspector.mcp_server.quoting import QUOTED, block, counted, place_of, quote

__all__ = [
    "LEGEND",
    "AttemptChecks",
    "AttemptOutline",
    "AttemptSteps",
    "AttemptText",
    "CheckLine",
    "Divergence",
    "DivergentStep",
    "EffectLine",
    "EndLine",
    "Sibling",
    "SideLine",
    "StepLine",
    "StepPart",
    "Value",
    "WhyLine",
]  # fmt: skip

LEGEND = (
    "u user, a agent, s system, t thought, c call, w state-changing call, e failed call, "
    "x failed state-changing call, r response without a call"
)
_TEXT = "attempt_text(attempt, step, part) gives a whole text."
Step = Field(description="Number of the step, from 1.")


class Value(Part):
    """A value of a record. `text` is empty where `kind` says it all: null, empty_text, no_row, no_field, unrecorded."""

    kind: str
    text: str = ""

    def told(self) -> str:
        words = self.kind.replace("_", " ")
        return quote(self.text) if self.kind == "text" or (self.text and self.kind == "list") else self.text or words


class Sibling(Part):
    """Another repetition of the task in this run."""

    repetition: int
    attempt: int | None = Field(description="Its id; null where nothing is recorded.")
    verdict: str


class WhyLine(Part):
    what: str
    words: str = Field("", description="Quoted from the bundle.")
    step: int | None = None

    def told(self) -> str:
        step = "" if self.step is None else f" (step {self.step})"
        return f"- {self.what}{step}" + (f": {quote(self.words)}" if self.words else "")


class EffectLine(Part):
    """One difference between the records before, after and as required."""

    kind: str = Field(
        description="wrong, missing or extra: counts against the attempt. reported: known from the check's text only. "
        "correct and ungraded do not count."
    )
    what: str = Field(description="The kind in words.")
    server: str
    table: str
    key: str
    field: str = Field(description="Empty: the whole row.")
    before: Value
    after: Value
    required: Value
    steps: list[int] = Field(description="Steps that wrote it, the last one first; empty: no step did.")
    passing_attempt: int | None = Field(None, description="An attempt that passed and wrote what this one did not …")
    passing_step: int | None = Field(None, description="… and the step at which it did.")

    def told(self) -> str:
        place = f"{quote(place_of(self.table, self.field))} key {quote(self.key)}"
        written = f"written at step {', '.join(map(str, self.steps))}" if self.steps else "no step wrote it"
        passing = (
            ""
            if self.passing_attempt is None
            else f"; attempt {self.passing_attempt}, which passed, wrote it at its step {self.passing_step}"
        )
        values = f": before {self.before.told()}, after {self.after.told()}, required {self.required.told()}"
        return f"{self.what}: {place}{values}; {written}{passing}"


class StepPart(Part):
    part: str = Field(description="arguments, response or text: for attempt_text.")
    text: str = Field(description="Quoted from the bundle; its beginning where it is shorter than `length`.")
    length: int = Field(description="Characters of the whole.")


class StepLine(Part):
    step: int = Step
    letter: str = Field(description="What the step is, by the legend.")
    tool: str = ""
    error: str = Field("", description="The tool's error; empty: none.")
    parts: list[StepPart]

    def told(self) -> list[str]:
        name = f" {quote(self.tool)}" if self.tool else ""
        error = f", error {quote(self.error)}" if self.error else ""
        lines = [f"step {self.step} [{self.letter}]{name}{error}"]
        for part in self.parts:
            more = f" (first {len(part.text):,} of {part.length:,} characters)" if len(part.text) < part.length else ""
            lines += [f"  {part.part}{more}", *block(part.text)]
        return lines


class AttemptOutline(Answer):
    WHOLE: ClassVar[str] = _TEXT
    LISTS: ClassVar[dict[str, str]] = {
        "siblings": "find_attempts(run, task=…) lists those that failed.",
        "why": "attempt_checks(attempt) shows all differences.",
        "writes": "attempt_steps(attempt, show='writes') lists them all.",
    }
    attempt: int
    run: str
    model: str
    task: str
    repetition: int
    verdict: str
    finish_reason: str
    request: str = Field(description="The first message of the user, quoted.")
    claim: str | None = Field(
        description="The agent's last message, quoted; null where there is none, and to a viewer."
    )
    claim_step: int | None
    evidence: str | None = Field(description="What stands against the claim, in one line; null: not shown to a viewer.")
    first_difference: EffectLine | None = Field(description="Null where there is none or it may not be seen.")
    cause_step: int | None = Field(description="The step behind the first difference.")
    signature: str | None = Field(
        description="Why the attempt failed, in a word; empty where it did not, null: not shown to a viewer."
    )
    signature_rule: str | None
    why: list[WhyLine]
    differences: int | None = Field(description="Graded differences; null where they may not be seen.")
    steps: int
    letters: str = Field(description="One letter a step.")
    legend: str = LEGEND
    writes: list[StepLine] = Field(description="The steps that called a state-changing tool, by their arguments.")
    error_steps: list[int]
    siblings: list[Sibling] = Field(description="The task's repetitions in this run.")
    passing: int | None = Field(description="An attempt to compare with, if possible one that passed.")

    def lines(self) -> list[str]:
        lines = [
            f"attempt {self.attempt} of run {self.run} ({quote(self.model)}): task {quote(self.task)}, repetition "
            f"{self.repetition}, {self.verdict}, finish reason {quote(self.finish_reason)}"
        ]
        if self.request:
            lines += ["the user's request:", *block(self.request)]
        if self.claim_step is not None:
            lines += [f"the agent's last message (step {self.claim_step}):", *block(self.claim or "")]
        if self.evidence:
            lines.append(f"against it: {self.evidence}")
        if self.first_difference is not None:
            lines.append(f"first difference: {self.first_difference.told()}")
        if self.signature:
            lines += [f"signature: {self.signature} ({self.signature_rule})", *(line.told() for line in self.why)]
        lines.append(f"{counted(self.steps, 'step')}: {self.letters}")
        lines.append(f"letters: {self.legend}")
        if self.cause_step is not None:
            lines.append(f"the step behind the first difference is {self.cause_step}")
        if self.error_steps:
            lines.append(f"failed calls at steps {', '.join(map(str, self.error_steps))}")
        for write in self.writes:
            lines += write.told()
        told = ", ".join(f"{s.repetition}: {s.verdict} {s.attempt or ''}".rstrip() for s in self.siblings)
        return [*lines, f"repetitions (verdict, attempt): {told}", QUOTED]


class AttemptSteps(Answer):
    WHOLE: ClassVar[str] = _TEXT
    LISTS: ClassVar[dict[str, str]] = {"shown": "Ask again with `first` set to `next_first`."}
    attempt: int
    steps: int = Field(description="All steps of the attempt.")
    matching: int = Field(description="Steps that fit `show` and `words`.")
    legend: str = LEGEND
    shown: list[StepLine]
    next_first: int | None = Field(description="`first` of the next window; null at the end.")

    def left_out(self, name: str, count: int) -> AttemptSteps:
        return self.model_copy(update={"shown": self.shown[:count], "next_first": self.shown[count].step})

    def lines(self) -> list[str]:
        more = "" if self.next_first is None else f"; go on with first={self.next_first}"
        lines = [
            f"attempt {self.attempt}: {len(self.shown)} of {self.matching:,} fitting steps, {self.steps:,} in all{more}"
        ]
        for step in self.shown:
            lines += step.told()
        return [*lines, f"letters: {self.legend}", QUOTED]


class AttemptText(Answer):
    attempt: int
    step: int = Step
    part: str
    length: int = Field(description="Characters of the whole text.")
    start: int
    end: int
    next_start: int | None = Field(description="`start` of the next window; null at the end.")
    window: str = Field(description="Characters start to end, exactly as recorded.")

    def lines(self) -> list[str]:
        more = "" if self.next_start is None else f"; go on with start={self.next_start}"
        return [
            f"attempt {self.attempt}, step {self.step}, {self.part}: characters {self.start:,} to {self.end:,} of "
            f"{self.length:,}{more}. The text itself is in `window` of the structured content and here:",
            *block(self.window),
            QUOTED,
        ]


class CheckLine(Part):
    kind: str = Field(description="state, assertion or rubric.")
    name: str
    passed: bool | None = Field(description="Null: not asked or not recorded.")
    message: str = ""

    def told(self) -> str:
        word = {True: "passed", False: "failed", None: "not known"}[self.passed]
        return f"{self.kind} check {quote(self.name)} {word}" + (f": {quote(self.message)}" if self.message else "")


class AttemptChecks(Listed):
    WHOLE: ClassVar[str] = "The attempt's page shows whole values."
    LISTS: ClassVar[dict[str, str]] = {
        "checks": "The attempt's page lists all.",
        "effects": "attempt_checks(attempt, offset={next}) goes on.",
    }
    attempt: int
    verdict: str
    evidence: str
    source: str = Field(description="recorded: from the recorded states; reported: from the check's text; none.")
    checks: list[CheckLine]
    traceback: str = Field(description="Of the test, quoted.")
    error: str = Field(description="Of the harness, quoted.")
    effects: list[EffectLine] = Field(description="Failing ones first.")

    def lines(self) -> list[str]:
        lines = [f"attempt {self.attempt}, {self.verdict}: {self.evidence}", *(check.told() for check in self.checks)]
        for title, text in (("traceback of the test", self.traceback), ("error of the harness", self.error)):
            if text:
                lines += [f"{title}:", *block(text)]
        lines.append(f"{self.window('effects')} (states: {self.source})")
        return [*lines, *(f"- {effect.told()}" for effect in self.effects), QUOTED]


class SideLine(Part):
    attempt: int
    run: str
    label: str
    verdict: str
    repetition: int
    steps: int


class DivergentStep(Part):
    """A line on which the two attempts part. A side without a step did nothing like it there."""

    sentence: str
    left: StepLine | None
    right: StepLine | None
    fields: list[str] = Field([], description="Arguments in which the two calls differ.")

    def told(self) -> list[str]:
        lines = [self.sentence]
        for side, step in (("left", self.left), ("right", self.right)):
            lines += [f"{side}: nothing here"] if step is None else [f"{side}:", *step.told()]
        return lines


class EndLine(Part):
    """A field in which the two attempts end otherwise."""

    table: str
    key: str
    field: str
    left: Value
    right: Value
    required: Value
    left_step: int | None = Field(description="The step that wrote it last.")
    right_step: int | None

    def told(self) -> str:
        return (
            f"{quote(place_of(self.table, self.field))} key {quote(self.key)}: left {self.left.told()} "
            f"(step {self.left_step or 'none'}), right {self.right.told()} (step {self.right_step or 'none'}), "
            f"required {self.required.told()}"
        )


class Divergence(Answer):
    WHOLE: ClassVar[str] = _TEXT
    LISTS: ClassVar[dict[str, str]] = {"ends": "attempt_checks(attempt) lists the differences of each attempt."}
    task: str
    left: SideLine
    right: SideLine
    first_write: DivergentStep | None = Field(
        description="The first state-changing call that parts them and explains a difference: the likely cause."
    )
    first_difference: DivergentStep | None = Field(description="The first step that differs at all, if another one.")
    different_lines: int
    ends: list[EndLine] = Field(description="Fields in which the two end otherwise.")

    def lines(self) -> list[str]:
        sides = [
            f"{name}: attempt {side.attempt}, {quote(side.label)} of run {side.run}, {side.verdict}, {side.steps} steps"
            for name, side in (("left", self.left), ("right", self.right))
        ]
        lines = [f"task {quote(self.task)}", *sides]
        if self.first_write is not None:
            lines += ["FIRST DIVERGENT WRITE", *self.first_write.told()]
        else:
            lines.append("No state-changing call parts them.")
        if self.first_difference is not None:
            lines += ["FIRST DIFFERENCE", *self.first_difference.told()]
        lines.append(f"{counted(len(self.ends), 'field')} end otherwise; {self.different_lines:,} steps differ")
        return [*lines, *(f"- {end.told()}" for end in self.ends), QUOTED]
