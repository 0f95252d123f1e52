"""What the first leaderboard or run of a process would wait for, loaded before somebody asks for it."""

from __future__ import annotations

from inspector.board_charts import chart_rows
from inspector.charts.leaderboard import breadth_consistency, cost_dependable, cost_success, domain_heat, survival
from runs.boards import BoardInputs, BoardSettings, make_board
from runs.published import THINKINGBOX_BENCH_RESULTS

__all__ = ["warm_up"]


def warm_up() -> None:
    """Draws the charts of the published results and throws them away: Plotly loads its parts when they are first used.

    Asks no database.
    """
    board = make_board(BoardInputs(settings=BoardSettings(), published=THINKINGBOX_BENCH_RESULTS))
    rows = chart_rows(board, links=False)
    for chart in (breadth_consistency, survival, cost_success, cost_dependable, domain_heat):
        chart(rows, board.k)
