"""What a board says in one line each, for somebody who has to choose a model."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from runs.boards.board import Board
from runs.boards.rows import Row

__all__ = ["Answer", "answers"]


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    question: str
    name: str
    """Of the row."""
    figure: str
    """`all_k`, `pass_at_1`, `solved` or `cost`: which value of the row it rests on."""
    row: Row
    equal: list[str]
    """Other rows with the same value."""
    untold: list[str]
    """Rows behind it that cannot be told from it (95%), so that its lead may be noise; empty where that is not known.
    """


def answers(board: Board) -> list[Answer]:
    """The best of the rows that have a value; none with fewer than two rows, and none where they are of different
    tasks."""
    rows = board.rows
    if len(rows) < 2 or board.mixes_tasks:
        return []
    made = [
        _best(board, "Most dependable", "all_k", rows, lambda row: row.all_k.value),
        _best(board, "Highest pass@1", "pass_at_1", rows, lambda row: row.pass_at_1.value),
        _best(board, "Solves most at least once", "solved", rows, lambda row: row.solved.value),
    ]
    if board.columns_with_costs:
        made.append(_best(board, "Cheapest dependable task", "cost", rows, lambda row: _cheapness(row, board)))
    return [answer for answer in made if answer is not None]


def _cheapness(row: Row, board: Board) -> float | None:
    amount = row.money.per_dependable
    return None if amount is None or row.money.currency != board.currency else -float(amount)


def _best(
    board: Board, question: str, figure: str, rows: Sequence[Row], value: Callable[[Row], float | None]
) -> Answer | None:
    known = [(found, row) for row in rows if (found := value(row)) is not None]
    if not known:
        return None
    most = max(found for found, _ in known)
    best = [row for found, row in known if found == most]
    if figure == "all_k":
        # Of equally dependable models the cheaper one is the one to take.
        best.sort(key=lambda row: -(_cheapness(row, board) or float("-inf")))
        if not most:
            return None
    first = best[0]
    return Answer(
        question=question,
        name=first.name,
        figure=figure,
        row=first,
        equal=[row.name for row in best[1:]],
        untold=_untold(board, figure, first),
    )


def _untold(board: Board, figure: str, first: Row) -> list[str]:
    if board.level:
        return list(board.level.get(figure, {}).get(first.name, ()))
    # Frozen before that was kept: its groups tell it for what it is ranked by.
    if figure != board.order.value or first.group != 1 or len(board.sections) != 1:
        return []
    equal = {row.name for row in board.rows if row.position == first.position}
    return [row.name for row in board.rows if row.group == 1 and row.name not in equal]
