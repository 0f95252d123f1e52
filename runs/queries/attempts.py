"""The trace page's data: one attempt with its evidence. Three queries for the page, few more on demand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec
from django.core.exceptions import PermissionDenied
from msgspec import UNSET

from runs.access import Access
from runs.grading import grade
from runs.masking import mask_graded, said_masked
from runs.models import Attempt, Run, UploadProblem
from runs.payloads import load_evidence, load_record, restore_row, restore_without_parts
from runs.plain import plain_record
from runs.queries.attempt_cost import attempt_price
from runs.queries.attempt_counterpart import counterpart, passing_writes, with_passing
from runs.queries.attempt_detail import part_text, step_detail
from runs.queries.attempt_evidence import cause_step, checks_panel, claim_of, evidence_of
from runs.queries.attempt_same import SameTables, full_record, same_tables, with_unchanged
from runs.queries.attempt_state import state_panel, writes_by_step
from runs.queries.attempt_steps import SHOWS, letters_of, step_block, step_list, timeline
from runs.queries.attempt_structs import AttemptPage, Block, Dot, Head, HistoryEntry, RawPanel, StepDetail, TaskPanel
from runs.queries.attempt_why import why_panel
from runs.queries.values import json_pretty
from runs.queries.verdicts import NOT_RECORDED, verdict_word
from runs.querysets import for_evaluators, visible_attempts
from runs.records import AttemptRecord, GradedAttempt, Problem, ProblemKind, Step, Tool, Verdict
from runs.signatures import Diagnosis

__all__ = [
    "TABS",
    "AttemptRow",
    "AttemptView",
    "attempt_block",
    "attempt_page",
    "attempt_row",
    "attempt_same",
    "attempt_step",
    "attempt_step_text",
    "attempt_value",
]

SIDES = ("before", "after", "required")
TABS = ("state", "checks", "task", "raw")
_MOST_DOTS = 200
"""Repetitions that a strip shows; of more only those around the current one."""


class AttemptView(msgspec.Struct, frozen=True, kw_only=True):
    """What of an attempt is looked at, as the address says it."""

    tab: str = "state"
    step: int | None = None
    """None: the step behind the first failing effect."""
    show: str = "all"
    find: str = ""
    unchanged: bool = False
    everything: bool = False
    """All effects, also where they are very many."""
    narrow: str = "steps"


class Opened(msgspec.Struct, frozen=True):
    record: AttemptRecord
    graded: GradedAttempt
    diagnosis: Diagnosis | None
    masked: dict[str, int] = {}
    """Kind → different secrets of the row; empty for who may not evaluate: it tells of required states, too."""
    masked_for_good: bool = False
    """They were masked before the row was stored."""


def attempt_page(pk: int, view: AttemptView, *, access: Access) -> AttemptPage | None:
    """The page of an attempt; None when there is no such attempt. Four queries; Task and Raw take up to two more.

    Raises PermissionDenied for who may not evaluate: they have `viewed_attempt`.
    """
    for_evaluators(access)
    attempt = attempt_seen(pk, access)
    if attempt is None:
        return None
    opened = open_attempt(attempt, access)
    record, graded = opened.record, opened.graded
    siblings = siblings_of(attempt)
    letters = letters_of(record.steps, graded.write_steps)
    wrote = writes_by_step(graded)
    cause = cause_step(graded, record.steps)
    step = selected_step(view, record.steps, letters, cause)
    show = view.show if view.show in SHOWS else "all"
    state = state_panel(graded, record.steps, step=step, everything=view.everything)
    if view.unchanged:
        state = with_unchanged(state, full_record(attempt))
    detail = step_detail(pk, record.steps[step - 1], wrote.get(step, [])) if step else None
    other = counterpart(attempt, access=access)
    page = AttemptPage(
        head=head_of(attempt, record, siblings, opened),
        tab=view.tab if view.tab in TABS else TABS[0],
        narrow=view.narrow,
        step=step,
        claim=claim_of(record),
        evidence=evidence_of(record, graded),
        timeline=timeline(record.steps, letters, current=step, cause=cause),
        steps=step_list(record.steps, letters, wrote, current=step, show=show, find=view.find),
        detail=detail,
        state=state,
        unchanged=view.unchanged,
        checks=checks_panel(record, graded),
        failing=graded.differences,
        why=why_panel(opened.diagnosis, graded.effects),
        compare=None if other is None else other.link,
        task=task_of(attempt, record, siblings, full_record(attempt).tools) if view.tab == "task" else None,
        raw=_raw(attempt, record, siblings) if view.tab == "raw" else None,
    )
    return with_passing(page, passing_writes(graded.effects, other))


def attempt_block(pk: int, first: int, *, access: Access) -> Block | None:
    """The rows of one block of steps; None when there is no such attempt or step. One query."""
    attempt = attempt_seen(pk, access)
    if attempt is None:
        return None
    opened = open_attempt(attempt, access)
    if not opened.record.steps:
        return None
    letters = letters_of(opened.record.steps, opened.graded.write_steps)
    return step_block(opened.record.steps, letters, writes_by_step(opened.graded), first=first)


def attempt_step(pk: int, index: int, *, only: str = "", start: int = 0, access: Access) -> StepDetail | None:
    """A step's payload, or one part of it from character `start` on; None when there is no such step. One query."""
    attempt = attempt_seen(pk, access)
    opened = open_attempt(attempt, access) if attempt is not None else None
    if opened is None or not 0 < index <= len(opened.record.steps):
        return None
    step = opened.record.steps[index - 1]
    return step_detail(pk, step, writes_by_step(opened.graded).get(index, []), only=only, start=start)


