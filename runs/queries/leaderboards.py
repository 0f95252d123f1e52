"""What `/leaderboards/` and `/leaderboards/<slug>/` show, and what a leaderboard can be made of."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from math import ceil

import msgspec
from django.db.models import Count
from django.http import Http404

from runs.access import Access
from runs.boards import Board, BoardView, Column, Order, Row, settings_summary
from runs.boards.freeze import Frozen, Recomputed, linked_board, recompute
from runs.boards.gather import board_now, settings_of
from runs.boards.reference import REFERENCE_SLUG
from runs.boards.shown import for_readers, orders_shown, view_shown
from runs.models import Leaderboard, LeaderboardFreeze, Run
from runs.prices import newest_lists
from runs.published import THINKINGBOX_BENCH_RESULTS
from runs.querysets import visible_runs, visible_through

__all__ = [
    "BoardChoices", "BoardIndex", "BoardLink", "BoardPage", "RunChoice", "board_choices", "board_index", "board_or_404",
    "board_page", "page_of",
]  # fmt: skip


class BoardLink(msgspec.Struct, frozen=True, kw_only=True):
    slug: str
    title: str
    text: str
    runs: int
    published: int
    frozen_at: datetime | None
    is_example: bool
    updated_at: datetime


class BoardIndex(msgspec.Struct, frozen=True):
    boards: list[BoardLink]
    has_reference: bool
    """Whether the board of the published results is there."""


class BoardPage(msgspec.Struct, frozen=True, kw_only=True):
    pk: int
    slug: str
    title: str
    text: str
    is_example: bool
    owner: int | None
    updated_at: datetime
    board: Board
    view: BoardView
    own_order: Order
    orders: frozenset[Order]
    """What the reader may rank by."""
    can_leave_errors_out: bool
    """Whether the reader may leave system errors out of pass@1, or count them."""
    frozen: Frozen | None
    recomputed: Recomputed | None
    """Only where it was asked for."""
    weights: list[str]
    """Kinds of weights that have a row, whatever is looked at."""
    has_published: bool
    best: dict[str, frozenset[str]]
    """Figure → the rows that have its best value."""
    axis: float
    """Where the line of the intervals ends, as a share."""
    method: list[tuple[str, str]]
    """How the page's figures and ranks are made: heading and sentences."""

    def shows(self, column: Column) -> bool:
        return column in self.board.columns

    @property
    def show(self) -> frozenset[str]:
        return frozenset(column.value for column in self.board.columns)


def board_index(*, access: Access) -> BoardIndex:
    """The boards by title. One query."""
    boards = Leaderboard.objects.select_related("freeze").defer("freeze__inputs", "freeze__result")
    seen = Count("entries", filter=visible_through("entries__run__", access))
    links = [
        BoardLink(
            slug=board.slug,
            title=board.title,
            text=board.text,
            runs=board.run_count,
            published=len(board.published),
            frozen_at=board.freeze.frozen_at if hasattr(board, "freeze") else None,
            is_example=board.is_example,
            updated_at=board.updated_at,
        )
        for board in boards.annotate(run_count=seen).order_by("title", "pk")
    ]
    return BoardIndex(links, any(link.slug == REFERENCE_SLUG for link in links))


def board_or_404(slug: str) -> Leaderboard:
    """With its price list. One query. Raises Http404."""
    board = Leaderboard.objects.select_related("price_list").filter(slug=slug).first()
    if board is None:
        raise Http404
    return board


def board_page(slug: str, view: BoardView | None = None, *, recomputed: bool = False, access: Access) -> BoardPage:
    """A board as a reader looks at it. Few queries where nothing changed since the last time. Raises Http404."""
    return page_of(board_or_404(slug), view, recomputed=recomputed, access=access)


