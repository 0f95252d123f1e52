"""A leaderboard's figures as drawings that need no script: for a file that is read without a server.

Only what those figures use is drawn: points, lines, lying bars, heat cells, notes, shapes and a legend. Colours stay
names of custom properties, so that a drawing follows the theme of the page it stands in.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from math import hypot, log10
from typing import Any

import msgspec

from inspector.charts.labels import text_width
from inspector.charts.plane import LEAST_WIDTH
from inspector.charts.theme import GRID, INK, INK_2, LABEL_SIZE, SURFACE, TICK_SIZE

__all__ = ["drawing"]

_COLOUR = re.compile(r"var\(--[a-z0-9-]+\)")
_LINE = 1.25
"""Height of a line of text, in its size."""
_LEGEND_LINE = 17
_SIGN = 20
"""Width of a sign in the legend."""


class _Frame(msgspec.Struct, frozen=True):
    """Where the plot lies, in pixels, and what its axes span."""

    left: float
    top: float
    width: float
    height: float
    xs: tuple[float, float]
    ys: tuple[float, float]
    log: bool

    def x(self, value: float) -> float:
        """`value` in the unit of the axis."""
        return self.x_at(log10(value) if self.log else value)

    def x_at(self, place: float) -> float:
        """`place` as notes have it: on a log axis the logarithm."""
        return self.left + (place - self.xs[0]) / (self.xs[1] - self.xs[0]) * self.width

    def y(self, value: float) -> float:
        return self.top + (self.ys[1] - value) / (self.ys[1] - self.ys[0]) * self.height


def drawing(figure: dict[str, Any], label: str, width: int = LEAST_WIDTH) -> str:
    """An `<svg>` of a figure that `theme.drawn` made. `label` is read out instead of it."""
    layout, traces = figure["layout"], figure["data"]
    height = layout["height"]
    frame = _frame(figure, width)
    parts = [
        f'<svg class="drawing" viewBox="0 0 {width} {height}" role="img" aria-label="{html.escape(label)}">',
        *(_shape(shape, frame) for shape in layout.get("shapes", ())),
        *_axes(layout, frame),
        *(part for trace in traces for part in _trace(trace, frame)),
        *(part for note in layout.get("annotations", ()) for part in _note(note, frame)),
    ]
    if layout.get("showlegend"):
        parts += _legend(traces, width, height)
    return "".join([*parts, "</svg>"])


def _frame(figure: dict[str, Any], width: int) -> _Frame:
    layout = figure["layout"]
    margin, across, up = layout["margin"], layout["xaxis"], layout["yaxis"]
    xs, ys = across.get("range"), up.get("range")
    if xs is None:
        # A heat chart: a column for each cell, and half of one to either side.
        xs = (-0.5, len(figure["data"][0]["x"]) - 0.5)
    return _Frame(
        left=margin["l"],
        top=margin["t"],
        width=width - margin["l"] - margin["r"],
        height=layout["height"] - margin["t"] - margin["b"],
        xs=(float(xs[0]), float(xs[1])),
        ys=(float(ys[0]), float(ys[1])),
        log=across.get("type") == "log",
    )


def _colour(value: object, otherwise: str = "none") -> str:
    return value if isinstance(value, str) and _COLOUR.fullmatch(value) else otherwise


def _n(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _each(value: Any, count: int) -> list[Any]:
    """A property of a trace for each of its points: it may be one for all."""
    return list(value) if isinstance(value, (list, tuple)) else [value] * count


# --- Text -------------------------------------------------------------------------------------------------------------


def _plain(text: str) -> list[str]:
    """The lines of a figure's text, which is HTML with nothing in it but entities and line breaks."""
    return [html.unescape(line) for line in text.split("<br>")]


def _text(
    x: float, y: float, text: str, *, anchor: str = "start", size: float = LABEL_SIZE, colour: str = INK, **more: str
) -> str:
    """`y` is the middle of one line; several hang from it."""
    lines = _plain(text)
    said = "".join(
        f'<tspan x="{_n(x)}" dy="{_n(size * _LINE if at else 0)}">{html.escape(line, quote=False)}</tspan>'
        for at, line in enumerate(lines)
    )
    extra = "".join(f' {name.replace("_", "-")}="{value}"' for name, value in more.items())
    if len(lines) == 1:
        said = html.escape(lines[0], quote=False)
    return (
        f'<text x="{_n(x)}" y="{_n(y + size * 0.35)}" text-anchor="{anchor}" font-size="{_n(size)}" '
        f'fill="{colour}"{extra}>{said}</text>'
    )


_ANCHORS = {"left": "start", "center": "middle", "right": "end"}


