from __future__ import annotations

import json
import re
from decimal import Decimal

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from inspector.templatetags.boards import along, money, points, shade, whole_percent
from runs.costs import Price
from runs.models import PriceList, Run, RunPricing
from runs.prices import PricingChoice, add_version, create_list, price_run, prices_in
from runs.pricing import COLUMNS
from tests.tallied import tallied_run

pytestmark = pytest.mark.django_db
ASH = Price(model="ash", provider="Host", input=Decimal("1.25"), cached=Decimal("0.5"), output=Decimal(10))
ROW = {"model": "ash", "provider": "Host", "input": "1.25", "cached_input": "0.5", "output": "10", "currency": "USD"}


def grid(*rows: dict[str, str]) -> dict[str, list[str]]:
    return {name: [row.get(name, "") for row in rows] for name in COLUMNS}


def file(name: str, content: str) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, content.encode())


def text_of(client: Client, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200
    return " ".join(answer.content.decode().split())


def newest(slug: str) -> PriceList:
    return PriceList.objects.filter(slug=slug).order_by("-version")[0]


def test_without_a_list_the_page_says_what_that_means(client: Client) -> None:
    assert "Until a run is priced, its cost is shown as not priced." in text_of(client, "/prices/")


def test_a_list_is_made_row_by_row(client: Client) -> None:
    page = client.get("/prices/new/").content.decode()
    fields = re.findall(r'name="(\w+)"', page)
    assert fields.count("currency") == fields.count("model"), "a field of that name would shift the rows"
    answer = client.post("/prices/new/", {"name": "Desk", **grid(ROW, {}, {})})
    assert (answer.status_code, answer.headers["Location"]) == (303, "/prices/desk/")
    assert prices_in(newest("desk")).prices == (ASH,)
    text = text_of(client, "/prices/desk/")
    assert "$1.25" in text
    assert "not listed: billed as input" not in text


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("prices.csv", "model;provider;input;cached_input;output\nash;Host;1.25;0.5;10\n"),
        ("prices.yaml", "- {model: ash, provider: Host, input: 1.25, cached_input: 0.5, output: 10}\n"),
    ],
)
def test_a_list_is_read_from_a_file(client: Client, name: str, content: str) -> None:
    answer = client.post("/prices/new/", {"name": "Desk", "file": file(name, content), "file_date": "2026-09-20"})
    assert answer.status_code == 303
    (price,) = prices_in(newest("desk")).prices
    assert (price.model, price.input, price.cached, price.output, price.date) == (
        "ash", Decimal("1.25"), Decimal("0.5"), Decimal(10), "2026-09-20",
    )  # fmt: skip


def test_the_models_of_openrouter_are_read_and_what_was_not_taken_is_named(client: Client) -> None:
    models = [
        {
            "id": "acme/ash",
            "pricing": {"prompt": "0.00000125", "completion": "0.00001", "input_cache_read": "0.0000005"},
        },
        {"id": "acme/auto", "pricing": {"prompt": "-1", "completion": "-1"}},
    ]
    client.post("/prices/new/", {"name": "Router", "file": file("models.json", json.dumps({"data": models}))})
    (price,) = prices_in(newest("router")).prices
    assert (price.model, price.input, price.cached, price.output) == (
        "acme/ash", Decimal("1.25"), Decimal("0.5"), Decimal(10),
    )  # fmt: skip
    text = text_of(client, "/prices/router/")
    assert "Read from models.json (openrouter)." in text
    assert "1 of its entries were not taken: data[1]: &#x27;acme/auto&#x27; has no fixed price" in text


@pytest.mark.parametrize(
    ("sent", "says"),
    [
        ({"name": "", **grid(ROW)}, "The list has no name."),
        ({"name": "Desk", **grid({})}, "The list has no price."),
        (
            {"name": "Desk", **grid({"model": "ash", "input": "one"})},
            "Row 1: &#x27;one&#x27; in input is not a number.",
        ),
        (
            {"name": "Desk", **grid(ROW, {}, {**ROW, "input": "-1", "model": "b"})},
            "Row 3: &#x27;-1&#x27; in input is no price.",
        ),
        ({"name": "Desk", **grid({"input": "1"})}, "Row 1: The entry names no model."),
        ({"name": "Desk", **grid(ROW, ROW)}, "Row 2: &#x27;ash&#x27; is listed above already"),
        ({"name": "Desk", "file_currency": "dollars", **grid(ROW)}, "A currency has three letters"),
        ({"name": "Desk", "file_date": "yesterday", **grid(ROW)}, "This is not a day."),
    ],
)
def test_what_cannot_be_read_is_given_back_and_nothing_is_saved(
    client: Client, sent: dict[str, object], says: str
) -> None:
    answer = client.post("/prices/new/", sent)
    assert (answer.status_code, PriceList.objects.count()) == (422, 0)
    assert says in answer.content.decode()


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", "The list"),
        ("model,colour\nash,red\n", "not known"),
        ('{"data": [{"id": "a", "pricing": {"prompt": "-1"}}]}', "No entry of the file has a price"),
    ],
)
def test_a_file_without_a_price_is_refused(client: Client, content: str, says: str) -> None:
    answer = client.post("/prices/new/", {"name": "Desk", "file": file("prices", content or " ")})
    assert (answer.status_code, PriceList.objects.count()) == (422, 0)
    assert says in answer.content.decode() or "price list" in answer.content.decode()


