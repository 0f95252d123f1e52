"""What deserves a look, over all runs: a few counts, each with the failures behind it."""

from __future__ import annotations

import msgspec

from runs.access import Access
from runs.facets import Selection
from runs.queries.failure_filters import FailureFilters, Grouping
from runs.queries.failure_index import Facet, FailureIndex, failure_index

__all__ = ["Look", "look_next"]


class Look(msgspec.Struct, frozen=True):
    count: int
    """Failed attempts."""
    title: str
    why: str
    query: str
    """Of the address of the page of failures."""


_LOOKS = (
    (
        Facet.LONE,
        "failed where all else passed",
        "The only failure at a task that the run passed in every other repetition.",
        Grouping.TASK,
    ),
    (
        Facet.ALIKE,
        "at suspicious tasks",
        "All models that fail the task make the same mistake, in half of their failed attempts or more: check or "
        "policy may be at fault.",
        Grouping.TASK,
    ),
    (
        Facet.DISAGREES,
        "where check and diff disagree",
        "The recorded hashes say one thing about the state, the comparison of the records another.",
        Grouping.SAME,
    ),
    (
        Facet.LOOKED,
        "looked like a success",
        "They ended cleanly, called a state-changing tool, and their last tool response was no error.",
        Grouping.SAME,
    ),
)


def look_next(*, access: Access) -> list[Look]:
    """One entry a kind, without those that nothing is behind. One query, more only for runs that changed."""
    index = failure_index(access=access)
    looks = (
        Look(_count(index, facet), title, why, FailureFilters(chosen={facet: ("yes",)}, group=group).query())
        for facet, title, why, group in _LOOKS
    )
    return [look for look in looks if look.count]


def _count(index: FailureIndex, facet: Facet) -> int:
    return index.counts(facet, Selection(index.total, index.relations, {}), filtered=False).get("yes", 0)
