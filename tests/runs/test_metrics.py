from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.metrics import (
    Contender,
    ErrorRule,
    Interval,
    Method,
    Share,
    Spread,
    TaskOutcome,
    Uncertainty,
    curve,
    domain_means,
    jeffreys_interval,
    pass_at_k,
    pass_hat_k_unbiased,
    rank,
    spread,
    summarise,
    task_metrics,
    widest_interval,
)
from runs.metrics.bootstrap import bootstrap_intervals, paired_difference, percentiles, resampled_ratios


def outcomes(*counts: tuple[int, ...], **others: Any) -> list[TaskOutcome]:
    """Tasks `a`, `b`, … by attempts, passed and errors."""
    return [
        TaskOutcome(uid=chr(97 + at), n=count[0], passed=count[1], errors=count[2] if len(count) > 2 else 0, **others)
        for at, count in enumerate(counts)
    ]


def test_a_run_of_nothing_has_no_figures() -> None:
    found = summarise([], 20)
    assert (found.by_domain, found.by_tag) == ([], [])
    group = found.overall
    assert (group.tasks, group.attempts, group.curve, group.distribution) == (0, 0, [], [0] * 21)
    assert (group.pass_at_1.value, group.breadth, group.consistency, group.retention) == (None, None, None, None)
    nothing = Uncertainty(standard_error=None, bootstrap=None, jeffreys=None)
    assert (group.pass_at_1_uncertainty, group.all_k_uncertainty) == (nothing, nothing)
    assert nothing.shown is None


def test_the_error_rule_changes_pass_at_1_and_no_count_of_tasks() -> None:
    tasks = outcomes((4, 4, 0), (4, 3, 1), (4, 0, 4))
    counted = summarise(tasks, 4).overall
    left_out = summarise(tasks, 4, error_rule=ErrorRule.LEFT_OUT).overall
    assert (counted.pass_at_1, left_out.pass_at_1) == (Share(7, 12), Share(7, 7))
    assert counted.pass_at_1_without_errors == left_out.pass_at_1
    assert left_out.pass_at_1_counting_errors == counted.pass_at_1
    for group in (counted, left_out):
        assert (group.all_k, group.solved, group.errors) == (Share(1, 3), Share(2, 3), 5)
        assert group.curve == counted.curve
        assert group.distribution == [1, 0, 0, 1, 1]
    assert counted.retention == pytest.approx((1 / 3) / (7 / 12))
    assert left_out.retention == pytest.approx(1 / 3)


def test_all_errors() -> None:
    tasks = outcomes((3, 0, 3), (3, 0, 3))
    group = summarise(tasks, 3).overall
    assert (group.pass_at_1, group.all_k, group.solved, group.retention) == (
        Share(0, 6),
        Share(0, 2),
        Share(0, 2),
        None,
    )
    left_out = summarise(tasks, 3, error_rule=ErrorRule.LEFT_OUT).overall
    assert (left_out.pass_at_1.value, left_out.pass_at_1_uncertainty.shown) == (None, None)
    assert [task.pass_at_1 for task in task_metrics(tasks, 3, error_rule=ErrorRule.LEFT_OUT)] == [Share(0, 0)] * 2


def test_one_repetition() -> None:
    group = summarise(outcomes((1, 1), (1, 0), (1, 0), (1, 1)), 1).overall
    assert (group.pass_at_1, group.solved, group.all_k, group.retention) == (
        Share(2, 4),
        Share(2, 4),
        Share(2, 4),
        1.0,
    )
    assert [(point.k, point.pass_at, point.pass_hat, point.pass_hat_unbiased) for point in group.curve] == [
        (1, 0.5, 0.5, 0.5)
    ]
    assert group.distribution == [2, 2]


def test_a_task_with_fewer_than_k_attempts_is_counted_apart() -> None:
    """Three of three passed is not twenty of twenty."""
    group = summarise(outcomes((20, 20), (20, 19), (3, 3)), 20).overall
    assert (group.all_k, group.incomplete_tasks, group.missing) == (Share(1, 2), 1, 17)
    assert (group.consistency, group.retention) == (None, None)
    assert sum(group.distribution) == 2
    assert [(point.k, point.tasks) for point in group.curve if point.k in {3, 4, 20}] == [(3, 3), (4, 2), (20, 2)]
    assert group.curve[-1].pass_hat_unbiased == 0.5
    assert group.unequal
    assert not summarise(outcomes((20, 20), (20, 19)), 20).overall.unequal


def test_unequal_repetitions_are_counted_by_attempts() -> None:
    group = summarise(outcomes((20, 10), (10, 10)), 10).overall
    assert (group.pass_at_1, group.all_k, group.incomplete_tasks) == (Share(20, 30), Share(1, 2), 0)
    first = group.curve[0]
    assert (first.pass_at, first.pass_hat, first.pass_hat_unbiased) == (20 / 30, 20 / 30, 20 / 30)
    assert group.curve[1].pass_hat == pytest.approx((0.25 + 1) / 2)
    assert group.distribution == [0] * 10 + [2] + [0] * 10


