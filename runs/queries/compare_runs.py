"""What `/compare/` shows: two runs task by task, what changed in verdicts, signatures and differences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection
from enum import StrEnum
from typing import Any

import msgspec
from django.db.models import Count

from runs.access import Access
from runs.kept import Kept
from runs.metrics import Comparison, ErrorRule, TaskOutcome, compare
from runs.models import Attempt, AttemptEffect, Run, TaskTally
from runs.queries.paging import Page, paginate
from runs.queries.run_tasks import padded
from runs.queries.runs import Choice
from runs.queries.signature_words import signature_title
from runs.queries.values import stored_value
from runs.querysets import visible_runs
from runs.records import Verdict

__all__ = [
    "PAIR_SORTS", "Change", "CommonDifference", "ComparedRuns", "PairFilters", "PairRow", "PairSide", "RunChoice",
    "compared_runs",
]  # fmt: skip

TASKS_PER_PAGE = 100


class Change(StrEnum):
    """What may have changed for a task; the first four are a partition."""

    WON = "won"
    """Solved at least once by the candidate, never by the baseline."""
    LOST = "lost"
    BOTH = "both"
    NEITHER = "neither"
    BECAME = "became"
    """Became dependable: passed all k with the candidate, not with the baseline."""
    STOPPED = "stopped"
    BETTER = "better"
    WORSE = "worse"
    SIGNATURE = "signature"
    """Both failed, and most often for another reason."""


class PairFilters(msgspec.Struct, frozen=True, kw_only=True):
    base: str = ""
    """Slug; empty: not chosen yet."""
    candidate: str = ""
    change: Change | None = None
    domain: str = ""
    text: str = ""
    sort: str = "name"
    descending: bool = False
    rule: ErrorRule = ErrorRule.AS_FAILED
    page: int = 1


class RunChoice(msgspec.Struct, frozen=True):
    slug: str
    label: str


class CommonDifference(msgspec.Struct, frozen=True, kw_only=True):
    """The difference that most failed attempts at a task have."""

    kind: str
    table: str
    field: str
    after: str
    required: str
    attempts: int


class PairSide(msgspec.Struct, frozen=True, kw_only=True):
    """A task in one of the runs."""

    n: int
    passed: int
    errors: int
    expected: int
    verdicts: str
    signature: str = ""
    """The most frequent one's title; empty without failed attempts."""
    signatures: int = 0
    """Failed attempts that have it."""
    failed: int = 0
    difference: CommonDifference | None = None

    @property
    def rate(self) -> float:
        return self.passed / self.n if self.n else 0.0


class PairRow(msgspec.Struct, frozen=True, kw_only=True):
    uid: str
    name: str
    domain: str
    base: PairSide
    candidate: PairSide
    greater: float | None
    """P(candidate's rate > baseline's)."""
    changes: frozenset[Change]

    @property
    def gain(self) -> float:
        return self.candidate.rate - self.base.rate

    @property
    def word(self) -> str:
        """The change of verdicts in a word or two; dependability says more than won or both."""
        for change, word in _CHANGE_WORDS:
            if change in self.changes:
                return word
        return ""


_CHANGE_WORDS = (
    (Change.BECAME, "became dependable"), (Change.STOPPED, "no longer dependable"), (Change.WON, "won"),
    (Change.LOST, "lost"), (Change.NEITHER, "neither solves it"), (Change.BETTER, "more often"),
    (Change.WORSE, "less often"), (Change.BOTH, "as often"),
)  # fmt: skip


class ComparedRuns(msgspec.Struct, frozen=True, kw_only=True):
    filters: PairFilters
    runs: list[RunChoice]
    base: RunChoice | None = None
    candidate: RunChoice | None = None
    names: tuple[str, str] = ("", "")
    """What the two are called: their models, with more where these are equal."""
    pks: tuple[int, int] = (0, 0)
    ks: tuple[int, int] = (0, 0)
    other_benchmark: bool = False
    comparison: Comparison | None = None
    """None until two runs are chosen."""
    rows: list[PairRow] = []
    page: Page = Page(1, 1, 0, 0, 0)
    changes: list[Choice] = []
    domains: list[str] = []


