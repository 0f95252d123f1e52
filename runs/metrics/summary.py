"""The figures of a run, overall and by domain, tag and task."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache

import msgspec
import numpy as np

from runs.metrics.bootstrap import RESAMPLES, SEED, bootstrap_intervals, standard_error
from runs.metrics.estimators import CurvePoint, curve
from runs.metrics.intervals import Interval, in_goldilocks_zone, jeffreys_interval, zone_probability
from runs.metrics.measures import Measure, fractions
from runs.metrics.outcomes import ErrorRule, Share, TaskOutcome, in_order

__all__ = ["GroupMetrics", "RunMetrics", "TaskMetrics", "Uncertainty", "domain_means", "summarise", "task_metrics"]


class Uncertainty(msgspec.Struct, frozen=True, kw_only=True):
    """How far a share of a run can be trusted. A part is None where it cannot be computed."""

    standard_error: float | None
    """By tasks."""
    bootstrap: Interval | None
    """None with fewer than two tasks, and where all tasks have the same rate."""
    jeffreys: Interval | None
    """Of the count as it stands; for pass@1 over pooled attempts, which is too narrow, and what `tb agg` prints."""

    @property
    def shown(self) -> Interval | None:
        """The task bootstrap; where it says nothing, the Jeffreys interval, which its `method` tells."""
        return self.bootstrap or self.jeffreys


class GroupMetrics(msgspec.Struct, frozen=True, kw_only=True):
    """A run, or the tasks of one domain or tag. Shares are counts: their `value` is None of nothing."""

    name: str
    """The domain or the tag; empty for the whole run."""
    k: int
    error_rule: ErrorRule
    tasks: int
    attempts: int
    """Recorded ones."""
    passed: int
    errors: int
    missing: int
    """Attempts that the benchmark asks for and nobody recorded."""
    incomplete_tasks: int
    """Tasks with fewer than k recorded: "all k" is not computable for them."""
    pass_at_1: Share
    """By the error rule."""
    pass_at_1_counting_errors: Share
    pass_at_1_without_errors: Share
    solved: Share
    """Tasks solved at least once, of all tasks; a lower bound where tasks are incomplete."""
    all_k: Share
    """Tasks that passed all of their k attempts, of the complete tasks: a literal count."""
    curve: list[CurvePoint]
    """pass@j and pass^j for j from 1; errors always count as not passed."""
    distribution: list[int]
    """Complete tasks by their number of successes, from 0 to k (or to the most attempts a task has)."""
    pass_at_1_uncertainty: Uncertainty
    solved_uncertainty: Uncertainty
    all_k_uncertainty: Uncertainty

    @property
    def consistency(self) -> float | None:
        """Share of the tasks that passed all k; None where a task is incomplete, or there is none."""
        return None if self.incomplete_tasks else self.all_k.value

    @property
    def breadth(self) -> float | None:
        return self.solved.value

    @property
    def never_solved(self) -> int:
        return self.tasks - self.solved.count

    @property
    def retention(self) -> float | None:
        """Consistency ÷ pass@1; None where consistency is, and where nothing passed."""
        consistency, rate = self.consistency, self.pass_at_1.value
        return None if consistency is None or not rate else consistency / rate

    @property
    def unequal(self) -> bool:
        """Whether tasks have different numbers of attempts, so that pass@1 is not the mean of the tasks' rates."""
        return bool(self.curve) and self.curve[-1].tasks < self.tasks


class TaskMetrics(msgspec.Struct, frozen=True, kw_only=True):
    """One task. `interval` is the right one for a single task: its attempts are what is independent."""

    uid: str
    domain: str
    n: int
    passed: int
    failed: int
    errors: int
    complete: bool
    dependable: bool
    pass_at_1: Share
    interval: Interval
    zone_probability: float
    in_zone: bool
    """The harness's "goldilocks zone": neither hopeless nor safe, with 95% probability. A hint on the task's design."""


class RunMetrics(msgspec.Struct, frozen=True, kw_only=True):
    overall: GroupMetrics
    by_domain: list[GroupMetrics]
    by_tag: list[GroupMetrics]


