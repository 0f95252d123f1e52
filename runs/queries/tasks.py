"""What the page of a task in a run shows: what was asked, and its attempts side by side."""

from __future__ import annotations

from decimal import Decimal

import msgspec
from django.db.models import Min
from django.http import Http404

from runs.access import Access
from runs.models import Attempt, AttemptEffect, Task, TaskTally, Trace
from runs.payloads import load_record
from runs.queries.attempt_cost import AttemptPrice, attempt_price, usage_of
from runs.queries.numbers import Counts, TaskClass, class_of
from runs.queries.paging import Page, page_of
from runs.queries.run_tasks import padded
from runs.queries.runs import RunFacts, run_facts, run_or_404
from runs.queries.values import stored_value
from runs.queries.verdicts import NOT_RECORDED, verdict_word
from runs.querysets import visible_attempts, visible_through
from runs.records import AttemptRecord, StateSource, Verdict

__all__ = ["AttemptRow", "FirstEffect", "TaskPage", "TaskText", "attempt_at", "has_task", "task_page"]

REPETITIONS_PER_PAGE = 100


class FirstEffect(msgspec.Struct, frozen=True):
    """The first graded difference of an attempt; the whole of it is on the attempt's page."""

    kind: str
    table: str
    key: str
    field: str
    after: str
    required: str


class AttemptRow(msgspec.Struct, frozen=True, kw_only=True):
    """One repetition. `pk` is None where none is recorded; the rest is then empty."""

    repetition: int
    pk: int | None = None
    verdict: str = "none"
    word: str = NOT_RECORDED
    finish_reason: str = ""
    differences: int = 0
    reported: bool = False
    """The differences are known only from the check's message."""
    first: FirstEffect | None = None
    steps: int = 0
    tool_calls: int = 0
    tool_errors: int = 0
    tokens: int | None = None
    cost: Decimal | None = None
    """In the currency of the page; None where it is not known."""
    duration: float | None = None
    replaced: list[int] = []
    """Earlier errors at this repetition, kept as history (ids of attempts)."""
    evident: bool = False
    """Whether the number of differences says something, and may be said."""


class TaskText(msgspec.Struct, frozen=True, kw_only=True):
    """What the task says, as one attempt recorded it."""

    repetition: int
    query: str | None
    policy: str | None
    private_context: str | None


class Neighbour(msgspec.Struct, frozen=True):
    uid: str
    name: str


class TaskPage(msgspec.Struct, frozen=True, kw_only=True):
    run: RunFacts
    uid: str
    name: str
    file: str
    domain: str
    counts: Counts
    kind: TaskClass
    verdicts: str
    strip: list[AttemptRow]
    """One a repetition of this page, also where none is recorded."""
    page: Page
    text: TaskText | None
    """None where no attempt could be read."""
    currency: str | None
    """Of the costs; None where the run has no price."""
    previous: Neighbour | None
    following: Neighbour | None

    @property
    def missing(self) -> int:
        return max(0, self.run.k - self.counts.recorded)

    @property
    def expected(self) -> int:
        return max(self.run.k, self.counts.recorded)


def attempt_at(slug: str, uid: str, repetition: int, *, access: Access) -> int | None:
    """The id of the attempt that counts at a repetition; None where none is recorded. One query."""
    if repetition >= 2**31:
        return None  # more than a column holds
    attempts = Attempt.objects.filter(
        visible_attempts(access), run__slug=slug, task__uid=uid, repetition=repetition, current=True
    )
    return attempts.values_list("pk", flat=True).first()


def has_task(slug: str, uid: str, *, access: Access) -> bool:
    return TaskTally.objects.filter(visible_through("run__", access), run__slug=slug, task__uid=uid).exists()