_PAIR_KEYS: dict[str, Callable[[PairRow], Any]] = {
    "name": lambda row: (row.name.casefold(), row.uid),
    "domain": lambda row: row.domain.casefold(),
    "base": lambda row: row.base.rate,
    "candidate": lambda row: row.candidate.rate,
    "gain": lambda row: row.gain,
    "greater": lambda row: -1.0 if row.greater is None else row.greater,
}
PAIR_SORTS = frozenset(_PAIR_KEYS)
_Tasks = dict[str, TaskTally]
_Signatures = dict[tuple[int, int], tuple[str, int]]
_comparisons: Kept[Comparison] = Kept(64)


def compared_runs(filters: PairFilters, *, access: Access) -> ComparedRuns:
    """Two runs side by side. One query until two are chosen, then four, however many tasks there are.

    Who may not evaluate gets neither signatures nor differences, in two queries less, and no filter by them.
    """
    offered = [change for change in Change if access.evaluates or change is not Change.SIGNATURE]
    if filters.change not in offered:
        filters = msgspec.structs.replace(filters, change=None)
    runs = list(
        Run.objects.filter(visible_runs(access)).select_related("benchmark").order_by("benchmark__name", "model", "pk")
    )
    by_slug = {run.slug: run for run in runs}
    choices = [RunChoice(run.slug, _label(run, runs)) for run in runs]
    labels = {choice.slug: choice for choice in choices}
    base, candidate = by_slug.get(filters.base), by_slug.get(filters.candidate)
    chosen = ComparedRuns(
        filters=filters, runs=choices, base=labels.get(filters.base), candidate=labels.get(filters.candidate)
    )
    if base is None or candidate is None or base.pk == candidate.pk:
        return chosen
    ours, theirs = _tallies(base, candidate)
    comparison = _comparison(base, candidate, ours, theirs, filters.rule)
    signatures = _signatures(base.pk, candidate.pk) if access.evaluates else {}
    rows = _rows(comparison, base, candidate, ours, theirs, signatures)
    found = [row for row in rows if _matches(row, filters)]
    counts = Counter(change for row in found for change in row.changes)
    listed = [row for row in found if filters.change is None or filters.change in row.changes]
    listed.sort(key=_PAIR_KEYS[filters.sort], reverse=filters.descending)
    shown, page = paginate(listed, filters.page, TASKS_PER_PAGE)
    return msgspec.structs.replace(
        chosen,
        names=_names(base, candidate),
        pks=(base.pk, candidate.pk),
        ks=(base.repetitions, candidate.repetitions),
        other_benchmark=base.benchmark_id != candidate.benchmark_id,
        comparison=comparison,
        rows=_with_differences(shown, base.pk, candidate.pk) if access.evaluates else shown,
        page=page,
        changes=[
            Choice("", len(found), filters.change is None),
            *(Choice(change.value, counts[change], change is filters.change) for change in offered),
        ],
        domains=sorted({row.domain for row in rows if row.domain}),
    )


def _label(run: Run, runs: Collection[Run]) -> str:
    same = sum(other.model == run.model and other.benchmark_id == run.benchmark_id for other in runs)
    return f"{run.model} on {run.benchmark}" + (f" ({run.slug})" if same > 1 else "")


def _names(base: Run, candidate: Run) -> tuple[str, str]:
    if base.model != candidate.model:
        return base.model, candidate.model
    if base.benchmark_id != candidate.benchmark_id:
        return str(base), str(candidate)
    return base.slug, candidate.slug


def _tallies(base: Run, candidate: Run) -> tuple[_Tasks, _Tasks]:
    found: dict[int, _Tasks] = {base.pk: {}, candidate.pk: {}}
    rows = TaskTally.objects.filter(run__in=list(found)).select_related("task").order_by("task__uid")
    for tally in rows:
        found[tally.run_id][tally.task.uid] = tally
    return found[base.pk], found[candidate.pk]


def _comparison(base: Run, candidate: Run, ours: _Tasks, theirs: _Tasks, rule: ErrorRule) -> Comparison:
    """Computed once until one of the runs changes: the bootstrap takes a while."""
    stamps = [(run.pk, run.created_at, run.tallied, run.repetitions) for run in (base, candidate)]
    return _comparisons.get_or_make(
        (*stamps, rule),
        lambda: compare(
            map(_outcome, ours.values()),
            map(_outcome, theirs.values()),
            base.repetitions,
            candidate_k=candidate.repetitions,
            error_rule=rule,
        ),
    )


