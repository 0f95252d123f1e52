from __future__ import annotations

import random
from decimal import Decimal

import msgspec
import pytest

from runs.boards import (
    ALL_COLUMNS,
    BoardInputs,
    BoardSettings,
    BoardView,
    Column,
    Order,
    Origin,
    RunInput,
    answers,
    changes_between,
    make_board,
    ordered_by,
    settings_summary,
)
from runs.boards.gather import published_rows
from runs.boards.shown import as_shown
from runs.costs import CostSource, Price, StatedCost
from runs.metrics import ErrorRule, Method
from runs.published import THINKINGBOX_BENCH_RESULTS
from tests.tallied import run_of

PUBLISHED = BoardInputs(settings=BoardSettings(), published=THINKINGBOX_BENCH_RESULTS)
PRICE = Price(model="birch", input=Decimal(2), cached=Decimal(1), output=Decimal(10))


def inputs(*runs: RunInput, **settings: object) -> BoardInputs:
    return BoardInputs(settings=msgspec.structs.replace(BoardSettings(), **settings), runs=runs)


def spread(rate: float, tasks: int = 60, k: int = 4) -> dict[str, str]:
    """Tasks that pass at about this rate, the same ones for every run."""
    draw = random.Random(7)
    return {f"t{n:02}": "".join("p" if draw.random() < rate else "f" for _ in range(k)) for n in range(tasks)}


def test_the_published_rows_are_ranked_as_their_intervals_allow() -> None:
    board = make_board(PUBLISHED)
    assert (board.k, board.tasks, board.published, board.measured) == (20, 507, 18, 0)
    rows = {row.name: row for row in board.rows}
    assert [row.name for row in board.rows][:3] == ["Claude Opus 5.5", "Claude Opus 5", "GPT-5.4"]
    first = rows["Claude Opus 5.5"]
    assert (first.position, first.best, first.worst, first.group, first.first_of_group) == (1, 1, 5, 1, True)
    assert first.pass_at_1.interval is not None
    assert first.pass_at_1.interval.method is Method.WIDEST
    gpt = rows["GPT-5.4"].pass_at_1.interval
    assert gpt is not None
    assert (gpt.method, round(gpt.low, 4), round(gpt.high, 4)) == (Method.PUBLISHED, 0.6223, 0.6851)
    assert {row.origin for row in board.rows} == {Origin.PUBLISHED}
    assert [row.first_of_group for row in board.rows].count(True) == max(row.group or 0 for row in board.rows)


def test_the_published_retention_and_costs_are_the_quotients_of_the_printed_counts() -> None:
    rows = {row.name: row for row in make_board(PUBLISHED).rows}
    retention = {name: row.retention and round(row.retention * 100) for name, row in rows.items()}
    assert [retention[name] for name in ("GPT-6 Astra", "Claude Opus 5.5", "Claude Opus 5", "Kimi-K2.6")] == [
        78, 71, 71, 8,
    ]  # fmt: skip
    astra = rows["GPT-6 Astra"].money
    assert astra.per_dependable is not None
    assert round(astra.per_dependable, 2) == Decimal("7.45")
    gpt = rows["GPT-5.4"].money
    assert gpt.per_success is not None
    assert round(gpt.per_success, 3) == Decimal("0.131")
    assert rows["o3-pro"].money.per_dependable is None
    assert rows["o3-pro"].money.reasons["per_dependable_task"] == "not published"


def test_the_frontier_is_of_three_models_and_names_who_dominates() -> None:
    board = make_board(PUBLISHED)
    on = {name for name, placed in board.by_success.items() if placed.on_frontier}
    assert on == {"GPT-5.6 Sol", "GPT-5.4", "Claude Opus 5.5"}
    assert board.by_success["Claude Opus 5"].dominated_by == ["Claude Opus 5.5"]
    assert "o3-pro" not in board.by_success


def test_what_is_not_published_stays_empty() -> None:
    rows = {row.name: row for row in make_board(PUBLISHED).rows}
    opus = rows["Claude Opus 5.5"].solved
    assert (opus.count, opus.value, opus.bounds, opus.why) == (None, None, (402, 475), "only bounds are published")
    other = rows["Claude Opus 4.6"]
    assert (other.all_k.count, other.all_k.why, other.retention) == (None, "not published", None)


