"""What the pages under `/prices/` show, and what a run can be priced by."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import msgspec
from django.db.models import Count
from django.http import Http404

from runs.access import Access
from runs.costs import Price
from runs.models import PriceList, Run
from runs.prices import choice_of, newest_lists, prices_in
from runs.querysets import visible_runs, visible_through

__all__ = [
    "ListRow", "PriceChoices", "PricePage", "RunRef", "VersionRow", "newest_or_404", "price_choices", "price_index",
    "price_page",
]  # fmt: skip

_MODELS_OFFERED = 1000


class ListRow(msgspec.Struct, frozen=True, kw_only=True):
    """The newest version of a list."""

    slug: str
    name: str
    version: int
    prices: int
    currencies: str
    is_example: bool
    created_at: datetime
    runs: int
    """Priced by any version of it."""


class RunRef(msgspec.Struct, frozen=True):
    slug: str
    model: str
    benchmark: str
    by: str
    """The entry it is priced by, where that is not its own name."""


class VersionRow(msgspec.Struct, frozen=True):
    version: int
    created_at: datetime
    note: str
    prices: int
    runs: int
    shown: bool


class PricePage(msgspec.Struct, frozen=True, kw_only=True):
    slug: str
    name: str
    version: int
    is_newest: bool
    is_example: bool
    note: str
    created_at: datetime
    prices: tuple[Price, ...]
    versions: list[VersionRow]
    runs: list[RunRef]
    """Priced by this version."""
    boards: list[tuple[str, str]]
    """Address and title of the leaderboards that use this version."""

    @property
    def has_cache_write(self) -> bool:
        return any(price.cache_write is not None for price in self.prices)

    @property
    def has_quantised(self) -> bool:
        return any(price.quantised is not None for price in self.prices)


def price_index(*, access: Access) -> list[ListRow]:
    """The lists by name. Two queries."""
    used: dict[str, int] = dict(
        PriceList.objects.order_by().values_list("slug").annotate(runs=_priced(access)).values_list("slug", "runs")
    )
    return [
        ListRow(
            slug=row.slug,
            name=row.name,
            version=row.version,
            prices=len(row.prices),
            currencies=", ".join(sorted({str(price.get("currency", "USD")) for price in row.prices})),
            is_example=row.is_example,
            created_at=row.created_at,
            runs=used.get(row.slug, 0),
        )
        for row in newest_lists()
    ]


def newest_or_404(slug: str) -> PriceList:
    row = PriceList.objects.filter(slug=slug).order_by("-version").first()
    if row is None:
        raise Http404
    return row


def price_page(slug: str, version: int | None = None, *, access: Access) -> PricePage:
    """One version of a list, the newest where none is named. Three queries. Raises Http404."""
    versions = list(PriceList.objects.filter(slug=slug).annotate(runs=_priced(access)).order_by("-version"))
    chosen = [row for row in versions if version in {None, row.version}]
    if not chosen:
        raise Http404
    shown = chosen[0]
    priced = (
        Run.objects.filter(visible_runs(access), pricing__price_list=shown)
        .select_related("benchmark", "pricing")
        .order_by("pk")
    )
    return PricePage(
        slug=slug,
        name=shown.name,
        version=shown.version,
        is_newest=shown.version == versions[0].version,
        is_example=shown.is_example,
        note=shown.note,
        created_at=shown.created_at,
        prices=prices_in(shown).prices,
        versions=[
            VersionRow(row.version, row.created_at, row.note, len(row.prices), row.runs, row.pk == shown.pk)
            for row in versions
        ],
        runs=[RunRef(run.slug, run.model, run.benchmark.name, run.pricing.model) for run in priced],
        boards=list(shown.leaderboards.order_by("title", "pk").values_list("slug", "title")),
    )


def _priced(access: Access) -> Count:
    """Runs that are priced by a version, of those that the asker sees."""
    return Count("priced", filter=visible_through("priced__run__", access))


class PriceChoices(msgspec.Struct, frozen=True):
    """What a run's form offers."""

    lists: list[tuple[str, str]]
    """Value and label: the newest version of each list, and the older one that the run is priced by."""
    models: list[str]
    """Names in those lists."""


def price_choices(run: Run | None = None) -> PriceChoices:
    """Two queries, one more for a run that is priced by an older version."""
    rows: Sequence[PriceList] = newest_lists()
    used = choice_of(run).price_list if run is not None else None
    if used is not None and used not in {row.pk for row in rows}:
        rows = [*rows, *PriceList.objects.filter(pk=used)]
    names = sorted({str(price["model"]) for row in rows for price in row.prices}, key=str.casefold)
    return PriceChoices([(str(row.pk), str(row)) for row in rows], names[:_MODELS_OFFERED])
