from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest

from runs.costs import Price
from runs.pricing import LARGEST, PriceFileError, PriceFormat, PriceProblem, read_prices

CSV = """model,provider,input,cached_input,cache_write,output,currency,date,source,quantised
birch,Forest,1.25,0.125,,10,usd,2026-09-20,price page,no
oak,,$0.30,,,2.5,,,,yes
"""

BIRCH = Price(
    model="birch",
    provider="Forest",
    input=Decimal("1.25"),
    cached=Decimal("0.125"),
    output=Decimal(10),
    date="2026-09-20",
    source="price page",
    quantised=False,
)
OAK = Price(
    model="oak", input=Decimal("0.30"), output=Decimal("2.5"), currency="EUR", date="2026-01-01", quantised=True
)


def openrouter(*models: dict[str, Any]) -> bytes:
    return json.dumps({"data": list(models)}).encode()


def test_csv() -> None:
    found = read_prices(CSV.encode(), currency="eur", date="2026-01-01")
    assert (found.format, found.prices, found.problems, found.notes) == (PriceFormat.CSV, [BIRCH, OAK], [], [])


def test_csv_of_a_spreadsheet() -> None:
    """A byte order mark, semicolons, other spellings of the header, blank lines and missing cells at the end."""
    text = "﻿Model;Cached Input;INPUT;Output;Quantized\r\n\r\nbirch;0.5;1;2;\r\n;;;\r\noak;;3\r\n"
    found = read_prices(text.encode())
    assert found.prices == [
        Price(model="birch", cached=Decimal("0.5"), input=Decimal(1), output=Decimal(2)),
        Price(model="oak", input=Decimal(3)),
    ]
    assert found.problems == []


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (",1,2", "The entry names no model."),
        ("oak,,", "'oak' has neither an input nor an output price."),
        (
            "oak,free,1",
            "'free' in input is not a number. Write it with a point, as in 1.25; leave it empty when it is not known.",
        ),
        ("oak,-1,1", "'-1' in input is no price."),
        ("oak,NaN,1", "'NaN' in input is no price."),
        ("oak,1,2000000", "2000000 in output is more than a million for a million tokens."),
        ("oak,1,2,3", "The line has 4 cells, and the header 3."),
        ("BIRCH,1,2", "'BIRCH' is listed above already, at the same provider."),
    ],
)
def test_a_bad_line_is_listed_and_costs_no_other(line: str, reason: str) -> None:
    found = read_prices(f"model,input,output\nbirch,1,2\n{line}\nelm,3,4\n".encode())
    assert [price.model for price in found.prices] == ["birch", "elm"]
    assert found.problems == [PriceProblem("line 3", reason)]


def test_a_bad_word_for_quantised() -> None:
    found = read_prices(b"model,input,quantised\noak,1,perhaps\n")
    assert found.problems == [PriceProblem("line 2", "'perhaps' in quantised is neither yes nor no.")]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b" \n", r"The price list is empty"),
        (b"model,input,colour\noak,1,red\n", r"a column 'colour', which is not known"),
        (b"model,input,input\noak,1,1\n", r"the column 'input' twice"),
        (b"\xff\xfe", r"not UTF-8 text \(byte 0\)"),
        (b'{"data": ', r"is not JSON"),
        (b'{"models": []}', r"no list `data`"),
        (b"[" * 100_000, r"is not JSON"),
        (b"- [", r"is not YAML"),
        (b"prices: 3", r"is no list of prices"),
        (b"x" * (LARGEST + 1), r"the most that is read is"),
    ],
)
def test_a_file_that_is_no_price_list(data: bytes, message: str) -> None:
    with pytest.raises(PriceFileError, match=message):
        read_prices(data)


def test_a_csv_file_that_is_said_to_be_one() -> None:
    with pytest.raises(PriceFileError, match=r"no column model"):
        read_prices(b"name,input\n", format=PriceFormat.CSV)


def test_yaml_keeps_every_digit() -> None:
    text = """
    prices:
      - model: birch
        provider: Forest
        input: 1.25
        cached_input: 0.125
        cache_write: null
        output: 10
        date: 2026-09-20
        source: price page
        quantised: no
      - {model: oak, input: 0.10000000000000000001, output: ~}
    """
    found = read_prices(text.encode())
    assert (found.format, found.problems) == (PriceFormat.YAML, [])
    assert found.prices == [BIRCH, Price(model="oak", input=Decimal("0.10000000000000000001"))]


def test_yaml_makes_no_objects_and_lists_what_it_cannot_read() -> None:
    text = """
    - model: !!python/object/apply:os.system ["true"]
      input: 1
    - just a text
    - {model: oak, colour: red, input: 1}
    - {model: elm, input: [1, 2]}
    - {model: birch, input: 1}
    """
    found = read_prices(text.encode())
    assert [price.model for price in found.prices] == ["birch"]
    assert [(problem.place, problem.reason.partition(".")[0]) for problem in found.problems] == [
        ("entry 1", "model is not a single value"),
        ("entry 2", "The entry is not a mapping of names to values"),
        ("entry 3", "'colour' is not known"),
        ("entry 4", "input is not a single value"),
    ]


def test_openrouter_prices_are_texts_per_token() -> None:
    found = read_prices(
        openrouter(
            {
                "id": "forest/birch",
                "pricing": {
                    "prompt": "0.00000125",
                    "completion": "0.00001",
                    "input_cache_read": "0.000000125",
                    "input_cache_write": "0.0000015625",
                    "request": "0",
                    "image": "0.01",
                },
            },
            {"id": "forest/oak", "pricing": {"prompt": 3e-7, "completion": "0.0000025", "request": "0.005"}},
        ),
        date="2026-09-20",
    )
    assert found.format is PriceFormat.OPENROUTER
    assert found.prices == [
        Price(
            model="forest/birch",
            provider="OpenRouter",
            input=Decimal("1.25"),
            cached=Decimal("0.125"),
            cache_write=Decimal("1.5625"),
            output=Decimal(10),
            date="2026-09-20",
            source="OpenRouter",
        ),
        Price(
            model="forest/oak",
            provider="OpenRouter",
            input=Decimal("0.3"),
            output=Decimal("2.5"),
            date="2026-09-20",
            source="OpenRouter",
        ),
    ]
    assert found.problems == []
    assert found.notes == [
        PriceProblem("data[1]", "forest/oak: a price per request is charged besides, and is not counted.")
    ]


def test_openrouter_entries_without_a_price() -> None:
    found = read_prices(
        openrouter(
            {"id": "openrouter/auto", "pricing": {"prompt": "-1", "completion": "-1"}},
            {"id": "forest/elm"},
            {"id": "forest/ash", "pricing": {"prompt": None, "completion": True}},
            {"id": "forest/birch:free", "pricing": {"prompt": "0", "completion": "0"}},
        )
    )
    assert [(price.model, price.input, price.output) for price in found.prices] == [
        ("forest/birch:free", Decimal(0), Decimal(0))
    ]
    assert [problem.place for problem in found.problems] == ["data[0]", "data[1]", "data[2]"]
    assert found.problems[0].reason == "'openrouter/auto' has no fixed price (prompt is -1)."
