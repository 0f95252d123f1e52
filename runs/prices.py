"""Price lists in the database: making them, their next version, and what a run is priced by."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from decimal import Decimal

import msgspec
from django.db import transaction
from django.utils.text import slugify

from runs.costs import Price, StatedCost, find_price
from runs.costs import PriceList as Prices
from runs.editing import RunChanges, edit_run
from runs.errors import RunsError
from runs.models import PriceList, Run, RunPricing
from runs.pricing import COLUMNS

__all__ = [
    "PriceError", "Pricing", "PricingChoice", "add_version", "as_csv", "choice_of", "create_list", "edit_priced_run",
    "newest_lists", "price_run", "prices_in", "pricing_of",
]  # fmt: skip

_PRICES = ("input", "cached", "cache_write", "output")


class PriceError(RunsError):
    """What is asked for a price list or a run's pricing cannot be done; the message says why."""


class Pricing(msgspec.Struct, frozen=True, kw_only=True):
    """What a run's cost is computed from. With neither a price nor a stated total, `reason` says why."""

    price: Price | None = None
    price_list: str = ""
    """The list's label; empty where no list is used."""
    reason: str = ""
    stated: StatedCost | None = None


NOT_PRICED = Pricing(reason="No price list is chosen for this run.")


class PricingChoice(msgspec.Struct, frozen=True, kw_only=True):
    """What a person chose for a run: a list and, where the run's own name is not in it, an entry; or a stated total."""

    price_list: int | None = None
    model: str = ""
    provider: str = ""
    stated: StatedCost | None = None


def prices_in(row: PriceList) -> Prices:
    """The list as the arithmetic wants it."""
    return Prices(name=row.name, version=row.version, prices=msgspec.convert(tuple(row.prices), tuple[Price, ...]))


def _stored(prices: Sequence[Price]) -> list[dict[str, object]]:
    made: list[dict[str, object]] = msgspec.json.decode(msgspec.json.encode(list(prices)))
    return made


@transaction.atomic
def create_list(name: str, prices: Sequence[Price], *, note: str = "", is_example: bool = False) -> PriceList:
    """The first version of a new list. Its address is made from the name, with a number where that is taken."""
    base = slugify(name)[:90] or "prices"
    slug, number = base, 2
    while slug == "new" or PriceList.objects.filter(slug=slug).exists():
        slug, number = f"{base}-{number}", number + 1
    return PriceList.objects.create(slug=slug, name=name, prices=_stored(prices), note=note, is_example=is_example)


@transaction.atomic
def add_version(slug: str, prices: Sequence[Price], *, based_on: int, note: str = "") -> PriceList:
    """The next version of a list; every earlier one stays as it is. The same prices again make none.

    Raises `PriceError` when somebody else made a version after `based_on`, the one that was edited.
    """
    newest = PriceList.objects.select_for_update().filter(slug=slug).order_by("-version").first()
    if newest is None:
        raise PriceError("The price list is gone. Go back to the lists of prices.")
    if newest.version != based_on:
        raise PriceError(
            f"Version {newest.version} was made while you edited version {based_on}. Open the list again and repeat "
            "the change there, so that nothing of it is lost."
        )
    stored = _stored(prices)
    if stored == newest.prices:
        return newest
    return PriceList.objects.create(
        slug=slug, name=newest.name, version=newest.version + 1, prices=stored, note=note, is_example=newest.is_example
    )


def newest_lists() -> list[PriceList]:
    """The newest version of each list, by name. One query."""
    newest: dict[str, PriceList] = {}
    for row in PriceList.objects.order_by("name", "slug", "-version"):
        newest.setdefault(row.slug, row)
    return list(newest.values())


def as_csv(prices: Sequence[Price]) -> str:
    """The prices in the form that is imported again, equal. A text that a spreadsheet would run stays a text for us."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for price in prices:
        amounts = ["" if (value := getattr(price, name)) is None else format(value, "f") for name in _PRICES]
        quantised = {None: "", True: "yes", False: "no"}[price.quantised]
        writer.writerow([price.model, price.provider, *amounts, price.currency, price.date, price.source, quantised])
    return out.getvalue()


def pricing_of(run: Run, price_list: PriceList | None = None) -> Pricing:
    """What the run's cost comes from. `price_list` goes before the run's own list, but not before a stated total.

    The run has `pricing__price_list` selected; costs no query then.
    """
    own: RunPricing | None = getattr(run, "pricing", None)
    if own is not None and own.stated_total is not None:
        total = Decimal(own.stated_total).normalize()
        return Pricing(stated=StatedCost(total=total, currency=own.stated_currency, source=own.stated_source))
    used = price_list or (own.price_list if own is not None else None)
    if used is None:
        return NOT_PRICED
    model, provider = run.model, run.provider
    if own is not None and own.model:
        model, provider = own.model, own.provider
    prices = prices_in(used)
    found = find_price(prices, model, provider)
    return Pricing(price=found.price, price_list=prices.label, reason=found.reason)


def choice_of(run: Run) -> PricingChoice:
    own: RunPricing | None = getattr(run, "pricing", None)
    if own is None:
        return PricingChoice()
    stated = None
    if own.stated_total is not None:
        total = Decimal(own.stated_total).normalize()
        stated = StatedCost(total=total, currency=own.stated_currency, source=own.stated_source)
    return PricingChoice(price_list=own.price_list_id, model=own.model, provider=own.provider, stated=stated)


@transaction.atomic
def price_run(run: Run, choice: PricingChoice) -> None:
    """Prices a run. Raises `PriceError` for a list that is gone, and where both a list and a total are given."""
    if choice.stated is not None and choice.price_list is not None:
        raise PriceError("A run is priced by a list or by a stated total, not by both. Take one of them away.")
    if choice.stated is None and choice.price_list is None:
        RunPricing.objects.filter(run=run).delete()
        return
    if choice.price_list is not None and not PriceList.objects.filter(pk=choice.price_list).exists():
        raise PriceError("The price list is gone. Choose another one.")
    stated = choice.stated
    RunPricing.objects.update_or_create(
        run=run,
        defaults={
            "price_list_id": choice.price_list,
            "model": choice.model if choice.price_list else "",
            "provider": choice.provider if choice.price_list else "",
            "stated_total": None if stated is None else stated.total,
            "stated_currency": "" if stated is None else stated.currency,
            "stated_source": "" if stated is None else stated.source,
        },
    )


@transaction.atomic
def edit_priced_run(run: Run, changes: RunChanges, choice: PricingChoice | None) -> None:
    """Corrects a run and what it is priced by, both or nothing; None leaves the latter as it is.

    Raises what `edit_run` and `price_run` do.
    """
    edited = edit_run(run, changes)
    if choice is not None:
        price_run(edited, choice)
