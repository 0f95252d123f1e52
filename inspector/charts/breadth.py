"""Breadth against consistency: can it ever, does it always."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from inspector.charts.data import BoardRow, Cell, Chart, Table, TableRow
from inspector.charts.labels import Mark, text_width
from inspector.charts.marks import Point, legend_marks, name_labels, point_traces, whiskers, y_reach
from inspector.charts.plane import plane_figure, plane_of, round_range
from inspector.charts.rows import base, choose, interval_cell, not_placed, origin, share_cell, unknown
from inspector.charts.theme import (
    DASH,
    LABEL_SIZE,
    LINE,
    SUNKEN,
    counted,
    percent,
    plain,
    series,
    share_axis,
    title_of,
)

__all__ = ["breadth_consistency"]


def breadth_consistency(rows: Sequence[BoardRow], k: int, *, least: float = 0.0) -> Chart:
    """Solved at least once against passed all k. `least`: the pass@1, as a share, under which a model is left out."""
    chosen = choose(rows, least)
    points = [
        Point(
            row=row,
            colour=chosen.colours[row.name],
            x=row.solved * 100,
            y=row.all_k * 100,
            hover=_breadth_hover(row, row.solved, row.all_k),
            x_interval=row.solved_interval,
            y_interval=row.all_k_interval,
        )
        for row in chosen.rows
        if row.solved is not None and row.all_k is not None
    ]
    bounded = [r for r in chosen.rows if r.solved is None and r.solved_between is not None and r.all_k is not None]
    placed = {p.row.name for p in points} | {r.name for r in bounded}

    def why(row: BoardRow) -> str | None:
        if row.name in placed:
            return None
        return f"{'breadth' if row.solved is None else 'consistency'} {unknown(row)}"

    return Chart(
        key="breadth-consistency",
        title="Breadth and consistency",
        subtitle="can it ever, does it always",
        caption=base(chosen.rows, k, len(placed)),
        notes=(*not_placed(chosen.rows, why), *chosen.notes),
        figure=_breadth_figure(points, bounded, chosen.colours, k) if placed else None,
        table=Table(
            (
                "Model",
                "At least once",
                f"All {k} of {k}",
                "Gap, points",
                "95% interval, at least once",
                f"95% interval, all {k}",
            ),
            tuple(
                TableRow(
                    row.name,
                    (
                        _solved_cell(row),
                        share_cell(row, row.all_k),
                        _gap_cell(row),
                        interval_cell(row.solved_interval),
                        interval_cell(row.all_k_interval),
                    ),
                    row.url,
                )
                for row in chosen.rows
            ),
        ),
    )


def _solved_cell(row: BoardRow) -> Cell:
    if row.solved is None and row.solved_between is not None:
        low, high = row.solved_between
        return Cell(f"{percent(low)} to {percent(high)}", None, "only bounds are published")
    return share_cell(row, row.solved)


def _gap_cell(row: BoardRow) -> Cell:
    if row.solved is None or row.all_k is None:
        return Cell(DASH, None, unknown(row))
    gap = (row.solved - row.all_k) * 100
    return Cell(f"{gap:.1f}", gap)


def _breadth_hover(row: BoardRow, solved: float, all_k: float) -> str:
    return "<br>".join(
        [
            f"{plain(row.name, 60)}",
            f"solved at least once {percent(solved)}, {counted(row.solved_count or 0)} of {counted(row.tasks)} tasks",
            f"passed all {row.k} {percent(all_k)}, {counted(row.all_k_count or 0)} of {counted(row.tasks)}",
            f"gap {(solved - all_k) * 100:.1f} points",
            origin(row),
        ]
    )


def _breadth_figure(
    points: Sequence[Point], bounded: Sequence[BoardRow], colours: dict[str, int], k: int
) -> dict[str, Any]:
    ends = [(row.solved_between or (0.0, 0.0), (row.all_k or 0.0) * 100, row) for row in bounded]
    highest = max([*y_reach(points), *(y for _, y, _ in ends)])
    y_span = (0.0, round_range(0.0, highest)[1])
    x_span = (0.0, 100.0)
    plane = plane_of(x_span, y_span)
    traces: list[dict[str, Any]] = []
    gap_x: list[float | None] = []
    gap_y: list[float | None] = []
    for p in points:
        gap_x += [p.y, p.x, None]
        gap_y += [p.y, p.y, None]
    for (_, high), y, _ in ends:
        gap_x += [y, high * 100, None]
        gap_y += [y, y, None]
    traces.append(
        {
            "type": "scatter",
            "mode": "lines",
            "name": "gap to the diagonal",
            "x": gap_x,
            "y": gap_y,
            "line": {"color": LINE, "width": 1},
            "hoverinfo": "skip",
            "showlegend": True,
        }
    )
    annotations: list[dict[str, Any]] = []
    obstacles: list[Mark] = []
    for (low, high), y, row in ends:
        traces.append(
            {
                "type": "scatter",
                "mode": "lines",
                "name": row.name,
                "x": [low * 100, high * 100],
                "y": [y, y],
                "line": {"color": series(colours[row.name]), "width": 3, "dash": "1px,5px"},
                "hoverinfo": "text",
                "hovertext": [f"{plain(row.name, 60)}<br>only bounds are published"] * 2,
                "customdata": [row.url or ""] * 2,
                "showlegend": False,
            }
        )
        between = f"{plain(row.name)}, {percent(low, 0)} to {percent(high, 0)}"
        annotations.append(
            {
                "x": (low + high) * 50,
                "y": y,
                "text": between,
                "showarrow": False,
                "yshift": 11,
                "font": {"size": LABEL_SIZE},
            }
        )
        middle, top = plane.at((low + high) * 50, y)
        half = text_width(between) / 2
        obstacles += [Mark(middle + half * part / 4, top - 11, "", 6) for part in range(-4, 5)]
        obstacles += [Mark(plane.at((low + (high - low) * part / 8) * 100, y)[0], top, "", 3) for part in range(9)]
    traces += [*whiskers(points), *legend_marks(points), *point_traces(points)]
    top = y_span[1]
    shapes = [
        {
            "type": "path",
            "path": f"M 0 0 L {top} {top} L 0 {top} Z",
            "fillcolor": SUNKEN,
            "line": {"width": 0},
            "layer": "below",
        },
        {
            "type": "line",
            "x0": 0,
            "y0": 0,
            "x1": top,
            "y1": top,
            "line": {"color": LINE, "width": 1.25},
            "layer": "below",
        },
    ]
    annotations.append(
        title_of(
            "cannot be: more often<br>always than at least once",
            x=0,
            y=top,
            xanchor="left",
            yanchor="top",
            xshift=8,
            yshift=-8,
        )
    )
    annotations += name_labels(points, plane, obstacles=obstacles)
    return plane_figure(
        traces,
        share_axis(f"solved at least once in {k} (breadth)", *x_span),
        share_axis(f"passed {k} of {k} (consistency)", *y_span),
        annotations,
        shapes=shapes,
    )