def test_errors_left_out_change_only_what_is_known() -> None:
    board = make_board(PUBLISHED, BoardView(error_rule=ErrorRule.LEFT_OUT))
    rows = {row.name: row for row in board.rows}
    assert (rows["o3-pro"].pass_at_1.count, rows["o3-pro"].pass_at_1.of) == (1958, 9504)
    assert rows["GPT-5.4"].pass_at_1.of == 10140
    assert "not published" in rows["GPT-5.4"].notes[0]
    assert rows["o3-pro"].all_k == {row.name: row for row in make_board(PUBLISHED).rows}["o3-pro"].all_k


def test_published_counts_are_of_twenty_repetitions_and_of_no_other_number() -> None:
    board = make_board(msgspec.structs.replace(PUBLISHED, settings=BoardSettings(k=10)))
    assert {row.all_k.why for row in board.rows} == {"published for 20 repetitions"}
    assert {row.solved.count for row in board.rows} == {None}
    assert all(row.pass_at_1.count is not None for row in board.rows)


def test_runs_on_the_same_tasks_are_told_apart_task_by_task() -> None:
    better, worse = spread(0.75), spread(0.6)
    # The worse run loses tasks and wins none, so that a comparison by tasks tells them apart where intervals overlap.
    board = make_board(inputs(run_of("ash", better, k=4), run_of("birch", worse, k=4)))
    ash, birch = board.rows
    assert ash.pass_at_1.interval is not None
    assert birch.pass_at_1.interval is not None
    assert ash.pass_at_1.interval.low < birch.pass_at_1.interval.high
    assert [(row.name, row.best, row.worst, row.group) for row in board.rows] == [("ash", 1, 1, 1), ("birch", 2, 2, 2)]


def test_equal_runs_share_the_rank() -> None:
    board = make_board(inputs(run_of("ash", spread(0.5), k=4), run_of("birch", spread(0.5), k=4)))
    assert [(row.position, row.best, row.worst, row.group) for row in board.rows] == [(1, 1, 2, 1), (1, 1, 2, 1)]
    assert [(row.first_of_group, row.last_of_group) for row in board.rows] == [(True, False), (False, True)]


def test_one_row_and_no_row() -> None:
    (row,) = make_board(inputs(run_of("ash", {"a": "pp"}))).rows
    assert (row.position, row.best, row.worst, row.spans) == (1, 1, 1, False)
    empty = make_board(inputs())
    assert (empty.rows, empty.k, empty.tasks, answers(empty)) == ((), 1, 0, [])


def test_a_task_with_fewer_attempts_makes_all_k_not_computable() -> None:
    whole, cut = make_board(inputs(run_of("ash", {"a": "pp", "b": "pp"}), run_of("birch", {"a": "pp", "b": "p"}))).rows
    assert (whole.all_k.count, whole.all_k.of, whole.retention) == (2, 2, 1.0)
    assert (cut.all_k.count, cut.all_k.value, cut.retention) == (None, None, None)
    assert cut.all_k.why == "not computable: 1 task has fewer than 2 recorded"
    by_all = make_board(inputs(run_of("birch", {"a": "pp", "b": "p"})), BoardView(order=Order.ALL_K)).rows[0]
    assert (by_all.position, by_all.group) == (None, None)


def test_the_error_rule_never_changes_a_count_of_tasks() -> None:
    runs = run_of("ash", {"a": "pe", "b": "pp"})
    counted = make_board(inputs(runs)).rows[0]
    left_out = make_board(inputs(runs), BoardView(error_rule=ErrorRule.LEFT_OUT)).rows[0]
    assert (counted.pass_at_1.count, counted.pass_at_1.of) == (3, 4)
    assert (left_out.pass_at_1.count, left_out.pass_at_1.of) == (3, 3)
    assert (counted.solved, counted.all_k) == (left_out.solved, left_out.all_k)


def test_names_are_unique_and_say_which_run() -> None:
    runs = (
        run_of("ash", {"a": "pp"}, slug="one"),
        run_of("ash", {"a": "pf"}, slug="two"),
        run_of("GPT-5.4", {"a": "pp"}),
    )
    board = make_board(
        BoardInputs(settings=BoardSettings(), runs=runs, published=published_rows(["GPT-5.4", "o3-pro"]))
    )
    assert {row.name for row in board.rows} == {"ash (one)", "ash (two)", "GPT-5.4", "GPT-5.4 (published)", "o3-pro"}


