"""What the address of a comparison of two runs asks for."""

from __future__ import annotations

from django.http import QueryDict

from inspector.filters import error_rule, page_number
from runs.metrics import ErrorRule
from runs.queries.compare_runs import PAIR_SORTS, Change, PairFilters

__all__ = ["pair_filters"]

_LONGEST = 200


def pair_filters(query: QueryDict) -> PairFilters:
    """An unknown value is as good as none."""
    change, sort = query.get("change", ""), query.get("sort", "")
    if sort.removeprefix("-") not in PAIR_SORTS:
        sort = "name"
    return PairFilters(
        base=query.get("base", "")[:_LONGEST],
        candidate=query.get("candidate", "")[:_LONGEST],
        change=Change(change) if change in set(Change) else None,
        domain=query.get("domain", "")[:_LONGEST],
        text=query.get("q", "").strip()[:_LONGEST],
        sort=sort.removeprefix("-"),
        descending=sort.startswith("-"),
        rule=error_rule(query) or ErrorRule.AS_FAILED,
        page=page_number(query),
    )
