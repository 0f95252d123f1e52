"""Leaderboards as arithmetic on counts: start with `make_board`. `gather` and `freeze` know the database."""

from __future__ import annotations

from runs.boards.answers import Answer, answers
from runs.boards.board import Board, Change, Section, changes_between, make_board
from runs.boards.figures import NOT_PRICED, RunFigures, figures
from runs.boards.inputs import (
    ALL_COLUMNS,
    BoardInputs,
    BoardSettings,
    BoardView,
    Column,
    Order,
    RunInput,
    TaskCounts,
)
from runs.boards.method import ordered_by, settings_summary, tasks_of
from runs.boards.rows import NOT_PUBLISHED, Figure, Money, Origin, Row

__all__ = [
    "ALL_COLUMNS", "NOT_PRICED", "NOT_PUBLISHED", "Answer", "Board", "BoardInputs", "BoardSettings", "BoardView",
    "Change", "Column", "Figure", "Money", "Order", "Origin", "Row", "RunFigures", "RunInput", "Section", "TaskCounts",
    "answers", "changes_between", "figures", "make_board", "ordered_by", "settings_summary", "tasks_of",
]  # fmt: skip