def test_the_view_leaves_rows_out_before_it_ranks() -> None:
    board = make_board(PUBLISHED, BoardView(weights="open"))
    assert [row.name for row in board.rows][:2] == ["Kimi-K3", "Qwen3.8-27B"]
    assert (board.rows[0].position, board.published) == (1, 8)
    mixed = BoardInputs(
        settings=BoardSettings(), runs=(run_of("ash", {"a": "pp"}),), published=published_rows(["o3-pro"])
    )
    assert [row.name for row in make_board(mixed, BoardView(with_published=False)).rows] == ["ash"]


def test_weights_apart_have_their_own_ranks_leader_and_runner_up() -> None:
    board = make_board(msgspec.structs.replace(PUBLISHED, settings=BoardSettings(by_weights=True)))
    marked = [[(row.name, row.place) for row in section.rows if row.place] for section in board.sections]
    assert [section.title for section in board.sections] == ["Proprietary", "Open weights"]
    assert marked == [
        [("Claude Opus 5.5", "leader"), ("Claude Opus 5", "runner-up")],
        [("Kimi-K3", "leader"), ("Qwen3.8-27B", "runner-up")],
    ]
    assert board.sections[1].rows[0].position == 1
    assert {row.place for row in make_board(PUBLISHED).rows} == {""}


def test_by_cost_the_cheapest_comes_first_and_the_unknown_last_without_a_rank() -> None:
    board = make_board(PUBLISHED, BoardView(order=Order.COST))
    assert [(row.name, row.position) for row in board.rows][:2] == [("GPT-5.4", 1), ("GPT-6 Astra", 2)]
    assert next(row.name for row in board.rows if row.position is None) == "Claude Opus 4.6"
    assert {(row.group, row.best, row.first_of_group) for row in board.rows} == {(None, None, False)}


def test_a_run_is_priced_by_its_tokens_and_never_by_zero() -> None:
    tokens = (1_000_000, 500_000, 100_000)
    priced = run_of("ash", {"a": "pp", "b": "pf"}, price=PRICE, price_list="Prices", tokens=tokens)
    unpriced = run_of(
        "birch", {"a": "pp", "b": "pf"}, price_reason="No price list is chosen for this run.", tokens=tokens
    )
    stated = run_of("cedar", {"a": "pp", "b": "pf"}, stated=StatedCost(total=Decimal(8), source="invoice"))
    rows = {row.name: row.money for row in make_board(inputs(priced, unpriced, stated)).rows}
    # An attempt: half a million at 2, half a million at 1, a tenth at 10 = 2.50; four of them.
    assert (rows["ash"].campaign, rows["ash"].per_run, rows["ash"].per_dependable) == (
        Decimal(10),
        Decimal(5),
        Decimal(10),
    )
    assert (rows["ash"].source, rows["ash"].price_list) == (CostSource.PRICED, "Prices")
    assert (rows["birch"].campaign, rows["birch"].per_success) == (None, None)
    assert rows["birch"].reasons["campaign"] == "No price list is chosen for this run."
    assert (rows["cedar"].campaign, rows["cedar"].per_dependable, rows["cedar"].source) == (
        Decimal(8),
        Decimal(8),
        CostSource.STATED,
    )


def test_amounts_of_another_currency_are_not_set_against_each_other() -> None:
    def stated(name: str, currency: str, total: int) -> RunInput:
        return run_of(name, {"a": "pp"}, stated=StatedCost(total=Decimal(total), currency=currency))

    board = make_board(
        inputs(stated("ash", "EUR", 1), stated("birch", "USD", 2), stated("cedar", "USD", 3)),
        BoardView(order=Order.COST),
    )
    assert board.currency == "USD"
    assert [(row.name, row.position) for row in board.rows] == [("birch", 1), ("cedar", 2), ("ash", None)]
    assert set(board.by_dependable) == {"birch", "cedar"}


def test_the_answers_name_the_cheaper_of_two_equally_dependable_models() -> None:
    made = {answer.figure: (answer.name, answer.equal, answer.untold) for answer in answers(make_board(PUBLISHED))}
    assert made == {
        "all_k": ("Claude Opus 5.5", ["Claude Opus 5"], ["GPT-6 Astra"]),
        "pass_at_1": ("Claude Opus 5.5", [], ["Claude Opus 5", "GPT-5.4", "GPT-5.6 Sol", "Claude Sonnet 4.6"]),
        "solved": ("Kimi-K3", [], ["GPT-5.4", "Qwen3.8-27B"]),
        "cost": ("GPT-5.4", [], []),
    }


