"""An attempt in the API's words."""

from __future__ import annotations

from inspector.api.structs import AttemptOutline, AttemptSummary, EffectItem, StepItem
from runs.access import Access
from runs.models import Attempt
from runs.payloads import load_evidence
from runs.queries.attempt_detail import part_text
from runs.queries.attempt_evidence import cause_step
from runs.queries.attempt_state import writes_by_step
from runs.queries.attempt_steps import letters_of
from runs.queries.attempt_viewed import viewed_attempt
from runs.queries.attempts import AttemptView, attempt_page, open_attempt
from runs.records import UNSET, Step, StepKind

__all__ = ["effect_items", "outline", "step_items", "summary"]


def summary(attempt: Attempt) -> AttemptSummary:
    """Needs its run, benchmark and task, and reads nothing."""
    signs = (attempt.ended_cleanly, attempt.called_write, attempt.last_response_ok)
    return AttemptSummary(
        pk=attempt.pk,
        run=attempt.run.slug,
        model=attempt.run.model,
        benchmark=attempt.run.benchmark.name,
        task=attempt.task.uid,
        domain=attempt.task.domain,
        repetition=attempt.repetition,
        current=attempt.current,
        verdict=attempt.verdict,
        reason=attempt.reason,
        finish_reason=attempt.finish_reason,
        state_source=attempt.state_source,
        differences=attempt.differences,
        signature=attempt.signature,
        looked_like_success=None if None in signs else all(signs),
        claimed_success=attempt.claimed_success,
        disagrees=attempt.disagrees,
        error_class=attempt.error_class,
        retryable=attempt.retryable,
        steps=attempt.steps,
        tool_calls=attempt.tool_calls,
        tool_errors=attempt.tool_errors,
        write_calls=attempt.write_calls,
        model_calls=attempt.model_calls,
        input_tokens=attempt.input_tokens,
        cached_tokens=attempt.cached_tokens,
        output_tokens=attempt.output_tokens,
        reasoning_tokens=attempt.reasoning_tokens,
        duration=attempt.duration,
        digest=attempt.digest,
    )


def outline(attempt: Attempt, access: Access) -> AttemptOutline:
    """The head of its page, from the page's own query function; for who may not evaluate, of the page they get."""
    opened = open_attempt(attempt, access)
    record = opened.record
    if not access.evaluates:
        viewed = viewed_attempt(attempt.pk, AttemptView(), access=access)
        assert viewed is not None
        return AttemptOutline(
            summary=summary(attempt),
            head=viewed.head,
            query=record.query,
            policy=record.policy,
            private_context=None,
            claim=None,
            evidence=None,
            why=None,
            failing=0,
            first_failing_step=None,
            compare=None,
            steps=viewed.steps.total,
            calls=viewed.steps.calls,
            writes=viewed.steps.writes,
            errors=viewed.steps.errors,
            letters=viewed.steps.letters,
        )
    page = attempt_page(attempt.pk, AttemptView(), access=access)
    assert page is not None
    graded = opened.graded
    return AttemptOutline(
        summary=summary(attempt),
        head=page.head,
        query=record.query,
        policy=record.policy,
        private_context=record.private_context,
        claim=page.claim,
        evidence=page.evidence,
        why=page.why,
        failing=page.failing,
        first_failing_step=cause_step(graded, record.steps),
        compare=page.compare,
        steps=page.steps.total,
        calls=page.steps.calls,
        writes=page.steps.writes,
        errors=page.steps.errors,
        letters=page.steps.letters,
    )


def step_items(attempt: Attempt, access: Access) -> list[StepItem]:
    """All steps. Two queries at most."""
    opened = open_attempt(attempt, access)
    record, graded = opened.record, opened.graded
    letters = letters_of(record.steps, graded.write_steps)
    wrote = writes_by_step(graded)
    return [
        _step(step, letters[step.index - 1], sorted({item.number for item in wrote.get(step.index, [])}))
        for step in record.steps
    ]


def _step(step: Step, letter: str, effects: list[int]) -> StepItem:
    content = part_text(step, "response" if step.kind in {StepKind.CALL, StepKind.RESPONSE} else "text")
    return StepItem(
        index=step.index,
        kind=step.kind.value,
        role=step.role,
        letter=letter,
        name=step.name,
        arguments=None if step.arguments is UNSET else step.arguments,
        content=content,
        length=len(content or ""),
        cut=False,
        error=step.error,
        call_id=step.call_id,
        batch=step.batch,
        tag=step.tag,
        effects=effects,
    )


def effect_items(attempt: Attempt) -> list[EffectItem]:
    """All effects in the order of the page. One query."""
    effects = load_evidence(attempt.trace).graded.effects
    return [EffectItem(number=number, effect=effect) for number, effect in enumerate(effects)]
