"""Formats of prices and leaderboards: money, points, the whisker of an interval, the shade of a share."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal

from django import template

register = template.Library()

_SIGNS = {"USD": "$", "EUR": "€", "GBP": "£"}
_SHADES = (0.2, 0.4, 0.55, 0.7)
_LEFT, _WIDTH = 4.0, 152.0
"""Of a whisker's line, in units of its drawing."""


@register.filter
def money(amount: Decimal | None, currency: str = "USD") -> str:
    """`$1,880.77`, `$7.80`, `$0.276`, `$0.000012`, `CHF 3.00`; a dash for None. Below 1, three digits that count."""
    if amount is None:
        return "–"
    sign = _SIGNS.get(currency, f"{currency}\N{NO-BREAK SPACE}")
    if amount == 0:
        return f"{sign}0.00"
    places = 2 if amount >= 1 else max(3, 2 - amount.adjusted())
    exact = amount.quantize(Decimal(1).scaleb(-places), rounding=ROUND_HALF_UP)
    text = f"{exact:,f}"
    if places > 3:
        text = text.rstrip("0")
    if places == 3 and text.endswith("0"):
        text = text[:-1]
    return f"{sign}{text}"


@register.filter
def points(share: float | None) -> str:
    """A share as percent without its sign, as a table of percents wants it: `67.2`. Never rounded to 0.0 or 100.0."""
    if share is None:
        return "–"
    if 0 < share < 0.0005:
        return "<0.1"
    if 0.9995 <= share < 1:
        return ">99.9"
    return f"{share * 100:.1f}"


@register.filter
def whole_percent(share: float | None) -> str:
    """`38%`; never rounded to 0% or 100%."""
    if share is None:
        return "–"
    if 0 < share < 0.005:
        return "<1%"
    return f"{share * 100:.0f}%"


@register.filter
def shade(share: float | None) -> str:
    """The class of a cell's ground: from `h0` (below a fifth) to `h4`."""
    return "h0" if share is None else f"h{sum(share >= limit for limit in _SHADES)}"


@register.filter
def along(share: float | None, most: float = 1.0) -> str:
    """Where a share lies on a whisker whose line ends at `most`."""
    return f"{_LEFT + _WIDTH * min(1.0, (share or 0.0) / most):.1f}"


@register.filter
def hundredth(share: float | None) -> str:
    """Where a share lies on a line of 220 units, as the panel of a run draws it."""
    return f"{220 * (share or 0.0):.1f}"
