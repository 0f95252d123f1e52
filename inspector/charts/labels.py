"""Where the names of points go, so that none covers another, a point or a line that matters.

Pixels from the left and from the top. The same points always get the same places.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise
from math import ceil, cos, pi, sin

import msgspec

__all__ = ["Mark", "Place", "along", "place_labels", "text_width"]

_HEIGHT = 13.0
_APART = 5.0
"""From a name to any point that is not its own."""
_NARROW, _WIDE = frozenset("iljtfrI.,:;'|!()[]- 1"), frozenset("mwMWGOQ@%…")


class Mark(msgspec.Struct, frozen=True):
    x: float
    y: float
    text: str
    """Empty for a mark that only stands in the way."""
    radius: float = 6.0
    strong: bool = False
    """Placed first."""


class Place(msgspec.Struct, frozen=True):
    """Of a label's middle on its left or right end, or its centre, seen from its point."""

    dx: float
    dy: float
    anchor: str
    """`left`, `center` or `right`: which part of the text is there."""
    leader: bool
    """Far enough away to need a line to its point."""


_Box = tuple[float, float, float, float]
_Free = Callable[[int, Place], bool]


def text_width(text: str, strong: bool = False) -> float:
    """Of 11 pixel text in the fonts of common systems, rather too wide than too narrow."""
    width = sum(3.9 if sign in _NARROW else 9.2 if sign in _WIDE else 7.3 if sign.isupper() else 6.4 for sign in text)
    return width * (1.07 if strong else 1.0)


def _candidates(radius: float) -> tuple[list[Place], list[Place]]:
    """Those beside the point, best first, and those further away."""
    gap = radius + 4
    near = [
        Place(gap, 0, "left", False),
        Place(-gap, 0, "right", False),
        Place(0, -gap - 5, "center", False),
        Place(0, gap + 6, "center", False),
        Place(gap - 3, -gap, "left", False),
        Place(-gap + 3, -gap, "right", False),
        Place(gap - 3, gap, "left", False),
        Place(-gap + 3, gap, "right", False),
    ]
    far = []
    for distance in (26.0, 38.0, 52.0, 68.0, 88.0, 112.0):
        for turn in (-2, -1, -3, 0, -4, -5, -6, 1, 7, 2, 6, 3, 5, 4, -7, 8):
            dx, dy = distance * cos(turn * pi / 8), distance * sin(turn * pi / 8)
            anchor = "center" if abs(dx) < 6 else "left" if dx > 0 else "right"
            far.append(Place(round(dx, 1), round(dy, 1), anchor, True))
    return near, far


def _box(mark: Mark, place: Place) -> _Box:
    width = text_width(mark.text, mark.strong)
    left = mark.x + place.dx - {"left": 0.0, "center": width / 2, "right": width}[place.anchor]
    top = mark.y + place.dy - _HEIGHT / 2
    return left, top, left + width, top + _HEIGHT


def _meet(a: _Box, b: _Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _crosses(x0: float, y0: float, x1: float, y1: float, box: _Box) -> bool:
    """Whether the line from a point to its label runs through a box, tried at eight places."""
    for i in range(1, 9):
        x, y = x0 + (x1 - x0) * i / 9, y0 + (y1 - y0) * i / 9
        if box[0] < x < box[2] and box[1] < y < box[3]:
            return True
    return False


@lru_cache(maxsize=128)
def place_labels(marks: tuple[Mark, ...], width: float, height: float) -> tuple[Place | None, ...]:
    """A place for the text of each mark inside `width` × `height`; None where none is free, or there is no text.

    Tries a few orders and keeps the one that names most, with the shortest lines.
    """

    def crowd(at: int) -> int:
        return sum(abs(m.x - marks[at].x) < 90 and abs(m.y - marks[at].y) < 22 for m in marks)

    orders: list[Callable[[int], float]] = [
        crowd,
        lambda at: -crowd(at),
        lambda at: marks[at].x,
        lambda at: -marks[at].x,
        lambda at: marks[at].y,
        lambda at: -marks[at].y,
    ]
    named = [at for at, mark in enumerate(marks) if mark.text]
    found = [
        _placed(marks, sorted(named, key=lambda at: (not marks[at].strong, order(at), at)), width, height)
        for order in orders
    ]
    return min(found, key=lambda places: _cost(marks, places))


def _cost(marks: tuple[Mark, ...], places: tuple[Place | None, ...]) -> tuple[int, float]:
    missing = sum(place is None and bool(mark.text) for mark, place in zip(marks, places, strict=True))
    return missing, sum(abs(place.dx) + abs(place.dy) for place in places if place is not None and place.leader)


def _placed(marks: tuple[Mark, ...], order: Sequence[int], width: float, height: float) -> tuple[Place | None, ...]:
    points: list[_Box] = [(m.x - m.radius, m.y - m.radius, m.x + m.radius, m.y + m.radius) for m in marks]
    named = [at for at, mark in enumerate(marks) if mark.text]
    places: list[Place | None] = [None] * len(marks)
    taken: list[_Box] = []
    lines: list[_Box] = []

    def free(at: int, place: Place) -> bool:
        mark, box = marks[at], _box(marks[at], place)
        if box[0] < 0 or box[1] < 0 or box[2] > width or box[3] > height:
            return False
        if any(_meet(box, other) for other in taken):
            return False
        if any(_meet(box, point) for i, point in enumerate(points) if i != at or place.leader):
            return False
        # A name beside two points would be read as the other's.
        wide = (box[0] - _APART, box[1] - _APART, box[2] + _APART, box[3] + _APART)
        if any(_meet(wide, points[i]) for i in named if i != at):
            return False
        if any(_crosses(*line, box) for line in lines):
            return False
        if not place.leader:
            return True
        end = (mark.x + place.dx, mark.y + place.dy)
        others = [*taken, *(points[i] for i in named if i != at)]
        return not any(_crosses(mark.x, mark.y, *end, other) for other in others)

    for at in order:
        mark = marks[at]
        near, far = _candidates(mark.radius)
        place = places[at] = _first(near, at, free) or _first(far, at, free)
        if place is not None:
            taken.append(_box(mark, place))
            if place.leader:
                lines.append((mark.x, mark.y, mark.x + place.dx, mark.y + place.dy))
    return tuple(places)


def _first(candidates: Sequence[Place], at: int, free: _Free) -> Place | None:
    return next((place for place in candidates if free(at, place)), None)


def along(corners: Sequence[tuple[float, float]]) -> list[Mark]:
    """Marks that keep names off a line."""
    found = []
    for (x0, y0), (x1, y1) in pairwise(corners):
        parts = max(1, ceil(max(abs(x1 - x0), abs(y1 - y0)) / 8))
        found += [Mark(x0 + (x1 - x0) * i / parts, y0 + (y1 - y0) * i / parts, "", 2) for i in range(parts + 1)]
    return found
