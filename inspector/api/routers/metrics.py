"""What the figures mean."""

from __future__ import annotations

from django.http import HttpRequest
from ninja import Query, Router

from inspector.api.errors import not_found
from inspector.api.operations import Listing, Sparse, reads, reads_list
from inspector.api.pagination import Items, Slice, cut
from runs.metrics.definitions import DEFINITIONS, Definition, definition_named

router = Router()


@reads_list(router, "/metrics", Definition)
def index(request: HttpRequest, query: Query[Listing]) -> Slice[Definition]:
    """The definitions of the figures."""
    return cut(request, Items(DEFINITIONS), lambda each: each.name, cursor=query.cursor, limit=query.limit)


@reads(router, "/metrics/{name}", Definition)
def detail(request: HttpRequest, name: str, query: Query[Sparse]) -> Definition:
    """One definition, by the figure's name."""
    found = definition_named(name)
    if found is None:
        raise not_found(f"There is no such figure. There are: {', '.join(each.name for each in DEFINITIONS)}.")
    return found