def _outcome(tally: TaskTally) -> TaskOutcome:
    return TaskOutcome(
        uid=tally.task.uid, n=tally.recorded, passed=tally.passed, errors=tally.errors, domain=tally.task.domain
    )


def _rows(
    comparison: Comparison, base: Run, candidate: Run, ours: _Tasks, theirs: _Tasks, signatures: _Signatures
) -> list[PairRow]:
    sets = {
        Change.WON: set(comparison.won),
        Change.LOST: set(comparison.lost),
        Change.BOTH: set(comparison.both),
        Change.NEITHER: set(comparison.neither),
        Change.BECAME: set(comparison.became_dependable),
        Change.STOPPED: set(comparison.no_longer_dependable),
        Change.BETTER: set(comparison.better),
        Change.WORSE: set(comparison.worse),
    }
    rows = []
    for task in comparison.tasks:
        one, other = ours[task.uid], theirs[task.uid]
        sides = [
            _side(tally, run, signatures.get((run.pk, tally.task_id)))
            for tally, run in ((one, base), (other, candidate))
        ]
        changes = {change for change, uids in sets.items() if task.uid in uids}
        if sides[0].signature and sides[1].signature and sides[0].signature != sides[1].signature:
            changes.add(Change.SIGNATURE)
        rows.append(
            PairRow(
                uid=task.uid,
                name=one.task.name,
                domain=task.domain,
                base=sides[0],
                candidate=sides[1],
                greater=task.greater,
                changes=frozenset(changes),
            )
        )
    return rows


def _side(tally: TaskTally, run: Run, signature: tuple[str, int] | None) -> PairSide:
    return PairSide(
        n=tally.recorded,
        passed=tally.passed,
        errors=tally.errors,
        expected=max(run.repetitions, tally.recorded),
        verdicts=padded(tally.verdicts, run.repetitions),
        signature="" if signature is None else signature_title(signature[0]),
        signatures=0 if signature is None else signature[1],
        failed=tally.failed,
    )


def _signatures(*runs: int) -> _Signatures:
    """(run, task) → the signature that most of its failed attempts have, and how many."""
    found: _Signatures = {}
    rows = Attempt.objects.filter(run__in=runs, verdict=Verdict.FAILED, current=True).order_by()
    for run, task, signature, count in rows.values_list("run_id", "task_id", "signature").annotate(Count("id")):
        known = found.get((run, task))
        if known is None or (-count, signature) < (-known[1], known[0]):
            found[run, task] = signature, count
    return found


def _matches(row: PairRow, filters: PairFilters) -> bool:
    return filters.domain in {"", row.domain} and filters.text.casefold() in f"{row.uid}\n{row.domain}".casefold()


def _with_differences(rows: list[PairRow], base: int, candidate: int) -> list[PairRow]:
    """The rows with what goes wrong most often in each run. One query."""
    effects = AttemptEffect.objects.filter(
        attempt__run__in=[base, candidate],
        attempt__task__uid__in=[row.uid for row in rows],
        attempt__verdict=Verdict.FAILED,
        attempt__current=True,
    ).order_by()
    columns = ("attempt__run_id", "attempt__task__uid", "kind", "table", "field", "after", "required")
    best: dict[tuple[int, str], tuple[int, tuple[str, ...]]] = {}
    for run, uid, *what, attempts in effects.values_list(*columns).annotate(Count("attempt_id", distinct=True)):
        known = best.get((run, uid))
        if known is None or (-attempts, tuple(what)) < (-known[0], known[1]):
            best[run, uid] = attempts, tuple(what)

    def side(one: PairSide, run: int, uid: str) -> PairSide:
        found = best.get((run, uid))
        if found is None:
            return one
        attempts, (kind, table, field, after, required) = found
        difference = CommonDifference(
            kind=kind, table=table, field=field, after=stored_value(after), required=stored_value(required),
            attempts=attempts,
        )  # fmt: skip
        return msgspec.structs.replace(one, difference=difference)

    return [
        msgspec.structs.replace(
            row, base=side(row.base, base, row.uid), candidate=side(row.candidate, candidate, row.uid)
        )
        for row in rows
    ]
