"""A whole benchmark: the constructed counts that reproduce every published aggregate of 18 models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from runs.metrics import RunMetrics, TaskOutcome, compare, domain_means, measured_contender, rank, summarise
from tests.runs.reference import consistent_runs, read_reference

pytestmark = pytest.mark.shared

PERCENT = 0.005
"""Points within which printed percentages are met: three printed cells are exact halves."""


@pytest.fixture(scope="module")
def runs(shared: Path) -> dict[str, list[TaskOutcome]]:
    return consistent_runs(shared)


@pytest.fixture(scope="module")
def metrics(runs: dict[str, list[TaskOutcome]]) -> dict[str, RunMetrics]:
    return {model: summarise(outcomes, 20) for model, outcomes in runs.items()}


@pytest.fixture(scope="module")
def models(shared: Path) -> list[Any]:
    found: list[Any] = read_reference(shared, "consistent_counts.json")["models"]
    assert len(found) == 18
    return found


def test_the_published_table_of_pass_at_1(metrics: dict[str, RunMetrics], models: list[Any]) -> None:
    for model in models:
        found, published = metrics[model["model"]], model["published"]
        assert (found.overall.pass_at_1.value or 0) * 100 == pytest.approx(
            published["pass_at_1_overall_pct"], abs=PERCENT + 1e-9
        )
        for group in found.by_domain:
            assert (group.pass_at_1.value or 0) * 100 == pytest.approx(
                published["pass_at_1_pct"][group.name], abs=PERCENT + 1e-9
            )


def test_the_counts_of_tasks(metrics: dict[str, RunMetrics], models: list[Any]) -> None:
    for model in models:
        found, expected = metrics[model["model"]].overall, model["recomputed"]
        assert (found.passed, found.solved.count, found.never_solved, found.all_k.count) == (
            expected["successes_overall"],
            expected["tasks_solved_at_least_once"],
            expected["tasks_never_solved"],
            expected["tasks_20_of_20"],
        )
        last = found.curve[-1]
        assert (last.k, last.pass_at, last.pass_hat_unbiased) == pytest.approx(
            (20, found.solved.value, found.all_k.value), abs=1e-12
        )
        assert last.pass_hat * 100 == pytest.approx(expected["pass_power_20_biased_pct"], abs=1e-4)
        assert (found.distribution[0], found.distribution[20], sum(found.distribution)) == (
            expected["tasks_never_solved"],
            expected["tasks_20_of_20"],
            507,
        )


def test_how_much_of_pass_at_1_survives_twenty_repeats(metrics: dict[str, RunMetrics]) -> None:
    names = ("GPT-6 Astra", "Claude Opus 5.5", "Claude Opus 5", "DeepSeek-V4-Pro", "Kimi-K2.6", "GLM-5.1")
    assert [round(100 * (metrics[name].overall.retention or 0)) for name in names] == [78, 71, 71, 8, 8, 8]


def test_the_mean_of_each_domain_over_the_models(metrics: dict[str, RunMetrics]) -> None:
    means = domain_means(metrics.values())
    assert [100 * means[name] for name in ("retail", "auto_insurance")] == pytest.approx([59.52, 33.83], abs=0.0051)


def test_the_task_bootstrap_and_its_standard_error(metrics: dict[str, RunMetrics], models: list[Any]) -> None:
    """Within 0.15 points: neither seed nor number of resamples is published."""
    for model in models:
        doubt = metrics[model["model"]].overall.pass_at_1_uncertainty
        expected = model["recomputed"]
        assert doubt.bootstrap is not None
        assert doubt.standard_error is not None
        ends = [100 * doubt.bootstrap.low, 100 * doubt.bootstrap.high]
        assert ends == pytest.approx(expected["task_cluster_bootstrap_95_pct"], abs=0.15)
        assert 100 * doubt.standard_error == pytest.approx(expected["task_cluster_standard_error_pct"], abs=1e-3)
        if model["published"]["bootstrap_95_pct"]:
            assert ends == pytest.approx(model["published"]["bootstrap_95_pct"], abs=0.15)


def test_pooled_attempts_claim_under_a_third_of_the_width(metrics: dict[str, RunMetrics]) -> None:
    doubt = metrics["GPT-5.4"].overall.pass_at_1_uncertainty
    assert doubt.jeffreys is not None
    assert doubt.bootstrap is not None
    assert [100 * doubt.jeffreys.low, 100 * doubt.jeffreys.high] == pytest.approx([64.43, 66.29], abs=0.005)
    assert doubt.jeffreys.half_width < doubt.bootstrap.half_width / 3
    assert doubt.shown == doubt.bootstrap


def test_two_models_that_pass_as_often_are_not_equally_dependable(runs: dict[str, list[TaskOutcome]]) -> None:
    found = compare(runs["GPT-5.4"], runs["Claude Opus 5.5"], 20)
    assert found.pass_at_1 is not None
    assert found.all_k is not None
    assert 100 * found.pass_at_1.value == pytest.approx(1.795, abs=0.001)
    assert not found.pass_at_1.significant
    assert (round(507 * found.all_k.value), found.all_k.significant) == (241 - 128, True)
    assert len(found.became_dependable) - len(found.no_longer_dependable) == 241 - 128


def test_ranks_of_all_models(runs: dict[str, list[TaskOutcome]]) -> None:
    ranked = rank([measured_contender(model, outcomes, 20) for model, outcomes in runs.items()])
    assert [(row.position, row.best, row.worst, row.group, row.name) for row in ranked[:6]] == [
        (1, 1, 3, 1, "Claude Opus 5.5"),
        (2, 1, 3, 1, "Claude Opus 5"),
        (3, 1, 3, 1, "GPT-5.4"),
        (4, 4, 4, 2, "GPT-5.6 Sol"),
        (5, 5, 6, 3, "Claude Sonnet 4.6"),
        (6, 5, 7, 3, "GPT-6 Astra"),
    ]
    assert [row.best for row in ranked] == [1 + len(row.better) for row in ranked]
    assert [row.worst for row in ranked] == [18 - len(row.worse) for row in ranked]
