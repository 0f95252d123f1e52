"""How every chart looks: colours by name, axes, marks, hover text, and how numbers are written.

A colour is the name of a custom property, such as `var(--c1)`. The script puts in what the property is worth under the
reader's theme when it draws, and again when the theme changes, so no figure holds a colour of its own.
"""

from __future__ import annotations

import html
import math
import unicodedata
from collections.abc import Iterable, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Any

import msgspec
import plotly.graph_objects as go

__all__ = [
    "ACCENT", "BOLD", "DASH", "FAIL", "FAIL_SOFT", "GRID", "INK", "INK_2", "INK_3", "LABEL_SIZE", "LINE", "PASS",
    "SUNKEN", "SURFACE", "amount", "axis", "counted", "drawn", "legend", "log_ticks", "money", "nice_step", "percent",
    "plain", "plural", "series", "share_axis", "steps", "title_of",
]  # fmt: skip

INK, INK_2, INK_3 = "var(--text)", "var(--text-2)", "var(--text-3)"
SURFACE, SUNKEN, GRID, LINE = "var(--surface)", "var(--sunken)", "var(--line)", "var(--line-2)"
ACCENT, PASS, FAIL, FAIL_SOFT = "var(--accent)", "var(--pass)", "var(--fail)", "var(--fail-soft)"
FONT = "var(--sans)"

TICK_SIZE, LABEL_SIZE, TITLE_SIZE = 11, 11, 11.5
DASH = "–"
BOLD = 650
"""As `font.weight` only: for `<b>` Plotly writes a style attribute, which the policy forbids."""
_SERIES = 18
_LONGEST_NAME = 30
_SYMBOLS = {"USD": "$", "EUR": "€", "GBP": "£", "JPY": "¥", "CNY": "CN¥"}


def series(index: int) -> str:
    """The colour of the series at `index`, from 0. After eighteen they begin again."""
    return f"var(--c{index % _SERIES + 1})"


def plain(name: str, longest: int = _LONGEST_NAME) -> str:
    """A name as it may stand in a figure: Plotly reads its texts as HTML, and a name is only a name.

    Characters that cannot be seen become �, long names are cut with an ellipsis (the table has them whole).
    """
    seen = "".join("�" if unicodedata.category(sign) in {"Cc", "Cf", "Cs", "Zl", "Zp"} else sign for sign in name)
    return html.escape(seen if len(seen) <= longest else seen[: longest - 1].rstrip() + "…", quote=False)


def percent(share: float | None, digits: int = 1) -> str:
    """`67.2%`; a dash for None. Rounding never makes a share look like none or all."""
    if share is None:
        return DASH
    least = 10.0**-digits
    if 0 < share < least / 200:
        return f"<{least:.{digits}f}%"
    if 1 - least / 200 < share < 1:
        return f">{100 - least:.{digits}f}%"
    return f"{share * 100:.{digits}f}%"


def counted(number: int) -> str:
    return f"{number:,}"


def plural(number: int, word: str) -> str:
    """`1 task`, `1,204 tasks`."""
    return f"{counted(number)} {word}{'' if number == 1 else 's'}"


def money(value: Decimal | None, currency: str) -> str:
    """`$0.276`, `$7.80`, `CHF 1.20`: cents, under one unit three digits, under a cent two that count."""
    if value is None:
        return DASH
    digits = 2 if value >= 1 or not value else 3 if value >= Decimal("0.01") else 1 - value.adjusted()
    sign = _SYMBOLS.get(currency, f"{currency} ")
    return f"{sign}{value:,.{digits}f}"


def amount(value: float, currency: str) -> str:
    """A round sum at a tick: `$5`, `$0.20`."""
    digits = 0 if value >= 1 and value == int(value) else max(2, _decimals(value))
    return f"{_SYMBOLS.get(currency, f'{currency} ')}{value:,.{digits}f}"


def _decimals(value: float) -> int:
    """How many places a tick needs."""
    return max(0, -math.floor(math.log10(value))) if 0 < value < 1 else 0


# --- Axes -------------------------------------------------------------------------------------------------------------


