"""Price lists, version by version."""

from __future__ import annotations

from typing import Annotated

from django.http import HttpRequest
from ninja import Path, Query, Router

from inspector.api.auth import access
from inspector.api.operations import Listing, Sparse, reads, reads_list
from inspector.api.pagination import Items, Slice, cut
from runs.queries.prices import ListRow, PricePage, price_index, price_page

router = Router()
Version = Annotated[int, Path(ge=1, le=2**31 - 1)]


@reads_list(router, "/price-lists", ListRow)
def index(request: HttpRequest, query: Query[Listing]) -> Slice[ListRow]:
    """The price lists by name, each in its newest version."""
    lists = Items(price_index(access=access(request)))
    return cut(request, lists, lambda row: row.slug, cursor=query.cursor, limit=query.limit)


@reads(router, "/price-lists/{slug}", PricePage)
def newest(request: HttpRequest, slug: str, query: Query[Sparse]) -> PricePage:
    """The newest version of a price list. Amounts are exact decimals, as text, for a million tokens."""
    return price_page(slug, access=access(request))


@reads(router, "/price-lists/{slug}/{version}", PricePage)
def version(request: HttpRequest, slug: str, version: Version, query: Query[Sparse]) -> PricePage:
    """One version of a price list. A version is never changed."""
    return price_page(slug, version, access=access(request))
