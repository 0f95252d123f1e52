"""The three shares a run is judged by, each as a ratio of sums over tasks, so that one bootstrap serves all."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

import numpy as np

from runs.metrics.bootstrap import Floats
from runs.metrics.outcomes import ErrorRule, TaskOutcome

__all__ = ["Measure", "fractions"]


class Measure(StrEnum):
    PASS_AT_1 = "pass_at_1"
    SOLVED = "solved_at_least_once"
    ALL_K = "observed_all_k"


def fractions(
    tasks: Sequence[TaskOutcome], k: int, measure: Measure, rule: ErrorRule = ErrorRule.AS_FAILED
) -> tuple[Floats, Floats]:
    """What each task adds to the count, and to what it is counted of. Only pass@1 depends on the error rule."""
    if measure is Measure.PASS_AT_1:
        pairs = [(task.passed, task.graded(rule)) for task in tasks]
    elif measure is Measure.SOLVED:
        pairs = [(int(task.passed > 0), 1) for task in tasks]
    else:
        pairs = [(int(task.dependable(k)), int(task.complete(k))) for task in tasks]
    both = np.array(pairs, dtype=np.float64).reshape(len(pairs), 2)
    return both[:, 0], both[:, 1]