def summarise(
    outcomes: Iterable[TaskOutcome],
    k: int,
    *,
    error_rule: ErrorRule = ErrorRule.AS_FAILED,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> RunMetrics:
    """The figures of a run whose benchmark asks for k attempts a task. No resamples, no bootstrap.

    Raises ValueError for a task that is listed twice.
    """
    return _summarised(tuple(in_order(outcomes)), k, error_rule, resamples, seed)


@lru_cache(maxsize=64)
def _summarised(tasks: tuple[TaskOutcome, ...], k: int, error_rule: ErrorRule, resamples: int, seed: int) -> RunMetrics:
    """Equal counts give equal figures, so that a page of many runs computes the bootstrap of each only once."""
    domains: defaultdict[str, list[TaskOutcome]] = defaultdict(list)
    tags: defaultdict[str, list[TaskOutcome]] = defaultdict(list)
    for task in tasks:
        domains[task.domain].append(task)
        for tag in set(task.tags):
            tags[tag].append(task)

    def group(name: str, members: Sequence[TaskOutcome]) -> GroupMetrics:
        return _group(name, members, k, error_rule, resamples, seed)

    return RunMetrics(
        overall=group("", tasks),
        by_domain=[group(name, domains[name]) for name in sorted(domains)],
        by_tag=[group(name, tags[name]) for name in sorted(tags)],
    )


def domain_means(runs: Iterable[RunMetrics]) -> dict[str, float]:
    """pass@1 of each domain, averaged over the runs that have it, each run counted once. By domain name."""
    rates: defaultdict[str, list[float]] = defaultdict(list)
    for run in runs:
        for group in run.by_domain:
            if (rate := group.pass_at_1.value) is not None:
                rates[group.name].append(rate)
    return {name: sum(rates[name]) / len(rates[name]) for name in sorted(rates)}


def task_metrics(
    outcomes: Iterable[TaskOutcome], k: int, *, error_rule: ErrorRule = ErrorRule.AS_FAILED
) -> list[TaskMetrics]:
    """The tasks by uid."""
    return [
        TaskMetrics(
            uid=task.uid,
            domain=task.domain,
            n=task.n,
            passed=task.passed,
            failed=task.n - task.passed - task.errors,
            errors=task.errors,
            complete=task.complete(k),
            dependable=task.dependable(k),
            pass_at_1=Share(task.passed, task.graded(error_rule)),
            interval=jeffreys_interval(task.passed, task.graded(error_rule)),
            zone_probability=zone_probability(task.passed, task.n),
            in_zone=in_goldilocks_zone(task.passed, task.n),
        )
        for task in in_order(outcomes)
    ]


def _group(name: str, tasks: Sequence[TaskOutcome], k: int, rule: ErrorRule, resamples: int, seed: int) -> GroupMetrics:
    counted = [fractions(tasks, k, measure, rule) for measure in Measure]
    above = np.stack([numerators for numerators, _ in counted], axis=1)
    below = np.stack([denominators for _, denominators in counted], axis=1)
    intervals = bootstrap_intervals(above, below, resamples=resamples, seed=seed)
    shares: dict[Measure, Share] = {}
    doubts: dict[Measure, Uncertainty] = {}
    for measure, (numerators, denominators), interval in zip(Measure, counted, intervals, strict=True):
        share = shares[measure] = Share(int(numerators.sum()), int(denominators.sum()))
        doubts[measure] = Uncertainty(
            standard_error=standard_error(numerators, denominators),
            bootstrap=interval,
            jeffreys=jeffreys_interval(share.count, share.of) if share.of else None,
        )
    attempts = sum(task.n for task in tasks)
    passed = sum(task.passed for task in tasks)
    errors = sum(task.errors for task in tasks)
    complete = [task for task in tasks if task.complete(k)]
    most = max([k, *(task.n for task in complete)])
    return GroupMetrics(
        name=name,
        k=k,
        error_rule=rule,
        tasks=len(tasks),
        attempts=attempts,
        passed=passed,
        errors=errors,
        missing=sum(max(0, k - task.n) for task in tasks),
        incomplete_tasks=len(tasks) - len(complete),
        pass_at_1=shares[Measure.PASS_AT_1],
        pass_at_1_counting_errors=Share(passed, attempts),
        pass_at_1_without_errors=Share(passed, attempts - errors),
        solved=shares[Measure.SOLVED],
        all_k=shares[Measure.ALL_K],
        curve=curve(tasks),
        distribution=np.bincount([task.passed for task in complete], minlength=most + 1).tolist()
        if complete
        else [0] * (most + 1),
        pass_at_1_uncertainty=doubts[Measure.PASS_AT_1],
        solved_uncertainty=doubts[Measure.SOLVED],
        all_k_uncertainty=doubts[Measure.ALL_K],
    )
