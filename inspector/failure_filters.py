"""What the address of the page of failures asks for. What is unknown is as good as not there."""

from __future__ import annotations

from django.http import QueryDict

from inspector.filters import page_number
from runs.queries.failure_filters import FailureFilters, Grouping
from runs.queries.failure_index import SORTS, Facet

__all__ = ["failure_filters"]

_LONGEST = 1500
"""Of a value: a task's name may be long."""
_MOST_VALUES = 50
_LONGEST_TEXT = 400


def failure_filters(query: QueryDict) -> FailureFilters:
    sort = query.get("sort", "")
    name = sort.removeprefix("-")
    group, whole = query.get("group", ""), query.get("all", "")
    return FailureFilters(
        chosen={facet: values for facet in Facet if (values := _values(query, facet))},
        text=query.get("q", "").strip()[:_LONGEST_TEXT],
        sort=name if name in SORTS else "task",
        descending=sort.startswith("-") and name in SORTS,
        group=Grouping(group) if group in set(Grouping) else Grouping.SAME,
        page=page_number(query),
        whole=Facet(whole) if whole in set(Facet) else None,
    )


def _values(query: QueryDict, facet: Facet) -> tuple[str, ...]:
    """Each value once, in the order given."""
    return tuple(dict.fromkeys(value[:_LONGEST] for value in query.getlist(facet.value)[:_MOST_VALUES]))