def page_of(
    board: Leaderboard,
    view: BoardView | None = None,
    *,
    recomputed: bool = False,
    shared: bool = False,
    access: Access,
) -> BoardPage:
    """A live board has the rows of the runs that the asker sees; a frozen one is what it was.

    `shared`: for somebody who may see what the owner shows, and nothing that tells more.
    """
    kept = LeaderboardFreeze.objects.filter(leaderboard=board).first()
    settings = settings_of(board)
    looked = view_shown(view or BoardView(), settings.columns, settings.order)
    if shared:
        looked = for_readers(looked, settings.columns)

    def seen(as_seen: BoardView) -> Board:
        return board_now(board, as_seen, access=access) if kept is None else linked_board(kept, as_seen, access=access)

    made = seen(looked)
    whole = made if looked == BoardView() else seen(BoardView())
    return BoardPage(
        pk=board.pk,
        slug=board.slug,
        title=board.title,
        text=board.text,
        is_example=board.is_example,
        owner=board.owner_id,
        updated_at=board.updated_at,
        board=made,
        view=looked,
        own_order=whole.order,
        orders=orders_shown(settings.columns, settings.order),
        can_leave_errors_out=not shared or Column.ERRORS in settings.columns,
        frozen=None
        if kept is None
        else Frozen(frozen_at=kept.frozen_at, metric_version=kept.metric_version, digest=kept.digest),
        recomputed=recompute(board, kept, access=access) if recomputed and kept is not None else None,
        weights=sorted({row.weights for row in whole.rows if row.weights}, reverse=True),
        has_published=whole.published > 0,
        best=_best(made),
        axis=_axis(made),
        method=settings_summary(made),
    )


def _best(board: Board) -> dict[str, frozenset[str]]:
    """Nobody is the best of different things."""
    rows = () if board.mixes_tasks else board.rows
    return {
        "solved": _highest(rows, lambda row: row.solved.value),
        "all_k": _highest(rows, lambda row: row.all_k.value),
        "per_success": _highest(rows, lambda row: _lower(row.money.per_success, row, board)),
        "per_dependable": _highest(rows, lambda row: _lower(row.money.per_dependable, row, board)),
    }


def _lower(amount: object, row: Row, board: Board) -> float | None:
    return None if amount is None or row.money.currency != board.currency else -float(str(amount))


def _highest(rows: tuple[Row, ...], value: Callable[[Row], float | None]) -> frozenset[str]:
    known = {row.name: found for row in rows if (found := value(row)) is not None}
    if len(known) < 2:
        return frozenset()
    most = max(known.values())
    return frozenset(name for name, found in known.items() if found == most)


def _axis(board: Board) -> float:
    """The next full fifth above every interval."""
    ends = [0.2]
    for row in board.rows:
        figure = row.ranked_by(board.order)
        ends += [figure.value or 0.0, figure.interval.high if figure.interval else 0.0]
    return min(1.0, ceil(round(max(ends) * 5, 6)) / 5)


class RunChoice(msgspec.Struct, frozen=True):
    slug: str
    model: str
    benchmark: str
    k: int
    is_demo: bool


class BoardChoices(msgspec.Struct, frozen=True, kw_only=True):
    """What the form of a board offers."""

    runs: list[RunChoice]
    published: list[str]
    published_of: str
    price_lists: list[tuple[str, str]]


def board_choices(board: Leaderboard | None = None, *, access: Access) -> BoardChoices:
    """Two queries."""
    seen = Run.objects.filter(visible_runs(access))
    runs = seen.select_related("benchmark").order_by("benchmark__name", "model", "pk")
    lists = newest_lists()
    if board is not None and board.price_list is not None and board.price_list not in lists:
        lists.append(board.price_list)
    return BoardChoices(
        runs=[RunChoice(run.slug, run.model, run.benchmark.name, run.repetitions, run.is_demo) for run in runs],
        published=[model.name for model in THINKINGBOX_BENCH_RESULTS.models],
        published_of=THINKINGBOX_BENCH_RESULTS.benchmark,
        price_lists=[(str(row.pk), str(row)) for row in lists],
    )