def test_a_cell_with_commas_and_quotes_stays_one_cell(client: Client) -> None:
    client.post("/prices/new/", {"name": "Desk", **grid({**ROW, "source": 'a, "b"\n; c'})})
    assert prices_in(newest("desk")).prices[0].source == 'a, "b" ; c'


def test_an_edit_makes_a_version_and_the_old_page_stays(client: Client) -> None:
    create_list("Desk", [ASH])
    run = tallied_run("ash", {"a": "pp"}, tokens=(1_000_000, 0, 0))
    price_run(run, PricingChoice(price_list=newest("desk").pk))
    before = text_of(client, "/prices/desk/1/")
    answer = client.post("/prices/desk/edit/", {"version": "1", "note": "dearer", **grid({**ROW, "input": "9"})})
    assert (answer.status_code, answer.headers["Location"]) == (303, "/prices/desk/2/")
    assert "$2.50 for all 2 attempts" in text_of(client, run.get_absolute_url())
    assert "$1.25" in before
    assert "$1.25" in text_of(client, "/prices/desk/1/")
    assert "$9.00" in text_of(client, "/prices/desk/")
    assert "dearer" in text_of(client, "/prices/desk/")


def test_a_long_list_is_edited_as_text(client: Client) -> None:
    create_list("Desk", [Price(model=f"m{n}", input=Decimal(1)) for n in range(100)])
    text = client.get("/prices/desk/edit/").content.decode()
    assert 'name="text"' in text
    assert 'name="model"' not in text
    answer = client.post("/prices/desk/edit/", {"version": "1", "text": "model,input\nash,2\nbirch,x\n"})
    assert (answer.status_code, newest("desk").version) == (422, 1)
    assert "Line 3: &#x27;x&#x27; in input is not a number." in answer.content.decode()
    assert client.post("/prices/desk/edit/", {"version": "1", "text": "model,input\nash,2\n"}).status_code == 303
    assert [price.model for price in prices_in(newest("desk")).prices] == ["ash"]


def test_an_edit_of_a_version_that_has_a_successor_is_refused(client: Client) -> None:
    create_list("Desk", [ASH])
    add_version("desk", [Price(model="birch", input=Decimal(1))], based_on=1)
    answer = client.post("/prices/desk/edit/", {"version": "1", **grid(ROW)})
    assert (answer.status_code, newest("desk").version) == (422, 2)
    assert "Version 2 was made while you edited version 1." in answer.content.decode()


def test_a_version_is_exported_as_it_is_read(client: Client) -> None:
    create_list("Desk", [ASH])
    answer = client.get("/prices/desk/1.csv")
    assert answer.content.decode() == (
        "model,provider,input,cached_input,cache_write,output,currency,date,source,quantised\n"
        "ash,Host,1.25,0.5,,10,USD,,,\n"
    )
    assert client.get("/prices/desk/9.csv").status_code == 404


@pytest.mark.parametrize("address", ["/prices/nothing/", "/prices/nothing/edit/", "/prices/nothing/1/"])
def test_an_unknown_list_is_not_found(client: Client, address: str) -> None:
    assert client.get(address).status_code == 404


def test_hostile_names_are_text(client: Client) -> None:
    name = '<script>alert("1")</script>\u202e'
    create_list(name, [Price(model=name, provider=name, source=name, input=Decimal(1))], note=name)
    slug = PriceList.objects.get().slug
    for address in ("/prices/", f"/prices/{slug}/", f"/prices/{slug}/edit/", "/leaderboards/new/"):
        text = client.get(address).content.decode()
        assert "<script>alert" not in text
        assert "&lt;script&gt;alert" in text


# --- what a run is priced by ---


def edited(run: Run, **pricing: str) -> dict[str, str]:
    return {"model": run.model, "benchmark": "desk", "repetitions": "2", "priced_by": "", **pricing}


def test_a_run_is_priced_on_its_page(client: Client) -> None:
    run = tallied_run("ash", {"a": "pp", "b": "pf"}, tokens=(1_000_000, 0, 0))
    address = run.get_absolute_url()
    assert 'not priced. <a href="/runs/desk-ash/edit/#prices">Choose prices</a>' in text_of(client, address)
    assert '<span class="dim sm">not priced</span>' in text_of(client, "/")
    listed = create_list("Desk", [ASH])
    assert client.post(f"{address}edit/", edited(run, priced_by=str(listed.pk))).status_code == 303
    text = text_of(client, address)
    assert "$5.00 for all 4 attempts" in text
    assert "$1.67 per success, $2.50 for all tasks once" in text
    assert 'Priced by <a href="/prices/desk/1/">Desk</a>.' in text
    assert "Cached tokens are counted inside input tokens" in text
    assert f'<option value="{listed.pk}" selected>' in text_of(client, f"{address}edit/")


