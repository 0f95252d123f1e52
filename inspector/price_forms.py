"""Forms of price lists, and of what a run is priced by."""

from __future__ import annotations

import csv
import io
from decimal import Decimal
from typing import Any, NamedTuple

from django import forms
from django.http import QueryDict

from runs.costs import Price, StatedCost
from runs.models import Run
from runs.prices import PricingChoice, choice_of
from runs.pricing import COLUMNS, PriceFileError, PriceFormat, read_prices

__all__ = [
    "STATED",
    "GridCell",
    "ImportForm",
    "NewListForm",
    "PricingForm",
    "ReadPrices",
    "grid_rows",
    "read_grid",
    "read_text",
]

STATED = "stated"
SPARE_ROWS = 3
LABELS = {
    "model": "Model",
    "provider": "Provider",
    "input": "Input",
    "cached_input": "Cached input",
    "cache_write": "Cache write",
    "output": "Output",
    "currency": "Currency",
    "date": "Date",
    "source": "Source",
    "quantised": "Quantised",
}
MOST_ROWS = 60
"""Of the grid; a longer list is edited as text."""
_CURRENCY = forms.RegexField(
    r"^[A-Za-z]{3}$",
    required=False,
    error_messages={"invalid": "A currency has three letters, such as USD."},
)


class ReadPrices(NamedTuple):
    prices: list[Price]
    problems: list[str]
    """Sentences with their place; with any, nothing is to be stored."""


class GridCell(NamedTuple):
    name: str
    label: str
    text: str


class Given(NamedTuple):
    currency: str
    date: str
    source: str


class NewListForm(forms.Form):
    name = forms.CharField(
        max_length=200, error_messages={"required": "The list has no name. Give it one, such as the provider's."}
    )


class ImportForm(forms.Form):
    """What is said about a version, and about the entries of a file that do not say it themselves. Rows have columns of
    those names."""

    file_currency = _CURRENCY
    file_date = forms.DateField(
        required=False,
        input_formats=["%Y-%m-%d"],
        error_messages={"invalid": "This is not a day. Write it as 2026-09-20, or leave it empty."},
    )
    file_source = forms.CharField(required=False, max_length=500)
    note = forms.CharField(required=False, max_length=2000)

    def given(self) -> Given:
        """Of a valid form, for `read_prices`."""
        day = self.cleaned_data["file_date"]
        currency = (self.cleaned_data["file_currency"] or "USD").upper()
        return Given(currency, day.isoformat() if day else "", self.cleaned_data["file_source"])


def read_text(text: str) -> ReadPrices:
    """Prices as CSV text."""
    return _read(text, "line {}")


def read_grid(data: QueryDict) -> ReadPrices:
    """Prices from a form with a row an entry; a row without a model and without prices is left out."""
    columns = [data.getlist(name) for name in COLUMNS]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in zip(*columns, strict=False):
        cells = [" ".join(cell.split()) for cell in row]
        # An empty row keeps its line, so that a problem names the row that is seen.
        writer.writerow(cells if any(cells[:1] + cells[2:6]) else [])
    return _read(out.getvalue(), "row {}")


def _read(text: str, place: str) -> ReadPrices:
    if not "".join(text.split("\n")[1:]).strip():
        return ReadPrices([], ["The list has no price. Write at least one."])
    try:
        made = read_prices(text.encode(), format=PriceFormat.CSV)
    except PriceFileError as error:
        return ReadPrices([], [str(error)])
    problems = []
    for problem in made.problems:
        number = problem.place.removeprefix("line ")
        shown = place.format(number if place.startswith("line") else int(number) - 1)
        problems.append(f"{shown.capitalize()}: {problem.reason}")
    return ReadPrices(made.prices, problems)


def grid_rows(prices: list[list[str]]) -> list[list[GridCell]]:
    """The rows of the form, with spare ones behind."""
    rows = [*prices, *([""] * len(COLUMNS) for _ in range(SPARE_ROWS))]
    return [[GridCell(name, LABELS[name], text) for name, text in zip(COLUMNS, row, strict=True)] for row in rows]


class PricingForm(forms.Form):
    """What a run is priced by: nothing, a list, or a stated total."""

    priced_by = forms.CharField(required=False, max_length=20)
    price_model = forms.CharField(required=False, max_length=200)
    price_provider = forms.CharField(required=False, max_length=200)
    stated_total = forms.DecimalField(
        required=False,
        min_value=Decimal(0),
        max_digits=20,
        decimal_places=6,
        error_messages={
            "invalid": "This is not an amount. Write it with a point, as in 742.30.",
            "min_value": "A cost cannot be negative.",
        },
    )
    stated_currency = _CURRENCY
    stated_source = forms.CharField(required=False, max_length=500)

    @staticmethod
    def facts_of(run: Run) -> dict[str, Any]:
        choice = choice_of(run)
        stated = choice.stated
        return {
            "priced_by": STATED if stated else str(choice.price_list or ""),
            "price_model": choice.model,
            "price_provider": choice.provider,
            "stated_total": None if stated is None else f"{stated.total:f}",
            "stated_currency": "USD" if stated is None else stated.currency,
            "stated_source": "" if stated is None else stated.source,
        }

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        priced_by = cleaned.get("priced_by", "")
        if priced_by == STATED and cleaned.get("stated_total") is None and "stated_total" not in self.errors:
            self.add_error("stated_total", "The total is missing. Give what all recorded attempts cost together.")
        elif priced_by not in {"", STATED} and not (priced_by.isascii() and priced_by.isdecimal()):
            self.add_error("priced_by", "This is none of the choices. Choose a price list, or a stated total.")
        return cleaned

    def choice(self) -> PricingChoice:
        """Of a valid form."""
        data = self.cleaned_data
        if data["priced_by"] == STATED:
            currency = (data["stated_currency"] or "USD").upper()
            return PricingChoice(
                stated=StatedCost(total=data["stated_total"], currency=currency, source=data["stated_source"].strip())
            )
        if not data["priced_by"]:
            return PricingChoice()
        return PricingChoice(
            price_list=int(data["priced_by"]),
            model=data["price_model"].strip(),
            provider=data["price_provider"].strip(),
        )
