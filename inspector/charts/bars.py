"""How much of pass@1 survives k repetitions: a bar in a bar for each model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from inspector.charts.data import BoardRow, Cell, Chart, Kind, Table, TableRow
from inspector.charts.marks import row_names
from inspector.charts.rows import base, choose, interval_cell, not_placed, origin, share_cell, unknown
from inspector.charts.theme import (
    ACCENT,
    BOLD,
    DASH,
    INK,
    INK_3,
    LABEL_SIZE,
    LINE,
    PASS,
    counted,
    drawn,
    legend,
    percent,
    plain,
    plural,
    share_axis,
    title_of,
)
from runs.metrics import Interval, Method

__all__ = ["survival"]

_ROW = 27
_MARGIN = {"l": 176, "r": 64, "t": 26, "b": 76, "pad": 6}


def survival(rows: Sequence[BoardRow], k: int, *, least: float = 0.0) -> Chart:
    """pass@1 and the share that passed all k, with what of the first is left. Most dependable first."""
    chosen = choose(rows, least)
    placed = sorted(
        (row for row in chosen.rows if row.pass_at_1 is not None and row.all_k is not None),
        key=lambda row: (-(row.all_k or 0.0), -(row.pass_at_1 or 0.0), row.name),
    )
    names = {row.name for row in placed}

    def why(row: BoardRow) -> str | None:
        if row.name in names:
            return None
        return f"{'pass@1' if row.pass_at_1 is None else 'consistency'} {unknown(row)}"

    return Chart(
        key="survival",
        title=f"What of pass@1 survives {plural(k, 'repetition')}",
        subtitle=f"retention: passed {k} of {k} ÷ pass@1; ◆ open weight",
        caption=base(chosen.rows, k, len(placed)),
        notes=(*not_placed(chosen.rows, why), *chosen.notes),
        figure=_figure(placed, k) if placed else None,
        table=Table(
            ("Model", "pass@1", "95% interval, pass@1", f"All {k} of {k}", f"95% interval, all {k}", "Retention"),
            tuple(
                TableRow(
                    row.name,
                    (
                        share_cell(row, row.pass_at_1),
                        interval_cell(row.pass_at_1_interval),
                        share_cell(row, row.all_k),
                        interval_cell(row.all_k_interval),
                        _retention_cell(row),
                    ),
                    row.url,
                )
                for row in [*placed, *(row for row in chosen.rows if row.name not in names)]
            ),
        ),
    )


def _retention_cell(row: BoardRow) -> Cell:
    if row.retention is None:
        return Cell(DASH, None, "nothing passed" if row.pass_at_1 == 0 else unknown(row))
    return Cell(percent(row.retention, 0), row.retention * 100)


def _hover(row: BoardRow) -> str:
    return "<br>".join(
        [
            f"{plain(row.name, 60)}",
            f"pass@1 {percent(row.pass_at_1)}",
            f"passed all {row.k} {percent(row.all_k)}, {counted(row.all_k_count or 0)} of {counted(row.tasks)} tasks",
            f"retention {_retention_cell(row).text}",
            origin(row),
        ]
    )


def _whiskers(intervals: Sequence[Interval | None], aside: float) -> list[tuple[float, float, float]]:
    """Ends in percent and the row, of intervals that are known: the widest possible ones are in the table.

    `aside` moves them off the middle of the row, above for pass@1 and below for all k, where no bar hides them.
    """
    return [
        (interval.low * 100, interval.high * 100, at + aside)
        for at, interval in enumerate(intervals)
        if interval is not None and interval.method is not Method.WIDEST
    ]


def _figure(rows: Sequence[BoardRow], k: int) -> dict[str, Any]:
    rate = [(row.pass_at_1 or 0.0) * 100 for row in rows]
    always = [(row.all_k or 0.0) * 100 for row in rows]
    at = list(range(len(rows)))
    common: dict[str, Any] = {
        "type": "bar",
        "orientation": "h",
        "y": at,
        "hoverinfo": "text",
        "hovertext": [_hover(row) for row in rows],
        "customdata": [row.url or "" for row in rows],
    }
    own = [row.kind is Kind.MEASURED for row in rows]
    traces: list[dict[str, Any]] = [
        {
            **common,
            "name": "pass@1",
            "x": rate,
            "width": 0.5,
            "marker": {"color": LINE},
        },
        {
            **common,
            "name": f"passed {k} of {k}",
            "x": always,
            "width": 0.5,
            "marker": {"color": [ACCENT if mine else PASS for mine in own]},
        },
    ]
    lines = [
        *_whiskers([row.pass_at_1_interval for row in rows], -0.35),
        *_whiskers([row.all_k_interval for row in rows], 0.35),
    ]
    if lines:
        traces.append(
            {
                "type": "scatter",
                "mode": "lines+markers",
                "name": "95% interval",
                "x": [end for low, high, _ in lines for end in (low, high, None)],
                "y": [end for _, _, at in lines for end in (at, at, None)],
                "line": {"color": INK_3, "width": 1.25},
                "marker": {"symbol": "line-ns", "size": 5, "line": {"color": INK_3, "width": 1.25}},
                "hoverinfo": "skip",
                "connectgaps": False,
            }
        )
    high = min(100.0, max([*rate, *(end for _, end, _ in lines)]) * 1.05 + 1)
    height = _ROW * len(rows) + _MARGIN["t"] + _MARGIN["b"]
    annotations = [
        {
            "x": 1,
            "xref": "paper",
            "y": i,
            "text": _retention_cell(row).text,
            "showarrow": False,
            "xanchor": "left",
            "xshift": 12,
            "font": {"size": LABEL_SIZE, "color": INK, "weight": BOLD},
        }
        for i, row in enumerate(rows)
    ]
    annotations.append(
        title_of("retention", x=1, xref="paper", y=1, yref="paper", xanchor="center", yanchor="bottom", xshift=24)
    )
    return drawn(
        traces,
        height=height,
        margin=_MARGIN,
        layout={
            "barmode": "overlay",
            "xaxis": share_axis("share", 0.0, high),
            "yaxis": {
                "range": [len(rows) - 0.5, -0.5],
                "showticklabels": False,
                "showgrid": False,
                "zeroline": False,
                "fixedrange": True,
            },
            "annotations": [*row_names(rows), *annotations],
            "showlegend": True,
            "legend": legend(),
        },
    )
