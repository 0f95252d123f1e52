"""What a leaderboard's columns let a reader know. Every page, chart and file of a board is made after `as_shown`."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from runs.boards.board import Board
from runs.boards.inputs import BoardView, Column, Order
from runs.boards.rows import Figure, Money, Row

__all__ = ["as_shown", "for_readers", "orders_shown", "view_shown"]

NOT_SHOWN = "not shown"
_ORDERED_BY = {
    Order.ALL_K: Column.ALL_K,
    Order.SOLVED: Column.SOLVED,
    Order.COST: Column.COST_PER_DEPENDABLE,
}
"""pass@1 is always shown."""
_COSTS = frozenset({Column.CAMPAIGN, Column.COST_PER_SUCCESS, Column.COST_PER_DEPENDABLE})
_WHOLE_COST = frozenset({Column.CAMPAIGN, Column.COST_PER_DEPENDABLE})
"""With either, and the tasks that passed all k, a reader knows what a run cost."""
_SOURCES = {
    "interval": Column.INTERVAL,
    "solved": Column.SOLVED,
    "all_k": Column.ALL_K,
    "errors": Column.ERRORS,
    "campaign": Column.CAMPAIGN,
}


def orders_shown(columns: Iterable[Column], own: Order) -> frozenset[Order]:
    """What a reader may rank by: what is shown, and what the owner ranks by."""
    shown = set(columns)
    return frozenset(order for order in Order if order is own or _ORDERED_BY.get(order) in {None, *shown})


def view_shown(view: BoardView, columns: Iterable[Column], own: Order) -> BoardView:
    """The view without an order that would tell what a hidden column holds: the owner's order instead."""
    return view if view.order is None or view.order in orders_shown(columns, own) else replace(view, order=None)


def for_readers(view: BoardView, columns: Iterable[Column]) -> BoardView:
    """The view of somebody who may see what the owner shows and no more: where the number of system errors is hidden,
    they are not left out on demand, since pass@1 with and without them tells how many there were."""
    return view if Column.ERRORS in set(columns) else replace(view, error_rule=None)


def as_shown(board: Board) -> Board:
    """The ranked board with nothing in it of the columns that its owner hid. Ranks stay as they are."""
    columns = frozenset(board.columns)
    priced = bool(columns & _COSTS)
    dependable = Column.ALL_K in columns
    return replace(
        board,
        domains=board.domains if Column.DOMAINS in columns else (),
        price_list=board.price_list if priced else "",
        currency=board.currency if priced else "",
        sections=tuple(
            replace(section, rows=tuple(_row(row, columns) for row in section.rows)) for section in board.sections
        ),
        by_success=board.by_success if Column.COST_PER_SUCCESS in columns else {},
        by_dependable=board.by_dependable if dependable and Column.COST_PER_DEPENDABLE in columns else {},
        next_task=board.next_task if dependable and columns & _WHOLE_COST else {},
        level={by: level for by, level in board.level.items() if _ORDERED_BY.get(Order(by)) in {None, *columns}},
    )


def _row(row: Row, columns: frozenset[Column]) -> Row:
    def figure(made: Figure, column: Column | None) -> Figure:
        if column is not None and column not in columns:
            return Figure(of=made.of, why=NOT_SHOWN)
        return made if Column.INTERVAL in columns else replace(made, interval=None)

    dependable = Column.ALL_K in columns
    return replace(
        row,
        errors=row.errors if Column.ERRORS in columns else None,
        pass_at_1=figure(row.pass_at_1, None),
        solved=figure(row.solved, Column.SOLVED),
        all_k=figure(row.all_k, Column.ALL_K),
        kept_retention=row.retention if Column.RETENTION in columns and not dependable else None,
        domains=row.domains if Column.DOMAINS in columns else {},
        plug_in=row.plug_in if dependable else None,
        money=_money(row.money, columns),
        sources={name: said for name, said in row.sources.items() if _SOURCES.get(name) in {None, *columns}},
        # The note of a run counts its complete tasks that passed all k.
        notes=row.notes if dependable or row.is_published else (),
    )


def _money(money: Money, columns: frozenset[Column]) -> Money:
    if not columns & _COSTS:
        return Money()
    campaign = Column.CAMPAIGN in columns
    return replace(
        money,
        campaign=money.campaign if campaign else None,
        per_run=money.per_run if campaign else None,
        per_success=money.per_success if Column.COST_PER_SUCCESS in columns else None,
        per_dependable=money.per_dependable if Column.COST_PER_DEPENDABLE in columns else None,
    )
