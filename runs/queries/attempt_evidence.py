"""Claim against evidence: the agent's last message, the first difference that counts, the checks behind a verdict."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import UNSET

from runs.queries.attempt_state import first_failing, step_link, tried_steps
from runs.queries.attempt_state_structs import StepLink
from runs.queries.attempt_steps import claim_step
from runs.queries.attempt_structs import ChecksPanel, Claim, EffectLine, Evidence, StateCheck
from runs.queries.values import ValueKind, shown
from runs.records import (
    AttemptRecord,
    Check,
    CheckKind,
    Effect,
    EffectKind,
    ErrorReason,
    GradedAttempt,
    StateSource,
    Step,
    StepKind,
    Verdict,
)
from runs.wording import counted

__all__ = ["cause_step", "checks_panel", "claim_of", "evidence_of"]

_CLAIM = 420
_VALUE = 60
_LINES = 8
"""Differences listed under a state comparison."""
_RECORD_STATES = "To record the records before, after and required, run the harness with --dump testcontext."


def claim_of(record: AttemptRecord) -> Claim | None:
    """The last visible message of the agent, exactly; its beginning where it is long. None when it said nothing."""
    index = claim_step(record.steps)
    if index is None:
        return None
    text = record.steps[index - 1].content or ""
    messages = [step.index for step in record.steps if step.kind is StepKind.MESSAGE and step.role != "system"]
    return Claim(
        step=index, text=text[:_CLAIM], size=len(text.encode(errors="surrogatepass")),
        cut=len(text) > _CLAIM,
        is_last=messages[-1] == index,
    )  # fmt: skip


def cause_step(graded: GradedAttempt, steps: Sequence[Step]) -> int | None:
    """The step behind the first failing effect: its last write, else the last failed try; None without either."""
    number = first_failing(graded.effects)
    if number is None:
        return None
    effect = graded.effects[number]
    if effect.writes:
        return effect.writes[0].step
    return next(iter(tried_steps(effect, graded, steps)), None)


def evidence_of(record: AttemptRecord, graded: GradedAttempt) -> Evidence:
    """What stands against the claim, in one line."""
    if record.verdict is Verdict.ERROR and record.reason is not ErrorReason.NOT_GRADED:
        return _broken(record, graded)
    number = first_failing(graded.effects)
    disagrees = any(server.disagrees for server in graded.servers)
    if record.verdict is Verdict.PASSED:
        return _passed(graded, number, record.steps)
    prefix = "not graded: the row has no test result" if record.verdict is Verdict.ERROR else ""
    if number is not None:
        line = effect_line(number, graded.effects[number], graded, record.steps)
        count = graded.differences
        if graded.state_source is StateSource.REPORTED:
            headline = f"{counted(count, 'difference')} reported by the check; the states are not recorded"
            return Evidence(headline=headline, line=line, note=_RECORD_STATES)
        note = "The check and the diff disagree: the hashes are equal." if disagrees else ""
        return Evidence(
            headline=prefix or f"state comparison failed, {counted(count, 'graded difference')}", line=line, note=note
        )
    rubric = next((check for check in graded.checks if check.kind is CheckKind.RUBRIC and check.passed is False), None)
    if rubric is not None:
        headline = f"a rubric question was answered No, {_state_words(graded)}"
        return Evidence(headline=headline, kind="wrong", sentence="answered No:", quote=rubric.name, tab="checks")
    if disagrees:
        sentence = "The hashes differ, and the diff finds no graded difference: the check and the diff disagree."
        return Evidence(headline="state comparison failed", kind="wrong", sentence=sentence, tab="checks")
    if prefix:
        known = graded.state_source is StateSource.RECORDED
        sentence = "The state is as required." if known else "The states are not recorded."
        return Evidence(headline=prefix, kind="ungraded", sentence=sentence, note="" if known else _RECORD_STATES)
    assertion = next((check for check in graded.checks if check.kind is CheckKind.ASSERTION), None)
    if assertion is not None:
        known = graded.state_source is StateSource.RECORDED
        return Evidence(
            headline=f"an assertion failed, {_state_words(graded)}",
            kind="wrong", sentence="", quote=(assertion.message or assertion.name)[:300], tab="checks",
            note="" if known else _RECORD_STATES,
        )  # fmt: skip
    return Evidence(
        headline="the check failed", kind="wrong", tab="checks", note=_RECORD_STATES,
        sentence="The record does not say why, and the states are not recorded.",
    )  # fmt: skip


def _state_words(graded: GradedAttempt) -> str:
    known = graded.state_source is StateSource.RECORDED
    return "the state is as required" if known else "the states are not recorded"


def effect_line(number: int, effect: Effect, graded: GradedAttempt, steps: Sequence[Step]) -> EffectLine:
    """An effect in one line, with the steps that wrote it."""
    failed = {step.index for step in steps if step.error is not None}
    order = list(dict.fromkeys(effect.steps))
    links = [step_link(order[0], order[0], failed)] if order else []
    tried = tried_steps(effect, graded, steps)[:1]
    reported = effect.kind is EffectKind.REPORTED
    whole = effect.field is None and not reported
    absent = ValueKind.UNRECORDED if reported else ValueKind.NO_ROW if effect.created else ValueKind.NO_FIELD
    if whole:
        is_known = all(one.before_recorded for one in graded.servers if one.server == effect.server)
        sentence = _whole_sentence(effect, is_known)
    elif order:
        sentence = "last written by" if len(order) > 1 else "written by"
    elif reported:
        sentence = ""
    elif effect.touched:
        sentence = "the row was written, this field was not"
    else:
        sentence = "never written" if effect.kind is EffectKind.MISSING else "no call shows this value"
    return EffectLine(
        number=number, kind=effect.kind.value, word=f"{effect.kind.value} row" if whole else effect.kind.value,
        table=effect.table, key=effect.key, field=effect.field,
        has=None if whole else shown(effect.after, absent=absent, limit=_VALUE),
        must=None if whole else shown(effect.required, absent=absent, limit=_VALUE),
        sentence=sentence, links=links or [StepLink(step, "bad") for step in tried],
        before_that=[step_link(step, order[0], failed) for step in order[1:4]],
    )  # fmt: skip


def checks_panel(record: AttemptRecord, graded: GradedAttempt) -> ChecksPanel:
    """The checks as their pane shows them."""
    test = record.test
    by_server = {server.server: server for server in graded.servers}
    states = []
    for check in graded.checks:
        if check.kind is not CheckKind.STATE:
            continue
        mine = [
            (number, effect)
            for number, effect in enumerate(graded.effects)
            if effect.counts and (effect.server == check.name or len(graded.servers) < 2)
        ]
        grading = by_server.get(check.name)
        states.append(
            StateCheck(
                check=check,
                grading=grading,
                lines=[effect_line(number, effect, graded, record.steps) for number, effect in mine[:_LINES]],
                more=max(0, len(mine) - _LINES),
                sentence=_state_sentence(check, len(mine), disagrees=grading is not None and grading.disagrees),
            )
        )
    positional = [server.positional for server in graded.servers if server.positional is not None]
    return ChecksPanel(
        states=states,
        assertions=[check for check in graded.checks if check.kind is CheckKind.ASSERTION],
        rubrics=[check for check in graded.checks if check.kind is CheckKind.RUBRIC],
        failed=sum(check.passed is False for check in graded.checks if check.kind is not CheckKind.ASSERTION)
        or sum(check.passed is False for check in graded.checks),
        positional=sum(positional) if positional else None,
        traceback=test.traceback if test is not None else "",
        prints=test.prints if test is not None else "",
        error=record.error or "",
    )


def _broken(record: AttemptRecord, graded: GradedAttempt) -> Evidence:
    if record.reason is ErrorReason.GRADER:
        traceback = record.test.traceback.strip() if record.test is not None else ""
        assertion = next((check for check in graded.checks if check.kind is CheckKind.ASSERTION), None)
        quote = assertion.message if assertion is not None else traceback.rpartition("\n")[2]
        return Evidence(
            headline="none that counts: the test itself broke", kind="error", sentence="grader error",
            quote=quote[:300], tab="checks",
        )  # fmt: skip
    return Evidence(
        headline="none: the harness broke", kind="error", sentence="system error",
        quote=(record.error or "the row is marked as a system error and says no more")[:300], tab="checks",
    )  # fmt: skip


def _passed(graded: GradedAttempt, number: int | None, steps: Sequence[Step]) -> Evidence:
    if graded.state_source is not StateSource.RECORDED:
        return Evidence(
            headline="the check passed",
            kind="correct",
            sentence="The states are not recorded.",
            note=_RECORD_STATES,
            tab="checks",
        )
    if number is not None:
        line = effect_line(number, graded.effects[number], graded, steps)
        return Evidence(
            headline="the check passed", line=line, note="The check and the diff disagree: the attempt passed."
        )
    done = sum(effect.kind is EffectKind.CORRECT for effect in graded.effects)
    if done == 0:
        return Evidence(
            headline="state comparison passed", kind="correct", sentence="no change was required, and none was made"
        )
    return Evidence(
        headline="state comparison passed", kind="correct",
        sentence=f"{done} of {counted(done, 'graded change')} as required",
        note="nothing wrong, missing or extra",
    )  # fmt: skip


def _state_sentence(check: Check, differences: int, *, disagrees: bool) -> str:
    if disagrees:
        return "The check and the diff disagree. " + check.message
    if check.passed is None or check.after_hash is None:
        return check.message
    if check.passed:
        return "The state after the attempt equals the required state in every field that counts."
    explained = f"{counted(differences, 'graded difference')} {'explains' if differences == 1 else 'explain'} it."
    return f"The state after the attempt must equal the required state. The two hashes differ; {explained}"


def _whole_sentence(effect: Effect, is_known: bool) -> str:
    """`is_known`: what was there before is recorded."""
    before, after, required = (side is not UNSET for side in (effect.before, effect.after, effect.required))
    if not is_known:
        return "is there and not required" if after else "is required and not there"
    if not before:
        return "was created and not required" if after else "was required and never created"
    if not after:
        return "was removed and is required" if required else "was removed as required"
    return "was to be removed and is still there" if not required else "was changed, not to what is required"
