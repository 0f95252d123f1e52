"""What went wrong in a run: claims of failed attempts against the evidence, signatures, wrong fields, errors."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from django.db.models import Count

from runs.access import Access
from runs.errorclasses import ERROR_CLASS_TITLES, ErrorClass
from runs.kept import Kept
from runs.models import Attempt, AttemptEffect, Run
from runs.payloads import load_evidence
from runs.queries.signature_words import SignatureWords, signature_words
from runs.queries.values import Shown, shown, stored_value
from runs.querysets import for_evaluators, visible_runs
from runs.records import Verdict
from runs.signatures import Signature

__all__ = [
    "ClaimShares", "DomainFailures", "ErrorRow", "FieldRow", "Quote", "RunFailures", "SignatureRow", "UsualFailure",
    "run_failures", "usual_failures",
]  # fmt: skip

FIELDS = 8
"""Fields that are listed."""
_STATE_IS_NOT_WRONG = {Signature.RESPONSE_CHECK.value, Signature.UNDETERMINED.value}
_QUOTE = 220


class ClaimShares(msgspec.Struct, frozen=True, kw_only=True):
    """Failed attempts counted; each of the first three includes the next. The base is `failed` throughout."""

    failed: int
    clean: int = 0
    wrote: int = 0
    looked: int = 0
    """Clean, and wrote, and no error in the last tool response."""
    claimed: int = 0
    state_differs: int = 0
    wrong: int = 0
    missing: int = 0
    extra: int = 0
    reported: int = 0
    """Attempts whose differences are known only from the check's message."""


class SignatureRow(msgspec.Struct, frozen=True, kw_only=True):
    words: SignatureWords
    count: int


