from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import timedelta
from decimal import Decimal

import msgspec
import pytest
import zstandard
from django.test import Client
from msgspec.structs import replace

from runs.access import EVERYTHING
from runs.boards import BoardView, Column, Order, make_board
from runs.boards.edit import BoardChanges, BoardError, create_board, edit_board
from runs.boards.export import as_csv
from runs.boards.freeze import freeze_board, frozen_board, frozen_inputs, recompute, unfreeze_board
from runs.boards.gather import board_now
from runs.boards.reference import REFERENCE_SLUG, make_reference
from runs.costs import Price
from runs.editing import RunChanges, delete_run, edit_run
from runs.metrics import METRIC_VERSION, ErrorRule, Interval, Method
from runs.models import Leaderboard, LeaderboardFreeze, PriceList, Run, TaskTally
from runs.prices import PricingChoice, add_version, create_list, price_run
from runs.published import THINKINGBOX_BENCH_RESULTS
from runs.queries.leaderboards import board_index, board_page
from tests.stored import outcomes, store
from tests.tallied import tallied_run

pytestmark = pytest.mark.django_db
Queries = Callable[[int], AbstractContextManager[object]]
TOKENS = (1_000_000, 0, 0)


def prices(amount: str = "2", model: str = "ash") -> Price:
    return Price(model=model, input=Decimal(amount), output=Decimal(1))


def board_of(*runs: Run, **changes: object) -> Leaderboard:
    facts = {"title": "Desk", "runs": tuple(run.slug for run in runs), **changes}
    return create_board(BoardChanges(**facts), access=EVERYTHING)  # type: ignore[arg-type]


def test_a_board_is_made_of_its_runs_in_any_number_of_boards() -> None:
    ash, birch = tallied_run("ash", {"a": "pp", "b": "pf"}), tallied_run("birch", {"a": "pf", "b": "ff"})
    first, second = board_of(birch, ash), board_of(ash, title="Other")
    assert [row.slug for row in board_now(first, access=EVERYTHING).rows] == ["desk-ash", "desk-birch"]
    assert [row.slug for row in board_now(second, access=EVERYTHING).rows] == ["desk-ash"]
    assert (first.slug, second.slug, board_of(ash).slug) == ("desk", "other", "desk-2")


@pytest.mark.parametrize("title", ["New", "published", "★"])
def test_no_title_takes_the_address_of_another_page(title: str) -> None:
    board = board_of(tallied_run("ash", {"a": "p"}), title=title)
    assert board.slug not in {"new", "published", ""}
    assert board.title == title


@pytest.mark.parametrize("count", [1, 3])
def test_a_page_takes_the_same_queries_for_any_number_of_rows(count: int, django_assert_num_queries: Queries) -> None:
    runs = [tallied_run(f"model-{n}", {f"t{t}": "pf" for t in range(count)}) for n in range(count)]
    board = board_of(*runs, published=("o3-pro",))
    with django_assert_num_queries(5):
        assert len(board_page(board.slug, access=EVERYTHING).board.rows) == count + 1
    with django_assert_num_queries(3):  # what was computed is kept
        assert len(board_page(board.slug, access=EVERYTHING).board.rows) == count + 1
    with django_assert_num_queries(1):
        assert board_index(access=EVERYTHING).boards[0].runs == count


def test_a_live_board_follows_its_runs() -> None:
    run = store(outcomes("a.py:one", "pf"), model="ash", repetitions=2)
    board = board_of(run)
    assert board_now(board, access=EVERYTHING).rows[0].pass_at_1.count == 1
    store(outcomes("a.py:two", "pp"), run=run.slug, model="ash")
    assert (
        board_now(board, access=EVERYTHING).rows[0].pass_at_1.count,
        board_now(board, access=EVERYTHING).rows[0].tasks,
    ) == (3, 2)
    edit_run(run, RunChanges(model="ash", benchmark="desk", repetitions=3))
    assert (board_now(board, access=EVERYTHING).k, board_now(board, access=EVERYTHING).rows[0].all_k.count) == (3, None)


