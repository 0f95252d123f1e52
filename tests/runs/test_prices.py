from __future__ import annotations

from decimal import Decimal

import pytest
from django.db import IntegrityError, transaction
from django.db.models import ProtectedError

from runs.boards.gather import with_pricing
from runs.costs import Price, StatedCost
from runs.models import PriceList, Run, RunPricing
from runs.prices import (
    PriceError,
    PricingChoice,
    add_version,
    as_csv,
    choice_of,
    create_list,
    newest_lists,
    price_run,
    prices_in,
    pricing_of,
)
from runs.pricing import read_prices
from tests.tallied import tallied_run

pytestmark = pytest.mark.django_db
ASH = Price(model="ash", provider="Host", input=Decimal("1.25"), cached=Decimal("0.125"), output=Decimal(10))
WHOLE = Price(
    model='a "quoted", name',
    provider="Host",
    input=Decimal("0.0000012"),
    cache_write=Decimal("1.5"),
    output=Decimal("3E+1"),
    currency="EUR",
    date="2026-09-20",
    source="the page",
    quantised=True,
)


def fetched(run: Run) -> Run:
    return with_pricing(Run.objects.all()).get(pk=run.pk)


def test_a_change_makes_a_version_and_leaves_the_others_as_they_are() -> None:
    first = create_list("My prices", [ASH])
    second = add_version("my-prices", [ASH, WHOLE], based_on=1, note="more")
    assert (first.slug, first.version, second.slug, second.version, second.note) == (
        "my-prices", 1, "my-prices", 2, "more",
    )  # fmt: skip
    first.refresh_from_db()
    assert prices_in(first).prices == (ASH,)
    assert prices_in(second).prices == (ASH, WHOLE)
    assert newest_lists() == [second]
    assert (prices_in(first).label, prices_in(second).label) == ("My prices", "My prices, version 2")


def test_the_same_prices_again_make_no_version() -> None:
    first = create_list("My prices", [ASH])
    assert add_version("my-prices", [ASH], based_on=1) == first
    assert PriceList.objects.count() == 1


def test_a_change_of_an_older_version_is_refused_so_that_nothing_is_lost() -> None:
    create_list("My prices", [ASH])
    add_version("my-prices", [WHOLE], based_on=1)
    with pytest.raises(PriceError, match="Version 2 was made while you edited version 1"):
        add_version("my-prices", [ASH, WHOLE], based_on=1)
    assert PriceList.objects.count() == 2
    with pytest.raises(PriceError, match="gone"):
        add_version("other", [ASH], based_on=1)


def test_names_may_be_equal_and_addresses_are_not() -> None:
    slugs = [create_list(name, [ASH]).slug for name in ("Desk", "Desk", "New", "★")]
    assert slugs == ["desk", "desk-2", "new-2", "prices"]


def test_what_is_exported_is_read_again_equal() -> None:
    assert read_prices(as_csv([ASH, WHOLE]).encode()).prices == [ASH, WHOLE]


def test_a_run_without_a_choice_is_not_priced() -> None:
    run = fetched(tallied_run("ash", {"a": "p"}))
    pricing = pricing_of(run)
    assert (pricing.price, pricing.stated, pricing.reason) == (None, None, "No price list is chosen for this run.")
    assert choice_of(run) == PricingChoice()


def test_a_run_keeps_the_version_that_it_is_priced_by() -> None:
    run = tallied_run("ash", {"a": "p"})
    price_run(run, PricingChoice(price_list=create_list("Desk", [ASH]).pk))
    add_version("desk", [WHOLE], based_on=1)
    pricing = pricing_of(fetched(run))
    assert (pricing.price, pricing.price_list, pricing.reason) == (ASH, "Desk", "")


def test_an_entry_is_chosen_where_the_list_names_the_model_otherwise() -> None:
    run = tallied_run("birch", {"a": "p"})
    listed = create_list("Desk", [ASH])
    price_run(run, PricingChoice(price_list=listed.pk))
    assert pricing_of(fetched(run)).price is None
    assert "no price of birch" in pricing_of(fetched(run)).reason
    choice = PricingChoice(price_list=listed.pk, model="ash", provider="Host")
    price_run(run, choice)
    assert (pricing_of(fetched(run)).price, choice_of(fetched(run))) == (ASH, choice)


def test_a_stated_total_goes_before_a_list_of_the_board() -> None:
    run = tallied_run("ash", {"a": "p"})
    stated = StatedCost(total=Decimal("742.3"), currency="EUR", source="invoice")
    price_run(run, PricingChoice(stated=stated))
    pricing = pricing_of(fetched(run), create_list("Desk", [ASH]))
    assert (pricing.stated, pricing.price) == (stated, None)
    assert choice_of(fetched(run)) == PricingChoice(stated=stated)


def test_a_choice_is_taken_back() -> None:
    run = tallied_run("ash", {"a": "p"})
    price_run(run, PricingChoice(price_list=create_list("Desk", [ASH]).pk))
    price_run(run, PricingChoice())
    assert not RunPricing.objects.exists()


def test_a_choice_that_cannot_be_is_refused() -> None:
    run, listed = tallied_run("ash", {"a": "p"}), create_list("Desk", [ASH])
    with pytest.raises(PriceError, match="gone"):
        price_run(run, PricingChoice(price_list=listed.pk + 1))
    both = PricingChoice(price_list=listed.pk, stated=StatedCost(total=Decimal(1)))
    with pytest.raises(PriceError, match="not by both"):
        price_run(run, both)
    with pytest.raises(IntegrityError), transaction.atomic():
        RunPricing.objects.create(run=run, price_list=listed, stated_total=1, stated_currency="USD")


def test_a_version_that_prices_a_run_cannot_be_deleted() -> None:
    run, listed = tallied_run("ash", {"a": "p"}), create_list("Desk", [ASH])
    price_run(run, PricingChoice(price_list=listed.pk))
    with pytest.raises(ProtectedError):
        listed.delete()
    run.tallies.all().delete()
    run.delete()
    listed.delete()
