"""What `/attempts/<id>/vs/<id>/` shows: two attempts at a task, steps aligned and effects side by side."""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import Q
from django.http import Http404

from runs.access import Access
from runs.alignment import LARGEST, align
from runs.models import Attempt
from runs.payloads import load_evidence, load_record
from runs.queries.attempt_state import writes_by_step
from runs.queries.attempt_steps import letters_of
from runs.queries.compare_end import end_state
from runs.queries.compare_lines import (
    Steps,
    differs,
    first_difference,
    first_write,
    made_lines,
    shown_matches,
)
from runs.queries.compare_structs import Choice, ComparePage, CompareView, ShowLines, Side
from runs.queries.compare_writes import graded_by_step, ungraded_by_step
from runs.queries.paging import page_of
from runs.queries.verdicts import verdict_word
from runs.querysets import for_evaluators, visible_attempts
from runs.records import AttemptRecord, GradedAttempt, StepKind

__all__ = ["compare_page"]

LINES = 300
"""Lines of a page."""
_RUNS = 40
"""Runs of which other attempts are offered."""


def compare_page(left: int, right: int, view: CompareView, *, access: Access) -> ComparePage:
    """Two attempts at one task side by side. Two queries, however long they are. Raises Http404, and PermissionDenied
    for who may not evaluate."""
    for_evaluators(access)
    found = {
        row.pk: row
        for row in Attempt.objects.select_related("run__benchmark", "task", "trace__dictionary").filter(
            visible_attempts(access), Q(pk=left) | Q(pk=right), trace__isnull=False
        )
    }
    if left not in found or right not in found:
        raise Http404("There is no such attempt.")
    pair = found[left], found[right]
    if pair[0].task.uid != pair[1].task.uid:
        raise Http404("These are attempts at two different tasks.")
    records = [load_record(attempt.trace) for attempt in pair]
    graded = [load_evidence(attempt.trace).graded for attempt in pair]
    labels = _labels(*pair)
    sides = [_side(*of) for of in zip(pair, records, labels, strict=True)]
    end = end_state(graded[0], graded[1], labels, everything=view.everything)
    explaining = end.left_steps, end.right_steps
    steps = [_steps(*of) for of in zip(records, graded, labels, explaining, strict=True)]
    visible = [
        [step for step in record.steps if view.thoughts or step.kind is not StepKind.THOUGHT] for record in records
    ]
    matches = align(*visible)
    listed = shown_matches(matches, view.show, *steps)
    page = page_of(len(listed), view.page, LINES)
    lines = listed[max(0, page.first - 1) : page.last]
    task = pair[0].task
    first, write = first_difference(matches, *steps), first_write(matches, *steps)
    return ComparePage(
        uid=task.uid,
        name=task.name,
        run_slug=pair[0].run.slug,
        run_name=str(pair[0].run),
        left=sides[0],
        right=sides[1],
        end=end,
        lines=made_lines(matches, lines, *steps),
        page=page,
        view=view,
        differences=sum(differs(match, *steps) for match in matches),
        total=len(matches),
        writes=len(shown_matches(matches, ShowLines.WRITES, *steps)),
        first_write=_page_with(write, listed),
        first=None if first == write else _page_with(first, listed),
        in_pieces=max(len(steps) for steps in visible) > LARGEST,
        choices=_choices(pair[0], pair[1], access),
    )


def _labels(left: Attempt, right: Attempt) -> tuple[str, str]:
    if left.run_id == right.run_id and left.repetition != right.repetition:
        return f"repetition {left.repetition}", f"repetition {right.repetition}"
    if left.run_id == right.run_id:
        return f"attempt {left.pk}", f"attempt {right.pk}"
    names = [attempt.run.model if left.run.model != right.run.model else attempt.run.slug for attempt in (left, right)]
    return f"{names[0]} {left.repetition}", f"{names[1]} {right.repetition}"


def _side(attempt: Attempt, record: AttemptRecord, label: str) -> Side:
    usage = record.total_usage
    return Side(
        pk=attempt.pk,
        run_slug=attempt.run.slug,
        model=attempt.run.model,
        verdict=attempt.verdict,
        word=verdict_word(attempt.verdict, attempt.reason),
        repetition=attempt.repetition,
        label=label,
        steps=len(record.steps),
        thoughts=sum(step.kind is StepKind.THOUGHT for step in record.steps),
        tokens=None if usage is None else usage.total,
        duration=record.duration,
    )


def _steps(record: AttemptRecord, graded: GradedAttempt, label: str, explaining: frozenset[int]) -> Steps:
    return Steps(
        steps=record.steps,
        letters=letters_of(record.steps, graded.write_steps),
        wrote=writes_by_step(graded),
        label=label,
        ungraded=ungraded_by_step(graded),
        graded=graded_by_step(graded),
        explaining=explaining,
    )


def _page_with(position: int | None, listed: Sequence[tuple[int, int]]) -> int | None:
    """The page of the list that a line is on; None where the line is not listed."""
    if position is None:
        return None
    place = next((at for at, (first, length) in enumerate(listed) if first == position and length == 1), None)
    return None if place is None else place // LINES + 1


def _choices(left: Attempt, right: Attempt, access: Access) -> list[Choice]:
    """The attempts at the task in all runs that are seen, those of the two runs first."""
    rows = (
        Attempt.objects.filter(visible_attempts(access), task__uid=left.task.uid, current=True)
        .exclude(pk=left.pk)
        .order_by("run__model", "run_id", "repetition", "pk")
        .values_list(
            "run_id", "run__model", "run__benchmark__name", "run__slug", "pk", "repetition", "verdict", "reason"
        )
    )
    by_run: dict[int, Choice] = {}
    for run, model, benchmark, slug, pk, repetition, verdict, reason in rows:
        choice = by_run.setdefault(run, Choice(model=model, benchmark=benchmark, run_slug=slug, attempts=[]))
        choice.attempts.append((pk, repetition, verdict, verdict_word(verdict, reason).lower()))
    own = [left.run_id, right.run_id]
    ordered = sorted(by_run, key=lambda run: own.index(run) if run in own else len(own))
    return [by_run[run] for run in ordered[:_RUNS]]
