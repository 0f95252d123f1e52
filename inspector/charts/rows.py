"""Which rows a chart shows, and the sentences that say so."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

import msgspec

from inspector.charts.data import BoardRow, Cell, Kind, Weights
from inspector.charts.theme import DASH, counted, percent, plural
from runs.metrics import Interval, Method

__all__ = [
    "Chosen", "base", "choose", "interval_cell", "main_currency", "names_of", "not_placed", "origin", "share_cell",
    "unknown",
]  # fmt: skip

NOT_MEASURED_HERE = "published, not measured here"


class Chosen(msgspec.Struct, frozen=True):
    rows: tuple[BoardRow, ...]
    notes: tuple[str, ...]
    colours: dict[str, int]
    """The series of a row by its name: of all rows, so that leaving some out recolours none."""


def choose(rows: Sequence[BoardRow], least: float) -> Chosen:
    """Leaves out the rows with a pass@1 under `least`, saying how many."""
    left = [row for row in rows if row.pass_at_1 is None or row.pass_at_1 < least] if least > 0 else []
    shown = tuple(row for row in rows if row not in left)
    notes = []
    if left:
        notes.append(f"Left out, {plural(len(left), 'model')} under {percent(least, 0)} pass@1: {names_of(left)}.")
    return Chosen(shown, tuple(notes), {row.name: at for at, row in enumerate(rows)})


def names_of(rows: Iterable[BoardRow]) -> str:
    return ", ".join(row.name for row in rows)


def base(rows: Sequence[BoardRow], k: int, placed: int) -> str:
    """`507 tasks, 20 repetitions. 18 published, not measured here. 14 of 19 models placed.` Rows with a different base
    are named."""
    if not rows:
        return "No model is shown."
    tasks = Counter(row.tasks for row in rows).most_common(1)[0][0]
    said = f"{plural(tasks, 'task')}, {plural(k, 'repetition')}."
    others = [row for row in rows if row.tasks != tasks or row.k != k]
    if others:
        listed = "; ".join(f"{row.name}: {plural(row.tasks, 'task')}, {plural(row.k, 'repetition')}" for row in others)
        said += f" Different: {listed}."
    published = sum(row.kind is Kind.PUBLISHED for row in rows)
    if published:
        said += f" {counted(published)} {NOT_MEASURED_HERE}."
    if placed < len(rows):
        said += f" {counted(placed)} of {plural(len(rows), 'model')} placed."
    return said


def not_placed(rows: Iterable[BoardRow], why: Callable[[BoardRow], str | None]) -> tuple[str, ...]:
    """One sentence for each reason: `Not placed, breadth not published: A, B.`"""
    found: dict[str, list[BoardRow]] = {}
    for row in rows:
        reason = why(row)
        if reason is not None:
            found.setdefault(reason, []).append(row)
    return tuple(f"Not placed, {reason}: {names_of(members)}." for reason, members in found.items())


def unknown(row: BoardRow) -> str:
    return "not published" if row.kind is Kind.PUBLISHED else "not computable"


def origin(row: BoardRow) -> str:
    """`open weight, published, not measured here`."""
    weights = {Weights.PROPRIETARY: "proprietary", Weights.OPEN: "open weight", Weights.UNKNOWN: ""}[row.weights]
    kind = NOT_MEASURED_HERE if row.kind is Kind.PUBLISHED else "measured on this server"
    return f"{weights}, {kind}" if weights else kind


def main_currency(rows: Iterable[BoardRow]) -> str:
    """The one most priced rows are in; prices in others are not comparable."""
    found = Counter(row.currency for row in rows if row.cost_per_run is not None or row.cost_per_success is not None)
    return min(found, key=lambda name: (-found[name], name)) if found else "USD"


def share_cell(row: BoardRow, share: float | None) -> Cell:
    return Cell(DASH, None, unknown(row)) if share is None else Cell(percent(share), share * 100)


def interval_cell(interval: Interval | None) -> Cell:
    """`62.2% to 68.5%`, and how it was found."""
    if interval is None:
        return Cell(DASH, None, "no interval")
    how = {
        Method.JEFFREYS: "95% Jeffreys interval",
        Method.BOOTSTRAP: "95% task bootstrap",
        Method.PUBLISHED: "95%, as published",
        Method.WIDEST: "no interval is published: the widest possible",
    }[interval.method]
    text = f"{percent(interval.low)} to {percent(interval.high)}"
    return Cell(f"at most {text}" if interval.method is Method.WIDEST else text, None, how)
