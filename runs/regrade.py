"""Grades stored attempts again from their own rows, after a rule or a tool's nature was corrected. Verdicts stay."""

from __future__ import annotations

from collections.abc import Iterator

from django.db import transaction

from runs.bundles import reader_named
from runs.bundles.base import RawRecord
from runs.failure_facts import keep_facts
from runs.models import Attempt, AttemptEffect, AttemptLabel, AttemptRubric, Run, ToolUse, Trace
from runs.payloads import load_evidence, restore_row
from runs.prepare import PreparedRow, prepare
from runs.store import write_narrow_rows
from runs.tallies import lock, recount

__all__ = ["regrade", "regrade_attempts"]

_AT_ONCE = 50


def regrade(run: Run) -> Iterator[int]:
    """Grades a run's attempts again, fifty a transaction, and yields how many are done. Begun again, it starts anew."""
    reading = Attempt.objects.filter(run=run).select_related("trace__dictionary").order_by("pk")
    last = done = 0
    while attempts := list(reading.filter(pk__gt=last)[:_AT_ONCE]):
        regrade_attempts(run, attempts)
        last, done = attempts[-1].pk, done + len(attempts)
        yield done
    keep_facts(run.pk)


def regrade_attempts(run: Run, attempts: list[Attempt]) -> None:
    """Grades these attempts of a run again, in one transaction."""
    prepared = [(attempt, _prepared(attempt, run)) for attempt in attempts]
    with transaction.atomic():
        tasks = sorted({attempt.task_id for attempt in attempts})
        lock(run, tasks)
        _write(prepared)
        recount(run, tasks)


def _prepared(attempt: Attempt, run: Run) -> PreparedRow:
    raw = RawRecord(line=attempt.line, text=restore_row(attempt, masked=False))
    known = load_evidence(attempt.trace, masked=False)
    gone = known.masked if known.masked_at_ingest else None
    row = prepare(reader_named(attempt.trace.reader), raw, run.benchmark.tool_overrides, gone=gone)
    assert isinstance(row, PreparedRow), "what was stored can be read"
    return row


def _write(prepared: list[tuple[Attempt, PreparedRow]]) -> None:
    for attempt, row in prepared:
        for name, value in row.columns.items():
            setattr(attempt, name, value)
        attempt.trace.evidence = row.evidence
    attempts = [attempt for attempt, _ in prepared]
    Attempt.objects.bulk_update(attempts, list(prepared[0][1].columns))
    Trace.objects.bulk_update([attempt.trace for attempt in attempts], ["evidence"])
    for narrow in (AttemptEffect, ToolUse, AttemptLabel, AttemptRubric):
        narrow.objects.filter(attempt__in=attempts).delete()
    write_narrow_rows([(attempt.pk, row) for attempt, row in prepared])