@pytest.mark.parametrize("by_weights", [False, True])
def test_a_lead_that_may_be_noise_is_told_whatever_the_board_is_ranked_by(by_weights: bool) -> None:
    def run(name: str, always: int) -> RunInput:
        return run_of(name, {f"t{n:02}": "pp" if n < always else "pf" for n in range(40)})

    settings = BoardSettings(order=Order.PASS_AT_1, by_weights=by_weights)
    given = msgspec.structs.replace(inputs(run("ash", 30), run("birch", 28), run("cedar", 2)), settings=settings)
    told = {answer.figure: answer.untold for answer in answers(make_board(given))}
    assert told["all_k"] == ["birch"]
    hidden = msgspec.structs.replace(make_board(given), columns=(Column.SOLVED,))
    assert set(as_shown(hidden).level) == {"pass_at_1", "solved"}


def test_figures_by_older_rules_say_so_and_claim_nothing_of_todays() -> None:
    board = msgspec.structs.replace(make_board(PUBLISHED), metric_version=1)
    now, then = dict(settings_summary(make_board(PUBLISHED))), dict(settings_summary(board))
    assert ("Older rules" in now, "Jeffreys" in now["Ranks"], "Jeffreys" in then["Ranks"]) == (False, True, False)
    assert "frozen by metric version 1, and this server computes by version 2" in then["Older rules"]


def test_nobody_is_the_best_of_different_tasks() -> None:
    runs = run_of("ash", {"a": "pp"}), run_of("birch", {"a": "pp", "b": "ff"})
    assert (make_board(inputs(*runs)).mixes_tasks, answers(make_board(inputs(*runs)))) == (True, [])
    assert "Different tasks" in dict(settings_summary(make_board(inputs(*runs))))
    other = make_board(inputs(runs[0], run_of("birch", {"a": "pp"}, benchmark="other")))
    assert (other.mixes_tasks, answers(other)) == (True, [])
    assert "desk; other" in dict(settings_summary(other))["Different tasks"]


def test_nobody_is_named_dependable_where_no_task_is() -> None:
    board = make_board(inputs(run_of("ash", {"a": "pf"}), run_of("birch", {"a": "ff"})))
    assert "all_k" not in {answer.figure for answer in answers(board)}


@pytest.mark.parametrize("order", list(Order))
def test_the_method_says_how_ranks_are_made(order: Order) -> None:
    board = make_board(PUBLISHED, BoardView(order=order))
    method = dict(settings_summary(board))
    assert ordered_by(board) in method["Ranks"]
    assert ("No interval" in method["Ranks"]) == (order is Order.COST)
    assert "published, not measured here" in method["Published rows"]
    without = make_board(msgspec.structs.replace(PUBLISHED, settings=BoardSettings(columns=(Column.SOLVED,))))
    assert not {"Costs", "Retention"} & set(dict(settings_summary(without)))


def test_changes_are_named_row_by_row() -> None:
    then = make_board(inputs(run_of("ash", {"a": "pp"}), run_of("birch", {"a": "pf"})))
    now = make_board(inputs(run_of("ash", {"a": "pf"}), run_of("cedar", {"a": "ff"})))
    assert changes_between(then, then) == []
    found = {(change.name, change.figure): (change.then, change.now) for change in changes_between(then, now)}
    assert found[("ash", "pass@1")] == ("2 of 2", "1 of 2")
    assert found[("ash", "all k")] == ("1 of 1", "0 of 1")
    assert found[("birch", "row")] == ("on the board", None)
    assert found[("cedar", "row")] == (None, "on the board")


def test_a_board_is_the_same_after_it_was_written_and_read() -> None:
    board = make_board(msgspec.structs.replace(PUBLISHED, runs=(run_of("ash", {"a": "pe"}, price=PRICE),)))
    assert msgspec.json.decode(msgspec.json.encode(board), type=type(board)) == board
    given = msgspec.json.decode(msgspec.json.encode(PUBLISHED), type=BoardInputs)
    assert make_board(given) == make_board(PUBLISHED)
    assert tuple(Column) == ALL_COLUMNS
