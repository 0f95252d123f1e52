"""Models on two axes: breadth against consistency, and price against quality."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from math import ceil, floor, log10
from typing import Any

import msgspec

from inspector.charts.data import BoardRow, Cell, Chart, Standing, Table, TableRow
from inspector.charts.labels import Mark, along, text_width
from inspector.charts.marks import Plane, Point, legend_marks, name_labels, point_traces, rings, whiskers
from inspector.charts.rows import (
    base,
    choose,
    interval_cell,
    main_currency,
    names_of,
    not_placed,
    origin,
    share_cell,
    unknown,
)
from inspector.charts.theme import (
    DASH,
    INK_2,
    LABEL_SIZE,
    LINE,
    SUNKEN,
    amount,
    axis,
    counted,
    drawn,
    legend,
    log_ticks,
    money,
    nice_step,
    percent,
    plain,
    series,
    share_axis,
    steps,
    title_of,
)
from runs.metrics import Interval

__all__ = ["breadth_consistency", "cost_dependable", "cost_success"]

LEAST_WIDTH = 560
"""Pixels. On a narrower screen the box scrolls, so that the text keeps its size."""
_HEIGHT = 460
_MARGIN = {"l": 56, "r": 22, "t": 16, "b": 96, "pad": 0}
_PLOT = (LEAST_WIDTH - _MARGIN["l"] - _MARGIN["r"], _HEIGHT - _MARGIN["t"] - _MARGIN["b"])
_LOG_FROM = 3.0
"""Prices that lie further apart than this many times are drawn on a log axis."""


def _range(low: float, high: float, *, top: float = 100.0) -> tuple[float, float]:
    """Round ends of a percent axis with room for names."""
    step = nice_step(max(high - low, 10.0), 4)
    return max(0.0, floor((low - step / 3) / step) * step), min(top, ceil((high + step / 3) / step) * step)


def _figure(
    traces: list[dict[str, Any]], x: dict[str, Any], y: dict[str, Any], annotations: list[dict[str, Any]], **more: Any
) -> dict[str, Any]:
    return drawn(
        traces,
        height=_HEIGHT,
        margin=_MARGIN,
        layout={
            "xaxis": x,
            "yaxis": y,
            "annotations": annotations,
            "showlegend": True,
            "legend": legend(),
            **more,
        },
    )


# --- Breadth against consistency --------------------------------------------------------------------------------------


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
    highest = max([p.y for p in points] + [y for _, y, _ in ends])
    y_span = (0.0, _range(0.0, highest)[1])
    x_span = (0.0, 100.0)
    plane = Plane(width=_PLOT[0], height=_PLOT[1], x=x_span, y=y_span)
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
    return _figure(
        traces,
        share_axis(f"solved at least once in {k} (breadth)", *x_span),
        share_axis(f"passed {k} of {k} (consistency)", *y_span, most=4),
        annotations,
        shapes=shapes,
    )


# --- Price against quality --------------------------------------------------------------------------------------------


class _Priced(msgspec.Struct, frozen=True):
    """One of the two charts with a frontier."""

    key: str
    title: str
    subtitle: str
    price: str
    quality: str
    cost: Callable[[BoardRow], Decimal | None]
    share: Callable[[BoardRow], float | None]
    interval: Callable[[BoardRow], Interval | None]
    standing: Callable[[BoardRow], Standing | None]


def cost_success(rows: Sequence[BoardRow], k: int, *, least: float = 0.0) -> Chart:
    """Cost per success against pass@1, the frontier ringed."""
    kind = _Priced(
        key="cost-success",
        title="Cost per success",
        subtitle="what a success costs, how often one comes",
        price="cost per success",
        quality="pass@1",
        cost=lambda row: row.cost_per_success,
        share=lambda row: row.pass_at_1,
        interval=lambda row: row.pass_at_1_interval,
        standing=lambda row: row.by_success,
    )
    return _priced(kind, rows, k, least)


def cost_dependable(rows: Sequence[BoardRow], k: int, *, least: float = 0.0) -> Chart:
    """Cost per dependable task against the share of dependable tasks, the frontier ringed."""
    kind = _Priced(
        key="cost-dependable",
        title="Cost per dependable task",
        subtitle=f"cost of all repetitions over the tasks that passed {k} of {k}",
        price="cost per dependable task",
        quality=f"passed {k} of {k}",
        cost=lambda row: row.cost_per_dependable_task,
        share=lambda row: row.all_k,
        interval=lambda row: row.all_k_interval,
        standing=lambda row: row.by_dependable_task,
    )
    return _priced(kind, rows, k, least)


def _priced(kind: _Priced, rows: Sequence[BoardRow], k: int, least: float) -> Chart:
    chosen = choose(rows, least)
    currency = main_currency(chosen.rows)
    points = []
    for row in chosen.rows:
        cost, share, standing = kind.cost(row), kind.share(row), kind.standing(row)
        if cost is None or share is None or row.currency != currency:
            continue
        points.append(
            Point(
                row=row,
                colour=chosen.colours[row.name],
                x=float(cost),
                y=share * 100,
                hover=_priced_hover(kind, row, cost, share, standing),
                ringed=standing is not None and standing.on_frontier,
                y_interval=kind.interval(row),
            )
        )
    placed = {p.row.name for p in points}

    def why(row: BoardRow) -> str | None:
        if row.name in placed:
            return None
        return _why_not_priced(kind, row, currency)

    frontier = [p.row for p in points if p.ringed]
    notes = [f"Ringed, no other model is as good for less: {names_of(frontier)}."] if frontier else []
    return Chart(
        key=kind.key,
        title=kind.title,
        subtitle=kind.subtitle,
        caption=base(chosen.rows, k, len(placed)),
        notes=(*notes, *not_placed(chosen.rows, why), *chosen.notes),
        figure=_priced_figure(kind, points, currency) if points else None,
        table=Table(
            ("Model", kind.price.capitalize(), kind.quality.capitalize(), "95% interval", "Frontier"),
            tuple(
                TableRow(
                    row.name,
                    (
                        _cost_cell(kind, row, currency),
                        share_cell(row, kind.share(row)),
                        interval_cell(kind.interval(row)),
                        _standing_cell(kind.standing(row)),
                    ),
                    row.url,
                )
                for row in chosen.rows
            ),
        ),
    )


def _why_not_priced(kind: _Priced, row: BoardRow, currency: str) -> str:
    if kind.cost(row) is None:
        if row.cost_per_run is not None and row.all_k == 0:
            return "no dependable task"
        return f"cost {'not published' if unknown(row) == 'not published' else 'not known'}"
    if row.currency != currency:
        return f"priced in {row.currency}"
    return f"{kind.quality} {unknown(row)}"


def _cost_cell(kind: _Priced, row: BoardRow, currency: str) -> Cell:
    cost = kind.cost(row)
    if cost is None:
        return Cell(DASH, None, _why_not_priced(kind, row, currency))
    return Cell(money(cost, row.currency), float(cost))


def _standing_cell(standing: Standing | None) -> Cell:
    if standing is None:
        return Cell(DASH, None, "not placed")
    if standing.on_frontier:
        return Cell("on the frontier")
    return Cell(f"behind {', '.join(standing.dominated_by)}" if standing.dominated_by else "behind")


def _priced_hover(kind: _Priced, row: BoardRow, cost: Decimal, share: float, standing: Standing | None) -> str:
    said = [f"{plain(row.name, 60)}", f"{kind.price} {money(cost, row.currency)}"]
    interval = kind.interval(row)
    known = f", {interval_cell(interval).text}" if interval is not None else ""
    said.append(f"{kind.quality} {percent(share)}{known}")
    if standing is not None and standing.on_frontier:
        said.append("on the frontier")
    elif standing is not None and standing.dominated_by:
        said.append(f"behind {', '.join(plain(name) for name in standing.dominated_by[:3])}")
    return "<br>".join([*said, origin(row)])


def _priced_figure(kind: _Priced, points: Sequence[Point], currency: str) -> dict[str, Any]:
    costs = [p.x for p in points]
    log = min(costs) > 0 and max(costs) / min(costs) > _LOG_FROM
    low, high = (min(costs) / 1.45, max(costs) * 1.3) if log else (0.0, max(costs) * 1.15 or 1.0)
    y_span = _range(min(p.y for p in points), max(p.y for p in points))
    x_span = (log10(low), log10(high)) if log else (low, high)
    ticks = log_ticks(low, high) if log else steps(0.0, high, nice_step(high, 6))
    plane = Plane(width=_PLOT[0], height=_PLOT[1], x=x_span, y=y_span)
    places = [log10(cost) if log else cost for cost in costs]
    stairs = sorted({(p.x, p.y) for p in points if p.ringed})
    traces: list[dict[str, Any]] = []
    obstacles: list[Mark] = []
    if stairs:
        xs: list[float] = [stairs[0][0]]
        ys: list[float] = [y_span[0]]
        for x, y in stairs:
            xs += [x, x]
            ys += [ys[-1], y]
        xs.append(high)
        ys.append(ys[-1])
        obstacles = along([plane.at(log10(x) if log else x, y) for x, y in zip(xs, ys, strict=True)])
        traces.append(
            {
                "type": "scatter",
                "mode": "lines",
                "name": "frontier",
                "x": xs,
                "y": ys,
                "line": {"color": INK_2, "width": 1.25, "dash": "5px,3px"},
                "hoverinfo": "skip",
                "showlegend": True,
            }
        )
    traces += [*whiskers(points), *legend_marks(points), *rings(points), *point_traces(points)]
    title = f"{kind.price}, log scale" if log else kind.price
    return _figure(
        traces,
        axis(
            title,
            x_span,
            ticks,
            [amount(tick, currency) for tick in ticks],
            **({"type": "log"} if log else {"type": "linear"}),
        ),
        share_axis(kind.quality, *y_span),
        name_labels(points, plane, log_x=places, obstacles=obstacles),
    )
