"""Two runs, and what lies between them."""

from __future__ import annotations

import msgspec

from runs.metrics import RESAMPLES, SEED, Comparison, Difference, compare
from runs.reporting.run import RunInput, RunReport

__all__ = ["ComparisonReport", "DifferenceReport", "PairReport", "TaskPair", "build_pair"]


class DifferenceReport(msgspec.Struct, frozen=True, kw_only=True):
    """Candidate minus baseline, in shares; the interval is of the paired task bootstrap."""

    difference: float
    interval: tuple[float, float] | None
    probability: float | None
    significant: bool


class TaskPair(msgspec.Struct, frozen=True, kw_only=True):
    uid: str
    baseline: tuple[int, int, int]
    """Attempts, passed, errors."""
    candidate: tuple[int, int, int]
    p_candidate_greater: float | None
    p_lift: float | None


class ComparisonReport(msgspec.Struct, frozen=True, kw_only=True):
    baseline: str
    candidate: str
    tasks: int
    only_in_baseline: int
    only_in_candidate: int
    lift: float
    pass_at_1: DifferenceReport | None
    solved_at_least_once: DifferenceReport | None
    observed_all_k: DifferenceReport | None
    not_computable: int
    pooled_p_candidate_greater: float | None
    pooled_p_lift: float | None
    won: int
    lost: int
    both: int
    neither: int
    better: int
    worse: int
    equal: int
    became_dependable: list[str]
    no_longer_dependable: list[str]
    by_task: list[TaskPair]


class PairReport(RunReport, frozen=True, kw_only=True):
    """The first run's report with the second one's, and what lies between them."""

    candidate: RunReport
    comparison: ComparisonReport


def build_pair(
    baseline: RunInput,
    candidate: RunInput,
    ours: RunReport,
    theirs: RunReport,
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> PairReport:
    """The comparison of two runs on the tasks that both have, beside the reports of both (made by one error rule)."""
    found = compare(
        baseline.outcomes,
        candidate.outcomes,
        baseline.k,
        candidate_k=candidate.k,
        error_rule=ours.error_rule,
        resamples=resamples,
        seed=seed,
    )
    return PairReport(
        **{name: getattr(ours, name) for name in RunReport.__struct_fields__},
        candidate=theirs,
        comparison=_comparison(baseline.run, candidate.run, found),
    )


def _comparison(baseline: str, candidate: str, found: Comparison) -> ComparisonReport:
    return ComparisonReport(
        baseline=baseline,
        candidate=candidate,
        tasks=len(found.tasks),
        only_in_baseline=len(found.only_baseline),
        only_in_candidate=len(found.only_candidate),
        lift=found.lift,
        pass_at_1=_difference(found.pass_at_1),
        solved_at_least_once=_difference(found.solved),
        observed_all_k=_difference(found.all_k),
        not_computable=found.not_computable,
        pooled_p_candidate_greater=None if found.pooled is None else found.pooled.greater,
        pooled_p_lift=None if found.pooled is None else found.pooled.lift,
        won=len(found.won),
        lost=len(found.lost),
        both=len(found.both),
        neither=len(found.neither),
        better=len(found.better),
        worse=len(found.worse),
        equal=len(found.equal),
        became_dependable=found.became_dependable,
        no_longer_dependable=found.no_longer_dependable,
        by_task=[
            TaskPair(
                uid=task.uid,
                baseline=(task.baseline.n, task.baseline.passed, task.baseline.errors),
                candidate=(task.candidate.n, task.candidate.passed, task.candidate.errors),
                p_candidate_greater=task.greater,
                p_lift=task.lift,
            )
            for task in found.tasks
        ],
    )


def _difference(found: Difference | None) -> DifferenceReport | None:
    if found is None:
        return None
    ends = None if found.low is None or found.high is None else (found.low, found.high)
    return DifferenceReport(
        difference=found.value, interval=ends, probability=found.probability, significant=found.significant
    )
