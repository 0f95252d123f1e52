"""What repeated attempts say about a model: arithmetic on counts per task, no database.

Start with `summarise(outcomes, k)`, `compare(baseline, candidate, k)` and `rank(contenders)`.
"""

from __future__ import annotations

from runs.metrics.bootstrap import RESAMPLES, SEED, Difference
from runs.metrics.comparison import Comparison, Pooled, TaskComparison, compare
from runs.metrics.estimators import CurvePoint, curve, pass_at_k, pass_hat_k, pass_hat_k_unbiased
from runs.metrics.intervals import (
    Interval,
    Method,
    in_goldilocks_zone,
    jeffreys_interval,
    widest_interval,
    zone_probability,
)
from runs.metrics.measures import Measure
from runs.metrics.outcomes import ErrorRule, Share, TaskOutcome
from runs.metrics.posteriors import DEFAULT_LIFT, prob_greater, prob_lift
from runs.metrics.ranking import Contender, Measured, Ranked, measured_contender, rank
from runs.metrics.spread import Spread, spread
from runs.metrics.summary import (
    GroupMetrics,
    RunMetrics,
    TaskMetrics,
    Uncertainty,
    domain_means,
    summarise,
    task_metrics,
)

__all__ = [
    "DEFAULT_LIFT", "METRIC_VERSION", "RESAMPLES", "SEED", "Comparison", "Contender", "CurvePoint", "Difference",
    "ErrorRule", "GroupMetrics", "Interval", "Measure", "Measured", "Method", "Pooled", "Ranked", "RunMetrics",
    "Share", "Spread", "TaskComparison", "TaskMetrics", "TaskOutcome", "Uncertainty", "compare", "curve",
    "domain_means", "in_goldilocks_zone", "jeffreys_interval", "measured_contender", "pass_at_k", "pass_hat_k",
    "pass_hat_k_unbiased", "prob_greater", "prob_lift", "rank", "spread", "summarise", "task_metrics",
    "widest_interval", "zone_probability",
]  # fmt: skip

METRIC_VERSION = 2
"""Raised when a definition changes, so that frozen figures say by which they were made.

1: as first defined. 2: at exactly 0% and 100% a share whose interval is not published is in doubt by the Jeffreys
interval of its tasks; by 1 it was in no doubt at all.
"""