def test_exactly_nothing_and_exactly_everything_have_no_bootstrap_and_say_which_interval_they_show() -> None:
    for passed, rate in ((0, 0.0), (5, 1.0)):
        group = summarise(outcomes((5, passed), (5, passed), (5, passed)), 5).overall
        assert (group.pass_at_1.value, group.breadth, group.consistency) == (rate, rate, rate)
        for doubt, n in ((group.pass_at_1_uncertainty, 15), (group.all_k_uncertainty, 3)):
            assert (doubt.standard_error, doubt.bootstrap) == (None, None)
            assert doubt.shown == jeffreys_interval(round(rate * n), n)
            assert doubt.shown.method is Method.JEFFREYS
        assert group.retention == (1.0 if rate else None)


def test_a_single_task_has_no_bootstrap() -> None:
    doubt = summarise(outcomes((20, 7)), 20).overall.pass_at_1_uncertainty
    assert doubt == Uncertainty(standard_error=None, bootstrap=None, jeffreys=jeffreys_interval(7, 20))


def test_domains_and_tags_are_counted_over_their_own_tasks() -> None:
    tasks = [
        TaskOutcome(uid="a", n=2, passed=2, domain="retail", tags=("refund", "vip")),
        TaskOutcome(uid="b", n=2, passed=0, domain="retail", tags=("refund",)),
        TaskOutcome(uid="c", n=2, passed=1, domain="travel"),
    ]
    found = summarise(tasks, 2)
    assert [(group.name, group.pass_at_1, group.all_k) for group in found.by_domain] == [
        ("retail", Share(2, 4), Share(1, 2)),
        ("travel", Share(1, 2), Share(0, 1)),
    ]
    assert [(group.name, group.pass_at_1) for group in found.by_tag] == [("refund", Share(2, 4)), ("vip", Share(2, 2))]


def test_a_domain_s_mean_counts_each_run_once() -> None:
    first = summarise(outcomes((2, 2), (2, 0), domain="retail"), 2)
    second = summarise(outcomes((2, 2), domain="retail"), 2)
    other = summarise(outcomes((4, 1), domain="travel"), 4)
    assert domain_means([first, second, other]) == {"retail": 0.75, "travel": 0.25}


def test_a_task_knows_its_own_interval() -> None:
    task = task_metrics(outcomes((20, 19, 1)), 20)[0]
    assert (task.failed, task.complete, task.dependable, task.pass_at_1) == (0, True, False, Share(19, 20))
    assert task.interval == jeffreys_interval(19, 20)


def test_the_order_of_reading_changes_nothing() -> None:
    tasks = outcomes((20, 3), (20, 18), (20, 20), (10, 4))
    assert summarise(tasks, 20) == summarise(reversed(tasks), 20)


@pytest.mark.parametrize("counts", [(5, 6, 0), (5, 3, 3), (5, -1, 0), (5, 1, -1)])
def test_counts_that_contradict_each_other_are_refused(counts: tuple[int, int, int]) -> None:
    with pytest.raises(ValueError, match="contradict each other"):
        outcomes(counts)


def test_a_task_that_is_listed_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="'a' is listed twice"):
        summarise([*outcomes((1, 1)), *outcomes((1, 0))], 1)


def test_the_widest_interval_ends_at_nothing_and_everything() -> None:
    found = widest_interval(0.5, 100)
    assert (found.low, found.high) == pytest.approx((0.402, 0.598))
    assert found.method is Method.WIDEST
    assert (widest_interval(0.999, 10).high, widest_interval(0.001, 10).low) == (1.0, 0.0)


def test_at_none_and_all_the_widest_interval_is_the_one_of_the_tasks() -> None:
    assert widest_interval(0.0, 507) == jeffreys_interval(0, 507)
    assert widest_interval(1.0, 507) == jeffreys_interval(507, 507)
    rows = [Contender(name=f"{n}", value=n / 507, interval=widest_interval(n / 507, 507)) for n in (0, 4, 503, 507)]
    assert [(row.name, row.best, row.worst) for row in rank(rows)] == [
        ("507", 1, 2),
        ("503", 1, 2),
        ("4", 3, 4),
        ("0", 3, 4),
    ]


def test_a_spread_is_over_what_is_recorded() -> None:
    assert spread([3, None, 5.0, 4]) == Spread(average=4.0, least=3, most=5.0, count=3)
    assert spread([None]) is None


def test_the_bootstrap_repeats_itself_and_depends_on_its_seed() -> None:
    above, below = np.arange(12.0)[:, None], np.full((12, 1), 20.0)
    first = bootstrap_intervals(above, below, resamples=500, seed=1)
    assert bootstrap_intervals(above, below, resamples=500, seed=1) == first
    assert bootstrap_intervals(above, below, resamples=500, seed=2) != first
    assert bootstrap_intervals(above, below, resamples=0) == [None]