def nice_step(span: float, most: int) -> float:
    """The smallest of 1, 2, 5 times a power of ten that divides `span` into at most `most` parts."""
    if span <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(span / most))
    return next(power * part for part in (1, 2, 5, 10) if power * part * most >= span * (1 - 1e-9))


def steps(low: float, high: float, step: float) -> list[float]:
    return [round(low + step * i, 10) for i in range(int((high - low) / step + 1e-9) + 1)]


def log_ticks(low: float, high: float) -> list[float]:
    """Round values between the two, few enough to be read."""
    for parts in ((1, 1.5, 2, 3, 4, 5, 7), (1, 2, 3, 5), (1, 2, 5), (1, 3), (1,)):
        ticks = [
            part * 10.0**power
            for power in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
            for part in parts
            if low * (1 - 1e-9) <= part * 10.0**power <= high * (1 + 1e-9)
        ]
        if len(ticks) <= 8:
            break
    return [float(f"{tick:.6g}") for tick in ticks]


def axis(
    title: str, span: tuple[float, float], ticks: Sequence[float], texts: Sequence[str], **more: Any
) -> dict[str, Any]:
    """Hairline grid, no zero line, no box. `ticks` in the unit of the axis, also on a log axis; `span` as Plotly's."""
    return {
        "title": {"text": title, "font": {"size": TITLE_SIZE, "color": INK_2, "weight": 550}, "standoff": 8},
        "range": list(span),
        "tickmode": "array",
        "tickvals": list(ticks),
        "ticktext": list(texts),
        "tickfont": {"size": TICK_SIZE, "color": INK_2},
        "showgrid": True,
        "gridcolor": GRID,
        "gridwidth": 1,
        "zeroline": False,
        "showline": False,
        "ticks": "",
        "fixedrange": True,
        **more,
    }


def share_axis(title: str, low: float, high: float, *, most: int = 5, **more: Any) -> dict[str, Any]:
    """Percent from `low` to `high`, which need not be round."""
    step = nice_step(high - low, most)
    ticks = steps(math.ceil(low / step) * step, high, step)
    return axis(title, (low, high), ticks, [f"{tick:g}%" for tick in ticks], **more)


# --- Figures ----------------------------------------------------------------------------------------------------------


def legend() -> dict[str, Any]:
    """Along the lower edge; the margin below the plot has to leave it room under the axis title."""
    return {
        "orientation": "h",
        "x": 0,
        "xref": "container",
        "xanchor": "left",
        "y": 0,
        "yref": "container",
        "yanchor": "bottom",
        "font": {"size": LABEL_SIZE, "color": INK_2},
        "itemclick": False,
        "itemdoubleclick": False,
        "bgcolor": "rgba(0,0,0,0)",
        "traceorder": "normal",
    }


def drawn(
    traces: Iterable[dict[str, Any]], *, height: int, margin: dict[str, int], layout: dict[str, Any]
) -> dict[str, Any]:
    """The figure as Plotly's JSON, checked by its Python package. Raises ValueError for a property it does not know.

    The same figure may be given out again: it is to be read, not changed.
    """
    whole = {
        "template": {},
        "autosize": True,
        "height": height,
        "margin": margin,
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": FONT, "size": LABEL_SIZE, "color": INK},
        "hovermode": "closest",
        "hoverdistance": 24,
        "dragmode": False,
        "hoverlabel": {
            "bgcolor": SURFACE,
            "bordercolor": LINE,
            "align": "left",
            "font": {"family": FONT, "size": 12, "color": INK},
            "namelength": -1,
        },
        "showlegend": False,
        **layout,
    }
    return _checked(msgspec.json.encode({"data": list(traces), "layout": whole}))


@lru_cache(maxsize=128)
def _checked(figure: bytes) -> dict[str, Any]:
    """Checking is what takes the time, and a page is asked for more often than its numbers change."""
    found: dict[str, Any] = go.Figure(msgspec.json.decode(figure)).to_plotly_json()
    return found


def title_of(text: str, **place: Any) -> dict[str, Any]:
    """A text in the plot, without an arrow."""
    return {
        "text": text,
        "showarrow": False,
        "font": {"size": LABEL_SIZE, "color": INK_3},
        "align": "left",
        **place,
    }
