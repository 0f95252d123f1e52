"""Failed attempts as lists show them: facts, first differences, the claim, and where words were found."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection

import msgspec
from django.db.models import Exists, OuterRef

from runs.access import Access
from runs.models import Attempt, AttemptEffect, Note, Run
from runs.payloads import load_record
from runs.queries.attempt_evidence import claim_of
from runs.queries.tasks import FirstEffect
from runs.queries.verdicts import verdict_word
from runs.querysets import for_evaluators, visible_attempts, visible_runs
from runs.signatures import SIGNATURE_TITLES, Signature
from runs.transcripts import Excerpt, Piece, Query, excerpts, marked

__all__ = ["FailureRow", "failure_rows"]

_EFFECTS_SHOWN = 3
_CLAIM_SHOWN = 400


class FailureRow(msgspec.Struct, frozen=True, kw_only=True):
    pk: int
    verdict: str
    word: str
    uid: str
    name: str
    domain: str
    run: str
    """Slug."""
    model: str
    run_note: str = ""
    """What tells the run from others of the same model, as `on desk`; empty where there is no other."""
    benchmark: str
    repetition: int
    signature: str
    """Its title; empty where the attempt has none."""
    finish_reason: str
    looked_like_success: bool
    claimed_success: bool | None
    disagrees: bool
    steps: int
    writes: int
    tool_errors: int
    tokens: int | None
    duration: float | None
    differences: int
    effects: list[FirstEffect]
    """The first few."""
    notes: list[str]
    """Labels that people gave."""
    claim: str
    """The agent's last message, or its beginning; empty where it said nothing."""
    claim_pieces: list[Piece]
    """The same with the words marked."""
    claim_step: int | None
    claim_cut: bool
    excerpts: list[Excerpt]
    elsewhere: list[str] = []
    """Other runs (slugs) in which the same row is stored."""

    @property
    def more(self) -> int:
        """Differences that are not listed."""
        return self.differences - len(self.effects)


def failure_rows(
    ids: Collection[int], query: Query, first: Callable[[FirstEffect], bool] = lambda _: False, *, access: Access
) -> dict[int, FailureRow]:
    """Attempts by id, with excerpts round the query's words. Three queries; one that is not there is left out.

    Differences that are `first` come before the others.
    """
    for_evaluators(access)
    if not ids:
        return {}
    others = Run.objects.filter(visible_runs(access), model=OuterRef("run__model")).exclude(pk=OuterRef("run"))
    attempts = (
        Attempt.objects.select_related("run__benchmark", "task", "trace__dictionary")
        .filter(visible_attempts(access), pk__in=ids)
        .annotate(same_model=Exists(others), same_benchmark=Exists(others.filter(benchmark=OuterRef("run__benchmark"))))
    )
    effects: defaultdict[int, list[FirstEffect]] = defaultdict(list)
    for effect in AttemptEffect.objects.filter(attempt__in=ids).order_by("pk").iterator():
        effects[effect.attempt_id].append(
            FirstEffect(effect.kind, effect.table, effect.key, effect.field, effect.after, effect.required)
        )
    for of_attempt in effects.values():
        of_attempt.sort(key=lambda effect: not first(effect))
        del of_attempt[_EFFECTS_SHOWN:]
    notes: defaultdict[int, list[str]] = defaultdict(list)
    labels = Note.objects.filter(attempt__in=ids).exclude(label="").order_by("label", "pk")
    for pk, label in labels.values_list("attempt_id", "label"):
        if label not in notes[pk]:
            notes[pk].append(label)
    return {
        attempt.pk: _row(
            attempt,
            effects[attempt.pk],
            notes[attempt.pk],
            query,
            _run_note(attempt.run, same_model=attempt.same_model, same_benchmark=attempt.same_benchmark),
        )
        for attempt in attempts
    }


def _run_note(run: Run, *, same_model: bool, same_benchmark: bool) -> str:
    if same_benchmark:
        return f"on {run.benchmark}, run {run.slug}"
    return f"on {run.benchmark}" if same_model else ""


def _row(attempt: Attempt, effects: list[FirstEffect], notes: list[str], query: Query, run_note: str) -> FailureRow:
    record = load_record(attempt.trace)
    claim = claim_of(record)
    text = claim.text if claim is not None else ""
    shown = text[:_CLAIM_SHOWN]
    tokens = (attempt.input_tokens, attempt.output_tokens)
    return FailureRow(
        pk=attempt.pk,
        verdict=attempt.verdict,
        word=verdict_word(attempt.verdict, attempt.reason),
        uid=attempt.task.uid,
        name=attempt.task.name,
        domain=attempt.task.domain,
        run=attempt.run.slug,
        model=attempt.run.model,
        run_note=run_note,
        benchmark=attempt.run.benchmark.name,
        repetition=attempt.repetition,
        signature=SIGNATURE_TITLES[Signature(attempt.signature)] if attempt.signature in set(Signature) else "",
        finish_reason=attempt.finish_reason,
        looked_like_success=bool(attempt.ended_cleanly and attempt.called_write and attempt.last_response_ok),
        claimed_success=attempt.claimed_success,
        disagrees=attempt.disagrees,
        steps=attempt.steps,
        writes=attempt.write_calls,
        tool_errors=attempt.tool_errors,
        tokens=None if None in tokens else sum(count or 0 for count in tokens),
        duration=attempt.duration,
        differences=attempt.differences,
        effects=effects,
        notes=notes,
        claim=shown,
        claim_pieces=marked(shown, query),
        claim_step=claim.step if claim is not None else None,
        claim_cut=claim is not None and (claim.cut or len(text) > _CLAIM_SHOWN),
        excerpts=excerpts(record, query, shown=shown),
    )
