"""Which failures are asked for, and the address's query that says so."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any
from urllib.parse import urlencode

import msgspec

from runs.queries.failure_index import Facet

__all__ = ["FailureFilters", "Grouping"]


class Grouping(StrEnum):
    """How the list is put together."""

    SAME = "same"
    """By the first difference of an attempt."""
    TASK = "task"
    NONE = "none"


class FailureFilters(msgspec.Struct, frozen=True, kw_only=True):
    """Several values of a facet mean "one of them"; all facets and all words must fit."""

    chosen: Mapping[Facet, tuple[str, ...]] = {}
    text: str = ""
    """Words and "phrases" in the transcript, as typed."""
    sort: str = "task"
    descending: bool = False
    group: Grouping = Grouping.SAME
    page: int = 1
    whole: Facet | None = None
    """The facet whose values are all listed."""

    def query(self) -> str:
        """The query of an address that shows the same, without what goes without saying."""
        pairs = [(facet.value, value) for facet in Facet for value in self.chosen.get(facet, ())]
        if self.text:
            pairs.append(("q", self.text))
        if (self.sort, self.descending) != ("task", False):
            pairs.append(("sort", ("-" if self.descending else "") + self.sort))
        if self.group is not Grouping.SAME:
            pairs.append(("group", self.group.value))
        if self.page > 1:
            pairs.append(("page", str(self.page)))
        if self.whole is not None:
            pairs.append(("all", self.whole.value))
        return urlencode(pairs)

    def but(self, **changes: Any) -> FailureFilters:
        """The same with some fields changed, from the first page on."""
        return msgspec.structs.replace(self, **{"page": 1, "whole": None, **changes})

    def only(self, facet: Facet, *values: str) -> FailureFilters:
        """The same with these values of a facet instead of what is chosen in it."""
        return self.but(chosen={**self.chosen, facet: values})

    def without(self, facet: Facet, value: str) -> FailureFilters:
        return self.only(facet, *(name for name in self.chosen.get(facet, ()) if name != value))
