"""The task bootstrap: tasks are drawn with replacement, each with all its attempts, and the figure is computed anew.

Attempts at one task are alike, so that resampling attempts would claim a precision that is not there. The same seed
gives every run of the same tasks the same draws, which is what makes two of them comparable task by task.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import msgspec
import numpy as np
from numpy.typing import NDArray

from runs.metrics.intervals import LEVEL, Interval, Method

__all__ = [
    "RESAMPLES", "SEED", "Difference", "Floats", "bootstrap_intervals", "paired_difference", "percentiles",
    "resampled_ratios", "standard_error",
]  # fmt: skip

RESAMPLES = 10_000
SEED = 20260820
_BLOCK = 500_000
"""Draws that are made at once."""
_KEPT = 6_000_000
"""Draws of one number of tasks that are kept for the next figure, four bytes each."""

Floats = NDArray[np.float64]


def resampled_ratios(
    numerators: Floats, denominators: Floats, *, resamples: int = RESAMPLES, seed: int = SEED
) -> Floats:
    """Σ numerators / Σ denominators of each resample: (resamples × columns) from (tasks × columns).

    A resample whose denominators are all 0 is NaN. The order of the tasks matters to the draws: keep it by uid.
    """
    tasks, columns = numerators.shape
    both = np.concatenate([numerators, denominators], axis=1)
    blocks = _draws(tasks, resamples, seed)
    if _exact_in_single(both):
        single = both.astype(np.float32)
        sums: Floats = np.concatenate([block @ single for block in blocks]).astype(np.float64)
    else:
        sums = np.concatenate([block.astype(np.float64) @ both for block in blocks])
    above, below = sums[:, :columns], sums[:, columns:]
    ratios: Floats = np.divide(above, below, out=np.full_like(above, np.nan), where=below != 0)
    return ratios


def bootstrap_intervals(
    numerators: Floats, denominators: Floats, *, resamples: int = RESAMPLES, seed: int = SEED
) -> list[Interval | None]:
    """The 2.5 and 97.5 percentiles of ratios of sums over tasks, one for each column of (tasks × columns).

    None where resampling says nothing: without resamples, with fewer than two tasks that count, or where all of them
    have the same rate, so that every draw gives the same figure.
    """
    columns = range(numerators.shape[1])
    telling = [at for at in columns if resamples > 0 and _varies(numerators[:, at], denominators[:, at])]
    if not telling:
        return [None for _ in columns]
    ratios = resampled_ratios(numerators[:, telling], denominators[:, telling], resamples=resamples, seed=seed)
    found: dict[int, Interval] = {}
    for at, values in zip(telling, ratios.T, strict=True):
        low, high = percentiles(values)
        found[at] = Interval(low=low, high=high, method=Method.BOOTSTRAP)
    return [found.get(at) for at in columns]


def _varies(numerators: Floats, denominators: Floats) -> bool:
    counted = denominators > 0
    if counted.sum() < 2:
        return False
    rates = numerators[counted] / denominators[counted]
    return bool(rates.max() > rates.min())


def percentiles(values: Floats) -> tuple[float, float]:
    """The ends of the 95% interval of resampled values; NaN ones are left out. NaN where all of them are."""
    tail = (1 - LEVEL) / 2 * 100
    known = values[~np.isnan(values)]
    if not len(known):
        return float("nan"), float("nan")
    low, high = np.percentile(known, [tail, 100 - tail])
    return float(low), float(high)


def standard_error(numerators: Floats, denominators: Floats) -> float | None:
    """The task-cluster standard error of Σ numerators / Σ denominators, by linearisation.

    With equal attempts this is sd(rate) / √tasks. None with fewer than two tasks that count, and where all of them have
    the same rate: 0 would claim a certainty that is not there.
    """
    if not _varies(numerators, denominators):
        return None
    total = denominators.sum()
    residuals = numerators - denominators * (numerators.sum() / total)
    return float(np.sqrt((residuals**2).sum()) / total)


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """Candidate minus baseline, on the same tasks. Differences are in shares, from -1 to 1."""

    value: float
    low: float | None
    high: float | None
    """The ends of the 95% interval; None without resamples, and with fewer than two tasks."""
    probability: float | None
    """The share of resamples in which the candidate is ahead, equal ones counted half."""

    @property
    def significant(self) -> bool:
        """Whether the interval leaves out 0."""
        return self.low is not None and self.high is not None and (self.low > 0 or self.high < 0)


def paired_difference(
    baseline: tuple[Floats, Floats], candidate: tuple[Floats, Floats], *, resamples: int = RESAMPLES, seed: int = SEED
) -> Difference | None:
    """The difference of two ratios (numerators and denominators by task, in one order) on the same draws of tasks.

    None where one of them has nothing to count.
    """
    numerators = np.stack([baseline[0], candidate[0]], axis=1)
    denominators = np.stack([baseline[1], candidate[1]], axis=1)
    totals = denominators.sum(axis=0)
    if not totals.all():
        return None
    rates = numerators.sum(axis=0) / totals
    value = float(rates[1] - rates[0])
    if resamples < 1 or len(numerators) < 2:
        return Difference(value=value, low=None, high=None, probability=None)
    ratios = resampled_ratios(numerators, denominators, resamples=resamples, seed=seed)
    differences = ratios[:, 1] - ratios[:, 0]
    low, high = percentiles(differences)
    known = differences[~np.isnan(differences)]
    ahead = float((known > 0).mean() + (known == 0).mean() / 2)
    return Difference(value=value, low=low, high=high, probability=ahead)


def _exact_in_single(values: Floats) -> bool:
    """Whether sums of so many draws of these values are exact in single precision, which is what draws are kept in."""
    return bool((values == np.rint(values)).all() and np.abs(values).max(initial=0) * len(values) < 2**24)


def _draws(tasks: int, resamples: int, seed: int) -> Iterator[NDArray[np.float32]]:
    """Rows, in one or more blocks: how often each task is drawn in a resample."""
    if tasks * resamples <= _KEPT:
        yield _kept(tasks, resamples, seed)
    else:
        yield from _made(tasks, resamples, seed)


@lru_cache(maxsize=6)
def _kept(tasks: int, resamples: int, seed: int) -> NDArray[np.float32]:
    return np.concatenate(list(_made(tasks, resamples, seed)))


def _made(tasks: int, resamples: int, seed: int) -> Iterator[NDArray[np.float32]]:
    generator = np.random.default_rng(seed)
    rows = max(1, _BLOCK // tasks)
    for start in range(0, resamples, rows):
        here = min(rows, resamples - start)
        drawn = generator.integers(0, tasks, (here, tasks)) + np.arange(here)[:, None] * tasks
        counts = np.bincount(drawn.ravel(), minlength=here * tasks)
        yield counts.reshape(here, tasks).astype(np.float32)
