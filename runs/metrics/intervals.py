"""Intervals of a rate, and where they come from."""

from __future__ import annotations

from enum import StrEnum
from math import sqrt

import msgspec
from scipy.special import betainc, betaincinv

__all__ = [
    "LEVEL", "Interval", "Method", "in_goldilocks_zone", "jeffreys_interval", "widest_interval", "zone_probability",
]  # fmt: skip

LEVEL = 0.95
_ZONE = (1 / 16, 15 / 16)
_NORMAL_95 = 1.96


class Method(StrEnum):
    JEFFREYS = "jeffreys"
    """Treats what was counted as independent: right for one task and for counts of tasks, too narrow for the pooled
    attempts of a run, of which those at one task are alike."""
    BOOTSTRAP = "task_bootstrap"
    """Resamples tasks, each with all its attempts."""
    PUBLISHED = "published"
    WIDEST = "widest"
    """No interval is known: the widest that the score and the number of tasks allow."""


class Interval(msgspec.Struct, frozen=True, kw_only=True):
    """An interval of shares, from 0 to 1."""

    low: float
    high: float
    method: Method
    level: float = LEVEL

    @property
    def half_width(self) -> float:
        return (self.high - self.low) / 2


def jeffreys_interval(passed: int, n: int, *, level: float = LEVEL, a0: float = 0.5, b0: float = 0.5) -> Interval:
    """Equal-tailed quantiles of Beta(a0 + passed, b0 + n - passed), with no special case at the ends."""
    if not 0 <= passed <= n:
        raise ValueError(f"{passed} of {n} attempts cannot have passed.")
    if min(a0, b0) <= 0:
        raise ValueError("The parameters of the prior have to be positive.")
    a, b = a0 + passed, b0 + n - passed
    tail = (1 - level) / 2
    return Interval(
        low=float(betaincinv(a, b, tail)),
        high=float(betaincinv(a, b, 1 - tail)),
        method=Method.JEFFREYS,
        level=level,
    )


def widest_interval(value: float, tasks: int) -> Interval:
    """The widest 95% interval that a share can have over so many tasks: every task always or never passes.

    At exactly 0 and 1 that has no width, as if nothing were in doubt: there it is the Jeffreys interval of the tasks,
    which its `method` tells.
    """
    if value in (0, 1):
        return jeffreys_interval(tasks if value else 0, tasks)
    half = _NORMAL_95 * sqrt(value * (1 - value) / tasks)
    return Interval(low=max(0.0, value - half), high=min(1.0, value + half), method=Method.WIDEST)


def zone_probability(passed: int, n: int, lower: float = _ZONE[0], upper: float = _ZONE[1]) -> float:
    """The probability that a task's true rate lies between the two: neither hopeless nor safe.

    Raises ValueError unless 0 ≤ lower < upper ≤ 1.
    """
    if not 0 <= lower < upper <= 1:
        raise ValueError(f"The zone from {lower} to {upper} is not a part of 0 to 1.")
    a, b = 0.5 + passed, 0.5 + n - passed
    return float(betainc(a, b, upper) - betainc(a, b, lower))


def in_goldilocks_zone(passed: int, n: int) -> bool:
    """Whether that probability is at least 0.95, as `tb agg` prints it."""
    return zone_probability(passed, n) >= LEVEL