class DomainFailures(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    failed: int
    counts: list[int]
    """In the order of the signatures of the run."""


class FieldRow(msgspec.Struct, frozen=True, kw_only=True):
    """One way in which one field goes wrong."""

    table: str
    field: str
    """Empty: whole rows."""
    kind: str
    attempts: int
    tasks: int
    after: str
    """The most frequent pair of values, and in how many attempts it is that pair."""
    required: str
    usual: int


class UsualFailure(msgspec.Struct, frozen=True, kw_only=True):
    """How a task fails most often, over its failed attempts in a run."""

    signature: SignatureWords
    with_signature: int
    """Failed attempts with this signature."""
    difference: str
    """`wrong`, `missing`, `extra` or `reported`; empty where there is none, or none is known, and then the rest is
    too."""
    table: str
    field: str
    """Empty: whole rows."""
    attempts: int
    """Failed attempts with this difference."""


class ErrorRow(msgspec.Struct, frozen=True, kw_only=True):
    kind: str
    title: str
    count: int
    retryable: int

    @property
    def final(self) -> int:
        """Running it again as it is cannot help."""
        return self.count - self.retryable


class Quote(msgspec.Struct, frozen=True, kw_only=True):
    """A failed attempt that looked like a success: what it claims, and what the records say."""

    pk: int
    name: str
    repetition: int
    claim: str
    table: str
    key: str
    field: str
    kind: str
    after: Shown
    required: Shown


class RunFailures(msgspec.Struct, frozen=True, kw_only=True):
    claims: ClaimShares
    signatures: list[SignatureRow]
    domains: list[DomainFailures]
    """Only where there are several."""
    fields: list[FieldRow]
    all_fields: int
    errors: list[ErrorRow]
    error_count: int
    retryable: int
    quote: Quote | None


class _Found(msgspec.Struct, frozen=True):
    """All that is read of a run's failures at a time."""

    whole: RunFailures
    by_task: dict[str, UsualFailure]


_failures: Kept[_Found] = Kept(128)
_Place = tuple[str, str, str]
"""Table, field and kind of difference."""


def run_failures(pk: int, *, access: Access) -> RunFailures:
    """What went wrong in a run. One query; five where it has changed since the last time. Raises Run.DoesNotExist, and
    PermissionDenied for who may not evaluate."""
    return _found(pk, access).whole


def usual_failures(pk: int, *, access: Access) -> Mapping[str, UsualFailure]:
    """Task (uid) → how it fails most often in a run; without tasks that never fail. Queries and errors as of
    `run_failures`, with which it is kept."""
    return _found(pk, access).by_task


def _found(pk: int, access: Access) -> _Found:
    for_evaluators(access)
    created_at, tallied = Run.objects.values_list("created_at", "tallied").get(visible_runs(access), pk=pk)
    return _failures.get_or_make((pk, created_at, tallied), lambda: _read(pk))


class _Group(msgspec.Struct, frozen=True):
    """Attempts that are alike in all that is counted here."""

    verdict: str
    signature: str
    domain: str
    clean: bool | None
    wrote: bool | None
    last_ok: bool | None
    claimed: bool | None
    error_class: str
    retryable: bool | None
    count: int


def _read(run: int) -> _Found:
    columns = (
        "verdict", "signature", "task__domain", "ended_cleanly", "called_write", "last_response_ok", "claimed_success",
        "error_class", "retryable",
    )  # fmt: skip
    rows = Attempt.objects.filter(run=run, verdict__in=[Verdict.FAILED, Verdict.ERROR], current=True).order_by()
    groups = [_Group(*row) for row in rows.values_list(*columns).annotate(Count("id"))]
    failed = [group for group in groups if group.verdict == Verdict.FAILED]
    errors = [group for group in groups if group.verdict == Verdict.ERROR]
    fields, kinds, usual = _fields(run)
    signatures = _signatures(failed)
    whole = RunFailures(
        claims=_claims(failed, kinds),
        signatures=signatures,
        domains=_domains(failed, [row.words.value for row in signatures]),
        fields=fields[:FIELDS],
        all_fields=len(fields),
        errors=_errors(errors),
        error_count=_sum(errors),
        retryable=_sum(group for group in errors if group.retryable),
        quote=_quote(run),
    )
    return _Found(whole, _by_task(run, usual))


def _sum(groups: Iterable[_Group]) -> int:
    return sum(group.count for group in groups)


def _claims(failed: list[_Group], kinds: Counter[str]) -> ClaimShares:
    clean = [group for group in failed if group.clean]
    wrote = [group for group in clean if group.wrote]
    return ClaimShares(
        failed=_sum(failed),
        clean=_sum(clean),
        wrote=_sum(wrote),
        looked=_sum(group for group in wrote if group.last_ok),
        claimed=_sum(group for group in failed if group.claimed),
        state_differs=_sum(group for group in failed if group.signature not in _STATE_IS_NOT_WRONG),
        wrong=kinds["wrong"],
        missing=kinds["missing"],
        extra=kinds["extra"],
        reported=kinds["reported"],
    )


def _signatures(failed: list[_Group]) -> list[SignatureRow]:
    counts: Counter[str] = Counter()
    for group in failed:
        counts[group.signature] += group.count
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [SignatureRow(words=signature_words(value), count=count) for value, count in ordered]


def _domains(failed: list[_Group], signatures: list[str]) -> list[DomainFailures]:
    by_domain: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for group in failed:
        by_domain[group.domain][group.signature] += group.count
    if len(by_domain) < 2:
        return []
    return [
        DomainFailures(name=name, failed=counts.total(), counts=[counts[value] for value in signatures])
        for name, counts in sorted(by_domain.items())
    ]


def _errors(errors: list[_Group]) -> list[ErrorRow]:
    counts: Counter[str] = Counter()
    again: Counter[str] = Counter()
    for group in errors:
        counts[group.error_class] += group.count
        again[group.error_class] += group.count if group.retryable else 0
    return [
        ErrorRow(kind=kind, title=_class_title(kind), count=count, retryable=again[kind])
        for kind, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    ]


def _class_title(kind: str) -> str:
    return ERROR_CLASS_TITLES[ErrorClass(kind)] if kind in set(ErrorClass) else kind or "not classified"


def _by_task(run: int, usual: dict[int, tuple[_Place, int]]) -> dict[str, UsualFailure]:
    rows = Attempt.objects.filter(run=run, verdict=Verdict.FAILED, current=True).order_by()
    counts: defaultdict[tuple[int, str], Counter[str]] = defaultdict(Counter)
    for task, uid, signature, count in rows.values_list("task_id", "task__uid", "signature").annotate(Count("id")):
        counts[task, uid][signature] = count
    found = {}
    for (task, uid), signatures in counts.items():
        (table, field, kind), attempts = usual.get(task, (("", "", ""), 0))
        value, count = _most(signatures)
        found[uid] = UsualFailure(
            signature=signature_words(value),
            with_signature=count,
            difference=kind,
            table=table,
            field=field,
            attempts=attempts,
        )
    return found


def _most(counts: Counter[Any]) -> tuple[Any, int]:
    """The most frequent; of equals the first in order."""
    return min(counts.items(), key=lambda item: (-item[1], item[0]))


def _fields(run: int) -> tuple[list[FieldRow], Counter[str], dict[int, tuple[_Place, int]]]:
    """The fields that differ, most attempts first; in how many attempts each kind of difference occurs; and task (id) →
    where most of its attempts differ, and how many.
    """
    effects = AttemptEffect.objects.filter(
        attempt__run=run, attempt__verdict=Verdict.FAILED, attempt__current=True
    ).order_by()
    attempts: defaultdict[_Place, set[int]] = defaultdict(set)
    tasks: defaultdict[_Place, set[int]] = defaultdict(set)
    values: defaultdict[_Place, Counter[tuple[str, str]]] = defaultdict(Counter)
    by_kind: defaultdict[str, set[int]] = defaultdict(set)
    by_task: defaultdict[int, Counter[_Place]] = defaultdict(Counter)
    columns = ("attempt_id", "attempt__task_id", "kind", "table", "field", "after", "required")
    for attempt, task, kind, table, field, after, required in effects.values_list(*columns).iterator(chunk_size=5000):
        place = (table, field, kind)
        by_task[task][place] += attempt not in attempts[place]
        attempts[place].add(attempt)
        tasks[place].add(task)
        values[place][after, required] += 1
        by_kind[kind].add(attempt)
    rows = []
    for place, who in attempts.items():
        (after, required), usual = _most(values[place])
        table, field, kind = place
        rows.append(
            FieldRow(
                table=table,
                field=field,
                kind=kind,
                attempts=len(who),
                tasks=len(tasks[place]),
                after=stored_value(after),
                required=stored_value(required),
                usual=usual,
            )
        )
    rows.sort(key=lambda row: (-row.attempts, row.table, row.field, row.kind))
    usually = {task: _most(counts) for task, counts in by_task.items()}
    return rows, Counter({kind: len(who) for kind, who in by_kind.items()}), usually


def _quote(run: int) -> Quote | None:
    """The first failed attempt that looked like a success, said so, and has a field that differs."""
    attempt = (
        Attempt.objects.filter(
            run=run, verdict=Verdict.FAILED, current=True, ended_cleanly=True, called_write=True,
            last_response_ok=True, claimed_success=True, differences__gt=0, trace__isnull=False,
        )
        .select_related("task", "trace")
        .defer("trace__source")
        .order_by("pk")
        .first()
    )  # fmt: skip
    if attempt is None:
        return None
    evidence = load_evidence(attempt.trace)
    effects = [effect for effect in evidence.graded.effects if effect.counts and effect.field is not None]
    if not effects or evidence.claim is None or not evidence.claim.words:
        return None
    effect = effects[0]
    return Quote(
        pk=attempt.pk,
        name=attempt.task.name,
        repetition=attempt.repetition,
        claim=evidence.claim.words[:_QUOTE],
        table=effect.table,
        key=effect.key,
        field=effect.field or "",
        kind=effect.kind.value,
        after=shown(effect.after, limit=60),
        required=shown(effect.required, limit=60),
    )
