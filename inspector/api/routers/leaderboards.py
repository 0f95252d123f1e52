"""Leaderboards, and the rows that others published."""

from __future__ import annotations

from typing import Literal

from django.http import HttpRequest
from ninja import Field, Query, Router

from inspector.api.auth import access
from inspector.api.operations import Listing, Sparse, reads, reads_list
from inspector.api.pagination import Items, Slice, cut
from runs.boards import BoardView, Order
from runs.metrics import ErrorRule
from runs.published import THINKINGBOX_BENCH_RESULTS, PublishedResults
from runs.queries.leaderboards import BoardLink, BoardPage, board_index, board_page

router = Router()


class BoardQuery(Sparse):
    order: Order | None = Field(None, description="What rows are ranked by; else as the board says.")
    errors: ErrorRule | None = Field(None, description="How pass@1 counts attempts that broke; else as the board says.")
    weights: Literal["", "proprietary", "open"] = Field("", description="Only rows of such weights.")
    published: bool = Field(True, description="With the rows that others published.")
    recompute: bool = Field(False, description="Of a frozen board: also what is different now.")


@reads_list(router, "/leaderboards", BoardLink)
def index(request: HttpRequest, query: Query[Listing]) -> Slice[BoardLink]:
    """The leaderboards by title."""
    boards = Items(board_index(access=access(request)).boards)
    return cut(request, boards, lambda board: board.slug, cursor=query.cursor, limit=query.limit)


@reads(router, "/leaderboards/{slug}", BoardPage)
def detail(request: HttpRequest, slug: str, query: Query[BoardQuery]) -> BoardPage:
    """A leaderboard: rows ranked, with their intervals and costs, and what cannot be told apart."""
    view = BoardView(order=query.order, error_rule=query.errors, weights=query.weights, with_published=query.published)
    return board_page(slug, view, recomputed=query.recompute, access=access(request))


@reads(router, "/published", PublishedResults)
def published(request: HttpRequest, query: Query[Sparse]) -> PublishedResults:
    """Results that others published, each value with its source. They were not measured here."""
    return THINKINGBOX_BENCH_RESULTS