def test_a_live_board_follows_what_its_runs_are_priced_by() -> None:
    run = tallied_run("ash", {"a": "pp"}, tokens=TOKENS)
    board = board_of(run)
    assert board_now(board, access=EVERYTHING).rows[0].money.per_dependable is None
    first = create_list("Desk", [prices("2")])
    price_run(run, PricingChoice(price_list=first.pk))
    assert board_now(board, access=EVERYTHING).rows[0].money.per_dependable == Decimal(4)
    second = add_version("desk", [prices("3")], based_on=1)
    assert board_now(board, access=EVERYTHING).rows[0].money.per_dependable == Decimal(4)
    price_run(run, PricingChoice(price_list=second.pk))
    assert board_now(board, access=EVERYTHING).rows[0].money.per_dependable == Decimal(6)


def test_a_board_can_price_all_runs_by_one_list() -> None:
    run = tallied_run("ash", {"a": "pp"}, tokens=TOKENS)
    price_run(run, PricingChoice(price_list=create_list("Old", [prices("9")]).pk))
    listed = create_list("Desk", [prices("2")])
    board = board_of(run, price_list=listed.pk)
    made = board_now(board, access=EVERYTHING)
    assert (made.rows[0].money.per_dependable, made.price_list) == (Decimal(4), "Desk, version 1")
    assert Leaderboard.objects.get(pk=board.pk).price_list == listed


def test_a_frozen_board_is_the_same_after_its_runs_and_prices_are_gone() -> None:
    runs = [
        tallied_run(name, {"a": "pp", "b": letters}, tokens=TOKENS) for name, letters in [("ash", "pe"), ("yew", "ff")]
    ]
    listed = create_list("Desk", [prices("2"), prices("3", "yew")])
    for run in runs:
        price_run(run, PricingChoice(price_list=listed.pk))
    board = board_of(*runs, published=("o3-pro",), order=Order.ALL_K, error_rule=ErrorRule.LEFT_OUT)
    before, looked = (
        board_now(board, access=EVERYTHING),
        board_now(board, BoardView(order=Order.COST), access=EVERYTHING),
    )
    freeze_board(board)
    exported = as_csv(before)
    for run in runs:
        delete_run(run)
    PriceList.objects.all().delete()
    kept = LeaderboardFreeze.objects.get(leaderboard=board)
    assert frozen_board(kept) == before
    assert frozen_board(kept, BoardView(order=Order.COST)) == looked
    assert as_csv(board_page("desk", access=EVERYTHING).board) == exported
    assert {row.slug for row in board_page("desk", access=EVERYTHING).board.rows} == {""}, (
        "no address of a run that is gone"
    )
    assert board_now(board, access=EVERYTHING).measured == 0


def test_a_freeze_keeps_counts_prices_rule_versions_and_bundles() -> None:
    run = store(outcomes("a.py:one", "pe"), model="ash", repetitions=2)
    price_run(run, PricingChoice(price_list=create_list("Desk", [prices("2")]).pk))
    board = board_of(run, error_rule=ErrorRule.LEFT_OUT)
    kept = freeze_board(board)
    given = frozen_inputs(kept)
    (frozen,) = given.runs
    assert (given.settings.error_rule, kept.metric_version) == (ErrorRule.LEFT_OUT, METRIC_VERSION)
    assert (frozen.price, frozen.price_list) == (prices("2"), "Desk")
    assert frozen.bundles == tuple(run.uploads.values_list("sha256", flat=True))
    assert [(task.uid, task.recorded, task.passed, task.errors) for task in frozen.tasks] == [("a.py:one", 2, 1, 1)]
    assert freeze_board(board).digest == kept.digest


def test_recomputing_says_what_is_different_now() -> None:
    run, other = tallied_run("ash", {"a": "pp"}), tallied_run("birch", {"a": "ff"})
    board = board_of(run, other)
    kept = freeze_board(board)
    same = recompute(board, kept, access=EVERYTHING)
    assert (same.from_inputs, same.from_runs, same.runs_gone) == ([], [], [])
    TaskTally.objects.filter(run=run).update(passed=1, failed=1, verdicts="pf")
    Run.objects.filter(pk=run.pk).update(tallied=2)
    delete_run(other)
    found = recompute(board, kept, access=EVERYTHING)
    assert (found.from_inputs, found.runs_gone) == ([], ["desk-birch"])
    assert {(change.name, change.figure, change.then, change.now) for change in found.from_runs} >= {
        ("ash", "pass@1", "2 of 2", "1 of 2"),
        ("birch", "row", "on the board", None),
    }


