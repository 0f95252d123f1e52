"""What metrics are computed from: how often each task was tried, and how often it passed."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from itertools import pairwise

import msgspec

__all__ = ["ErrorRule", "Share", "TaskOutcome", "in_order"]


class ErrorRule(StrEnum):
    """How pass@1 treats attempts with a system error. Nothing else depends on it: counts of tasks are literal."""

    AS_FAILED = "failed"
    """An error is an attempt that did not pass (the published rule, and the harness's own)."""
    LEFT_OUT = "excluded"
    """Errors are in neither part of the fraction."""


class TaskOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """One task's recorded attempts: `n` of them, `passed` and `errors` among them; the others failed."""

    uid: str
    n: int
    passed: int
    errors: int = 0
    domain: str = ""
    tags: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if min(self.passed, self.errors) < 0 or self.passed + self.errors > self.n:
            raise ValueError(
                f"The counts of task {self.uid!r} contradict each other: {self.passed} passed and {self.errors} errors "
                f"of {self.n} attempts."
            )

    def graded(self, rule: ErrorRule) -> int:
        """The attempts that pass@1 counts."""
        return self.n if rule is ErrorRule.AS_FAILED else self.n - self.errors

    def complete(self, k: int) -> bool:
        """Whether the k attempts that the benchmark asks for are recorded; else "all k" is not computable."""
        return self.n >= max(k, 1)

    def dependable(self, k: int) -> bool:
        """Whether all k attempts are recorded and all recorded ones passed. An error is not a pass."""
        return self.complete(k) and self.passed == self.n


class Share(msgspec.Struct, frozen=True):
    """A count out of another, and what it was counted over."""

    count: int
    of: int

    @property
    def value(self) -> float | None:
        """The fraction; None of nothing."""
        return self.count / self.of if self.of else None


def in_order(outcomes: Iterable[TaskOutcome]) -> list[TaskOutcome]:
    """The tasks by uid, so that seeded results do not depend on the order of reading. Raises ValueError on a double."""
    ordered = sorted(outcomes, key=lambda task: task.uid)
    for before, after in pairwise(ordered):
        if before.uid == after.uid:
            raise ValueError(f"The task {after.uid!r} is listed twice.")
    return ordered