def attempt_step_text(pk: int, index: int, part: str, *, access: Access) -> str | None:
    """A part of a step exactly as the record has it; None when there is no such part. One query."""
    attempt = attempt_seen(pk, access)
    record = load_record(attempt.trace) if attempt is not None else None
    if record is None or not 0 < index <= len(record.steps):
        return None
    return part_text(record.steps[index - 1], part)


def attempt_same(pk: int, *, server: str = "", table: str = "", first: int = 0, access: Access) -> SameTables | None:
    """The tables that are equal in all three states; None when there is no such attempt. Some six queries.

    Raises PermissionDenied for who may not evaluate.
    """
    for_evaluators(access)
    attempt = attempt_seen(pk, access)
    return None if attempt is None else same_tables(attempt, server=server, table=table, first=first)


def attempt_value(pk: int, number: int, side: str, field: str, *, access: Access) -> str | None:
    """A value of an effect in full: text as it is, anything else as JSON. None without one. One query.

    For who may not evaluate, `number` counts what changed, and there is no side `required`.
    """
    attempt = attempt_seen(pk, access)
    effects = open_attempt(attempt, access).graded.effects if attempt is not None else []
    sides = SIDES if access.evaluates else SIDES[:2]
    if not 0 <= number < len(effects) or side not in sides:
        return None
    effect = effects[number]
    value = getattr(effect, side)
    if effect.field is None and isinstance(value, dict) and field:
        value = value.get(field, UNSET)
    if value is UNSET:
        return None
    return value if isinstance(value, str) else json_pretty(value)


class AttemptRow(msgspec.Struct, frozen=True, kw_only=True):
    """An attempt's row to take away."""

    file_name: str
    title: str
    """Which attempt it is, for the audit log."""
    content: bytes
    """JSON."""


