"""Formats of prices and leaderboards: money, points, the whisker of an interval, the shade of a share."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal
from typing import NamedTuple

from django import template

from inspector.templatetags.twentyfold import plural, visible
from runs.boards import Answer, Board, Column, Figure, Order, Row, answers, ordered_by, tasks_of
from runs.boards.method import has_ends_in_doubt
from runs.costs import Step
from runs.metrics import Interval, Method
from runs.queries.leaderboards import BoardPage

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
    if amount < 1 and exact.adjusted() > amount.adjusted():  # rounded up to a digit more
        places -= 1
        exact = exact.quantize(Decimal(1).scaleb(-places))
    text = f"{exact:,f}"
    if places > 2 and exact == amount:  # `0.27` is not rounded, so a zero behind it would say too much
        text = f"{exact.normalize():f}" if places > 3 else text.removesuffix("0")
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


@register.filter
def half(share: float) -> str:
    """Half of an axis, as a number of percent."""
    return f"{share * 50:.0f}"


@register.filter("ordered_by")
def ordered_by_(board: Board) -> str:
    return ordered_by(board)


@register.filter("tasks_of")
def tasks_of_(board: Board) -> str:
    return tasks_of(board)


@register.filter("ends_in_doubt")
def ends_in_doubt_(board: Board) -> bool:
    return has_ends_in_doubt(board)


@register.filter
def k_of_k(board: Board) -> str:
    return f"{board.k} of {board.k}"


@register.filter
def columns(board: Board, page: BoardPage) -> int:
    """How many columns the table has."""
    shown = len(board.columns) + 3
    return shown - 1 + len(board.domains) if Column.DOMAINS in board.columns else shown


@register.filter
def figure_by(row: Row, order: Order) -> Figure:
    return row.ranked_by(order)


class DomainCell(NamedTuple):
    share: float | None
    is_best: bool
    """No row has a higher share, and several have one."""


@register.filter
def domains(row: Row, board: Board) -> list[DomainCell]:
    """The cells of the columns by domain."""
    cells = []
    for name in board.domains:
        share = row.domains.get(name)
        known = [other for each in board.rows if (other := each.domains.get(name)) is not None]
        cells.append(DomainCell(share, share is not None and len(known) > 1 and share == max(known)))
    return cells


_METHODS = {
    Method.BOOTSTRAP: "95% task bootstrap",
    Method.JEFFREYS: "95% Jeffreys interval",
    Method.PUBLISHED: "95%, as published",
    Method.WIDEST: "interval not published, at most",
}


@register.filter
def how(interval: Interval) -> str:
    """How an interval was made: `95% task bootstrap`."""
    return _METHODS[interval.method]


@register.filter
def about(figure: Figure) -> str:
    """`67.2% (63.1 to 71.2, 95% task bootstrap)`."""
    interval = figure.interval
    value = f"{points(figure.value)}%"
    if interval is None:
        return f"{value}, no interval"
    ends = f"{points(interval.low)} to {points(interval.high)}"
    if interval.method is Method.WIDEST:
        return f"{value}, {_METHODS[interval.method]} {ends}"
    return f"{value}, {ends}, {_METHODS[interval.method]}"


@register.filter
def why_unranked(row: Row, board: Board) -> str:
    """Why a row has no rank."""
    if board.order is not Order.COST:
        return row.ranked_by(board.order).why or "not computable"
    if row.money.per_dependable is None:
        return row.money.reasons.get("per_dependable_task", "not priced")
    return f"priced in {row.money.currency}, and not in {board.currency}"


@register.filter
def why_no_retention(row: Row) -> str:
    return row.all_k.why or ("nothing passed" if row.pass_at_1.count == 0 else "not computable")


class Worth(NamedTuple):
    row: Row
    step: Step


@register.filter
def worth(board: Board) -> list[Worth]:
    """The rows that no other beats in both cost and dependable tasks, the cheapest first; none with fewer than two."""
    steps = board.next_task
    found = [
        Worth(row, steps[row.name])
        for row in board.rows
        if row.name in steps
        and row.all_k.count is not None
        and (steps[row.name].against is not None or steps[row.name].reason == "no cheaper model")
        and not board.mixes_tasks
    ]
    found.sort(key=lambda line: (_spent(line.row), line.row.name))
    return found if len(found) > 1 else []


def _spent(row: Row) -> Decimal:
    """What all attempts cost, where the board shows the cost per dependable task alone as well."""
    if row.money.campaign is not None:
        return row.money.campaign
    return (row.money.per_dependable or Decimal(0)) * (row.all_k.count or 0)


@register.filter
def described(page: BoardPage) -> str:
    """One sentence or two for a link's preview."""
    board = page.board
    rows = [row for row in board.rows if row.position is not None]
    if not rows:
        return "A leaderboard without a row."
    first = rows[0]
    value = first.ranked_by(board.order).value
    lead = f"{visible(first.name)} is first by {ordered_by(board)}"
    if board.order is not Order.COST and value is not None:
        lead += f" with {points(value)}%"
    tied = sum(row.group == 1 for row in rows) - 1
    if tied > 0:
        lead += f", not told apart from {tied} other{'s' if tied > 1 else ''}"
    over = f"{plural(len(board.rows), 'model,models')}, {tasks_of(board)}, {plural(board.k, 'repetition,repetitions')}."
    return f"{lead}. {over}" + (" Published rows were not measured here." if board.published else "")


class Short(NamedTuple):
    question: str
    name: str
    why: str
    but: str


@register.filter
def in_short(board: Board) -> list[Short]:
    """The answers that stand above a board's table, as texts."""
    return [Short(answer.question, answer.name, _why(answer, board), _but(answer)) for answer in answers(board)]


def _why(answer: Answer, board: Board) -> str:
    row = answer.row
    known = row.all_k.count is not None
    dependable = f"{row.all_k.count} of {row.all_k.of} tasks passed {board.k} of {board.k}" if known else ""
    match answer.figure:
        case "all_k":
            cost = row.money.per_dependable
            priced = "" if cost is None else f", {money(cost, row.money.currency)} each"
            return f"{dependable}{priced}"
        case "pass_at_1":
            return f"{points(row.pass_at_1.value)}% of the attempts passed"
        case "solved":
            return f"{row.solved.count} of {row.solved.of} tasks in {board.k} attempts"
        case _:
            each = money(row.money.per_dependable, row.money.currency)
            return f"{each}; {dependable}" if known else each


def _but(answer: Answer) -> str:
    said = []
    if answer.equal:
        said.append(f"the same: {_some(answer.equal)}")
    if answer.untold:
        said.append(f"the lead over {_some(answer.untold)} may be noise (95%)")
    return "; ".join(said)


def _some(names: list[str]) -> str:
    """The first two, and how many more."""
    if len(names) < 3:
        return " and ".join(names)
    return f"{', '.join(names[:2])} and {len(names) - 2} more"