def test_a_list_without_the_model_says_so_and_an_entry_can_be_chosen(client: Client) -> None:
    run = tallied_run("birch", {"a": "pp"}, tokens=(1_000_000, 0, 0))
    address, listed = run.get_absolute_url(), create_list("Desk", [ASH])
    client.post(f"{address}edit/", edited(run, priced_by=str(listed.pk)))
    assert "The price list “Desk” has no price of birch." in text_of(client, address)
    client.post(f"{address}edit/", edited(run, priced_by=str(listed.pk), price_model="ash"))
    assert "as <bdi>ash</bdi>" in text_of(client, address)


def test_a_total_is_stated_and_marked_so(client: Client) -> None:
    run = tallied_run("ash", {"a": "pp"})
    facts = edited(run, priced_by="stated", stated_total="742.30", stated_currency="eur", stated_source="invoice 7")
    assert client.post(f"{run.get_absolute_url()}edit/", facts).status_code == 303
    text = text_of(client, run.get_absolute_url())
    assert "€742.30 for all 2 attempts" in text
    assert "The total cost is stated, not computed from tokens. Source: invoice 7." in text
    assert '<span class="blk xs dim">stated</span>' in text_of(client, "/")


@pytest.mark.parametrize(
    ("pricing", "says"),
    [
        ({"priced_by": "stated"}, "The total is missing."),
        ({"priced_by": "stated", "stated_total": "-1"}, "A cost cannot be negative."),
        ({"priced_by": "stated", "stated_total": "lots"}, "This is not an amount."),
        ({"priced_by": "free"}, "This is none of the choices."),
        ({"priced_by": "77"}, "The price list is gone."),
    ],
)
def test_a_price_that_cannot_be_changes_nothing(client: Client, pricing: dict[str, str], says: str) -> None:
    run = tallied_run("ash", {"a": "pp"})
    answer = client.post(f"{run.get_absolute_url()}edit/", edited(run, **pricing) | {"model": "other"})
    assert answer.status_code == 422
    assert says in answer.content.decode()
    run.refresh_from_db()
    assert (run.model, RunPricing.objects.count()) == ("ash", 0)


def test_the_error_rule_is_in_the_address_and_beside_the_number(client: Client) -> None:
    run = tallied_run("ash", {"a": "pe", "b": "pp"})
    counted = text_of(client, run.get_absolute_url())
    assert '<div class="big">75.0%</div>' in counted
    assert "1 system error counts as not passed. Without it pass@1 is 100.0% of 3." in counted
    left_out = text_of(client, f"{run.get_absolute_url()}?errors=excluded")
    assert '<div class="big">100.0%</div>' in left_out
    assert "1 system error is left out of pass@1; counts of tasks never depend on it." in left_out
    for text in (counted, left_out):
        assert '<div class="big">1 <small>of 2</small></div><div class="sub">50.0% consistency, observed</div>' in text
        assert "pass^2: 50.0% unbiased, 62.5% plug-in" in text
    assert "<b>100.0%</b>" in text_of(client, "/?errors=excluded")
    assert 'name="errors" value="excluded"' in text_of(client, "/?errors=excluded")


def test_a_run_with_an_incomplete_task_has_no_retention(client: Client) -> None:
    run = tallied_run("ash", {"a": "p", "b": "pp"})
    assert "not computable: 1 task is incomplete" in text_of(client, run.get_absolute_url())


# --- formats ---


@pytest.mark.parametrize(
    ("amount", "currency", "text"),
    [
        ("1880.77", "USD", "$1,880.77"),
        ("7.8", "USD", "$7.80"),
        ("0.2756", "USD", "$0.276"),
        ("0.27", "EUR", "€0.27"),
        ("0.2701", "EUR", "€0.270"),
        ("0.02802", "USD", "$0.0280"),
        ("0.3", "USD", "$0.30"),
        ("0.000012", "USD", "$0.000012"),
        ("0.00516", "USD", "$0.00516"),
        ("0", "USD", "$0.00"),
        ("3", "CHF", "CHF\u00a03.00"),
        ("0.9999", "USD", "$1.00"),
        ("0.0999999", "USD", "$0.100"),
        ("0.0099999", "USD", "$0.0100"),
    ],
)
def test_money(amount: str, currency: str, text: str) -> None:
    assert money(Decimal(amount), currency) == text


def test_shares_are_never_rounded_to_nothing_or_to_all() -> None:
    assert [points(share) for share in (None, 0, 0.0001, 0.672, 0.99999, 1)] == [
        "–",
        "0.0",
        "<0.1",
        "67.2",
        ">99.9",
        "100.0",
    ]
    assert [whole_percent(share) for share in (None, 0, 0.001, 0.784, 1)] == ["–", "0%", "<1%", "78%", "100%"]
    assert [shade(share) for share in (None, 0.1, 0.2, 0.41, 0.6, 0.9)] == ["h0", "h0", "h1", "h2", "h3", "h4"]
    assert [along(share, 0.8) for share in (0, 0.4, 0.9)] == ["4.0", "80.0", "156.0"]
