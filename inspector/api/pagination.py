"""Lists in slices. A cursor is opaque to its reader: it names the last item that was sent, and where that was.

The item counts; the place is a hint that saves looking for it, and the way on where it is gone meanwhile. So a list
that grows or shrinks while it is read shows no item twice and leaves none out, in whatever order it is.
"""

from __future__ import annotations

import binascii
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Hashable, Sequence
from typing import Generic, Protocol, TypeVar

import msgspec
from django.http import HttpRequest, QueryDict

from inspector.api.errors import Problem, bad_field
from runs.canonical import sha256_hex
from runs.queries.paging import Page

__all__ = ["DEFAULT", "MOST", "InPages", "Items", "Place", "Slice", "cursor_to", "cut", "no_such_place", "place_of"]

DEFAULT = 50
MOST = 500
_LONGEST = 4000
_NOT_IN_QUERY = frozenset({"cursor", "limit", "fields"})

T = TypeVar("T")


class Place(msgspec.Struct, frozen=True, array_like=True):
    query: str
    """Digest of what was asked: a cursor goes on with the same question only."""
    offset: int
    """Items before it."""
    key: str
    """Of the last item that was sent."""


class Slice(msgspec.Struct, Generic[T], frozen=True):
    items: list[T]
    next: str | None
    total: int | None = None
    """Of the whole list; None where counting would cost too much."""


class Rows(Protocol[T]):
    """A list that need not be in memory."""

    @property
    def total(self) -> int: ...

    def some(self, start: int, count: int) -> list[T]: ...


class Items(Generic[T]):
    """A list that is there already."""

    def __init__(self, items: Sequence[T]) -> None:
        self._items = items

    @property
    def total(self) -> int:
        return len(self._items)

    def some(self, start: int, count: int) -> list[T]:
        return list(self._items[start : start + count])


class InPages(Generic[T]):
    """A list that a query function gives page by page, `size` items each; a page is asked for once."""

    def __init__(self, fetch: Callable[[int], tuple[Sequence[T], Page]], size: int) -> None:
        self._fetch = fetch
        self._size = size
        self._known: dict[int, Sequence[T]] = {}
        self._total: int | None = None

    @property
    def total(self) -> int:
        if self._total is None:
            self._page(1)
        assert self._total is not None
        return self._total

    def some(self, start: int, count: int) -> list[T]:
        found: list[T] = []
        at = start
        while at < start + count:
            number, inside = divmod(at, self._size)
            part = self._page(number + 1)[inside : inside + start + count - at]
            found += part
            at += len(part)
            if len(part) == 0 or at >= self.total:
                break
        return found

    def _page(self, number: int) -> Sequence[T]:
        if number not in self._known:
            items, page = self._fetch(number)
            self._total = page.total
            # A page that does not exist comes back as the nearest one that does.
            self._known[number] = items if page.number == number else []
        return self._known[number]


def cut(
    request: HttpRequest, rows: Rows[T], key: Callable[[T], Hashable], *, cursor: str | None, limit: int
) -> Slice[T]:
    """The next `limit` items behind the cursor. `key` tells an item from all others. Raises `Problem` 404."""
    question = question_of(request)
    place = place_of(cursor, question)
    start = 0 if place is None else _behind(rows, key, place)
    items = rows.some(start, limit + 1)
    shown = items[:limit]
    following = None
    if len(items) > limit:
        following = cursor_to(Place(question, start + limit, str(key(shown[-1]))))
    return Slice(shown, following, rows.total)


def _behind(rows: Rows[T], key: Callable[[T], Hashable], place: Place) -> int:
    """The position behind the item that the cursor names."""
    hinted = rows.some(place.offset - 1, 1) if place.offset else []
    if hinted and str(key(hinted[0])) == place.key:
        return place.offset
    for start in range(0, rows.total, MOST):
        for number, item in enumerate(rows.some(start, MOST)):
            if str(key(item)) == place.key:
                return start + number + 1
    return min(place.offset, rows.total)


def question_of(request: HttpRequest) -> str:
    query: QueryDict = request.GET
    asked = sorted((name, values) for name, values in query.lists() if name not in _NOT_IN_QUERY)
    return sha256_hex(msgspec.json.encode([request.path, asked]))[:12]


def cursor_to(place: Place) -> str:
    return urlsafe_b64encode(msgspec.json.encode(place)).decode().rstrip("=")


def place_of(cursor: str | None, question: str) -> Place | None:
    """What a cursor says. Raises `Problem` 404 for one that was not made here, or for another question."""
    if not cursor:
        return None
    place = _read(cursor)
    if place is None or place.offset < 0:
        raise no_such_place("is none that this server gave. Take it from `next` of the answer before.")
    if place.query != question:
        raise no_such_place("belongs to another list or other filters. Begin without a cursor.")
    return place


def no_such_place(why: str) -> Problem:
    """A cursor is an address within a list, and this one leads nowhere."""
    return bad_field("cursor", why, status=404)


def _read(cursor: str) -> Place | None:
    if len(cursor) > _LONGEST:
        return None
    try:
        return msgspec.json.decode(urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)), type=Place)
    except (msgspec.DecodeError, ValueError, binascii.Error):
        return None