def made_by_version_1(kept: LeaderboardFreeze) -> None:
    """As it was frozen when a share of exactly 0% or 100% was in no doubt: with an interval of no width."""
    board = make_board(frozen_inputs(kept))
    (section,) = board.sections
    rows = [
        replace(row, all_k=replace(row.all_k, interval=Interval(low=0.0, high=0.0, method=Method.WIDEST)))
        if row.all_k.count == 0
        else row
        for row in section.rows
    ]
    old = replace(board, metric_version=1, sections=(replace(section, rows=tuple(rows)),), level={})
    kept.result = zstandard.compress(msgspec.json.encode(old))
    kept.metric_version = 1
    kept.save()


def test_a_board_frozen_by_older_rules_says_so_and_can_be_recomputed(client: Client) -> None:
    never = next(m for m in THINKINGBOX_BENCH_RESULTS.models if m.observed_all_k and m.observed_all_k.value == 0)
    board = board_of(published=(never.name, "GPT-5.4"), order=Order.ALL_K)
    kept = freeze_board(board)
    assert "metric version" not in client.get("/leaderboards/desk/").content.decode()
    Leaderboard.objects.filter(pk=board.pk).update(updated_at=board.updated_at + timedelta(seconds=1))
    made_by_version_1(kept)
    LeaderboardFreeze.objects.filter(pk=kept.pk).update(frozen_at=kept.frozen_at + timedelta(seconds=1))
    text = client.get("/leaderboards/desk/").content.decode()
    assert ", by metric version 1 (now 2)</span>" in text
    assert "Metric version 1; this server computes by version 2 now" in text
    assert "or at exactly 0% and 100% a solid Jeffreys" not in text
    other = client.get("/leaderboards/desk/?by=pass").content.decode()
    assert "(now 2)</span>" not in other, "another order is computed by the rules of today"
    found = recompute(board, LeaderboardFreeze.objects.get(pk=kept.pk), access=EVERYTHING)
    assert [(change.name, change.figure, change.then) for change in found.from_inputs] == [
        (never.name, "95% interval of all k", "0.0% to 0.0%")
    ]
    assert "95% interval of all k" in client.get("/leaderboards/desk/?recompute=1").content.decode()
    unfreeze_board(board)
    assert freeze_board(board).metric_version == METRIC_VERSION
    assert "metric version" not in client.get("/leaderboards/desk/").content.decode()


def test_a_frozen_board_is_not_edited_until_it_is_live_again() -> None:
    board = board_of(tallied_run("ash", {"a": "pp"}))
    freeze_board(board)
    with pytest.raises(BoardError, match="frozen"):
        edit_board(board, BoardChanges(title="Other"), access=EVERYTHING)
    unfreeze_board(board)
    edit_board(board, BoardChanges(title="Other", published=("o3-pro",), columns=(Column.SOLVED,)), access=EVERYTHING)
    again = Leaderboard.objects.get(pk=board.pk)
    assert (again.slug, again.title, again.published, again.columns) == ("desk", "Other", ["o3-pro"], ["solved"])
    assert again.entries.count() == 0


def test_a_board_on_a_list_that_is_gone_is_refused_whole() -> None:
    with pytest.raises(BoardError, match="gone"):
        create_board(BoardChanges(title="Desk", price_list=99), access=EVERYTHING)
    assert not Leaderboard.objects.filter(title="Desk").exists()


def test_the_published_board_is_there_from_the_start_and_made_once() -> None:
    Leaderboard.objects.filter(slug=REFERENCE_SLUG).delete()
    made = make_reference()
    assert make_reference() == made
    page = board_page(REFERENCE_SLUG, access=EVERYTHING)
    assert (page.board.published, page.board.measured, page.has_published) == (18, 0, True)
    assert page.weights == ["proprietary", "open"]
    assert page.best["all_k"] == {"Claude Opus 5.5", "Claude Opus 5"}
    assert page.best["per_dependable"] == {"GPT-5.4"}
    assert page.axis == 0.8