def attempt_row(pk: int, *, access: Access, masked: bool = True) -> AttemptRow | None:
    """The attempt's row, equal as JSON to what came in, `masked`: but for its secrets. None without such an attempt.

    Raises PermissionDenied for who may not evaluate, and for secrets for who is no admin.
    """
    for_evaluators(access)
    if not masked and not access.administers:
        raise PermissionDenied("Only admins may have a row with its secrets.")
    attempt = attempt_seen(pk, access)
    if attempt is None:
        return None
    name = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in attempt.task.name)
    return AttemptRow(
        file_name=f"{name[:100]}-repetition-{attempt.repetition}.json",
        title=f"{attempt.run.slug}, {attempt.task.uid}, repetition {attempt.repetition}",
        content=restore_row(attempt, masked=masked),
    )


def attempt_seen(pk: int, access: Access) -> Attempt | None:
    """With all that its page needs; None where there is none that the asker sees. One query."""
    related = ("run__benchmark", "task", "upload", "trace__dictionary")
    return Attempt.objects.select_related(*related).filter(visible_attempts(access), pk=pk).first()


def open_attempt(attempt: Attempt, access: Access) -> Opened:
    """With what was found in its evidence; for who may not evaluate, with what the agent did and changed alone."""
    if not access.evaluates:
        # Graded as it is: in what is masked a change from one secret to another is none.
        whole = plain_record(full_record(attempt, masked=False))
        graded = mask_graded(grade(whole, overrides=attempt.run.benchmark.tool_overrides))
        return Opened(plain_record(load_record(attempt.trace)), graded, None)
    evidence = load_evidence(attempt.trace)
    return Opened(
        load_record(attempt.trace), evidence.graded, evidence.diagnosis, evidence.masked, evidence.masked_at_ingest
    )


def siblings_of(attempt: Attempt) -> list[Attempt]:
    """All rows of the same task in the same run, replaced ones too."""
    columns = ("pk", "repetition", "verdict", "reason", "current")
    rows = Attempt.objects.filter(run_id=attempt.run_id, task_id=attempt.task_id).only(*columns)
    return list(rows.order_by("repetition", "pk"))


def selected_step(view: AttemptView, steps: Sequence[Step], letters: str, cause: int | None) -> int:
    """The step to show, 0 without steps: the one asked for, else the cause, the last write, the last step."""
    total = len(steps)
    if total == 0:
        return 0
    if view.step is not None:
        return max(1, min(view.step, total))
    if cause is not None:
        return cause
    last_write = max(letters.rfind("w"), letters.rfind("x")) + 1
    return last_write or total


def head_of(attempt: Attempt, record: AttemptRecord, siblings: Sequence[Attempt], opened: Opened | None = None) -> Head:
    """`opened`: for what it says of masked secrets. One query, for the price."""
    run: Run = attempt.run
    price = attempt_price(run.pk)
    current = [row for row in siblings if row.current]
    at = attempt.repetition
    masked = {} if opened is None else opened.masked
    failed = [row for row in current if row.verdict == Verdict.FAILED]
    replaced = next((row.pk for row in current if row.repetition == at and row.pk != attempt.pk), None)
    dots = _dots(attempt, current, run.repetitions)
    missing = max(0, run.repetitions - len(current))
    return Head(
        pk=attempt.pk,
        run_slug=run.slug,
        run_model=run.model,
        benchmark=run.benchmark.name,
        uid=attempt.task.uid,
        name=attempt.task.name,
        domain=attempt.task.domain or record.domain,
        verdict=attempt.verdict,
        word=verdict_word(attempt.verdict, attempt.reason),
        repetition=at,
        dots=dots,
        tally=_tally(current, missing),
        previous=next((row.pk for row in reversed(current) if row.repetition < at), None),
        next=next((row.pk for row in current if row.repetition > at), None),
        previous_failed=next((row.pk for row in reversed(failed) if row.repetition < at), None),
        next_failed=next((row.pk for row in failed if row.repetition > at), None),
        usage=record.total_usage,
        cost=None if price is None else price.of(record.total_usage),
        duration=record.duration,
        timers=record.timers,
        finish_reason=record.finish_reason or "",
        masked=sum(masked.values()),
        masked_kinds=said_masked(masked),
        masked_for_good=opened is not None and opened.masked_for_good,
        replaced_by=None if attempt.current else replaced,
    )


