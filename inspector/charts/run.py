"""The charts of one run: its tasks by successes, and what repeating does to its reliability."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from inspector.charts.data import Cell, Chart, Table, TableRow
from inspector.charts.theme import (
    BOLD,
    DASH,
    FAIL,
    FAIL_SOFT,
    INK,
    INK_2,
    INK_3,
    LABEL_SIZE,
    PASS,
    axis,
    counted,
    drawn,
    legend,
    nice_step,
    percent,
    plural,
    series,
    share_axis,
    steps,
)
from runs.metrics import CurvePoint, ErrorRule, GroupMetrics, Interval

__all__ = ["TaskLinks", "distribution", "line", "reliability"]

_HEIGHT = 320
_MOST_TOLD = 201
"""Numbers of successes that are all told: more make bars thinner than a pixel, and a table that nobody reads."""
_MARGIN = {"l": 48, "r": 16, "t": 24, "b": 46, "pad": 0}


class TaskLinks(msgspec.Struct, frozen=True):
    """Where the tasks of a kind are listed. Empty: nowhere."""

    never: str = ""
    sometimes: str = ""
    always: str = ""


# --- Tasks by successes -----------------------------------------------------------------------------------------------


def distribution(figures: GroupMetrics, links: TaskLinks | None = None) -> Chart:
    """How many tasks passed 0, 1, … k times. Only complete tasks are counted; how many are not is said."""
    links = links or TaskLinks()
    counts = figures.distribution
    complete = sum(counts)
    notes = []
    if figures.incomplete_tasks:
        notes.append(
            f"Not counted, fewer than {plural(figures.k, 'attempt')} recorded: "
            f"{plural(figures.incomplete_tasks, 'task')}."
        )
    told = _told(counts, figures.k)
    if len(told) < len(counts):
        notes.append("Numbers of successes that no task has are left out.")
    if len(counts) - 1 > figures.k:
        notes.append(f"Some tasks have more than the {plural(figures.k, 'attempt')} that the benchmark asks for.")
    return Chart(
        key="distribution",
        title="Tasks by successes",
        subtitle=plural(complete, "task"),
        caption=f"{plural(complete, 'task')} with {plural(figures.k, 'repetition')}."
        if complete
        else f"No task has {plural(figures.k, 'attempt')} recorded.",
        notes=tuple(notes),
        figure=_bars(told, figures.k, complete, links) if complete else None,
        table=Table(
            ("Successes", "Tasks", "Share of tasks"),
            tuple(
                TableRow(
                    f"{passed} of {figures.k}" if len(counts) - 1 == figures.k else str(passed),
                    (
                        Cell(counted(number), number),
                        Cell(percent(number / complete), number / complete * 100) if complete else Cell(DASH),
                    ),
                    _link(passed, figures.k, links) or None,
                )
                for passed, number in told
            ),
        ),
    )


def _told(counts: Sequence[int], k: int) -> list[tuple[int, int]]:
    """Numbers of successes with their tasks: all, or where these are many, those that tasks have, none and all."""
    every = len(counts) <= _MOST_TOLD
    return [(passed, number) for passed, number in enumerate(counts) if every or number or passed in {0, k}]


def _link(passed: int, k: int, links: TaskLinks) -> str:
    return links.never if passed == 0 else links.always if passed >= k else links.sometimes


def _bars(told: Sequence[tuple[int, int]], k: int, complete: int, links: TaskLinks) -> dict[str, Any]:
    """A bar for each number of successes with its tasks; at least one task there is."""
    at = [passed for passed, _ in told]
    last = at[-1]
    most, highest = max(told, key=lambda pair: pair[1])
    step = max(1.0, nice_step(highest, 4))
    shown = {0, last, most}
    trace = {
        "type": "bar",
        "name": "tasks",
        "x": at,
        "y": [n for _, n in told],
        "width": 0.82,
        "marker": {
            "color": [FAIL_SOFT if i == 0 else PASS if i >= k else INK_3 for i in at],
            "line": {
                "color": [FAIL if i == 0 else PASS if i >= k else INK_3 for i in at],
                "width": [1.25 if i == 0 else 0 for i in at],
            },
        },
        "text": [counted(n) if i in shown else "" for i, n in told],
        "textposition": "outside",
        "textfont": {"size": LABEL_SIZE, "color": INK, "weight": BOLD},
        "textangle": 0,
        "cliponaxis": False,
        "hoverinfo": "text",
        "hovertext": [
            f"{plural(n, 'task')}<br>passed {i} of {k}<br>{percent(n / complete)} of {counted(complete)}"
            for i, n in told
        ],
        "customdata": [_link(i, k, links) for i in at],
    }
    every = 1 if last <= 12 else 5 if last <= 60 else max(1, int(nice_step(last, 12)))
    ticks = sorted({0, last, *range(0, last - every // 2, every)} | ({1} if every == 5 and last <= 25 else set()))
    return drawn(
        [trace],
        height=_HEIGHT,
        margin=_MARGIN,
        layout={
            "bargap": 0.1,
            "xaxis": axis(
                f"successes in {k} repetitions", (-0.6, last + 0.6), ticks, [str(i) for i in ticks], showgrid=False
            ),
            "yaxis": axis(
                "tasks",
                (0, highest * 1.08 if highest else 1),
                ticks_up := steps(0, highest * 1.08, step),
                [counted(int(tick)) for tick in ticks_up],
            ),
        },
    )


# --- Reliability curves -----------------------------------------------------------------------------------------------


def reliability(figures: GroupMetrics) -> Chart:
    """pass@j and pass^j for j from 1 to the most attempts of a task. An error counts as not passed."""
    curve = figures.curve
    notes = []
    if figures.unequal:
        notes.append(
            f"Tasks have different numbers of attempts: j = {curve[-1].k} is over {plural(curve[-1].tasks, 'task')} "
            f"of {counted(figures.tasks)}."
        )
    return Chart(
        key="reliability",
        title="Reliability curves",
        subtitle="what repeating does",
        caption=f"{plural(figures.tasks, 'task')}, {plural(figures.attempts, 'attempt')}, "
        f"{plural(figures.k, 'repetition')}; system errors count as not passed."
        if curve
        else "No attempt is recorded.",
        notes=tuple(notes),
        figure=_curves(figures) if curve else None,
        table=Table(
            ("j", "pass@j, at least once", "pass^j, every time", "(c/n)^j, as tb agg prints it", "Tasks"),
            tuple(
                TableRow(
                    str(point.k),
                    (
                        Cell(percent(point.pass_at), point.pass_at * 100),
                        Cell(percent(point.pass_hat_unbiased), point.pass_hat_unbiased * 100),
                        Cell(percent(point.pass_hat), point.pass_hat * 100),
                        Cell(counted(point.tasks), point.tasks),
                    ),
                )
                for point in curve
            ),
        ),
    )


def line(
    curve: Sequence[CurvePoint], name: str, values: Sequence[float], colour: str, *, dash: str = "solid"
) -> dict[str, Any]:
    """A curve over j. One point alone is drawn as a dot."""
    solid = dash == "solid"
    return {
        "type": "scatter",
        "mode": "lines+markers" if solid else "lines",
        "name": name,
        "x": [point.k for point in curve],
        "y": [value * 100 for value in values],
        "line": {"color": colour, "width": 2 if solid else 1.25, "dash": dash},
        "marker": {"size": 5, "color": colour},
        "cliponaxis": False,
        "hoverinfo": "text",
        "hovertext": [
            f"{name.replace('j', str(point.k), 1)}: {percent(value)}<br>{plural(point.tasks, 'task')}"
            for point, value in zip(curve, values, strict=True)
        ],
    }


def _error_bar(at: int, share: float, interval: Interval, colour: str) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines",
        "name": "95% interval",
        "x": [at, at],
        "y": [interval.low * 100, interval.high * 100],
        "line": {"color": colour, "width": 1.25},
        "hoverinfo": "skip",
        "showlegend": False,
        "cliponaxis": False,
    }


def _curves(figures: GroupMetrics) -> dict[str, Any]:
    curve = figures.curve
    last = curve[-1]
    once, always = series(0), series(1)
    traces = [
        line(curve, "pass@j, at least once", [p.pass_at for p in curve], once),
        line(curve, "pass^j, every time", [p.pass_hat_unbiased for p in curve], always),
        line(curve, "(c/n)^j, as tb agg prints it", [p.pass_hat for p in curve], INK_3, dash="2px,3px"),
    ]
    # The curves count errors as not passed, also where pass@1 and its interval leave them out.
    same = figures.error_rule is ErrorRule.AS_FAILED or not figures.errors
    ends = [(figures.pass_at_1_uncertainty.shown, 1, curve[0].pass_at, INK_2)] if same else []
    if last.k == figures.k and not figures.unequal:
        ends.append((figures.solved_uncertainty.shown, last.k, last.pass_at, once))
        ends.append((figures.all_k_uncertainty.shown, last.k, last.pass_hat_unbiased, always))
    traces += [
        _error_bar(at, share, interval, colour)
        for interval, at, share, colour in ends
        if interval is not None and interval.low <= share <= interval.high
    ]
    ends_at = [(last.pass_at, once), (last.pass_hat_unbiased, always)]
    annotations = [
        {
            "x": last.k,
            "y": value * 100,
            "text": percent(value),
            "showarrow": False,
            "xanchor": "left",
            "xshift": 8,
            "yshift": shift,
            "font": {"size": LABEL_SIZE, "color": colour, "weight": BOLD},
        }
        for (value, colour), shift in zip(ends_at if last.k > 1 else ends_at[:1], _apart(last), strict=False)
    ]
    every = 1 if last.k <= 10 else int(nice_step(last.k, 8)) or 1
    ticks = sorted({1, last.k, *range(every, last.k - every // 2, every)})
    return drawn(
        traces,
        height=_HEIGHT,
        margin={**_MARGIN, "r": 56, "b": 74},
        layout={
            "xaxis": axis("j repetitions", (0.5, last.k + 0.2), ticks, [str(i) for i in ticks], showgrid=False),
            "yaxis": share_axis("share", 0.0, 100.0),
            "annotations": annotations,
            "showlegend": True,
            "legend": legend(),
        },
    )


def _apart(last: CurvePoint) -> tuple[int, int]:
    """How far the two numbers at the end are moved where the curves all but meet, in pixels."""
    return (6, -7) if last.k > 1 and last.pass_at - last.pass_hat_unbiased < 0.08 else (0, 0)
