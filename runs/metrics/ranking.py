"""Ranks that say how sure they are.

A model's rank could be anything from 1 + the number of models significantly better than it to the number of all models
minus those significantly worse. Two models measured on the same tasks are told apart by the paired task bootstrap, any
other two when their intervals do not overlap, which separates less.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from runs.metrics.bootstrap import RESAMPLES, SEED, resampled_ratios
from runs.metrics.intervals import LEVEL, Interval
from runs.metrics.measures import Measure, fractions
from runs.metrics.outcomes import ErrorRule, TaskOutcome, in_order
from runs.metrics.summary import summarise

__all__ = ["Contender", "Measured", "Ranked", "measured_contender", "rank"]


class Measured(msgspec.Struct, frozen=True):
    """A share's fraction for each task, by uid. Two with the same uids are compared task by task."""

    uids: tuple[str, ...]
    numerators: tuple[float, ...]
    denominators: tuple[float, ...]


class Contender(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    """Has to be its own."""
    value: float | None
    """None: not computable or not published, so it has no rank."""
    interval: Interval | None = None
    """None: it cannot be told from those it is not compared with task by task."""
    measured: Measured | None = None
    """None: only the value and the interval are known, as of a published row."""


class Ranked(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    position: int | None
    """1 + the number of contenders with a better value; None without a value."""
    best: int | None
    worst: int | None
    group: int | None
    """From 1. A group is a first contender and those behind it that cannot be told from it."""
    better: list[str]
    """Contenders that are significantly better."""
    worse: list[str]


def measured_contender(
    name: str,
    outcomes: Iterable[TaskOutcome],
    k: int,
    measure: Measure = Measure.PASS_AT_1,
    *,
    error_rule: ErrorRule = ErrorRule.AS_FAILED,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Contender:
    """A run as a contender for one of the three shares. For "all k" only its complete tasks count."""
    tasks = in_order(outcomes)
    above, below = fractions(tasks, k, measure, error_rule)
    counted = below > 0
    figures = summarise(tasks, k, error_rule=error_rule, resamples=resamples, seed=seed).overall
    share, doubt = {
        Measure.PASS_AT_1: (figures.pass_at_1, figures.pass_at_1_uncertainty),
        Measure.SOLVED: (figures.solved, figures.solved_uncertainty),
        Measure.ALL_K: (figures.all_k, figures.all_k_uncertainty),
    }[measure]
    return Contender(
        name=name,
        value=share.value,
        interval=doubt.shown,
        measured=Measured(
            tuple(task.uid for task, counts in zip(tasks, counted, strict=True) if counts),
            tuple(above[counted].tolist()),
            tuple(below[counted].tolist()),
        ),
    )


def rank(contenders: Sequence[Contender], *, resamples: int = RESAMPLES, seed: int = SEED) -> list[Ranked]:
    """Best first (a higher value is better), then by name; those without a value last, by name.

    Raises ValueError where two have one name.
    """
    if len({contender.name for contender in contenders}) < len(contenders):
        raise ValueError("Two contenders have the same name, so that their ranks could not be told apart.")
    placed = sorted((c for c in contenders if c.value is not None), key=lambda c: (-(c.value or 0.0), c.name))
    better = _better(placed, resamples, seed)
    count = len(placed)
    ranked: list[Ranked] = []
    first, group = 0, 0
    for at, contender in enumerate(placed):
        if at == 0 or better[first, at]:
            first, group = at, group + 1
        above, below = better[:, at], better[at, :]
        ranked.append(
            Ranked(
                name=contender.name,
                position=1 + sum((other.value or 0.0) > (contender.value or 0.0) for other in placed),
                best=1 + int(above.sum()),
                worst=count - int(below.sum()),
                group=group,
                better=[placed[i].name for i in range(count) if above[i]],
                worse=[placed[i].name for i in range(count) if below[i]],
            )
        )
    ranked += [
        Ranked(name=name, position=None, best=None, worst=None, group=None, better=[], worse=[])
        for name in sorted(c.name for c in contenders if c.value is None)
    ]
    return ranked


def _better(placed: Sequence[Contender], resamples: int, seed: int) -> NDArray[np.bool_]:
    """[i, j]: whether i is significantly better than j."""
    count = len(placed)
    better = np.zeros((count, count), dtype=np.bool_)
    for i, ours in enumerate(placed):
        for j, theirs in enumerate(placed):
            if ours.interval is not None and theirs.interval is not None:
                better[i, j] = ours.interval.low > theirs.interval.high
    alike: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
    for i, contender in enumerate(placed):
        if contender.measured is not None:
            alike[contender.measured.uids].append(i)
    for uids, members in alike.items():
        if len(members) > 1 and len(uids) > 1 and resamples > 0:
            better[np.ix_(members, members)] = _better_paired([placed[i] for i in members], resamples, seed)
    return better


def _better_paired(members: Sequence[Contender], resamples: int, seed: int) -> NDArray[np.bool_]:
    fractions_of = [c.measured for c in members if c.measured is not None]
    above = np.array([m.numerators for m in fractions_of], dtype=np.float64).T
    below = np.array([m.denominators for m in fractions_of], dtype=np.float64).T
    ratios = resampled_ratios(above, below, resamples=resamples, seed=seed)
    tail = (1 - LEVEL) / 2 * resamples
    better = np.zeros((len(members), len(members)), dtype=np.bool_)
    for i in range(len(members)):
        # The 95% interval of the difference lies above 0: at most 2.5% of the resamples do not.
        better[i, :] = (ratios[:, [i]] <= ratios).sum(axis=0) < tail
    return better
