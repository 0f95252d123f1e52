"""Where the names of points go, so that none covers another, a point or a line that matters.

Pixels from the left and from the top. The same points always get the same places.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise
from math import ceil, cos, pi, sin

import msgspec
import numpy as np
from numpy.typing import NDArray

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
    clear = _Clear(marks, width, height)
    found = [
        _placed(marks, clear, sorted(named, key=lambda at: (not marks[at].strong, order(at), at))) for order in orders
    ]
    return min(found, key=lambda places: _cost(marks, places))


def _cost(marks: tuple[Mark, ...], places: tuple[Place | None, ...]) -> tuple[int, float]:
    missing = sum(place is None and bool(mark.text) for mark, place in zip(marks, places, strict=True))
    return missing, sum(abs(place.dx) + abs(place.dy) for place in places if place is not None and place.leader)


class _Clear:
    """Whether a place is clear of the edges and of all points, which hangs on no other name: found out once."""

    def __init__(self, marks: tuple[Mark, ...], width: float, height: float) -> None:
        self.boxes: list[_Box] = [(m.x - m.radius, m.y - m.radius, m.x + m.radius, m.y + m.radius) for m in marks]
        self._marks, self._width, self._height = marks, width, height
        self._points = np.array(self.boxes, dtype=np.float64).reshape(-1, 4).T
        self._named = np.array([bool(mark.text) for mark in marks], dtype=np.bool_)
        self._known: dict[tuple[int, Place], bool] = {}

    def __call__(self, at: int, place: Place) -> bool:
        key = (at, place)
        if key not in self._known:
            self._known[key] = self._look(at, place)
        return self._known[key]

    def _look(self, at: int, place: Place) -> bool:
        left, top, right, bottom = _box(self._marks[at], place)
        if left < 0 or top < 0 or right > self._width or bottom > self._height:
            return False
        met = self._met(left, top, right, bottom)
        if not place.leader:
            met[at] = False
        if met.any():
            return False
        # A name beside two points would be read as the other's.
        beside = self._met(left - _APART, top - _APART, right + _APART, bottom + _APART) & self._named
        beside[at] = False
        return not beside.any()

    def _met(self, left: float, top: float, right: float, bottom: float) -> NDArray[np.bool_]:
        x0, y0, x1, y1 = self._points
        met: NDArray[np.bool_] = (left < x1) & (x0 < right) & (top < y1) & (y0 < bottom)
        return met


def _placed(marks: tuple[Mark, ...], clear: _Clear, order: Sequence[int]) -> tuple[Place | None, ...]:
    points = clear.boxes
    named = [at for at, mark in enumerate(marks) if mark.text]
    places: list[Place | None] = [None] * len(marks)
    taken: list[_Box] = []
    lines: list[_Box] = []

    def free(at: int, place: Place) -> bool:
        if not clear(at, place):
            return False
        mark, box = marks[at], _box(marks[at], place)
        if any(_meet(box, other) for other in taken):
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
