"""From what the trace page shows to the pieces of an answer."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.mcp_server.attempt_answers import EffectLine, StepLine, StepPart, Value, WhyLine
from runs.queries.attempt_state_structs import FieldRow, PassingWrite, RecordCard, StatePanel, TableGroup
from runs.queries.attempt_structs import AttemptPage
from runs.queries.attempt_why import WhyPanel
from runs.queries.attempt_windows import WindowStep
from runs.queries.values import Shown

__all__ = ["COUNTING", "effects_of", "evidence_words", "step_line", "value_of", "why_lines"]

COUNTING = frozenset({"wrong", "missing", "extra", "reported"})
"""Kinds of effects that count against an attempt."""


def value_of(shown: Shown) -> Value:
    text = shown.text + (f"… (+{shown.cut - len(shown.text):,} characters)" if shown.cut > len(shown.text) else "")
    return Value(kind=shown.kind.value, text=text)


def effects_of(state: StatePanel) -> list[EffectLine]:
    """All effects of the pane, failing ones first."""
    found = [numbered for group in state.tables for card in group.records for numbered in _of_card(group, card)]
    return [effect for _, effect in sorted(found, key=lambda numbered: numbered[0])]


def _of_card(group: TableGroup, card: RecordCard) -> Iterator[tuple[int, EffectLine]]:
    if not card.whole:
        yield from ((row.number, _of_field(group, card, row)) for row in card.rows)
        return
    passing = _passing(card.passing)
    yield (
        card.number,
        EffectLine(
            kind=card.kind,
            what=f"{card.title} ({card.why})" if card.why else card.title,
            server=group.server,
            table=group.table,
            key=card.key,
            field="",
            before=_row(card, "before", absent=card.void_before),
            after=_row(card, "after", absent=card.void_after),
            required=_row(card, "required", absent=card.void_required),
            steps=sorted(card.steps, reverse=True),
            **passing,
        ),
    )


def _of_field(group: TableGroup, card: RecordCard, row: FieldRow) -> EffectLine:
    return EffectLine(
        kind=row.kind,
        what=row.word or row.kind,
        server=group.server,
        table=group.table,
        key=card.key,
        field=row.field,
        before=value_of(row.before),
        after=value_of(row.after),
        required=value_of(row.required),
        steps=sorted(row.steps, reverse=True),
        **_passing(row.passing),
    )


def _passing(write: PassingWrite | None) -> dict[str, int]:
    return {} if write is None else {"passing_attempt": write.pk, "passing_step": write.step}


def _row(card: RecordCard, side: str, *, absent: bool) -> Value:
    """A whole record in one text."""
    if absent:
        return Value(kind="no_row")
    values = [(row.field, value_of(getattr(row, side))) for row in card.rows]
    told = [f"{name}={value.text or value.kind}" for name, value in values if value.kind not in {"null", "no_field"}]
    return Value(kind="text", text="; ".join(told)) if told else Value(kind="unrecorded")


def step_line(step: WindowStep) -> StepLine:
    return StepLine(
        step=step.index,
        letter=step.letter,
        tool=step.tool,
        error=step.error,
        parts=[StepPart(part=text.part, text=text.text, length=text.length) for text in step.texts],
    )


def why_lines(why: WhyPanel | None) -> list[WhyLine]:
    if why is None:
        return []
    own = [WhyLine(what=_what(line.title, line.place), words=line.words, step=line.step) for line in why.lines]
    labels = [
        WhyLine(
            what=f"label {group.value} ({group.title}): {_what(line.title, line.place)}",
            words=line.words,
            step=line.step,
        )
        for group in why.labels
        for line in group.lines
    ]
    return own + labels


def _what(title: str, place: str) -> str:
    return f"{title} {place}" if place else title


def evidence_words(page: AttemptPage) -> str:
    """What stands against the claim, without values of records, which the first difference has."""
    found = page.evidence
    return " — ".join(part for part in (found.headline, found.sentence, found.quote, found.note) if part)
