from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.metrics import (
    Contender,
    Difference,
    ErrorRule,
    Interval,
    Measure,
    Measured,
    Method,
    TaskOutcome,
    compare,
    measured_contender,
    prob_greater,
    prob_lift,
    rank,
)


def tasks(**counts: tuple[int, int] | tuple[int, int, int]) -> list[TaskOutcome]:
    """Task → attempts, passed and errors."""
    return [
        TaskOutcome(uid=uid, n=count[0], passed=count[1], errors=count[2] if len(count) == 3 else 0)
        for uid, count in counts.items()
    ]


def test_tasks_are_won_lost_shared_and_left() -> None:
    found = compare(
        tasks(both=(4, 4), lost=(4, 1), neither=(4, 0), won=(4, 0), gone=(4, 4)),
        tasks(both=(4, 2), lost=(4, 0), neither=(4, 0), won=(4, 4), new=(4, 4)),
        4,
    )
    assert (found.won, found.lost, found.both, found.neither) == (["won"], ["lost"], ["both"], ["neither"])
    assert (found.better, found.worse, found.equal) == (["won"], ["both", "lost"], ["neither"])
    assert (found.became_dependable, found.no_longer_dependable) == (["won"], ["both"])
    assert (found.only_baseline, found.only_candidate) == (["gone"], ["new"])
    assert [task.uid for task in found.tasks] == ["both", "lost", "neither", "won"]
    assert found.pass_at_1 is not None
    assert found.pass_at_1.value == pytest.approx(6 / 16 - 5 / 16)


def test_a_task_that_is_incomplete_in_one_run_is_in_no_comparison_of_all_k() -> None:
    found = compare(tasks(a=(4, 4), b=(4, 4), c=(4, 0)), tasks(a=(3, 3), b=(4, 4), c=(4, 4)), 4)
    assert (found.not_computable, found.became_dependable, found.no_longer_dependable) == (1, ["c"], [])
    assert found.all_k is not None
    assert found.all_k.value == pytest.approx(0.5)


def test_each_run_is_complete_by_its_own_k() -> None:
    found = compare(tasks(a=(20, 20), b=(20, 0)), tasks(a=(4, 4), b=(4, 4)), 20, candidate_k=4)
    assert (found.not_computable, found.became_dependable) == (0, ["b"])


def test_a_side_with_nothing_but_errors_has_no_probability() -> None:
    found = compare(tasks(a=(4, 0, 4), b=(4, 2, 1)), tasks(a=(4, 3), b=(4, 0, 4)), 4)
    assert [(task.greater, task.lift) for task in found.tasks] == [(None, None), (None, None)]
    assert found.pooled is not None
    assert found.pooled.greater == pytest.approx(float(prob_greater(3, 4, 2, 3)[0]))
    nothing = compare(tasks(a=(4, 0, 4)), tasks(a=(4, 0, 4)), 4)
    assert (nothing.pooled, nothing.pass_at_1) == (
        None,
        Difference(value=0.0, low=None, high=None, probability=None),
    )
    without = compare(tasks(a=(4, 0, 4)), tasks(a=(4, 0, 4)), 4, error_rule=ErrorRule.LEFT_OUT)
    assert without.pass_at_1 is None


def test_runs_without_a_common_task_have_nothing_to_compare() -> None:
    found = compare(tasks(a=(4, 4)), tasks(b=(4, 4)), 4)
    assert (found.tasks, found.pass_at_1, found.all_k, found.pooled) == ([], None, None, None)
    assert (found.only_baseline, found.only_candidate) == (["a"], ["b"])


def test_a_run_against_itself_is_not_better() -> None:
    one = tasks(a=(20, 3), b=(20, 20), c=(20, 11), d=(20, 0))
    found = compare(one, one, 20)
    assert found.pass_at_1 == Difference(value=0.0, low=0.0, high=0.0, probability=0.5)
    assert [task.greater for task in found.tasks] == pytest.approx([0.5] * 4)


def test_pairing_tells_apart_what_two_intervals_would_not() -> None:
    """Each task is a little easier for the candidate; between the tasks the rates differ much."""
    hard = range(2, 19)
    baseline = tasks(**{f"t{at:02}": (20, at) for at in hard})
    candidate = tasks(**{f"t{at:02}": (20, at + 1) for at in hard})
    found = compare(baseline, candidate, 20)
    assert found.pass_at_1 is not None
    assert (found.pass_at_1.value, found.pass_at_1.low, found.pass_at_1.high) == pytest.approx((0.05, 0.05, 0.05))
    assert found.pass_at_1.significant
    measured = [measured_contender(name, run, 20) for name, run in (("old", baseline), ("new", candidate))]
    assert [(row.name, row.best, row.worst) for row in rank(measured)] == [("new", 1, 1), ("old", 2, 2)]
    apart = [
        Contender(name=contender.name, value=contender.value, interval=contender.interval) for contender in measured
    ]
    assert [(row.name, row.best, row.worst, row.group) for row in rank(apart)] == [("new", 1, 2, 1), ("old", 1, 2, 1)]


counts = st.integers(1, 40).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(counts, counts, st.sampled_from([0.0, 0.03, 0.3]))
def test_one_is_greater_or_the_other_is(ours: tuple[int, int], theirs: tuple[int, int], lift: float) -> None:
    greater, smaller = float(prob_greater(*ours, *theirs)[0]), float(prob_greater(*theirs, *ours)[0])
    assert greater + smaller == pytest.approx(1, abs=1e-9)
    assert float(prob_lift(*ours, *theirs, lift=lift)[0]) <= greater + 1e-9


