"""What the address of the list of errors asks for."""

from __future__ import annotations

from django.http import QueryDict

from inspector.filters import page_number
from runs.errorclasses import ErrorClass
from runs.queries.errors import ErrorFilters

__all__ = ["error_filters"]


def error_filters(query: QueryDict) -> ErrorFilters:
    return ErrorFilters(
        run=query.get("run", "")[:200],
        kinds=tuple(dict.fromkeys(kind for kind in query.getlist("class")[:50] if kind in {*ErrorClass, ""})),
        retryable={"yes": True, "no": False}.get(query.get("retryable", "")),
        page=page_number(query),
    )
