"""Ids a few hundred at a time: a statement takes only so many."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

__all__ = ["batches"]


def batches(ids: Iterable[int], size: int = 500) -> Iterator[list[int]]:
    """The ids in order, in lists of `size`; the last one may be shorter, and none is empty."""
    rest = iter(ids)
    while batch := list(islice(rest, size)):
        yield batch
