"""Tools about one attempt: its outline, its steps, one text in full, what it was judged by, and where two part."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult
from pydantic import Field

from inspector.mcp_server import reading
from inspector.mcp_server.attempt_answers import (
    AttemptChecks,
    AttemptOutline,
    AttemptSteps,
    AttemptText,
    CheckLine,
    Sibling,
)
from inspector.mcp_server.attempt_parts import COUNTING, effects_of, evidence_words, step_line, why_lines
from inspector.mcp_server.budget import answer
from inspector.mcp_server.calling import AttemptId, Ctx, Offset, access_of, reads
from inspector.mcp_server.refusals import must_evaluate
from runs.access import Access
from runs.queries.attempt_structs import AttemptPage
from runs.queries.attempt_viewed import ViewedAttempt
from runs.queries.attempts import AttemptView

__all__ = ["attempt_checks", "attempt_outline", "attempt_steps", "attempt_text", "outline_of"]

_WRITES = 12
"""State-changing calls that an outline shows."""
_EFFECTS = 25
_WINDOW = 6000
"""Characters of a text that are given at once."""
_FIRST, _LAST = 40, 10


class Show(StrEnum):
    ALL = "all"
    MESSAGES = "messages"
    CALLS = "calls"
    WRITES = "writes"
    ERRORS = "errors"


class TextPart(StrEnum):
    ARGUMENTS = "arguments"
    RESPONSE = "response"
    TEXT = "text"


_LETTERS = {Show.ALL: "", Show.MESSAGES: "uas", Show.CALLS: "cwexr", Show.WRITES: "wx", Show.ERRORS: "ex"}


@reads
def attempt_outline(ctx: Ctx, attempt: AttemptId) -> Annotated[CallToolResult, AttemptOutline]:
    """One attempt at a glance: request, verdict, the agent's claim against the evidence, why it failed, the first wrong
    field with the step behind it, state-changing calls, and the other repetitions of the task.

    When to call: first, for any attempt. Next: attempt_steps around the step it names, attempt_checks for all
    differences, first_divergence against an attempt that passed.
    """
    return answer(outline_of(access_of(ctx), attempt))


def outline_of(access: Access, attempt: int) -> AttemptOutline:
    page = (
        reading.attempt_read(access, attempt, AttemptView(everything=True))
        if access.evaluates
        else reading.viewed_read(access, attempt)
    )
    claim = page.claim if isinstance(page, AttemptPage) else None
    user = reading.window_read(access, attempt, first=1, count=1, letters="u", words="", characters=500)
    writes = reading.window_read(access, attempt, first=1, count=_WRITES, letters="wx", words="", characters=240)
    letters = page.steps.letters
    told = writes.shown
    outline = AttemptOutline(
        attempt=attempt,
        run=page.head.run_slug,
        model=page.head.run_model,
        task=page.head.uid,
        repetition=page.head.repetition,
        verdict=page.head.word.lower(),
        finish_reason=page.head.finish_reason,
        request=next((text.text for step in user.shown for text in step.texts), ""),
        claim=None if claim is None else claim.text,
        claim_step=None if claim is None else claim.step,
        steps=page.steps.total,
        letters=letters if len(letters) <= 1200 else f"{letters[:1200]}… (+{len(letters) - 1200:,} steps)",
        writes=[step_line(step) for step in told],
        error_steps=[at for at, letter in enumerate(letters, 1) if letter in "ex"][:_FIRST],
        siblings=[Sibling(repetition=dot.repetition, attempt=dot.pk, verdict=dot.word) for dot in page.head.dots],
        passing=_other(page) if isinstance(page, AttemptPage) else None,
        **_judged(page),
    )
    notes = []
    if len(letters) > 1200:
        notes.append("The letters of later steps. attempt_steps(attempt, first=1201) shows the steps.")
    if page.steps.writes > len(told):
        following = writes.following
        notes.append(
            f"{page.steps.writes - len(told):,} of {page.steps.writes:,} state-changing calls. "
            f"attempt_steps(attempt={attempt}, show='writes', first={following}) goes on."
        )
    if page.steps.errors > _FIRST:
        notes.append(
            f"{page.steps.errors - _FIRST:,} failed calls. attempt_steps(attempt={attempt}, show='errors') lists all."
        )
    if claim is not None and claim.cut:
        notes.append(f"The agent's message. attempt_text(attempt={attempt}, step={claim.step}, part='text') is whole.")
    return outline.noting(*notes)


def _judged(page: AttemptPage | ViewedAttempt) -> dict[str, Any]:
    """What follows from required states and checks; without the right to see them, that it was left out."""
    pk = page.head.pk
    near = [f"attempt_steps(attempt={pk}, first=1) reads the steps from the start."]
    if isinstance(page, ViewedAttempt):
        hidden = "Checks, differences and signature: the token needs the scope `evaluate`."
        return {
            "evidence": None, "first_difference": None, "cause_step": None, "signature": None, "signature_rule": None,
            "why": [], "differences": None, "cut": [hidden], "next": near,
        }  # fmt: skip
    failing = [effect for effect in effects_of(page.state) if effect.kind in COUNTING]
    first = failing[0] if failing else None
    cause = first.steps[0] if first is not None and first.steps else None
    following = (
        []
        if cause is None
        else [f"attempt_steps(attempt={pk}, first={max(1, cause - 3)}, count=8) reads around step {cause}."]
    )
    if len(failing) > 1:
        following.append(f"attempt_checks(attempt={pk}) lists all {len(failing)} differences.")
    if _other(page) is not None:
        following.append(f"first_divergence(attempt={pk}) compares with attempt {_other(page)}.")
    return {
        "evidence": evidence_words(page),
        "first_difference": first,
        "cause_step": cause,
        "signature": "" if page.why is None else page.why.words.title,
        "signature_rule": "" if page.why is None else page.why.words.rule,
        "why": why_lines(page.why)[:12],
        "differences": page.failing,
        "next": following or near,
    }


def _other(page: AttemptPage) -> int | None:
    if page.compare is None:
        return None
    return page.compare.left if page.compare.left != page.head.pk else page.compare.right


@reads
def attempt_steps(
    ctx: Ctx,
    attempt: AttemptId,
    first: Annotated[int, Field(ge=1, le=10**9, description="The first step to show.")] = 1,
    count: Annotated[int, Field(ge=1, le=_FIRST, description="Steps to show at most.")] = _LAST,
    show: Annotated[Show, Field(description="Which steps: all, or only some kinds.")] = Show.ALL,
    words: Annotated[str, Field(description="Only steps that hold this text.")] = "",
    characters: Annotated[
        int, Field(ge=40, le=4000, description="Characters of each text; fewer fit more steps.")
    ] = 500,
) -> Annotated[CallToolResult, AttemptSteps]:
    """A window of an attempt's steps with arguments, responses and messages, each cut at `characters`.

    When to call: after attempt_outline, with `first` a little before the step it names. Next: attempt_text for a text
    that was cut.
    """
    found = reading.window_read(
        access_of(ctx),
        attempt,
        first=first,
        count=count,
        letters=_LETTERS[show],
        words=words[:400],
        characters=characters,
    )
    cut = next(((step, text) for step in found.shown for text in step.texts if len(text.text) < text.length), None)
    following = []
    if found.following is not None:
        following.append(f"attempt_steps(attempt={attempt}, first={found.following}, …) goes on.")
    if cut is not None:
        following.append(
            f"attempt_text(attempt={attempt}, step={cut[0].index}, part='{cut[1].part}') gives a text in full."
        )
    if not found.matching:
        following.append(f"No step fits. attempt_steps(attempt={attempt}) shows all {found.steps:,}.")
    elif not found.shown:
        following.append(f"No fitting step from {first} on. attempt_steps(attempt={attempt}, first=1, …) starts again.")
    return answer(
        AttemptSteps(
            attempt=attempt,
            steps=found.steps,
            matching=found.matching,
            shown=[step_line(step) for step in found.shown],
            next_first=found.following,
            next=following,
        )
    )


@reads
def attempt_text(
    ctx: Ctx,
    attempt: AttemptId,
    step: Annotated[int, Field(ge=1, le=10**9, description="Number of the step.")],
    part: Annotated[TextPart, Field(description="Which text of the step.")],
    start: Annotated[int, Field(ge=0, le=10**12, description="Characters to skip: the `next_start` before.")] = 0,
) -> Annotated[CallToolResult, AttemptText]:
    """One text of one step exactly as recorded, in windows: arguments, response or message.

    When to call: where attempt_steps or an outline cut a text that matters.
    """
    access = access_of(ctx)
    whole = reading.step_text_read(access, attempt, step, part.value)
    if whole is None:
        found = reading.window_read(access, attempt, first=step, count=1, letters="", words="", characters=1)
        if step > found.steps:
            raise ToolError(
                f"Attempt {attempt} has {found.steps:,} steps, so there is no step {step}. attempt_steps lists them."
            )
        has = [text.part for text in found.shown[0].texts] if found.shown else []
        raise ToolError(f"Step {step} of attempt {attempt} has no {part.value}. It has: {', '.join(has) or 'no text'}.")
    return answer(_window_of(attempt, step, part.value, whole, start))


def _window_of(attempt: int, step: int, part: str, whole: str, start: int) -> AttemptText:
    """As many characters as fit: signs outside ASCII take several bytes, and each is sent twice."""
    size = _WINDOW
    begin = min(start, len(whole))
    while True:
        end = min(len(whole), begin + size)
        made = AttemptText(
            attempt=attempt,
            step=step,
            part=part,
            length=len(whole),
            start=begin,
            end=end,
            next_start=end if end < len(whole) else None,
            window=whole[begin:end],
        )
        if made.fits() or size <= 200:
            return made
        size = size * 2 // 3


@reads
def attempt_checks(
    ctx: Ctx,
    attempt: AttemptId,
    everything: Annotated[bool, Field(description="Also effects that are as required, or not graded.")] = False,
    offset: Offset = 0,
) -> Annotated[CallToolResult, AttemptChecks]:
    """What an attempt was judged by: its checks, and its effects field by field before, after and as required, with the
    steps that wrote them.

    When to call: for all differences of a failed attempt. Next: attempt_steps around a step named here; where no step
    wrote a field, `passing_attempt` and `passing_step` say where another attempt did.
    """
    access = access_of(ctx)
    must_evaluate(access, "attempt_checks", "attempt_outline and attempt_steps read the trace.")
    page = reading.attempt_read(access, attempt, AttemptView(tab="checks", everything=True))
    effects = [effect for effect in effects_of(page.state) if everything or effect.kind in COUNTING]
    shown = effects[offset : offset + _EFFECTS]
    end = offset + len(shown)
    hidden = page.state.total - len(effects)
    checks = page.checks
    states = [
        CheckLine(
            kind="state",
            name=state.check.name,
            passed=state.check.passed,
            message=state.sentence or state.check.message,
        )
        for state in checks.states
    ]
    others = [
        CheckLine(kind=one.kind.value, name=one.name, passed=one.passed, message=one.motivation or one.message)
        for one in (*checks.assertions, *checks.rubrics)
    ]
    steps = sorted({effect.steps[0] for effect in shown if effect.steps})
    made = AttemptChecks(
        attempt=attempt,
        verdict=page.head.word.lower(),
        evidence=evidence_words(page),
        source=page.state.source,
        checks=[*states, *others][:30],
        traceback=checks.traceback[-1500:],
        error=checks.error[:1500],
        effects=shown,
        total=len(effects),
        offset=offset,
        shown=len(shown),
        next_offset=end if end < len(effects) else None,
        next=[
            f"attempt_steps(attempt={attempt}, first={max(1, at - 3)}, count=8) reads around step {at}."
            for at in steps[:2]
        ],
    )
    notes = []
    if not everything and hidden:
        notes.append(
            f"{hidden:,} effects that are as required or not graded. "
            f"attempt_checks(attempt={attempt}, everything=true) shows them."
        )
    if len(states) + len(others) > 30:
        notes.append(f"{len(states) + len(others) - 30} checks; the attempt's page lists all.")
    if len(checks.traceback) > 1500:
        notes.append("The beginning of the traceback; the attempt's page has all of it.")
    return answer(made.noting(*notes))
