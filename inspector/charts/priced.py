"""Price against quality, the frontier ringed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from math import log10
from typing import Any

import msgspec

from inspector.charts.data import BoardRow, Cell, Chart, Standing, Table, TableRow
from inspector.charts.labels import Mark, along
from inspector.charts.marks import Point, legend_marks, name_labels, point_traces, rings, whiskers, y_reach
from inspector.charts.plane import plane_figure, plane_of, round_range
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
    amount,
    axis,
    log_ticks,
    money,
    nice_step,
    percent,
    plain,
    share_axis,
    steps,
)
from runs.metrics import Interval

__all__ = ["cost_dependable", "cost_success"]

_LOG_FROM = 3.0
"""Prices that lie further apart than this many times are drawn on a log axis."""


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
        if row.no_dependable_task or (row.cost_per_run is not None and row.all_k == 0):
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
    y_span = round_range(min(y_reach(points)), max(y_reach(points)))
    x_span = (log10(low), log10(high)) if log else (low, high)
    ticks = log_ticks(low, high) if log else steps(0.0, high, nice_step(high, 6))
    plane = plane_of(x_span, y_span)
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
    return plane_figure(
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
