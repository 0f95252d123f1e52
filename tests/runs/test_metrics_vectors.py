"""The golden vectors: what the harness's own functions return, exact arithmetic, and worked examples."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from runs.metrics import (
    TaskOutcome,
    compare,
    in_goldilocks_zone,
    jeffreys_interval,
    pass_at_k,
    pass_hat_k,
    pass_hat_k_unbiased,
    prob_greater,
    prob_lift,
    summarise,
    task_metrics,
    zone_probability,
)
from runs.metrics.estimators import curve
from tests.runs.reference import read_reference

pytestmark = pytest.mark.shared

CLOSE = 1e-9


@pytest.fixture(scope="module")
def vectors(shared: Path) -> Any:
    return read_reference(shared, "metric_vectors.json")


def test_pass_at_k_and_both_forms_of_pass_hat_k(vectors: Any) -> None:
    grid = vectors["pass_metrics"]["grid"]
    assert len(grid) == 391
    for row in [*grid, *vectors["pass_metrics"]["full_n20"]]:
        n, c, k = row["n"], row["c"], row["k"]
        assert pass_hat_k(n, c, k) == pytest.approx(row["pass_power_k_biased"], abs=CLOSE)
        assert pass_at_k(n, c, k) == pytest.approx(row["pass_at_k_unbiased"], abs=CLOSE)
        assert pass_hat_k_unbiased(n, c, k) == pytest.approx(row["pass_power_k_unbiased"], abs=CLOSE)
        point = curve([TaskOutcome(uid="a", n=n, passed=c)])[k - 1]
        assert (point.pass_at, point.pass_hat, point.pass_hat_unbiased) == pytest.approx(
            (row["pass_at_k_unbiased"], row["pass_power_k_biased"], row["pass_power_k_unbiased"]), abs=CLOSE
        )
    for row in grid:
        assert pass_at_k(row["n"], row["c"], row["k"]) == pytest.approx(
            float(Fraction(row["pass_at_k_exact"])), abs=CLOSE
        )
        outcome = TaskOutcome(uid="a", n=row["n"], passed=row["c"])
        assert outcome.dependable(row["n"]) == bool(row["all_n_observed"])


def test_what_the_harness_refuses_is_refused(vectors: Any) -> None:
    calls = {"pass_at_k_unbiased": pass_at_k, "pass_power_k": pass_hat_k}
    for row in vectors["pass_metrics"]["errors"]:
        arguments = row["n"], row["c"], row["k"]
        if "raises" in row:
            with pytest.raises(ValueError, match=r"attempts|at least 1"):
                calls[row["call"]](*arguments)
        else:
            assert calls[row["call"]](*arguments) == pytest.approx(row["returns"], abs=CLOSE)


def test_aggregates_of_whole_runs(vectors: Any) -> None:
    sets = vectors["aggregate"]["sets"]
    assert len(sets) == 7
    for each in sets:
        outcomes = [
            TaskOutcome(uid=f"task {at}", n=task["runs"], passed=task["passed"], errors=task["system_errors"])
            for at, task in enumerate(each["tasks"])
        ]
        k = max((task.n for task in outcomes), default=0)
        metrics, expected = summarise(outcomes, k, resamples=0).overall, each["upstream_metrics"]
        assert (metrics.tasks, metrics.attempts) == (expected["num_tests"], expected["total_runs"])
        if outcomes:
            interval = metrics.pass_at_1_uncertainty.jeffreys
            assert interval is not None
            assert (metrics.pass_at_1.value, interval.low, interval.high) == pytest.approx(
                (expected["mean_pass"], expected["mean_pass_ci_low"], expected["mean_pass_ci_high"]), abs=CLOSE
            )
        else:
            assert (metrics.pass_at_1.value, metrics.pass_at_1_uncertainty.jeffreys) == (None, None)
        points = {point.k: point for point in metrics.curve}
        for k_value, value in expected["unbiased_pass_at_k"]:
            assert points[k_value].pass_at == pytest.approx(value, abs=CLOSE)
        for k_value, value in expected["pass_power_k"]:
            assert points[k_value].pass_hat == pytest.approx(value, abs=CLOSE)
        derived = each["derived"]
        assert metrics.solved.count == derived["tasks_passed_at_least_once"]
        assert metrics.pass_at_1_without_errors.value == pytest.approx(derived["success_rate_excluding_errors"])
        equal = len({task.n for task in outcomes}) < 2
        if equal:
            assert metrics.all_k.count == derived["tasks_all_runs_passed"]
        rows = [
            {
                "runs": task.n,
                "passed": task.passed,
                "failed": task.failed,
                "error": task.errors,
                "success_pct": pytest.approx(task.passed / task.n),
                "in_goldilocks_zone": task.in_zone,
                "likelihood_in_goldilocks_zone": pytest.approx(task.zone_probability, abs=CLOSE),
            }
            for task in task_metrics(outcomes, k)
        ]
        assert each["upstream_rows"] == rows


def test_jeffreys_intervals(vectors: Any) -> None:
    for row in vectors["credible_interval"]["vectors"]:
        interval = jeffreys_interval(row["k"], row["n"], level=row["level"], a0=row["a0"], b0=row["b0"])
        assert (interval.low, interval.high) == pytest.approx((row["low"], row["high"]), abs=CLOSE)
    for row in vectors["credible_interval"]["errors"]:
        with pytest.raises(ValueError, match=r"attempts|prior"):
            jeffreys_interval(row["k"], row["n"], a0=row.get("a0", 0.5), b0=row.get("b0", 0.5))


def test_the_goldilocks_zone(vectors: Any) -> None:
    for row in vectors["prob_in_zone"]["vectors"]:
        assert zone_probability(row["k"], row["n"], row["lower"], row["upper"]) == pytest.approx(row["p"], abs=CLOSE)
        assert in_goldilocks_zone(row["k"], row["n"]) == row["gz95"]
    for row in vectors["prob_in_zone"]["errors"]:
        with pytest.raises(ValueError, match="zone"):
            zone_probability(row["k"], row["n"], row["lower"], row["upper"])


def test_the_probability_of_being_better_is_the_accurate_one(vectors: Any) -> None:
    """Within 1e-6 of the adaptive integral, and of the harness's own rule within its error."""
    rows = vectors["prob_A_gt_B"]["vectors"]
    found = prob_greater(*([row[name] for row in rows] for name in ("kA", "nA", "kB", "nB")))
    assert found.tolist() == pytest.approx([row["independent_quadrature"] for row in rows], abs=1e-6)
    for row, value in zip(rows, found, strict=True):
        assert abs(value - row["upstream"]) <= row["abs_difference"] + 1e-6


def test_the_probability_of_a_lift(vectors: Any) -> None:
    for row in vectors["prob_lift_gt_eps"]["vectors"]:
        found = prob_lift(row["kA"], row["nA"], row["kB"], row["nB"], lift=row["eps"])
        assert found.tolist() == pytest.approx([row["p"]], abs=0.005)


def test_a_comparison_leaves_errors_out_and_the_shown_rate_keeps_them(vectors: Any) -> None:
    example = vectors["compare_denominator"]["example"]
    baseline, candidate = (
        [TaskOutcome(uid="a", n=side["runs"], passed=side["passed"], errors=side["errors"])]
        for side in (example["baseline"], example["candidate"])
    )
    task = compare(baseline, candidate, 20).tasks[0]
    assert task.greater == pytest.approx(example["prob"], abs=1e-6)
    assert [100 * side.passed / side.n for side in (task.baseline, task.candidate)] == [
        example["displayed_baseline_pct"],
        example["displayed_candidate_pct"],
    ]
