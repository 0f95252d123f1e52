"""The body of a leaderboard's page: table, charts and method, drawn once for as long as the board stays the same."""

from __future__ import annotations

from typing import NamedTuple

from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from inspector.board_charts import board_charts, thresholds
from inspector.filters import chart_threshold
from inspector.http import HtmxHttpRequest
from runs.boards import Board
from runs.kept import Kept
from runs.queries.leaderboards import BoardPage

__all__ = ["Body", "board_body"]

_SWITCHES = frozenset({"by", "charts", "errors", "published", "weights"})


class Body(NamedTuple):
    html: SafeString
    has_charts: bool


class _Drawn(NamedTuple):
    board: Board
    """Held, so that no other board gets its identity."""
    body: Body


_bodies: Kept[_Drawn] = Kept(32)


def board_body(request: HtmxHttpRequest, page: BoardPage) -> Body:
    """With links to the runs. What it says hangs on the board, the text above it and the switches in the address."""
    switches = tuple(sorted((name, value) for name, value in request.GET.items() if name in _SWITCHES))
    if len(switches) < len(request.GET):
        return _draw(request, page)
    key = (id(page.board), page.slug, page.text, switches)
    return _bodies.get_or_make(key, lambda: _Drawn(page.board, _draw(request, page))).body


def _draw(request: HtmxHttpRequest, page: BoardPage) -> Body:
    least = chart_threshold(request.GET)
    charts = board_charts(page, links=True, least=least)
    context = {
        "page": page,
        "links": True,
        "rank_links": True,
        "charts": charts,
        "thresholds": thresholds(page, least),
    }
    return Body(render_to_string("leaderboards/_body.html", context, request=request), bool(charts))