def _note(note: dict[str, Any], frame: _Frame) -> Iterator[str]:
    """A text in the plot, with a line to its point where it has one."""
    by_paper = note.get("xref") == "paper"
    x = frame.left + note["x"] * frame.width if by_paper else frame.x_at(note["x"])
    y = frame.top + (1 - note["y"]) * frame.height if note.get("yref") == "paper" else frame.y(note["y"])
    font = note.get("font", {})
    size = float(font.get("size", LABEL_SIZE))
    anchor = _ANCHORS[note.get("xanchor", "center")]
    if note.get("showarrow"):
        dx, dy = note["ax"], note["ay"]
        apart = note.get("standoff", 0) / max(1.0, hypot(dx, dy))
        yield _path([(x + dx * apart, y + dy * apart), (x + dx, y + dy)], _colour(note.get("arrowcolor")), 0.75)
        x, y = x + dx + {"start": 2, "end": -2}.get(anchor, 0), y + dy
    else:
        x, y = x + note.get("xshift", 0), y - note.get("yshift", 0)
    lines = len(_plain(note["text"])) * size * _LINE
    y += {"top": size * 0.6, "bottom": size * 0.6 - lines}.get(note.get("yanchor", "middle"), 0)
    yield _text(
        x,
        y,
        note["text"],
        anchor=anchor,
        size=size,
        colour=_colour(font.get("color"), INK),
        font_weight=str(font.get("weight", 400)),
        paint_order="stroke",
        stroke=SURFACE,
        stroke_width="3",
        stroke_linejoin="round",
    )


# --- Axes and shapes --------------------------------------------------------------------------------------------------


def _axes(layout: dict[str, Any], frame: _Frame) -> Iterator[str]:
    across, up = layout["xaxis"], layout["yaxis"]
    bottom, right = frame.top + frame.height, frame.left + frame.width
    on_top = across.get("side") == "top"
    for value, text in zip(across.get("tickvals", ()), across.get("ticktext", ()), strict=True):
        x = frame.x(value)
        if across.get("showgrid"):
            yield _path([(x, frame.top), (x, bottom)], GRID, 1)
        at = frame.top - 12 if on_top else bottom + 13
        yield _text(x, at, text, anchor="middle", size=TICK_SIZE, colour=INK_2)
    if up.get("showticklabels", True):
        for value, text in zip(up.get("tickvals", ()), up.get("ticktext", ()), strict=True):
            y = frame.y(value)
            yield _path([(frame.left, y), (right, y)], GRID, 1)
            yield _text(frame.left - 6, y, text, anchor="end", size=TICK_SIZE, colour=INK_2)
    for title, x, y, turn in (
        (across.get("title"), frame.left + frame.width / 2, bottom + 33, ""),
        (up.get("title"), 11, frame.top + frame.height / 2, f"rotate(-90 11 {_n(frame.top + frame.height / 2)})"),
    ):
        if title:
            turned = {"transform": turn} if turn else {}
            yield _text(x, y, title["text"], anchor="middle", size=11.5, colour=INK_2, font_weight="550", **turned)


def _shape(shape: dict[str, Any], frame: _Frame) -> str:
    if shape["type"] == "line":
        ends = [(frame.x(shape["x0"]), frame.y(shape["y0"])), (frame.x(shape["x1"]), frame.y(shape["y1"]))]
        return _path(ends, _colour(shape["line"]["color"]), shape["line"]["width"])
    numbers = [float(part) for part in shape["path"].split() if part not in {"M", "L", "Z"}]
    corners = [(frame.x(x), frame.y(y)) for x, y in zip(numbers[::2], numbers[1::2], strict=True)]
    return f'<path d="{_way(corners)}Z" fill="{_colour(shape["fillcolor"])}"/>'


def _way(points: Sequence[tuple[float, float]]) -> str:
    return "".join(f"{'L' if at else 'M'}{_n(x)} {_n(y)}" for at, (x, y) in enumerate(points))


def _path(points: Sequence[tuple[float, float]], colour: str, width: float, dash: str = "") -> str:
    broken = f' stroke-dasharray="{dash.replace("px", "")}"' if dash and dash != "solid" else ""
    return f'<path d="{_way(points)}" fill="none" stroke="{colour}" stroke-width="{width:g}"{broken}/>'


# --- Traces -----------------------------------------------------------------------------------------------------------


def _trace(trace: dict[str, Any], frame: _Frame) -> Iterator[str]:
    if trace["type"] == "heatmap":
        yield from _cells(trace, frame)
    elif trace["type"] == "bar":
        yield from _bars(trace, frame)
    else:
        if "lines" in trace["mode"]:
            line = trace["line"]
            for run in _runs(trace):
                points = [(frame.x(x), frame.y(y)) for x, y in run]
                yield _path(points, _colour(line["color"]), line["width"], line.get("dash", ""))
        if "markers" in trace["mode"]:
            yield from _markers(trace, frame)


def _runs(trace: dict[str, Any]) -> Iterator[list[tuple[float, float]]]:
    """The unbroken parts of a line."""
    run: list[tuple[float, float]] = []
    for x, y in zip(trace["x"], trace["y"], strict=True):
        if x is None or y is None:
            if run:
                yield run
            run = []
        else:
            run.append((x, y))
    if run:
        yield run


