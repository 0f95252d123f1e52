"""The charts of two runs on the same tasks: which tasks moved, and both pairs of reliability curves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from math import sqrt
from typing import Any

from inspector.charts.data import Cell, Chart, Table, TableRow
from inspector.charts.run import line
from inspector.charts.theme import (
    INK,
    INK_3,
    LABEL_SIZE,
    axis,
    counted,
    drawn,
    legend,
    nice_step,
    percent,
    plain,
    plural,
    series,
    share_axis,
    title_of,
)
from runs.metrics import Comparison, GroupMetrics

__all__ = ["moved", "reliability"]

_CELL, _LEAST = 21, 240
_MARGIN = {"l": 64, "r": 16, "t": 16, "b": 52, "pad": 0}


# --- Tasks that moved -------------------------------------------------------------------------------------------------


def moved(compared: Comparison, baseline: str, candidate: str) -> Chart:
    """The common tasks by their successes in both runs: above the diagonal the candidate passed more often."""
    cells = Counter((pair.baseline.passed, pair.candidate.passed) for pair in compared.tasks)
    most = [
        max((task.n for task in tasks), default=0)
        for tasks in ([pair.baseline for pair in compared.tasks], [pair.candidate for pair in compared.tasks])
    ]
    notes = []
    if compared.only_baseline or compared.only_candidate:
        notes.append(
            f"Not compared: {plural(len(compared.only_baseline), 'task')} only in {baseline}, "
            f"{plural(len(compared.only_candidate), 'task')} only in {candidate}."
        )
    uneven = [pair for pair in compared.tasks if (pair.baseline.n, pair.candidate.n) != (most[0], most[1])]
    if uneven:
        notes.append(f"{plural(len(uneven), 'task')} with fewer attempts than the others in one of the runs.")
    each = "" if most[0] == most[1] else f" of {baseline}, {counted(most[1])} of {candidate}"
    caption = (
        f"{plural(len(compared.tasks), 'task')}, {plural(most[0], 'repetition')}{each}: "
        f"{counted(len(compared.better))} better, {counted(len(compared.worse))} worse, "
        f"{counted(len(compared.equal))} equal."
    )
    return Chart(
        key="moved",
        title="Tasks that moved",
        subtitle=f"above the diagonal {candidate} passed more often",
        caption=caption if cells else "The runs have no task in common.",
        notes=tuple(notes),
        figure=_grid(cells, most, baseline, candidate) if cells else None,
        table=Table(
            (f"Passed, {baseline}", f"Passed, {candidate}", "Tasks"),
            tuple(
                TableRow(str(before), (Cell(str(after), after), Cell(counted(tasks), tasks)))
                for (before, after), tasks in sorted(cells.items())
            ),
        ),
    )


def _grid(cells: Mapping[tuple[int, int], int], most: list[int], baseline: str, candidate: str) -> dict[str, Any]:
    across, up = list(range(most[0] + 1)), list(range(most[1] + 1))
    counts = [[cells.get((before, after)) for before in across] for after in up]
    names = plain(baseline), plain(candidate)
    dense = max(most) > 30
    trace = {
        "type": "heatmap",
        "name": "tasks",
        "x": across,
        "y": up,
        # By the root, so that the corners, which hold most tasks, leave something to see of the others.
        "z": [[None if tasks is None else sqrt(tasks) for tasks in row] for row in counts],
        "text": [["" if tasks is None or dense else counted(tasks) for tasks in row] for row in counts],
        "texttemplate": "%{text}",
        "textfont": {"size": LABEL_SIZE - 1, "color": INK},
        "hoverinfo": "text",
        "hovertext": [
            [
                f"{plural(tasks or 0, 'task')}<br>{names[0]}: passed {before}<br>{names[1]}: passed {after}"
                for before, tasks in enumerate(row)
            ]
            for after, row in enumerate(counts)
        ],
        "colorscale": [[0.0, "var(--heat-0)"], [1.0, "var(--heat-1)"]],
        "zmin": 0,
        "zmax": sqrt(max(cells.values())),
        "showscale": False,
        "hoverongaps": False,
        "xgap": 2,
        "ygap": 2,
    }
    height = max(_LEAST, _CELL * len(up)) + _MARGIN["t"] + _MARGIN["b"]
    steps = [max(1, int(nice_step(each, 10))) for each in most]
    ticks = [list(range(0, each + 1, step)) for each, step in zip(most, steps, strict=True)]
    return drawn(
        [trace],
        height=height,
        margin=_MARGIN,
        layout={
            "xaxis": axis(
                f"passed, {names[0]}",
                (-0.5, most[0] + 0.5),
                ticks[0],
                [str(tick) for tick in ticks[0]],
                showgrid=False,
            ),
            "yaxis": axis(
                f"passed, {names[1]}",
                (-0.5, most[1] + 0.5),
                ticks[1],
                [str(tick) for tick in ticks[1]],
                showgrid=False,
            ),
            "shapes": [
                {
                    "type": "line",
                    "x0": -0.5,
                    "y0": -0.5,
                    "x1": most[0] + 0.5,
                    "y1": most[1] + 0.5,
                    "line": {"color": INK_3, "width": 1, "dash": "2px,3px"},
                    "layer": "below",
                }
            ],
            "annotations": [
                title_of("better", x=0, y=most[1], xanchor="left", yanchor="top", xshift=14, yshift=-14),
                title_of("worse", x=most[0], y=0, xanchor="right", yanchor="bottom", xshift=-14, yshift=14),
            ]
            if not cells.get((0, most[1])) and not cells.get((most[0], 0)) and len(up) > 8
            else [],
        },
    )


# --- Reliability curves -----------------------------------------------------------------------------------------------


def reliability(baseline: str, before: GroupMetrics, candidate: str, after: GroupMetrics) -> Chart:
    """pass@j and pass^j of two runs, each over its own tasks."""
    runs = [(baseline, before, series(0)), (candidate, after, series(1))]
    longest = max((figures.curve[-1].k for _, figures, _ in runs if figures.curve), default=0)
    return Chart(
        key="reliability-both",
        title="Reliability curves",
        subtitle="at least once above, every time below",
        caption=" ".join(
            f"{name}: {plural(figures.tasks, 'task')}, {plural(figures.attempts, 'attempt')}, "
            f"{plural(figures.k, 'repetition')}."
            for name, figures, _ in runs
        ),
        notes=(),
        figure=_curves(runs, longest) if longest else None,
        table=Table(
            ("j", *(f"{kind}, {name}" for kind in ("pass@j", "pass^j") for name, _, _ in runs)),
            tuple(
                TableRow(
                    str(j),
                    tuple(_cell(figures, j, once=once) for once in (True, False) for _, figures, _ in runs),
                )
                for j in range(1, longest + 1)
            ),
        ),
    )


def _cell(figures: GroupMetrics, j: int, *, once: bool) -> Cell:
    if j > len(figures.curve):
        return Cell("–", None, "not that many repetitions")
    point = figures.curve[j - 1]
    share = point.pass_at if once else point.pass_hat_unbiased
    return Cell(percent(share), share * 100)


def _curves(runs: list[tuple[str, GroupMetrics, str]], longest: int) -> dict[str, Any]:
    traces = []
    for name, figures, colour in runs:
        if not figures.curve:
            continue
        shown = plain(name)
        above = line(figures.curve, f"pass@j, {shown}", [p.pass_at for p in figures.curve], colour)
        below = line(figures.curve, f"pass^j, {shown}", [p.pass_hat_unbiased for p in figures.curve], colour)
        below["marker"] = {**below["marker"], "symbol": "square"}
        traces += [above, below]
    every = 1 if longest <= 10 else int(nice_step(longest, 8)) or 1
    ticks = sorted({1, longest, *range(every, longest - every // 2, every)})
    return drawn(
        traces,
        height=360,
        margin={**_MARGIN, "l": 48, "b": 92},
        layout={
            "xaxis": axis("j repetitions", (0.5, longest + 0.2), ticks, [str(i) for i in ticks], showgrid=False),
            "yaxis": share_axis("share", 0.0, 100.0),
            "showlegend": True,
            "legend": legend(),
        },
    )
