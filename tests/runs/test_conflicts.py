from __future__ import annotations

from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st

from runs.conflicts import Outcome, Placed, decide
from runs.records import Verdict


def placed(digest: str, verdict: Verdict, line: int = 1, upload: int | None = 1) -> Placed:
    return Placed(digest, verdict, upload, line)


def test_an_identical_row_is_the_same_whatever_its_verdict() -> None:
    for verdict in Verdict:
        assert decide(placed("a", verdict, 1), placed("a", verdict, 2)) is Outcome.SAME


def test_a_result_replaces_an_error_and_not_the_other_way_round() -> None:
    error, passed = placed("a", Verdict.ERROR, 1), placed("b", Verdict.PASSED, 2)
    assert decide(error, passed) is Outcome.REPLACE
    assert decide(placed("b", Verdict.PASSED, 1), placed("a", Verdict.ERROR, 2)) is Outcome.KEEP


def test_of_two_results_the_first_is_kept() -> None:
    assert decide(placed("a", Verdict.FAILED, 1), placed("b", Verdict.PASSED, 2)) is Outcome.KEEP
    assert decide(placed("a", Verdict.ERROR, 1), placed("b", Verdict.ERROR, 2)) is Outcome.KEEP


def test_the_first_is_the_earlier_line_of_one_upload_even_when_it_arrives_later() -> None:
    assert decide(placed("a", Verdict.FAILED, 9), placed("b", Verdict.PASSED, 2)) is Outcome.DISPLACE
    assert decide(placed("a", Verdict.PASSED, 9), placed("b", Verdict.ERROR, 2)) is Outcome.HISTORY
    assert decide(placed("a", Verdict.ERROR, 9), placed("b", Verdict.PASSED, 2)) is Outcome.DISPLACE


def test_lines_of_different_uploads_say_nothing_about_which_came_first() -> None:
    assert decide(placed("a", Verdict.FAILED, 9, upload=1), placed("b", Verdict.PASSED, 2, upload=2)) is Outcome.KEEP
    assert decide(placed("a", Verdict.FAILED, 9, upload=None), placed("b", Verdict.PASSED, 2)) is Outcome.KEEP


def current_after(rows: list[Placed]) -> Placed:
    """The current row of a place once these rows have arrived, in this order."""
    current = rows[0]
    for row in rows[1:]:
        outcome = decide(current, row)
        if outcome in {Outcome.REPLACE, Outcome.DISPLACE}:
            current = row
        elif outcome is Outcome.SAME:
            current = min(current, row, key=lambda placed: placed.line)
    return current


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(list(Verdict))), min_size=2, max_size=4))
def test_the_order_of_arrival_never_decides_which_row_is_current(rows: list[tuple[str, Verdict]]) -> None:
    # One content has one verdict.
    verdicts = dict(reversed(rows))
    lines = [placed(digest, verdicts[digest], line) for line, (digest, _) in enumerate(rows, start=1)]
    expected = current_after(lines).digest
    assert {current_after(list(order)).digest for order in permutations(lines)} == {expected}