@pytest.mark.parametrize("lift", [0.0, 0.03, 0.25])
def test_the_integral_agrees_with_drawing(lift: float) -> None:
    generator = np.random.default_rng(7)
    for ours, theirs in (((0, 1), (1, 1)), ((20, 20), (19, 20)), ((3, 5), (300, 507)), ((200, 507), (1, 3))):
        drawn = [generator.beta(0.5 + c, 0.5 + n - c, 200_000) for c, n in (ours, theirs)]
        expected = float((drawn[0] - drawn[1] > lift).mean())
        assert float(prob_lift(*ours, *theirs, lift=lift)[0]) == pytest.approx(expected, abs=0.005)


def test_impossible_counts_and_lifts_are_refused() -> None:
    with pytest.raises(ValueError, match="More attempts"):
        prob_greater(5, 4, 1, 4)
    for lift in (-0.1, 1.0):
        with pytest.raises(ValueError, match="lift"):
            prob_lift(1, 4, 1, 4, lift=lift)


def contender(name: str, value: float | None, half: float = 0.05) -> Contender:
    if value is None:
        return Contender(name=name, value=None)
    return Contender(
        name=name, value=value, interval=Interval(low=value - half, high=value + half, method=Method.PUBLISHED)
    )


def test_a_rank_is_a_range_and_a_group_begins_where_the_first_can_be_told_apart() -> None:
    ranked = rank([contender("c", 0.58), contender("a", 0.70), contender("d", 0.20), contender("b", 0.64)])
    assert [(row.name, row.position, row.best, row.worst, row.group) for row in ranked] == [
        ("a", 1, 1, 2, 1),
        ("b", 2, 1, 3, 1),
        ("c", 3, 2, 3, 2),
        ("d", 4, 4, 4, 3),
    ]
    assert (ranked[0].worse, ranked[0].better, ranked[3].better) == (["c", "d"], [], ["a", "b", "c"])


def test_equal_values_share_a_position_and_unknown_ones_have_none() -> None:
    ranked = rank([contender("x", None), contender("b", 0.5), contender("a", 0.5), contender("c", 0.1)])
    assert [(row.name, row.position, row.group) for row in ranked] == [
        ("a", 1, 1),
        ("b", 1, 1),
        ("c", 3, 2),
        ("x", None, None),
    ]


def test_a_single_contender_is_first() -> None:
    (only,) = rank([contender("a", 0.3)])
    assert (only.position, only.best, only.worst, only.group) == (1, 1, 1, 1)
    assert rank([]) == []


def test_without_an_interval_nothing_can_be_told() -> None:
    ranked = rank([contender("a", 0.9, 0.01), Contender(name="b", value=0.1)])
    assert [(row.name, row.best, row.worst) for row in ranked] == [("a", 1, 2), ("b", 1, 2)]


def test_two_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="same name"):
        rank([contender("a", 0.3), contender("a", 0.4)])


def test_only_runs_of_the_same_tasks_are_paired() -> None:
    rows = [
        Contender(
            name=name,
            value=value,
            interval=Interval(low=0.0, high=1.0, method=Method.BOOTSTRAP),
            measured=Measured(uids, (value,) * 4, (1.0,) * 4),
        )
        for name, value, uids in (
            ("a", 0.9, ("1", "2", "3", "4")),
            ("b", 0.8, ("1", "2", "3", "4")),
            ("c", 0.1, ("1", "2", "3", "5")),
        )
    ]
    assert [(row.name, row.best, row.worst) for row in rank(rows)] == [("a", 1, 2), ("b", 2, 3), ("c", 1, 3)]


def test_a_run_contends_by_each_of_the_three_shares() -> None:
    run = tasks(a=(4, 4), b=(4, 1), c=(2, 2), d=(4, 0))
    values = {measure: measured_contender("run", run, 4, measure) for measure in Measure}
    assert {measure: found.value for measure, found in values.items()} == {
        Measure.PASS_AT_1: 7 / 14,
        Measure.SOLVED: 3 / 4,
        Measure.ALL_K: 1 / 3,
    }
    assert values[Measure.ALL_K].measured == Measured(("a", "b", "d"), (1.0, 0.0, 0.0), (1.0, 1.0, 1.0))
    assert measured_contender("nothing", [], 4).value is None


@pytest.mark.shared
@pytest.mark.parametrize(
    "text",
    [
        "retail-20x/sbs.aster-large_vs_cedar-8b.txt",
        "retail-20x/sbs.briza-mini_vs_aster-large.txt",
        "five-domains/sbs.delta-medium_vs_aster-large.txt",
    ],
)
def test_the_harness_s_own_comparison(text: str, shared: Path) -> None:
    """Its probability within the error of its quadrature, its lift within that of 200,000 draws, as printed."""
    lines = (shared / "bundles" / text).read_text(encoding="utf-8").splitlines()
    rows = [[cell.strip() for cell in line.split("║")[1:-1]] for line in lines if ".py:" in line]
    assert len(rows) in {12, 40}
    sides: tuple[list[TaskOutcome], list[TaskOutcome]] = ([], [])
    for uid, baseline, candidate, *_ in rows:
        for side, cell in zip(sides, (baseline, candidate), strict=True):
            n, passed, _, errors = map(int, cell.split("/"))
            side.append(TaskOutcome(uid=uid, n=n, passed=passed, errors=errors))
    found = {task.uid: task for task in compare(*sides, k=20).tasks}
    for uid, _, _, shown_base, shown_cand, greater, lift in rows:
        task = found[uid]
        assert (f"{task.baseline.passed / task.baseline.n:.2%}", f"{task.candidate.passed / task.candidate.n:.2%}") == (
            shown_base,
            shown_cand,
        )
        assert task.greater == pytest.approx(float(greater.rstrip("%")) / 100, abs=0.0111 + 5e-5)
        assert task.lift == pytest.approx(float(lift.rstrip("%")) / 100, abs=0.005)
