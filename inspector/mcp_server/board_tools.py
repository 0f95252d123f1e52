"""Tools about leaderboards and about what a metric means."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated

from mcp_types import CallToolResult
from pydantic import Field

from inspector.mcp_server import reading
from inspector.mcp_server.board_answers import BoardAnswer, BoardLine, BoardRow, MetricAnswer
from inspector.mcp_server.budget import answer
from inspector.mcp_server.calling import Ctx, Offset, access_of, reads
from inspector.mcp_server.metric_words import METRICS
from inspector.mcp_server.refusals import unknown
from runs.access import Access
from runs.boards import Row
from runs.boards.board import Board
from runs.boards.method import ordered_by

__all__ = ["board_of", "leaderboard", "metric_definition"]

_ROWS = 25


@reads
def leaderboard(
    ctx: Ctx,
    slug: Annotated[str, Field(description="Slug of a leaderboard; empty: lists all leaderboards.")] = "",
    offset: Offset = 0,
) -> Annotated[CallToolResult, BoardAnswer]:
    """A leaderboard's rows with rank, range of ranks, scores and cost; without a slug the list of leaderboards.

    When to call: to rank models. Rows marked published were not measured here. Next: run_report(run) for a row.
    """
    access = access_of(ctx)
    if slug:
        return answer(board_of(access, slug, offset))
    boards = [
        BoardLine(
            slug=link.slug,
            title=link.title,
            runs=link.runs,
            published=link.published,
            frozen=link.frozen_at is not None,
        )
        for link in reading.boards_read(access).boards
    ]
    following = [f"leaderboard(slug={board.slug!r}) shows its rows." for board in boards[:1]]
    return answer(BoardAnswer(boards=boards, next=following))


def board_of(access: Access, slug: str, offset: int = 0) -> BoardAnswer:
    page = reading.board_read(access, slug)
    board = page.board
    rows = board.rows[offset : offset + _ROWS]
    end = offset + len(rows)
    return BoardAnswer(
        boards=[],
        slug=page.slug,
        title=page.title,
        ranked_by=ordered_by(board),
        frozen=page.frozen is not None,
        total=len(board.rows),
        offset=offset,
        rows=[_row(board, row) for row in rows],
        next_offset=end if end < len(board.rows) else None,
        method=[f"{title} {text}" for title, text in page.method] if not offset else [],
        next=[f"run_report(run={row.slug!r}) shows the figures of a row." for row in rows if row.slug][:1],
    )


def _row(board: Board, row: Row) -> BoardRow:
    interval = row.ranked_by(board.order).interval
    return BoardRow(
        rank=row.position,
        best=row.best,
        worst=row.worst,
        name=row.name,
        run=row.slug,
        origin=row.origin.value,
        k=row.k,
        tasks=row.tasks,
        attempts=row.attempts,
        pass_at_1=row.pass_at_1.value,
        interval=None if interval is None else (interval.low, interval.high),
        solved=row.solved.value,
        all_k=row.all_k.value,
        cost_per_success=_amount(row.money.per_success),
        currency=row.money.currency,
    )


def _amount(amount: Decimal | None) -> str | None:
    return None if amount is None else f"{amount:.6g}"


@reads
def metric_definition(
    ctx: Ctx, name: Annotated[str, Field(description="Name of a metric; empty: all.")] = ""
) -> Annotated[CallToolResult, MetricAnswer]:
    """Formula and meaning of a figure, and what it is often mistaken for.

    When to call: before you explain or compare figures.
    """
    wanted = name.strip().casefold().replace("@", "_at_").replace("^", "_hat_").replace(" ", "_").replace("-", "_")
    if not wanted:
        return answer(MetricAnswer(metrics=list(METRICS.values())))
    if wanted not in METRICS:
        raise unknown("metric", name, list(METRICS), "metric_definition() lists all.")
    return answer(MetricAnswer(metrics=[METRICS[wanted]]))
