"""The charts of a leaderboard's page, from its rows."""

from __future__ import annotations

from typing import NamedTuple

from django.urls import reverse

from inspector.charts.data import BoardRow, Chart, Kind, Standing, Weights
from inspector.charts.leaderboard import breadth_consistency, cost_dependable, cost_success, domain_heat, survival
from runs.boards import Board, Column, Row
from runs.costs import NO_DEPENDABLE_TASK, Placed
from runs.queries.leaderboards import BoardPage

__all__ = ["THRESHOLDS", "Threshold", "board_charts", "chart_rows", "thresholds"]

THRESHOLDS = (10, 25, 50)
"""The pass@1 in percent under which a reader can leave models out of the charts."""

_CHARTS = (
    (breadth_consistency, (Column.SOLVED, Column.ALL_K)),
    (survival, (Column.ALL_K, Column.RETENTION)),
    (cost_success, (Column.COST_PER_SUCCESS,)),
    (cost_dependable, (Column.ALL_K, Column.COST_PER_DEPENDABLE)),
)
"""Each with the columns that it draws beside pass@1: it is left out where one of them is hidden."""


class Threshold(NamedTuple):
    percent: int
    """0: all models."""
    chosen: bool


def thresholds(page: BoardPage, least: int) -> list[Threshold]:
    """What a reader can choose from: those that leave some models out and some in. Empty where there is none."""
    shares = [row.pass_at_1.value or 0.0 for row in page.board.rows]
    offered = [percent for percent in THRESHOLDS if 1 < sum(share >= percent / 100 for share in shares) < len(shares)]
    return [Threshold(percent, percent == least) for percent in (0, *offered)] if offered or least else []


def board_charts(page: BoardPage, *, links: bool, least: int = 0) -> list[Chart]:
    """`least`: the pass@1 in percent under which models are left out. `links`: whether a click leads to the run."""
    board = page.board
    rows = chart_rows(board, links=links)
    share = least / 100
    charts = [chart(rows, board.k, least=share) for chart, needed in _CHARTS if all(page.shows(c) for c in needed)]
    if page.shows(Column.DOMAINS) and len(board.domains) > 1:
        charts.append(domain_heat(rows, board.k, least=share, with_mean=not board.mixes_tasks))
    return charts


def chart_rows(board: Board, *, links: bool) -> list[BoardRow]:
    """In the order of the board."""
    return [_chart_row(board, row, links) for row in board.rows]


def _chart_row(board: Board, row: Row, links: bool) -> BoardRow:
    money = row.money
    bounds = row.solved.bounds
    return BoardRow(
        name=row.name,
        kind=Kind.PUBLISHED if row.is_published else Kind.MEASURED,
        weights=Weights(row.weights) if row.weights in set(Weights) else Weights.UNKNOWN,
        url=reverse("run", args=[row.slug]) if links and row.slug else None,
        k=row.k,
        tasks=row.tasks,
        incomplete_tasks=row.incomplete,
        pass_at_1=row.pass_at_1.value,
        pass_at_1_interval=row.pass_at_1.interval,
        solved=row.solved.value,
        solved_interval=row.solved.interval,
        solved_between=(bounds[0] / row.tasks, bounds[1] / row.tasks) if bounds and row.tasks else None,
        all_k=row.all_k.value,
        all_k_interval=row.all_k.interval,
        currency=money.currency or "USD",
        cost_per_run=money.per_run,
        cost_per_success=money.per_success,
        cost_per_dependable_task=money.per_dependable,
        no_dependable_task=money.reasons.get("per_dependable_task") == NO_DEPENDABLE_TASK,
        by_success=_standing(board.by_success.get(row.name)),
        by_dependable_task=_standing(board.by_dependable.get(row.name)),
        by_domain={name: row.domains.get(name) for name in board.domains},
    )


def _standing(placed: Placed | None) -> Standing | None:
    return None if placed is None else Standing(placed.on_frontier, tuple(placed.dominated_by))
