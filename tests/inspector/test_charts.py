"""The charts of a leaderboard and of a run: every value drawn is in the struct, and in the table."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from itertools import pairwise
from typing import Any

import msgspec
import pytest

from inspector.charts import compare
from inspector.charts.data import BoardRow, Chart, Kind, Standing, TableRow, Weights
from inspector.charts.leaderboard import breadth_consistency, cost_dependable, cost_success, domain_heat, survival
from inspector.charts.run import TaskLinks, distribution, reliability
from runs.metrics import Interval, Method, TaskOutcome, summarise
from runs.metrics import compare as runs_compared
from tests.chart_rows import K, measured_row, published_rows, with_standings

Board = Callable[..., Chart]
BOARDS: list[Board] = [breadth_consistency, survival, cost_success, cost_dependable, domain_heat]


def all_rows() -> list[BoardRow]:
    return with_standings([*published_rows(), measured_row()])


def run_figures(counts: dict[int, int], k: int = 4, incomplete: int = 0) -> Any:
    """`counts`: successes → tasks."""
    outcomes = [
        TaskOutcome(uid=f"{passed}-{at}", n=k, passed=passed) for passed, many in counts.items() for at in range(many)
    ]
    outcomes += [TaskOutcome(uid=f"short-{at}", n=k - 1, passed=k - 1) for at in range(incomplete)]
    return summarise(outcomes, k, resamples=200).overall


def all_charts() -> list[Chart]:
    figures = run_figures({0: 3, 1: 2, 3: 1, 4: 5})
    tasks = [TaskOutcome(uid=f"t{at}", n=4, passed=at % 5) for at in range(20)]
    other = [TaskOutcome(uid=f"t{at}", n=4, passed=at % 3) for at in range(20)]
    return [
        *(board(all_rows(), K) for board in BOARDS),
        distribution(figures),
        reliability(figures),
        compare.moved(runs_compared(tasks, other, 4, resamples=0), "old", "new"),
        compare.reliability("old", figures, "new", figures),
    ]


def trace(chart: Chart, name: str) -> dict[str, Any]:
    assert chart.figure is not None
    found: dict[str, Any] = next(t for t in chart.figure["data"] if t["name"] == name and t["x"] != [None])
    return found


def ringed(chart: Chart) -> list[tuple[float, float]]:
    assert chart.figure is not None
    rings = next(t for t in chart.figure["data"] if t["name"] == "frontier" and t["mode"] == "markers")
    return sorted(zip(rings["x"], rings["y"], strict=True))


def texts(part: object) -> Iterator[str]:
    if isinstance(part, dict):
        for each in part.values():
            yield from texts(each)
    elif isinstance(part, list):
        for each in part:
            yield from texts(each)
    elif isinstance(part, str):
        yield part


def row_of(chart: Chart, name: str) -> TableRow:
    return next(row for row in chart.table.rows if row.name == name)


def drawn_points(chart: Chart) -> dict[str, tuple[float, float]]:
    """Name → place, of all points that stand for a model."""
    assert chart.figure is not None
    found = {}
    for each in chart.figure["data"]:
        if each["name"] in {"published", "this server"} and each.get("customdata"):
            for said, x, y in zip(each["hovertext"], each["x"], each["y"], strict=True):
                found[said.split("<br>")[0]] = (x, y)
    return found


def test_breadth_against_consistency_draws_what_the_rows_say() -> None:
    rows = all_rows()
    chart = breadth_consistency(rows, K)
    assert drawn_points(chart) == {
        row.name: (row.solved * 100, row.all_k * 100)
        for row in rows
        if row.solved is not None and row.all_k is not None
    }
    assert (chart.caption, chart.notes) == (
        "507 tasks, 20 repetitions. 18 published, not measured here. 14 of 19 models placed.",
        (
            "Not placed, breadth not published: GPT-5.6 Sol, Claude Sonnet 4.6, GPT-6 Astra, Claude Opus 4.6, "
            "Qwen3.5-9B.",
        ),
    )


def test_the_table_of_breadth_has_the_same_values() -> None:
    chart = breadth_consistency(all_rows(), K)
    in_table = {
        row.name: (row.cells[0].value, row.cells[1].value)
        for row in chart.table.rows
        if row.cells[0].value is not None and row.cells[1].value is not None
    }
    assert in_table == drawn_points(chart)
    assert [cell.text for cell in row_of(chart, "aster-large").cells] == [
        "92.5%", "24.3%", "68.2", "90.1% to 94.6%", "20.6% to 28.0%",
    ]  # fmt: skip
    assert [cell.text for cell in row_of(chart, "Claude Opus 5.5").cells] == [
        "79.3% to 93.7%", "47.5%", "–", "–", "–",
    ]  # fmt: skip


def test_bounds_are_drawn_as_a_range_and_not_as_a_point() -> None:
    chart = breadth_consistency(all_rows(), K)
    bounded = trace(chart, "Claude Opus 5.5")
    assert (bounded["x"], bounded["y"]) == ([402 / 507 * 100, 475 / 507 * 100], [241 / 507 * 100] * 2)
    assert "Claude Opus 5.5" not in drawn_points(chart)


def test_the_gap_runs_from_the_diagonal_to_the_point() -> None:
    row = measured_row()
    gap = trace(breadth_consistency([row], K), "gap to the diagonal")
    assert (gap["x"], gap["y"]) == ([123 / 507 * 100, 469 / 507 * 100, None], [123 / 507 * 100] * 2 + [None])


@pytest.mark.parametrize(
    ("board", "cost", "share", "frontier"),
    [
        (cost_success, "cost_per_success", "pass_at_1", {"aster-large", "GPT-5.4", "Claude Opus 5.5"}),
        (
            cost_dependable,
            "cost_per_dependable_task",
            "all_k",
            {"aster-large", "GPT-5.4", "GPT-6 Astra", "Claude Opus 5.5"},
        ),
    ],
)
def test_prices_and_their_frontier(board: Board, cost: str, share: str, frontier: set[str]) -> None:
    rows = all_rows()
    chart = board(rows, K)
    placed = {
        row.name: (float(getattr(row, cost)), getattr(row, share) * 100)
        for row in rows
        if getattr(row, cost) is not None and getattr(row, share) is not None
    }
    assert drawn_points(chart) == placed
    assert {
        row.name: (row.cells[0].value, row.cells[1].value) for row in chart.table.rows if row.name in placed
    } == placed
    assert ringed(chart) == sorted(placed[name] for name in frontier)
    assert {row.name for row in chart.table.rows if row.cells[3].text == "on the frontier"} == frontier


def test_the_frontier_is_a_stair_from_the_axis_to_the_right() -> None:
    chart = cost_dependable(all_rows(), K)
    stairs = trace(chart, "frontier")
    points = ringed(chart)
    assert list(zip(stairs["x"], stairs["y"], strict=True))[1:-1:2] == [
        (points[0][0], 0.0),
        *((right[0], left[1]) for left, right in pairwise(points)),
    ]


def test_who_is_dominated_is_named() -> None:
    chart = cost_dependable(with_standings(published_rows()), K)
    assert row_of(chart, "Claude Opus 5").cells[3].text == "behind Claude Opus 5.5"


def test_survival_draws_both_shares_and_the_retention() -> None:
    rows = all_rows()
    chart = survival(rows, K)
    placed = sorted(
        (row for row in rows if row.all_k is not None and row.pass_at_1 is not None),
        key=lambda row: (-(row.all_k or 0), -(row.pass_at_1 or 0)),
    )
    assert trace(chart, "pass@1")["x"] == [(row.pass_at_1 or 0) * 100 for row in placed]
    assert trace(chart, "passed 20 of 20")["x"] == [(row.all_k or 0) * 100 for row in placed]
    table = [row for row in chart.table.rows if row.cells[2].value is not None]
    assert [row.cells[0].value for row in table] == trace(chart, "pass@1")["x"]
    assert [row.cells[2].value for row in table] == trace(chart, "passed 20 of 20")["x"]
    assert {
        name: row_of(chart, name).cells[4].text for name in ("GPT-6 Astra", "Claude Opus 5.5", "Claude Opus 5")
    } == {
        "GPT-6 Astra": "78%",
        "Claude Opus 5.5": "71%",
        "Claude Opus 5": "71%",
    }


def test_domains_with_their_means_over_the_published_models() -> None:
    chart = domain_heat(published_rows(), K)
    heat = chart.figure["data"][0]  # type: ignore[index]
    assert [[cell.value for cell in row.cells] for row in chart.table.rows] == heat["z"]
    assert chart.table.columns == ("Model", "Retail", "Auto insurance", "Travel", "Neobank", "Consulting")
    mean = row_of(chart, "Mean of the models")
    assert (mean.cells[0].text, mean.cells[1].text) == ("59.52%", "33.83%")
    assert (
        chart.caption
        == "507 tasks, 20 repetitions. 18 published, not measured here. Means are over 18 models, each counted once."
    )


@pytest.mark.parametrize("board", BOARDS)
def test_models_under_a_threshold_are_left_out_and_counted(board: Board) -> None:
    chart = board(all_rows(), K, least=0.10)
    assert [note for note in chart.notes if note.startswith("Left out")] == [
        "Left out, 2 models under 10% pass@1: Qwen3.5-9B, Mistral-Large-3."
    ]
    assert {"Qwen3.5-9B", "Mistral-Large-3"} & {row.name for row in chart.table.rows} == set()
    assert "Mistral-Large-3" not in json.dumps(chart.figure)


def test_leaving_models_out_recolours_none() -> None:
    def colours(chart: Chart) -> dict[str, str]:
        points = trace(chart, "published")
        return dict(zip([t.split("<br>")[0] for t in points["hovertext"]], points["marker"]["color"], strict=True))

    rows = published_rows()[::-1]
    whole, part = colours(breadth_consistency(rows, K)), colours(breadth_consistency(rows, K, least=0.4))
    assert part == {name: whole[name] for name in part}
    assert len(part) < len(whole)


def test_shapes_say_who_was_measured_here_and_whose_weights_are_open() -> None:
    rows = [*published_rows(), measured_row(), measured_row(name="own-open", weights=Weights.OPEN)]
    chart = breadth_consistency(rows, K)
    published, own = trace(chart, "published"), trace(chart, "this server")
    shape = dict(zip([t.split("<br>")[0] for t in published["hovertext"]], published["marker"]["symbol"], strict=True))
    assert (shape["GPT-5.4"], shape["Kimi-K3"]) == ("circle", "diamond")
    assert own["marker"]["symbol"] == ["circle", "diamond"]
    assert (own["marker"]["color"], own["marker"]["line"]) == (
        ["var(--surface)"] * 2,
        {"color": "var(--accent)", "width": 2.5},
    )


def test_intervals_are_solid_where_known_and_dotted_where_the_widest_possible() -> None:
    rows = with_standings(
        [
            measured_row(),
            measured_row(
                name="other",
                pass_at_1=0.5,
                cost_per_success=Decimal("0.2"),
                pass_at_1_interval=Interval(low=0.4, high=0.6, method=Method.WIDEST),
            ),
        ]
    )
    chart = cost_success(rows, K)
    solid, dotted = trace(chart, "95% interval"), trace(chart, "widest possible interval")
    assert (solid["x"], solid["y"]) == ([0.115, 0.115, None], pytest.approx([60.7, 66.9, None]))
    assert (dotted["x"], dotted["y"]) == ([0.2, 0.2, None], [40.0, 60.0, None])
    assert [row.cells[2].text for row in chart.table.rows] == ["60.7% to 66.9%", "at most 40.0% to 60.0%"]


def test_a_click_leads_to_the_run_and_only_there() -> None:
    for board in BOARDS:
        chart = board(all_rows(), K)
        urls = {text for text in texts([t.get("customdata") for t in chart.figure["data"]]) if text}  # type: ignore[index]
        assert urls == {"/runs/bench-v1-aster-large/"}
        assert {row.url for row in chart.table.rows} == {None, "/runs/bench-v1-aster-large/"}


# --- What is not there ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("board", BOARDS)
def test_without_rows_nothing_is_drawn_and_that_is_said(board: Board) -> None:
    chart = board([], K)
    assert (chart.figure, chart.caption, chart.notes, chart.table.rows) == (None, "No model is shown.", (), ())


@pytest.mark.parametrize("board", BOARDS)
def test_a_model_that_nothing_is_known_of_is_not_drawn(board: Board) -> None:
    row = BoardRow(name="blank", kind=Kind.MEASURED, k=K, tasks=507, pass_at_1=None)
    chart = board([row], K)
    assert chart.figure is None
    assert chart.caption == "507 tasks, 20 repetitions. 0 of 1 model placed."
    assert [note.split(":")[0].split(",")[0] for note in chart.notes] == ["Not placed"]


def test_no_dependable_task_is_said_where_no_other_cost_is_shown() -> None:
    row = measured_row(
        all_k=0.0, cost_per_run=None, cost_per_success=None, cost_per_dependable_task=None, no_dependable_task=True
    )
    assert cost_dependable([row], K).notes == ("Not placed, no dependable task: aster-large.",)


def test_no_dependable_task_is_said_and_never_drawn_as_nothing() -> None:
    row = measured_row(all_k=0.0, all_k_interval=None, cost_per_dependable_task=None)
    chart = cost_dependable(with_standings([row]), K)
    assert (chart.figure, chart.notes) == (None, ("Not placed, no dependable task: aster-large.",))
    cell = chart.table.rows[0].cells[0]
    assert (cell.text, cell.value, cell.title) == ("–", None, "no dependable task")


def test_an_unknown_price_is_not_zero() -> None:
    row = measured_row(cost_per_run=None, cost_per_success=None, cost_per_dependable_task=None)
    assert cost_success([row], K).notes == ("Not placed, cost not known: aster-large.",)


def test_prices_in_another_currency_are_not_drawn_beside() -> None:
    rows = with_standings([*published_rows(), measured_row(currency="EUR")])
    chart = cost_success(rows, K)
    assert "aster-large" not in drawn_points(chart)
    assert "Not placed, priced in EUR: aster-large." in chart.notes
    assert row_of(chart, "aster-large").cells[0].text == "€0.115"


def test_rows_over_other_tasks_or_repetitions_are_named() -> None:
    chart = breadth_consistency([*published_rows(), measured_row(tasks=12, k=3)], K)
    assert chart.caption == (
        "507 tasks, 20 repetitions. Different: aster-large: 12 tasks, 3 repetitions. 18 published, not measured here. "
        "14 of 19 models placed."
    )


def test_two_models_on_one_point_are_both_there() -> None:
    twin = measured_row(name="twin", by_success=Standing(True), by_dependable_task=Standing(True))
    rows = [msgspec.structs.replace(twin, name=name) for name in ("one", "two")]
    for board in (breadth_consistency, cost_success, cost_dependable):
        chart = board(rows, K)
        points = trace(chart, "this server")
        assert (len(set(points["x"])), len(points["x"])) == (1, 2)
        assert {a["text"] for a in chart.figure["layout"]["annotations"]} >= {"one", "two"}  # type: ignore[index]


@pytest.mark.parametrize("share", [0.0, 1.0])
@pytest.mark.parametrize("board", BOARDS)
def test_exactly_nothing_and_exactly_all(board: Board, share: float) -> None:
    row = measured_row(
        pass_at_1=share, solved=share, all_k=share, pass_at_1_interval=None, solved_interval=None, all_k_interval=None,
        by_domain={"Retail": share},
    )  # fmt: skip
    chart = board(with_standings([row]), K)
    assert chart.figure is not None
    assert f"{share * 100:.1f}%" in {cell.text for cell in chart.table.rows[0].cells}


# --- A run ------------------------------------------------------------------------------------------------------------


def test_tasks_by_successes() -> None:
    figures = run_figures({0: 3, 1: 2, 3: 1, 4: 5}, incomplete=2)
    chart = distribution(figures, TaskLinks("?never", "?some", "?always"))
    bars = trace(chart, "tasks")
    assert (bars["x"], bars["y"]) == ([0, 1, 2, 3, 4], [3, 2, 0, 1, 5])
    assert bars["customdata"] == ["?never", "?some", "?some", "?some", "?always"]
    assert [(row.name, row.cells[0].value, row.url) for row in chart.table.rows] == [
        ("0 of 4", 3, "?never"),
        ("1 of 4", 2, "?some"),
        ("2 of 4", 0, "?some"),
        ("3 of 4", 1, "?some"),
        ("4 of 4", 5, "?always"),
    ]
    assert (chart.caption, chart.notes) == (
        "11 tasks with 4 repetitions.",
        ("Not counted, fewer than 4 attempts recorded: 2 tasks.",),
    )


@pytest.mark.parametrize(("k", "told"), [(200, list(range(201))), (201, [0, 7, 201]), (5_000, [0, 7, 5_000])])
def test_where_repetitions_are_many_only_successes_that_tasks_have_are_told(k: int, told: list[int]) -> None:
    chart = distribution(run_figures({7: 3, k: 1}, k))
    bars = trace(chart, "tasks")
    tasks = [{7: 3, k: 1}.get(passed, 0) for passed in told]
    assert (bars["x"], bars["y"]) == (told, tasks)
    assert [row.name for row in chart.table.rows] == [f"{passed} of {k}" for passed in told]
    assert [row.cells[0].value for row in chart.table.rows] == tasks
    assert ("Numbers of successes that no task has are left out." in chart.notes) == (k > 200)


def test_a_run_without_a_complete_task_has_no_distribution() -> None:
    chart = distribution(run_figures({}, incomplete=2))
    assert (chart.figure, chart.caption) == (None, "No task has 4 attempts recorded.")


def test_reliability_curves_are_the_figures_own() -> None:
    figures = run_figures({0: 3, 1: 2, 3: 1, 4: 5})
    chart = reliability(figures)
    curves = {
        "pass@j, at least once": [point.pass_at * 100 for point in figures.curve],
        "pass^j, every time": [point.pass_hat_unbiased * 100 for point in figures.curve],
        "(c/n)^j, as tb agg prints it": [point.pass_hat * 100 for point in figures.curve],
    }
    assert {name: trace(chart, name)["y"] for name in curves} == curves
    assert [[row.cells[i].value for row in chart.table.rows] for i in range(3)] == list(curves.values())
    assert [row.cells[3].value for row in chart.table.rows] == [11] * 4
    assert curves["pass^j, every time"][-1] == pytest.approx(5 / 11 * 100)
    assert chart.caption == "11 tasks, 44 attempts, 4 repetitions; system errors count as not passed."


def test_unequal_repetitions_are_said() -> None:
    chart = reliability(run_figures({4: 5}, incomplete=2))
    assert chart.notes == ("Tasks have different numbers of attempts: j = 4 is over 5 tasks of 7.",)
    assert [row.cells[3].value for row in chart.table.rows] == [7, 7, 7, 5]


def test_one_repetition_is_one_point() -> None:
    chart = reliability(run_figures({0: 1, 1: 2}, k=1))
    assert trace(chart, "pass@j, at least once")["y"] == [pytest.approx(200 / 3)]
    assert len(chart.table.rows) == 1


# --- Two runs ---------------------------------------------------------------------------------------------------------


def test_tasks_that_moved() -> None:
    before = [TaskOutcome(uid=f"t{at}", n=3, passed=passed) for at, passed in enumerate([0, 0, 1, 3, 3])]
    after = [TaskOutcome(uid=f"t{at}", n=3, passed=passed) for at, passed in enumerate([3, 3, 0, 3])]
    chart = compare.moved(runs_compared(before, after, 3, resamples=0), "old", "new")
    heat = trace(chart, "tasks")
    assert heat["text"] == [["", "1", "", ""], ["", "", "", ""], ["", "", "", ""], ["2", "", "", "1"]]
    assert [(row.name, row.cells[0].value, row.cells[1].value) for row in chart.table.rows] == [
        ("0", 3, 2), ("1", 0, 1), ("3", 3, 1),
    ]  # fmt: skip
    assert (chart.caption, chart.notes) == (
        "4 tasks, 3 repetitions: 2 better, 1 worse, 1 equal.",
        ("Not compared: 1 task only in old, 0 tasks only in new.",),
    )


def test_runs_without_a_common_task_are_not_drawn() -> None:
    before, after = ([TaskOutcome(uid=uid, n=1, passed=1)] for uid in "ab")
    chart = compare.moved(runs_compared(before, after, 1, resamples=0), "old", "new")
    assert (chart.figure, chart.caption) == (None, "The runs have no task in common.")


def test_the_curves_of_both_runs_are_their_own() -> None:
    old, new = run_figures({0: 3, 4: 5}), run_figures({0: 1, 2: 2}, k=2)
    chart = compare.reliability("old", old, "new", new)
    for name, figures in (("old", old), ("new", new)):
        assert trace(chart, f"pass@j, {name}")["y"] == [point.pass_at * 100 for point in figures.curve]
        assert trace(chart, f"pass^j, {name}")["y"] == [point.pass_hat_unbiased * 100 for point in figures.curve]
    assert [[cell.text for cell in row.cells] for row in chart.table.rows][2] == ["62.5%", "–", "62.5%", "–"]


# --- The look ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("chart", all_charts(), ids=lambda chart: chart.key)
def test_a_figure_names_its_colours_and_holds_none(chart: Chart) -> None:
    written = json.dumps(chart.figure).replace("rgba(0,0,0,0)", "")
    assert re.findall(r"#[0-9a-fA-F]{3,8}\b|rgba?\(|hsla?\(", written) == []
    assert len(re.findall(r"var\(--[\w-]+\)", written)) > 5


@pytest.mark.parametrize("chart", all_charts(), ids=lambda chart: chart.key)
def test_no_text_has_tags_for_which_plotly_would_write_a_style(chart: Chart) -> None:
    assert {tag for text in texts(chart.figure) for tag in re.findall(r"<[^>]*>", text)} <= {"<br>"}


@pytest.mark.parametrize("board", BOARDS)
def test_a_name_is_only_a_name(board: Board) -> None:
    name = '<a href="javascript:alert(1)">x</a><b>\u202e\x00%{x}'
    chart = board(with_standings([measured_row(name=name), *published_rows()]), K)
    said = "\n".join(texts(chart.figure))
    assert set(re.findall(r"<[^>]*>", said)) <= {"<br>"}
    assert "\u202e" not in said
    assert "\x00" not in said
    assert "&lt;a href=" in said
    assert row_of(chart, name).name == name
    assert "hovertemplate" not in json.dumps(chart.figure)


def test_keys_are_unique_and_every_chart_says_its_base() -> None:
    charts = all_charts()
    assert len({chart.key for chart in charts}) == len(charts)
    assert [chart.key for chart in charts if not re.search(r"\d+ tasks.*\d+ repetitions", chart.caption)] == []
