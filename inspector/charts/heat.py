"""pass@1 by domain, with the mean of each domain over the models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from inspector.charts.data import BoardRow, Cell, Chart, Table, TableRow
from inspector.charts.marks import row_names
from inspector.charts.rows import base, choose, not_placed, origin, share_cell, unknown
from inspector.charts.theme import BOLD, DASH, INK, INK_2, LABEL_SIZE, counted, drawn, percent, plain

__all__ = ["domain_heat"]

_ROW = 24
_MARGIN = {"l": 176, "r": 12, "t": 34, "b": 10, "pad": 6}
MEAN = "Mean of the models"
_SCALE = [[0.0, "var(--heat-0)"], [1.0, "var(--heat-1)"]]


def domain_heat(rows: Sequence[BoardRow], k: int, *, least: float = 0.0, with_mean: bool = True) -> Chart:
    """A cell for each model and domain. The mean counts each model that has the domain once.

    `with_mean`: false where the rows are of different tasks, of which a mean would say nothing.
    """
    chosen = choose(rows, least)
    domains = list(dict.fromkeys(name for row in chosen.rows for name in row.by_domain))
    placed = [row for row in chosen.rows if any(value is not None for value in row.by_domain.values())]
    means = [_mean(placed, domain) for domain in domains]

    def why(row: BoardRow) -> str | None:
        return None if row in placed else f"pass@1 by domain {unknown(row)}"

    lines = [
        TableRow(row.name, tuple(share_cell(row, row.by_domain.get(domain)) for domain in domains), row.url)
        for row in placed
    ]
    with_mean = with_mean and len(placed) > 1
    if with_mean:
        lines.append(TableRow(MEAN, tuple(_mean_cell(mean) for mean in means)))
    return Chart(
        key="domains",
        title="pass@1 by domain",
        subtitle="◆ open weight",
        caption=f"{base(chosen.rows, k, len(placed))} {_over(placed) if with_mean else ''}".strip(),
        notes=(*not_placed(chosen.rows, why), *chosen.notes),
        figure=_figure(placed, domains, lines) if placed and domains else None,
        table=Table(("Model", *domains), tuple(lines)),
    )


def _over(rows: Sequence[BoardRow]) -> str:
    return f"Means are over {counted(len(rows))} models, each counted once."


def _mean(rows: Sequence[BoardRow], domain: str) -> float | None:
    values = [value for row in rows if (value := row.by_domain.get(domain)) is not None]
    return sum(values) / len(values) if values else None


def _mean_cell(mean: float | None) -> Cell:
    return Cell(DASH, None, "no model") if mean is None else Cell(percent(mean, 2), mean * 100)


def _figure(rows: Sequence[BoardRow], domains: Sequence[str], lines: Sequence[TableRow]) -> dict[str, Any]:
    height = _ROW * len(lines) + _MARGIN["t"] + _MARGIN["b"]
    values = [[cell.value if isinstance(cell.value, float) else None for cell in line.cells] for line in lines]
    known = [value for line in values for value in line if value is not None]
    trace = {
        "type": "heatmap",
        "x": list(range(len(domains))),
        "y": list(range(len(lines))),
        "z": values,
        "text": [[cell.text.rstrip("%") for cell in line.cells] for line in lines],
        "texttemplate": "%{text}",
        "textfont": {"size": LABEL_SIZE, "color": INK},
        "hoverinfo": "text",
        "hovertext": [
            [
                _hover(rows[i] if i < len(rows) else None, domain, cell)
                for domain, cell in zip(domains, line.cells, strict=True)
            ]
            for i, line in enumerate(lines)
        ],
        "customdata": [[line.url or ""] * len(domains) for line in lines],
        "colorscale": _SCALE,
        "zmin": 0,
        "zmax": max(known, default=100.0),
        "showscale": False,
        "xgap": 3,
        "ygap": 3,
    }
    names = row_names(rows)
    if len(lines) > len(rows):
        last = {"y": len(rows), "text": MEAN, "font": {"size": LABEL_SIZE, "color": INK, "weight": BOLD}}
        names.append(dict(row_names(rows[-1:])[0], **last))
    return drawn(
        [trace],
        height=height,
        margin=_MARGIN,
        layout={
            "xaxis": {
                "side": "top",
                "tickvals": list(range(len(domains))),
                "ticktext": [plain(domain, 22) for domain in domains],
                "tickfont": {"size": LABEL_SIZE, "color": INK_2},
                "showgrid": False,
                "zeroline": False,
                "fixedrange": True,
                "ticks": "",
            },
            "yaxis": {
                "range": [len(lines) - 0.5, -0.5],
                "showticklabels": False,
                "showgrid": False,
                "zeroline": False,
                "fixedrange": True,
                "ticks": "",
            },
            "annotations": names,
        },
    )


def _hover(row: BoardRow | None, domain: str, cell: Cell) -> str:
    if row is None:
        return f"{MEAN}<br>{plain(domain)} {cell.text}"
    said = cell.text if cell.value is not None else cell.title
    return f"{plain(row.name, 60)}<br>{plain(domain)} {said}<br>{origin(row)}"
