"""One page of a list that is already in order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import msgspec

__all__ = ["Page", "paginate"]

T = TypeVar("T")


class Page(msgspec.Struct, frozen=True):
    """Where a page lies in its list. `first` and `last` count from 1 and are 0 for an empty list."""

    number: int
    pages: int
    first: int
    last: int
    total: int

    @property
    def previous(self) -> int | None:
        return self.number - 1 if self.number > 1 else None

    @property
    def next(self) -> int | None:
        return self.number + 1 if self.number < self.pages else None


def page_of(total: int, number: int, size: int) -> Page:
    """The page with this number, or the nearest one that exists."""
    pages = max(1, -(-total // size))
    number = min(max(1, number), pages)
    first = (number - 1) * size
    return Page(number, pages, min(first + 1, total), min(first + size, total), total)


def paginate(items: Sequence[T], number: int, size: int) -> tuple[list[T], Page]:
    page = page_of(len(items), number, size)
    return list(items[max(0, page.first - 1) : page.last]), page
