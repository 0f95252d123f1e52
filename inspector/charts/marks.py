"""Models as points: shapes, rings, intervals, names beside them, and what clicking and pointing give."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from inspector.charts.data import BoardRow, Kind, Weights
from inspector.charts.labels import Mark, along, place_labels
from inspector.charts.plane import Plane
from inspector.charts.theme import ACCENT, BOLD, INK, INK_2, INK_3, LABEL_SIZE, SURFACE, plain, series
from runs.metrics import Interval, Method

__all__ = ["Point", "legend_marks", "name_labels", "point_traces", "rings", "row_names", "whiskers", "y_reach"]

SIZE, OWN_SIZE, RING_SIZE = 9, 11, 19


class Point(msgspec.Struct, frozen=True, kw_only=True):
    row: BoardRow
    colour: int
    x: float
    y: float
    hover: str
    """HTML as Plotly reads it; names in it are escaped."""
    ringed: bool = False
    x_interval: Interval | None = None
    """In shares; drawn in percent."""
    y_interval: Interval | None = None

    @property
    def own(self) -> bool:
        return self.row.kind is Kind.MEASURED


def _symbol(row: BoardRow) -> str:
    return "diamond" if row.weights is Weights.OPEN else "circle"


def point_traces(points: Sequence[Point]) -> list[dict[str, Any]]:
    """One trace for the published, one for this server's. `customdata` is where a click leads; empty: nowhere."""
    traces = []
    for own in (False, True):
        group = [point for point in points if point.own is own]
        if not group:
            continue
        marker: dict[str, Any] = {
            "symbol": [_symbol(p.row) for p in group],
            "size": OWN_SIZE if own else SIZE,
            "color": [SURFACE if own else series(p.colour) for p in group],
            "opacity": 1,
            "line": {"color": ACCENT if own else SURFACE, "width": 2.5 if own else 0.75},
        }
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": "this server" if own else "published",
                "x": [p.x for p in group],
                "y": [p.y for p in group],
                "marker": marker,
                "hoverinfo": "text",
                "hovertext": [p.hover for p in group],
                "customdata": [p.row.url or "" for p in group],
                "cliponaxis": False,
                "showlegend": False,
            }
        )
    return traces


def rings(points: Sequence[Point]) -> list[dict[str, Any]]:
    """Round the points on the frontier."""
    ringed = [p for p in points if p.ringed]
    if not ringed:
        return []
    return [
        {
            "type": "scatter",
            "mode": "markers",
            "name": "frontier",
            "x": [p.x for p in ringed],
            "y": [p.y for p in ringed],
            "marker": {"symbol": "circle-open", "size": RING_SIZE, "color": INK_2, "line": {"width": 1.25}},
            "hoverinfo": "skip",
            "cliponaxis": False,
            "showlegend": False,
        }
    ]


def whiskers(points: Sequence[Point]) -> list[dict[str, Any]]:
    """Intervals as lines under the points: solid where known, dotted where only the widest possible is."""
    traces = []
    for dotted in (False, True):
        x: list[float | None] = []
        y: list[float | None] = []
        for p in points:
            for interval, across in ((p.x_interval, True), (p.y_interval, False)):
                if interval is None or (interval.method is Method.WIDEST) is not dotted:
                    continue
                ends = [interval.low * 100, interval.high * 100]
                x += [*(ends if across else [p.x, p.x]), None]
                y += [*([p.y, p.y] if across else ends), None]
        if x:
            traces.append(
                {
                    "type": "scatter",
                    "mode": "lines",
                    "name": "widest possible interval" if dotted else "95% interval",
                    "x": x,
                    "y": y,
                    "line": {"color": INK_3, "width": 1.25, "dash": "1px,3px" if dotted else "solid"},
                    "hoverinfo": "skip",
                    "connectgaps": False,
                    "showlegend": True,
                }
            )
    return traces


def y_reach(points: Sequence[Point]) -> list[float]:
    """All that has to fit on the axis: the points and the ends of their intervals, in percent."""
    ends = [end * 100 for p in points if (i := p.y_interval) is not None for end in (i.low, i.high)]
    return [*(p.y for p in points), *ends]