def test_the_bootstrap_has_the_spread_that_theory_says() -> None:
    rates = np.random.default_rng(5).uniform(size=200)
    ratios = resampled_ratios(rates[:, None] * 20, np.full((200, 1), 20.0), resamples=4000)
    assert ratios.std() == pytest.approx(rates.std() / 200**0.5, rel=0.05)
    assert ratios.mean() == pytest.approx(rates.mean(), abs=0.005)


def test_many_tasks_are_drawn_in_blocks_with_the_same_result() -> None:
    """More draws than are kept, and values that single precision would round."""
    above, below = np.linspace(0, 1, 9000)[:, None] / 3, np.ones((9000, 1))
    (found,) = bootstrap_intervals(above, below, resamples=700)
    assert found is not None
    error = (above.std() / 9000**0.5) * 1.96
    assert (found.low, found.high) == pytest.approx((1 / 6 - error, 1 / 6 + error), abs=error / 5)


def test_values_that_are_never_known_have_no_percentiles() -> None:
    assert np.isnan(percentiles(np.array([np.nan, np.nan]))).all()


@pytest.mark.parametrize("form", [pass_at_k, pass_hat_k_unbiased])
def test_no_estimate_beyond_what_was_recorded(form: Callable[[int, int, int], float]) -> None:
    with pytest.raises(ValueError, match="cannot be computed from 5 attempts"):
        form(5, 2, 6)


def test_a_domain_of_which_nothing_is_recorded_has_no_mean() -> None:
    assert domain_means([summarise(outcomes((0, 0), domain="retail"), 4)]) == {}


def test_a_resample_that_counts_nothing_is_left_out() -> None:
    above, below = np.array([[1.0], [0.0], [0.0]]), np.array([[2.0], [2.0], [0.0]])
    (found,) = bootstrap_intervals(above, below, resamples=2000)
    assert found == Interval(low=0.0, high=0.5, method=Method.BOOTSTRAP)


def test_a_difference_needs_something_on_both_sides() -> None:
    some, none = (np.array([1.0, 0.0]), np.ones(2)), (np.zeros(2), np.zeros(2))
    assert paired_difference(some, none) is None
    one = paired_difference((np.ones(1), np.ones(1)), (np.zeros(1), np.ones(1)))
    assert one is not None
    assert (one.value, one.low, one.high, one.probability, one.significant) == (-1.0, None, None, None, False)


tasks_of_one_run = st.integers(1, 8).flatmap(
    lambda k: st.lists(
        st.integers(0, k).flatmap(lambda passed: st.integers(0, k - passed).map(lambda errors: (k, passed, errors))),
        min_size=1,
        max_size=8,
    ).map(lambda counts: (k, counts))
)


@given(tasks_of_one_run)
def test_always_is_never_more_often_than_at_all(run: tuple[int, list[tuple[int, int, int]]]) -> None:
    k, counts = run
    group = summarise(outcomes(*counts), k, resamples=0).overall
    consistency, rate, breadth = group.consistency, group.pass_at_1.value, group.breadth
    assert consistency is not None
    assert rate is not None
    assert breadth is not None
    assert consistency <= rate <= breadth
    assert group.retention is None or group.retention <= 1
    assert sum(group.distribution) == group.tasks
    assert sum(at * tasks for at, tasks in enumerate(group.distribution)) == group.passed
    last = group.curve[-1]
    assert (last.pass_at, last.pass_hat_unbiased) == pytest.approx((breadth, consistency))


@given(tasks_of_one_run)
def test_curves_rise_and_fall_and_the_plug_in_lies_above_the_unbiased_one(
    run: tuple[int, list[tuple[int, int, int]]],
) -> None:
    points = curve(outcomes(*run[1]))
    for before, after in pairwise(points):
        assert after.pass_at >= before.pass_at - 1e-12
        assert after.pass_hat <= before.pass_hat + 1e-12
        assert after.pass_hat_unbiased <= before.pass_hat_unbiased + 1e-12
    assert all(point.pass_hat >= point.pass_hat_unbiased - 1e-12 for point in points)


@given(st.integers(1, 30).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n))))
def test_passing_all_is_failing_none(counts: tuple[int, int, int]) -> None:
    n, c, k = counts
    point = curve([TaskOutcome(uid="a", n=n, passed=n - c)])[k - 1]
    assert point.pass_at == pytest.approx(1 - pass_hat_k_unbiased(n, c, k))


@given(st.integers(1, 60).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n))))
def test_an_interval_holds_its_rate_and_mirrors(counts: tuple[int, int]) -> None:
    n, passed = counts
    found, mirrored = jeffreys_interval(passed, n), jeffreys_interval(n - passed, n)
    assert 0 < found.low < found.high < 1
    assert (found.low, found.high) == pytest.approx((1 - mirrored.high, 1 - mirrored.low))
    if 0 < passed < n:
        assert found.low < passed / n < found.high
