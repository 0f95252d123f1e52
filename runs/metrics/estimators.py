"""pass@k and the three quantities called pass^k, for one task and as curves over many.

Of n recorded attempts at a task, c passed. At k = n the unbiased estimates are the literal outcome: pass@n is "at least
once", unbiased pass^n is "all". The plug-in estimate (c/n)^k is never smaller than the unbiased one, and positive for
every c ≥ 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb

import msgspec
import numpy as np
from numpy.typing import NDArray

from runs.metrics.outcomes import TaskOutcome

__all__ = ["CurvePoint", "curve", "pass_at_k", "pass_hat_k", "pass_hat_k_unbiased"]


def pass_at_k(n: int, c: int, k: int) -> float:
    """The chance that at least one of k attempts drawn from the n passed. Raises ValueError unless 1 ≤ k ≤ n."""
    _check(n, c, k)
    if k > n:
        raise ValueError(f"pass@{k} cannot be computed from {n} attempts.")
    return 1 - comb(n - c, k) / comb(n, k)


def pass_hat_k(n: int, c: int, k: int) -> float:
    """(c/n)^k: the biased plug-in estimate, the harness's `pass_power_k`. 0 of no attempts; k may exceed n."""
    _check(n, c, k)
    return float((c / n) ** k) if n else 0.0


def pass_hat_k_unbiased(n: int, c: int, k: int) -> float:
    """The chance that all of k attempts drawn from the n passed. Raises ValueError unless 1 ≤ k ≤ n."""
    _check(n, c, k)
    if k > n:
        raise ValueError(f"pass^{k} cannot be computed from {n} attempts.")
    return comb(c, k) / comb(n, k)


def _check(n: int, c: int, k: int) -> None:
    if k < 1:
        raise ValueError(f"k is {k}, and has to be at least 1.")
    if not 0 <= c <= n:
        raise ValueError(f"{c} of {n} attempts cannot have passed.")


class CurvePoint(msgspec.Struct, frozen=True, kw_only=True):
    """Means over the tasks that have at least `k` recorded attempts; `tasks` says how many those are.

    For k = 1 all three are pass@1 over attempts, errors counted as not passed.
    """

    k: int
    tasks: int
    pass_at: float
    pass_hat: float
    """The mean of (c/n)^k, as `tb agg` prints it."""
    pass_hat_unbiased: float


def curve(outcomes: Sequence[TaskOutcome]) -> list[CurvePoint]:
    """A point for each k from 1 to the most attempts that a task has; empty without attempts."""
    n = np.array([task.n for task in outcomes], dtype=np.int64)
    c = np.array([task.passed for task in outcomes], dtype=np.int64)
    longest = int(n.max(initial=0))
    if longest == 0:
        return []
    enough = n[:, None] >= np.arange(1, longest + 1)
    tasks = enough.sum(axis=0)
    at = 1 - _all_drawn(n, n - c, longest)
    unbiased = _all_drawn(n, c, longest)
    rate = np.divide(c, n, out=np.zeros(len(n)), where=n > 0)
    plug_in = rate[:, None] ** np.arange(1, longest + 1)
    means = [np.where(enough, values, 0).sum(axis=0) / tasks for values in (at, plug_in, unbiased)]
    for values in means:
        values[0] = c.sum() / n.sum()
    return [
        CurvePoint(
            k=k + 1,
            tasks=int(tasks[k]),
            pass_at=float(means[0][k]),
            pass_hat=float(means[1][k]),
            pass_hat_unbiased=float(means[2][k]),
        )
        for k in range(longest)
    ]


def _all_drawn(n: NDArray[np.int64], marked: NDArray[np.int64], longest: int) -> NDArray[np.float64]:
    """For each task and each k: the chance that k attempts drawn from n are all among the marked ones."""
    drawn = np.arange(longest)
    left = np.maximum(n[:, None] - drawn, 1)  # beyond n the value is not used
    return np.cumprod(np.maximum(marked[:, None] - drawn, 0) / left, axis=1)