def _dots(attempt: Attempt, current: Sequence[Attempt], expected: int) -> list[Dot]:
    known = {row.repetition: row for row in current}
    wanted: Sequence[int] = range(max(expected, max(known, default=0) + 1))
    if len(wanted) > _MOST_DOTS:
        # A repetition's number is what the file says, and may be absurd.
        wanted = sorted(sorted(known, key=lambda number: abs(number - attempt.repetition))[:_MOST_DOTS])
    dots = []
    for number in wanted:
        row = known.get(number)
        dots.append(
            Dot(
                repetition=number,
                pk=None if row is None else row.pk,
                verdict="none" if row is None else row.verdict,
                word=(NOT_RECORDED if row is None else verdict_word(row.verdict, row.reason)).lower(),
                current=number == attempt.repetition,
            )
        )
    return dots


def _tally(current: Sequence[Attempt], missing: int) -> str:
    """`7 passed, 12 failed, 1 system error`, with what is not recorded."""
    counts = Counter(verdict_word(row.verdict, row.reason).lower() for row in current)
    words = [
        f"{count} {word}{'s' if count > 1 and word.endswith('error') else ''}"
        for word, count in sorted(counts.items(), key=_rank)
    ]
    return ", ".join([*words, f"{missing} not recorded"] if missing else words)


def _rank(item: tuple[str, int]) -> tuple[int, str]:
    return {"passed": 0, "failed": 1}.get(item[0], 2), item[0]


def task_of(attempt: Attempt, record: AttemptRecord, siblings: Sequence[Attempt], tools: list[Tool]) -> TaskPanel:
    return TaskPanel(
        query=record.query,
        domain=attempt.task.domain or record.domain,
        uid=attempt.task.uid,
        expected=attempt.run.repetitions,
        expected_inferred=attempt.run.repetitions_inferred,
        recorded=sum(row.current for row in siblings),
        instructions=record.instructions,
        policy=record.policy,
        private_context=record.private_context,
        tools=tools,
    )


def _raw(attempt: Attempt, record: AttemptRecord, siblings: Sequence[Attempt]) -> RawPanel:
    history = [row for row in siblings if row.repetition == attempt.repetition and row.pk != attempt.pk]
    test = record.test
    return RawPanel(
        origin=attempt.upload.file_name if attempt.upload is not None else "",
        line=attempt.line,
        notes=record.notes,
        problems=_problems(attempt),
        metadata=record.metadata,
        tags=record.tags,
        test=_test_text(restore_without_parts(attempt.trace)),
        traceback=test.traceback if test is not None else "",
        prints=test.prints if test is not None else "",
        error=record.error or "",
        error_traceback=record.error_traceback,
        usage=record.usage,
        history=[HistoryEntry(row.pk, verdict_word(row.verdict, row.reason)) for row in history],
    )


def _test_text(row: bytes) -> str | None:
    """The test result as the file has it, without its two long texts, which are shown on their own."""
    result = msgspec.json.decode(row, type=dict[str, msgspec.Raw]).get("test_result")
    if result is None or bytes(result) == b"null":
        return None
    fields = msgspec.json.decode(result, type=dict[str, msgspec.Raw])
    kept = {name: value for name, value in fields.items() if name not in {"tb", "prints"}}
    return msgspec.json.format(msgspec.json.encode(kept), indent=2).decode()


def _problems(attempt: Attempt) -> list[Problem]:
    """What reading said about the attempt's line."""
    if attempt.upload_id is None:
        return []
    rows = UploadProblem.objects.filter(upload_id=attempt.upload_id, line=attempt.line).order_by("id")[:50]
    return [
        Problem(
            line=row.line,
            kind=ProblemKind(row.kind),
            reason=row.reason,
            uid=row.uid,
            repetition=row.repetition,
            kept=row.kept,
        )
        for row in rows
    ]
