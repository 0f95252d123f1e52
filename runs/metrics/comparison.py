"""Two runs on the same tasks: per task as `tb sbs` does, and overall by a paired bootstrap."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec
import numpy as np

from runs.metrics.bootstrap import RESAMPLES, SEED, Difference, paired_difference
from runs.metrics.measures import Measure, fractions
from runs.metrics.outcomes import ErrorRule, TaskOutcome, in_order
from runs.metrics.posteriors import DEFAULT_LIFT, prob_greater, prob_lift

__all__ = ["Comparison", "Pooled", "TaskComparison", "compare"]


class TaskComparison(msgspec.Struct, frozen=True, kw_only=True):
    """One task that both runs have. The probabilities leave errors out, and are None where a side has only errors."""

    uid: str
    domain: str
    baseline: TaskOutcome
    candidate: TaskOutcome
    greater: float | None
    """P(candidate's rate > baseline's)."""
    lift: float | None
    """P(candidate's rate - baseline's > the lift asked for)."""


class Pooled(msgspec.Struct, frozen=True, kw_only=True):
    """The same two probabilities with all attempts thrown together. Takes attempts at one task as independent, and so
    claims too much: the paired bootstrap is the one to decide by."""

    greater: float
    lift: float


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    tasks: list[TaskComparison]
    """Those that both runs have, by uid."""
    only_baseline: list[str]
    only_candidate: list[str]
    lift: float
    error_rule: ErrorRule
    pass_at_1: Difference | None
    """On the common tasks; None where one side has no attempt that counts."""
    solved: Difference | None
    all_k: Difference | None
    """On the common tasks that are complete in both runs."""
    not_computable: int
    """Common tasks that are incomplete in one of the runs, so that "all k" cannot be compared."""
    pooled: Pooled | None
    won: list[str]
    """Solved at least once by the candidate, never by the baseline. With the next three: a partition of the tasks."""
    lost: list[str]
    both: list[str]
    neither: list[str]
    better: list[str]
    """The candidate's rate of passing is the higher one, errors counted as not passed."""
    worse: list[str]
    equal: list[str]
    became_dependable: list[str]
    """Passed all k with the candidate, not with the baseline, and complete in both."""
    no_longer_dependable: list[str]


def compare(
    baseline: Iterable[TaskOutcome],
    candidate: Iterable[TaskOutcome],
    k: int,
    *,
    candidate_k: int | None = None,
    error_rule: ErrorRule = ErrorRule.AS_FAILED,
    lift: float = DEFAULT_LIFT,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Comparison:
    """Compares on the tasks that both have. `k` is the baseline's, and the candidate's unless that has its own."""
    other_k = k if candidate_k is None else candidate_k
    ours = {task.uid: task for task in in_order(baseline)}
    theirs = {task.uid: task for task in in_order(candidate)}
    uids = [uid for uid in ours if uid in theirs]
    base, cand = [ours[uid] for uid in uids], [theirs[uid] for uid in uids]
    pairs = list(zip(base, cand, strict=True))
    complete = [(b, c) for b, c in pairs if b.complete(k) and c.complete(other_k)]

    def difference(measure: Measure, these: Sequence[tuple[TaskOutcome, TaskOutcome]]) -> Difference | None:
        before = fractions([b for b, _ in these], k, measure, error_rule)
        after = fractions([c for _, c in these], other_k, measure, error_rule)
        return paired_difference(before, after, resamples=resamples, seed=seed)

    return Comparison(
        tasks=_by_task(pairs, lift),
        only_baseline=[uid for uid in ours if uid not in theirs],
        only_candidate=[uid for uid in theirs if uid not in ours],
        lift=lift,
        error_rule=error_rule,
        pass_at_1=difference(Measure.PASS_AT_1, pairs),
        solved=difference(Measure.SOLVED, pairs),
        all_k=difference(Measure.ALL_K, complete),
        not_computable=len(pairs) - len(complete),
        pooled=_pooled(base, cand, lift),
        won=[c.uid for b, c in pairs if c.passed and not b.passed],
        lost=[c.uid for b, c in pairs if b.passed and not c.passed],
        both=[c.uid for b, c in pairs if b.passed and c.passed],
        neither=[c.uid for b, c in pairs if not b.passed and not c.passed],
        better=[c.uid for b, c in pairs if c.passed * b.n > b.passed * c.n],
        worse=[c.uid for b, c in pairs if c.passed * b.n < b.passed * c.n],
        equal=[c.uid for b, c in pairs if c.passed * b.n == b.passed * c.n],
        became_dependable=[c.uid for b, c in complete if c.dependable(other_k) and not b.dependable(k)],
        no_longer_dependable=[c.uid for b, c in complete if b.dependable(k) and not c.dependable(other_k)],
    )


def _graded(tasks: Sequence[TaskOutcome]) -> list[int]:
    return [task.graded(ErrorRule.LEFT_OUT) for task in tasks]


def _by_task(pairs: Sequence[tuple[TaskOutcome, TaskOutcome]], lift: float) -> list[TaskComparison]:
    if not pairs:
        return []
    base, cand = [b for b, _ in pairs], [c for _, c in pairs]
    n_base, n_cand = np.array(_graded(base)), np.array(_graded(cand))
    counts = [task.passed for task in cand], n_cand, [task.passed for task in base], n_base
    greater, lifted = prob_greater(*counts), prob_lift(*counts, lift=lift)
    known = (n_base > 0) & (n_cand > 0)
    return [
        TaskComparison(
            uid=c.uid,
            domain=c.domain or b.domain,
            baseline=b,
            candidate=c,
            greater=float(greater[at]) if known[at] else None,
            lift=float(lifted[at]) if known[at] else None,
        )
        for at, (b, c) in enumerate(pairs)
    ]


def _pooled(base: Sequence[TaskOutcome], cand: Sequence[TaskOutcome], lift: float) -> Pooled | None:
    n_base, n_cand = sum(_graded(base)), sum(_graded(cand))
    if not n_base or not n_cand:
        return None
    counts = sum(task.passed for task in cand), n_cand, sum(task.passed for task in base), n_base
    return Pooled(greater=float(prob_greater(*counts)[0]), lift=float(prob_lift(*counts, lift=lift)[0]))
