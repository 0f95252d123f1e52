"""Average, least and most of a measured quantity, as `tb agg` prints them for each task."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

__all__ = ["Spread", "spread"]


class Spread(msgspec.Struct, frozen=True, kw_only=True):
    """Over `count` attempts for which the quantity is known."""

    average: float
    least: float
    most: float
    count: int


def spread(values: Iterable[float | None]) -> Spread | None:
    """None counts as not recorded, and is left out; None where nothing is recorded."""
    known = [value for value in values if value is not None]
    if not known:
        return None
    return Spread(average=sum(known) / len(known), least=min(known), most=max(known), count=len(known))