def task_page(slug: str, uid: str, page: int = 1, *, access: Access) -> TaskPage:
    """A task of a run. Eight queries, however many attempts. Raises Http404.

    Who may not evaluate gets neither differences nor the private context, in two queries less.
    """
    run = run_or_404(slug, access=access)
    tally = TaskTally.objects.select_related("task").filter(run=run, task__uid=uid).first()
    if tally is None:
        raise Http404
    attempts = list(Attempt.objects.filter(run=run, task=tally.task).order_by("repetition", "-current", "id"))
    facts = run_facts(run)
    highest = max((attempt.repetition for attempt in attempts), default=-1)
    where = page_of(max(facts.k, highest + 1), page, REPETITIONS_PER_PAGE)
    wanted = range(max(0, where.first - 1), where.last)
    shown = [attempt for attempt in attempts if attempt.repetition in wanted]
    counts = Counts(tally.recorded, tally.passed, tally.failed, tally.errors, tally.with_states)
    file, _, name = uid.rpartition(":")
    previous, following = _neighbours(run.pk, tally.task)
    price = attempt_price(run.pk)
    return TaskPage(
        run=facts,
        uid=uid,
        name=name or uid,
        file=file,
        domain=tally.task.domain,
        counts=counts,
        kind=class_of(counts, facts.k),
        verdicts=padded(tally.verdicts, facts.k),
        strip=_rows(shown, wanted, price, evaluates=access.evaluates),
        page=where,
        text=_text(attempts, evaluates=access.evaluates),
        currency=None if price is None else price.price.currency,
        previous=previous,
        following=following,
    )


def _rows(
    attempts: list[Attempt], repetitions: range, price: AttemptPrice | None, *, evaluates: bool
) -> list[AttemptRow]:
    first = _first_effects([attempt.pk for attempt in attempts]) if evaluates else {}
    current = {attempt.repetition: attempt for attempt in attempts if attempt.current}
    replaced: dict[int, list[int]] = {}
    for attempt in attempts:
        if not attempt.current:
            replaced.setdefault(attempt.repetition, []).append(attempt.pk)
    rows = [
        _row(repetition, current.get(repetition), first, price, replaced.get(repetition, []))
        for repetition in repetitions
    ]
    if evaluates:
        return rows
    return [msgspec.structs.replace(row, differences=0, reported=False, evident=False) for row in rows]


def _row(
    repetition: int,
    attempt: Attempt | None,
    first: dict[int, FirstEffect],
    price: AttemptPrice | None,
    replaced: list[int],
) -> AttemptRow:
    if attempt is None:
        return AttemptRow(repetition=repetition, replaced=replaced)
    usage = usage_of(attempt)
    cost = None if price is None else price.of(usage)
    return AttemptRow(
        repetition=repetition,
        pk=attempt.pk,
        verdict=attempt.verdict,
        word=verdict_word(attempt.verdict, attempt.reason),
        finish_reason=attempt.finish_reason,
        differences=attempt.differences,
        reported=attempt.state_source == StateSource.REPORTED.value,
        first=first.get(attempt.pk),
        steps=attempt.steps,
        tool_calls=attempt.tool_calls,
        tool_errors=attempt.tool_errors,
        tokens=None if usage is None else usage.total,
        cost=None if cost is None else cost.amount,
        duration=attempt.duration,
        replaced=replaced,
        evident=attempt.verdict != Verdict.ERROR,
    )


def _first_effects(attempts: list[int]) -> dict[int, FirstEffect]:
    """Attempt → its first difference. They are stored in the order of the page: failing first."""
    firsts = (
        AttemptEffect.objects.order_by()
        .filter(attempt__in=attempts)
        .values("attempt")
        .annotate(first=Min("id"))
        .values("first")
    )
    return {
        effect.attempt_id: FirstEffect(
            effect.kind,
            effect.table,
            effect.key,
            effect.field,
            stored_value(effect.after),
            stored_value(effect.required),
        )
        for effect in AttemptEffect.objects.filter(pk__in=firsts)
    }


def _text(attempts: list[Attempt], *, evaluates: bool) -> TaskText | None:
    """From the first attempt that ran; a system error may have ended before a word was said."""
    ordered = sorted(attempts, key=lambda a: (not a.current, a.verdict == Verdict.ERROR.value, a.repetition, a.pk))
    if not ordered:
        return None
    record: AttemptRecord = load_record(Trace.objects.select_related("dictionary").get(attempt=ordered[0]))
    return TaskText(
        repetition=ordered[0].repetition,
        query=record.query,
        policy=record.policy,
        private_context=record.private_context if evaluates else None,
    )


def _neighbours(run: int, task: Task) -> tuple[Neighbour | None, Neighbour | None]:
    """The tasks before and behind in the order of uids."""
    others = TaskTally.objects.filter(run=run)
    before = others.filter(task__uid__lt=task.uid).order_by("-task__uid").values_list("task__uid", flat=True).first()
    behind = others.filter(task__uid__gt=task.uid).order_by("task__uid").values_list("task__uid", flat=True).first()
    return _neighbour(before), _neighbour(behind)


def _neighbour(uid: str | None) -> Neighbour | None:
    return None if uid is None else Neighbour(uid, uid.rpartition(":")[2] or uid)