def _markers(trace: dict[str, Any], frame: _Frame) -> Iterator[str]:
    marker, count = trace["marker"], len(trace["x"])
    symbols, colours = _each(marker.get("symbol", "circle"), count), _each(marker.get("color"), count)
    said = _each(trace.get("hovertext"), count)
    for x, y, symbol, colour, text in zip(trace["x"], trace["y"], symbols, colours, said, strict=True):
        if x is not None and y is not None:
            yield _marker(marker, symbol, colour, frame.x(x), frame.y(y), text)


def _marker(marker: dict[str, Any], symbol: str, colour: object, x: float, y: float, text: str | None = None) -> str:
    line = marker.get("line", {})
    size, stroke, width = marker["size"] / 2, _colour(line.get("color")), line.get("width", 0)
    if symbol == "line-ns":
        return _path([(x, y - size), (x, y + size)], stroke, width)
    fill = _colour(colour)
    if symbol == "circle-open":
        fill, stroke = "none", _colour(colour)
    title = f"<title>{html.escape(', '.join(_plain(text)), quote=False)}</title>" if text else ""
    drawn = f'fill="{fill}" stroke="{stroke}" stroke-width="{width:g}"'
    if symbol == "diamond":
        r = size * 1.3
        way = _way([(x, y - r), (x + r, y), (x, y + r), (x - r, y)])
        return f'<path d="{way}Z" {drawn}>{title}</path>'
    return f'<circle cx="{_n(x)}" cy="{_n(y)}" r="{_n(size)}" {drawn}>{title}</circle>'


def _bars(trace: dict[str, Any], frame: _Frame) -> Iterator[str]:
    """Lying bars from 0."""
    count = len(trace["x"])
    colours, said = _each(trace["marker"]["color"], count), _each(trace.get("hovertext"), count)
    thick = abs(frame.y(trace["width"]) - frame.y(0))
    for end, at, colour, text in zip(trace["x"], trace["y"], colours, said, strict=True):
        x, y = frame.x(0), frame.y(at) - thick / 2
        title = f"<title>{html.escape(', '.join(_plain(text)), quote=False)}</title>" if text else ""
        yield (
            f'<rect x="{_n(x)}" y="{_n(y)}" width="{_n(max(0.0, frame.x(end) - x))}" height="{_n(thick)}" '
            f'fill="{_colour(colour)}">{title}</rect>'
        )


def _cells(trace: dict[str, Any], frame: _Frame) -> Iterator[str]:
    (_, low), (_, high) = trace["colorscale"]
    most = trace["zmax"] or 1.0
    wide, tall = frame.width / len(trace["x"]), frame.height / len(trace["y"])
    for row, (values, texts) in enumerate(zip(trace["z"], trace["text"], strict=True)):
        for column, (value, text) in enumerate(zip(values, texts, strict=True)):
            x, y = frame.x(column), frame.y(row)
            if value is not None:
                part = min(1.0, max(0.0, value / most)) * 100
                yield (
                    f'<rect x="{_n(x - wide / 2 + 1.5)}" y="{_n(y - tall / 2 + 1.5)}" width="{_n(wide - 3)}" '
                    f'height="{_n(tall - 3)}" fill="color-mix(in srgb, {_colour(high)} {part:.0f}%, {_colour(low)})"/>'
                )
            yield _text(x, y, text, anchor="middle")


def _legend(traces: Sequence[dict[str, Any]], width: int, height: int) -> list[str]:
    """Along the lower edge, in as many lines as it needs."""
    lines: list[list[dict[str, Any]]] = [[]]
    used = 0.0
    for trace in (trace for trace in traces if trace.get("showlegend", True)):
        needs = _SIGN + text_width(trace["name"]) + 16
        if lines[-1] and used + needs > width:
            lines.append([])
            used = 0.0
        lines[-1].append(trace)
        used += needs
    parts = []
    for number, line in enumerate(lines):
        x, y = 4.0, height - 9 - _LEGEND_LINE * (len(lines) - 1 - number)
        for trace in line:
            parts += [_sign(trace, x, y), _text(x + _SIGN, y, trace["name"], colour=INK_2)]
            x += _SIGN + text_width(trace["name"]) + 16
    return parts


def _sign(trace: dict[str, Any], x: float, y: float) -> str:
    if trace["type"] == "bar":
        colour = _each(trace["marker"]["color"], 1)[0]
        return f'<rect x="{_n(x)}" y="{_n(y - 4)}" width="14" height="8" fill="{_colour(colour)}"/>'
    if trace["mode"] == "markers":
        marker = trace["marker"]
        return _marker(marker, _each(marker["symbol"], 1)[0], _each(marker["color"], 1)[0], x + 7, y)
    line = trace["line"]
    return _path([(x, y), (x + 14, y)], _colour(line["color"]), line["width"], line.get("dash", ""))
