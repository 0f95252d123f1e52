"""The charts of a leaderboard's page, from its rows."""

from __future__ import annotations

from django.urls import reverse

from inspector.charts.data import BoardRow, Chart, Kind, Standing, Weights
from inspector.charts.leaderboard import breadth_consistency, cost_dependable, cost_success, domain_heat, survival
from runs.boards import Board, Row
from runs.costs import Placed
from runs.queries.leaderboards import BoardPage

__all__ = ["board_charts", "chart_rows"]


def board_charts(page: BoardPage, *, links: bool, least: float = 0.0) -> list[Chart]:
    """`least`: the pass@1 under which models are left out. `links`: whether a click leads to the run."""
    board = page.board
    rows = chart_rows(board, links=links)
    charts = [breadth_consistency(rows, board.k, least=least), survival(rows, board.k, least=least)]
    if board.columns_with_costs:
        charts += [cost_success(rows, board.k, least=least), cost_dependable(rows, board.k, least=least)]
    if len(board.domains) > 1:
        charts.append(domain_heat(rows, board.k, least=least))
    return charts


def chart_rows(board: Board, *, links: bool) -> list[BoardRow]:
    """In the order of the board. Costs that the board does not show are in no chart either."""
    return [_chart_row(board, row, links) for row in board.rows]


def _chart_row(board: Board, row: Row, links: bool) -> BoardRow:
    money = row.money
    priced = board.columns_with_costs
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
        cost_per_run=money.per_run if priced else None,
        cost_per_success=money.per_success if priced else None,
        cost_per_dependable_task=money.per_dependable if priced else None,
        by_success=_standing(board.by_success.get(row.name)),
        by_dependable_task=_standing(board.by_dependable.get(row.name)),
        by_domain={name: row.domains.get(name) for name in board.domains},
    )


def _standing(placed: Placed | None) -> Standing | None:
    return None if placed is None else Standing(placed.on_frontier, tuple(placed.dominated_by))