def legend_marks(points: Sequence[Point]) -> list[dict[str, Any]]:
    """Empty traces that explain the shapes in one ink."""
    kinds = (
        (Kind.PUBLISHED, (Weights.PROPRIETARY,), "proprietary, published", "circle"),
        (Kind.PUBLISHED, (Weights.OPEN,), "open weight, published", "diamond"),
        (Kind.PUBLISHED, (Weights.UNKNOWN,), "published", "circle"),
        (Kind.MEASURED, (Weights.PROPRIETARY, Weights.UNKNOWN), "this server", "circle"),
        (Kind.MEASURED, (Weights.OPEN,), "this server, open weight", "diamond"),
    )
    traces = []
    for kind, weights, name, symbol in kinds:
        if not any(p.row.kind is kind and p.row.weights in weights for p in points):
            continue
        own = kind is Kind.MEASURED
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": name,
                "x": [None],
                "y": [None],
                "marker": {
                    "symbol": symbol,
                    "size": OWN_SIZE if own else SIZE,
                    "color": SURFACE if own else INK_2,
                    "line": {"color": ACCENT if own else SURFACE, "width": 2.5 if own else 0.75},
                },
                "hoverinfo": "skip",
                "showlegend": True,
            }
        )
    return traces


def name_labels(
    points: Sequence[Point], plane: Plane, *, log_x: Sequence[float] | None = None, obstacles: Sequence[Mark] = ()
) -> list[dict[str, Any]]:
    """The names as annotations beside their points, where they fit. `log_x`: the points' places on a log axis."""
    across = [p.x for p in points] if log_x is None else list(log_x)
    marks = tuple(
        Mark(
            *plane.at(x, p.y),
            plain(p.row.name),
            radius=RING_SIZE / 2 if p.ringed else SIZE / 2 + 1,
            strong=p.own or p.ringed,
        )
        for p, x in zip(points, across, strict=True)
    )
    lines = [mark for p, x in zip(points, across, strict=True) for mark in _whisker_marks(p, x, plane)]
    places = place_labels((*marks, *obstacles, *lines), plane.width, plane.height)[: len(marks)]
    annotations = []
    for p, x, mark, place in zip(points, across, marks, places, strict=True):
        if place is None:
            continue
        annotation: dict[str, Any] = {
            "x": x,
            "y": p.y,
            "text": mark.text,
            "font": {"size": LABEL_SIZE, "color": INK, "weight": BOLD if mark.strong else 400},
            "xanchor": place.anchor,
            "yanchor": "middle",
            "borderpad": 0,
            "captureevents": False,
        }
        if place.leader:
            annotation |= {
                "showarrow": True,
                "ax": place.dx,
                "ay": place.dy,
                "arrowhead": 0,
                "arrowwidth": 0.75,
                "arrowcolor": INK_3,
                "standoff": mark.radius,
            }
        else:
            annotation |= {"showarrow": False, "xshift": place.dx, "yshift": -place.dy}
        annotations.append(annotation)
    return annotations


def _whisker_marks(p: Point, x: float, plane: Plane) -> list[Mark]:
    found: list[Mark] = []
    if p.x_interval is not None:
        found += along([plane.at(p.x_interval.low * 100, p.y), plane.at(p.x_interval.high * 100, p.y)])
    if p.y_interval is not None:
        found += along([plane.at(x, p.y_interval.low * 100), plane.at(x, p.y_interval.high * 100)])
    return found


def row_names(rows: Sequence[BoardRow]) -> list[dict[str, Any]]:
    """The names at the left of rows 0, 1, …, with the sign of their weights; this server's stand out."""
    return [
        {
            "x": 0,
            "xref": "paper",
            "y": at,
            "text": f"{'◆ ' if row.weights is Weights.OPEN else ''}{plain(row.name, 26)}",
            "showarrow": False,
            "xanchor": "right",
            "xshift": -6,
            "font": {
                "size": LABEL_SIZE,
                "color": ACCENT if row.kind is Kind.MEASURED else INK,
                "weight": BOLD if row.kind is Kind.MEASURED else 400,
            },
        }
        for at, row in enumerate(rows)
    ]
