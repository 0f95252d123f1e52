"""Which models are worth their money: the Pareto frontier, and the price of the next step along it."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

import msgspec

__all__ = ["Placed", "Point", "Step", "frontier", "steps"]


class Point(msgspec.Struct, frozen=True, kw_only=True):
    """A model's cost (lower is better) and worth (higher is better), unrounded. None: not known."""

    name: str
    cost: Decimal | None
    worth: Decimal | None


class Placed(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    on_frontier: bool
    dominated_by: list[str]
    """Models on the frontier that are no worse on both axes and better on one, cheapest first."""
    placed: bool
    """False where a value is missing: it neither dominates nor is dominated."""


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """What one more unit of worth costs with this model, against the next cheaper one on the frontier."""

    name: str
    against: str | None
    cost: Decimal | None
    """(this cost - that cost) ÷ (this worth - that worth)."""
    more: Decimal | None
    """This worth - that worth."""
    reason: str = ""
    """Why there is no cost, in words that can stand in its place."""


def frontier(points: Sequence[Point]) -> list[Placed]:
    """The points in the order given. Equal points do not dominate each other, so both can be on the frontier."""
    known = [(point.name, point.cost, point.worth) for point in points if point.cost is not None is not point.worth]
    complete = [(name, cost, worth) for name, cost, worth in known if cost is not None and worth is not None]
    best = {
        (name, cost, worth)
        for name, cost, worth in complete
        if not any(_dominates(c, w, cost, worth) for _, c, w in complete)
    }
    ordered = sorted(best, key=lambda point: (point[1], -point[2], point[0]))
    return [
        Placed(name=point.name, on_frontier=False, dominated_by=[], placed=False)
        if point.cost is None or point.worth is None
        else Placed(
            name=point.name,
            on_frontier=(point.name, point.cost, point.worth) in best,
            dominated_by=[name for name, c, w in ordered if _dominates(c, w, point.cost, point.worth)],
            placed=True,
        )
        for point in points
    ]


def steps(points: Sequence[Point]) -> list[Step]:
    """For each point in the order given, what its next step costs: with campaign costs and numbers of dependable
    tasks, the price of one more dependable task."""
    placed = {result.name: result for result in frontier(points)}
    on = sorted(
        {
            (point.cost, point.worth, point.name)
            for point in points
            if placed[point.name].on_frontier and point.cost is not None and point.worth is not None
        }
    )
    return [_step(point, placed[point.name], on) for point in points]


def _step(point: Point, placed: Placed, on: Sequence[tuple[Decimal, Decimal, str]]) -> Step:
    def none(reason: str) -> Step:
        return Step(name=point.name, against=None, cost=None, more=None, reason=reason)

    if point.cost is None or point.worth is None:
        return none("not known")
    if placed.dominated_by:
        return none(f"{placed.dominated_by[0]} costs no more and does at least as well")
    cheaper = [entry for entry in on if entry[0] < point.cost]
    if not cheaper:
        return none("no cheaper model")
    cost, worth, name = cheaper[-1]
    more = point.worth - worth
    return Step(name=point.name, against=name, cost=(point.cost - cost) / more, more=more)


def _dominates(cost: Decimal, worth: Decimal, other_cost: Decimal, other_worth: Decimal) -> bool:
    return cost <= other_cost and worth >= other_worth and (cost < other_cost or worth > other_worth)
