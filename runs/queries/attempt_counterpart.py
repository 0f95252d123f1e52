"""An attempt's other half: a passing one beside a failed one. What it wrote says where the failed one wrote nothing."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from django.db.models import Case, F, Subquery, Value, When
from django.db.models.functions import Abs

from runs.access import Access
from runs.models import Attempt
from runs.payloads import load_evidence
from runs.queries.attempt_state_structs import PassingWrite, RecordCard, StatePanel
from runs.queries.attempt_structs import AttemptPage, ChecksPanel, CompareLink, EffectLine
from runs.querysets import visible_attempts
from runs.records import Effect, GradedAttempt, Verdict

__all__ = ["Counterpart", "counterpart", "passing_writes", "with_passing"]


class Counterpart(msgspec.Struct, frozen=True, kw_only=True):
    link: CompareLink
    where: str
    """What a sentence calls it: `a passing attempt`, with its repetition, and its model where it is of another run."""
    pk: int
    graded: GradedAttempt


def counterpart(attempt: Attempt, *, access: Access) -> Counterpart | None:
    """The attempt to compare with: one that passed, for a passed attempt one that failed. None without any. One query.

    Of the same run first and there of the nearest repetition, else of any run of the benchmark.
    """
    passed = attempt.verdict == Verdict.PASSED
    wanted = Verdict.FAILED if passed else Verdict.PASSED
    nearest = (
        Attempt.objects.filter(
            visible_attempts(access), task_id=attempt.task_id, current=True, verdict=wanted, trace__isnull=False
        )
        .exclude(pk=attempt.pk)
        .annotate(other=Case(When(run_id=attempt.run_id, then=Value(0)), default=Value(1)))
        .annotate(far=Abs(F("repetition") - Value(attempt.repetition)))
        .order_by("other", "far", "run_id", "pk")
        .values("pk")[:1]
    )
    # The payloads are read of the one row alone, not of all that are put in order.
    found = Attempt.objects.filter(pk=Subquery(nearest)).select_related("run", "trace").defer("trace__source").first()
    if found is None:
        return None
    same_run = found.run_id == attempt.run_id
    left, right = (attempt.pk, found.pk) if passed else (found.pk, attempt.pk)
    label = str(found.repetition) if same_run else f"{found.run.model} {found.repetition}"
    where = f"repetition {found.repetition}" if same_run else f"repetition {found.repetition} of {found.run.model}"
    return Counterpart(
        link=CompareLink(left=left, right=right, label=label, verdict=found.verdict),
        where=where,
        pk=found.pk,
        graded=load_evidence(found.trace).graded,
    )


def passing_writes(effects: Sequence[Effect], other: Counterpart | None) -> dict[int, PassingWrite]:
    """Position of each difference that no step wrote → the step at which the passing attempt wrote it, where it did."""
    if other is None or other.link.verdict != Verdict.PASSED:
        return {}
    by_place: dict[tuple[str, str, str], dict[str | None, Effect]] = {}
    for effect in other.graded.effects:
        if effect.writes:
            by_place.setdefault((effect.server, effect.table, effect.key), {})[effect.field] = effect
    found = {}
    for number, effect in enumerate(effects):
        if not effect.counts or effect.writes:
            continue
        step = _step(effect, by_place.get((effect.server, effect.table, effect.key), {}))
        if step is not None:
            found[number] = PassingWrite(pk=other.pk, step=step, where=other.where)
    return found


def _step(effect: Effect, written: dict[str | None, Effect]) -> int | None:
    """Of a field the last write, which stands; of a whole row the first, which made it."""
    if effect.field is not None and effect.field in written:
        return written[effect.field].writes[0].step
    if None in written:
        return written[None].writes[-1].step
    if effect.field is None and written:
        return min(one.writes[-1].step for one in written.values())
    return None


def with_passing(page: AttemptPage, found: dict[int, PassingWrite]) -> AttemptPage:
    """The page with these writes beside their differences: in the state, in the checks and in the line of evidence."""
    if not found:
        return page
    line = page.evidence.line
    return msgspec.structs.replace(
        page,
        state=_state(page.state, found),
        checks=_checks(page.checks, found),
        evidence=page.evidence if line is None else msgspec.structs.replace(page.evidence, line=_line(line, found)),
    )


def _line(line: EffectLine, found: dict[int, PassingWrite]) -> EffectLine:
    write = found.get(line.number)
    return line if write is None else msgspec.structs.replace(line, passing=write)


def _checks(panel: ChecksPanel, found: dict[int, PassingWrite]) -> ChecksPanel:
    states = [
        msgspec.structs.replace(state, lines=[_line(line, found) for line in state.lines]) for state in panel.states
    ]
    return msgspec.structs.replace(panel, states=states)


def _state(panel: StatePanel, found: dict[int, PassingWrite]) -> StatePanel:
    tables = [
        msgspec.structs.replace(table, records=[_card(card, found) for card in table.records]) for table in panel.tables
    ]
    return msgspec.structs.replace(panel, tables=tables)


def _card(card: RecordCard, found: dict[int, PassingWrite]) -> RecordCard:
    if card.whole:
        return msgspec.structs.replace(card, passing=found.get(card.number))
    rows = [msgspec.structs.replace(row, passing=found.get(row.number)) for row in card.rows]
    return msgspec.structs.replace(card, rows=rows)
