"""Reads price lists: CSV and YAML of our own columns, and the models JSON of OpenRouter.

Nothing is executed and nothing is guessed: an entry without a readable price is listed as a problem, with its place.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from typing import Any

import msgspec
import yaml

from runs.costs import Price
from runs.errors import RunsError
from runs.naming import LONGEST_NAME, UNSTORABLE, storable

__all__ = ["COLUMNS", "LARGEST", "PriceFileError", "PriceFormat", "PriceImport", "PriceProblem", "read_prices"]

LARGEST = 10 << 20
"""Bytes of a price list; the models JSON has about one million."""
COLUMNS = (
    "model", "provider", "input", "cached_input", "cache_write", "output", "currency", "date", "source", "quantised",
)  # fmt: skip
"""Of the CSV and YAML forms. Prices are per million tokens; an empty one is not known. `model` is required."""
_OTHER_NAMES = {"cached": "cached_input", "quantized": "quantised"}
_PRICES = {"input": "input", "cached_input": "cached", "cache_write": "cache_write", "output": "output"}
_OPENROUTER = {
    "prompt": "input",
    "completion": "output",
    "input_cache_read": "cached",
    "input_cache_write": "cache_write",
}
_BOOLEANS = {"": None, "yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
_MILLION = Decimal(1_000_000)
_MOST_EXPENSIVE = Decimal(1_000_000)


class PriceFileError(RunsError):
    """A price list cannot be read as a whole."""


class PriceFormat(StrEnum):
    CSV = "csv"
    YAML = "yaml"
    OPENROUTER = "openrouter"


class PriceProblem(msgspec.Struct, frozen=True):
    place: str
    """`line 3`, `entry 2`, `data[7]`."""
    reason: str


class PriceImport(msgspec.Struct, frozen=True, kw_only=True):
    format: PriceFormat
    prices: list[Price]
    """In the order of the file; one for a model at a provider."""
    problems: list[PriceProblem]
    """Entries that were not taken, and why."""
    notes: list[PriceProblem]
    """Entries that were taken, and what is not in their prices."""


_LONGEST = {"source": 500}
"""Characters of a text, where that is not the length of a name."""
_Entry = tuple[str, Mapping[str, str]]


def read_prices(
    data: bytes, *, format: PriceFormat | None = None, currency: str = "USD", date: str = "", source: str = ""
) -> PriceImport:
    """The prices of a list. The three last arguments fill what an entry does not say itself.

    Without a format it is told from the content. Raises `PriceFileError` where the file as a whole is not readable.
    """
    if len(data) > LARGEST:
        raise PriceFileError(f"The price list has {len(data):,} bytes; the most that is read is {LARGEST:,}.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise PriceFileError(f"The price list is not UTF-8 text (byte {error.start:,}). Save it as UTF-8.") from None
    if not text.strip():
        raise PriceFileError(f"The price list is empty. A CSV list names its columns first: {', '.join(COLUMNS)}.")
    kind = format or _format_of(text)
    given = {"currency": currency, "date": date, "source": source}
    if kind is PriceFormat.OPENROUTER:
        return _collect(kind, _openrouter_entries(text), given, _openrouter_prices)
    entries = _csv_entries(text) if kind is PriceFormat.CSV else _yaml_entries(text)
    return _collect(kind, entries, given, _listed_prices)


def _format_of(text: str) -> PriceFormat:
    start = text.lstrip()
    if start.startswith(("{", "[")):
        return PriceFormat.OPENROUTER
    first = start.partition("\n")[0]
    columns = {_column(name) for name in next(csv.reader([first], delimiter=_delimiter(first)), [])}
    return PriceFormat.CSV if {"model", "input"} <= columns or {"model", "output"} <= columns else PriceFormat.YAML


def _collect(
    kind: PriceFormat,
    entries: Iterable[_Entry | PriceProblem],
    given: Mapping[str, str],
    prices_of: Callable[[Mapping[str, str]], tuple[dict[str, Decimal | None], list[str]]],
) -> PriceImport:
    found: dict[tuple[str, str], Price] = {}
    problems: list[PriceProblem] = []
    notes: list[PriceProblem] = []
    for entry in entries:
        if isinstance(entry, PriceProblem):
            problems.append(entry)
            continue
        place, fields = entry
        try:
            amounts, remarks = prices_of(fields)
            price = _price(fields, amounts, given)
        except ValueError as error:
            problems.append(PriceProblem(place, str(error)))
            continue
        key = price.model.casefold(), price.provider.casefold()
        if key in found:
            problems.append(PriceProblem(place, f"{price.model!r} is listed above already, at the same provider."))
            continue
        found[key] = price
        notes += [PriceProblem(place, f"{price.model}: {remark}") for remark in remarks]
    return PriceImport(format=kind, prices=list(found.values()), problems=problems, notes=notes)


def _price(fields: Mapping[str, str], amounts: Mapping[str, Decimal | None], given: Mapping[str, str]) -> Price:
    model = fields.get("model", "").strip()
    if not model:
        raise ValueError("The entry names no model.")
    if amounts["input"] is None and amounts["output"] is None:
        raise ValueError(f"{model!r} has neither an input nor an output price.")
    quantised = fields.get("quantised", "").strip().casefold()
    if quantised not in _BOOLEANS:
        raise ValueError(f"{quantised!r} in quantised is neither yes nor no.")
    provider = fields.get("provider", "").strip()
    said = {name: fields.get(name, "").strip() or value for name, value in given.items()}
    for name, value in {"model": model, "provider": provider, **said}.items():
        if not storable(value):
            raise ValueError(f"{name} {UNSTORABLE}")
        if len(value) > _LONGEST.get(name, LONGEST_NAME):
            raise ValueError(
                f"{name} has {len(value):,} characters, and {_LONGEST.get(name, LONGEST_NAME):,} are the most."
            )
    return Price(
        model=model,
        provider=provider,
        input=amounts["input"],
        cached=amounts["cached"],
        cache_write=amounts["cache_write"],
        output=amounts["output"],
        currency=said["currency"].upper(),
        date=said["date"],
        source=said["source"],
        quantised=_BOOLEANS[quantised],
    )


def _amount(text: str, name: str) -> Decimal | None:
    """A price as it is written; None where the cell is empty. A comma is refused: it could mean either."""
    plain = text.strip().removeprefix("$").strip()
    if not plain:
        return None
    try:
        value = Decimal(plain)
    except InvalidOperation:
        raise ValueError(
            f"{text.strip()!r} in {name} is not a number. Write it with a point, as in 1.25; leave it empty when it is "
            "not known."
        ) from None
    if not value.is_finite() or value < 0:
        raise ValueError(f"{text.strip()!r} in {name} is no price.")
    return value


def _listed_prices(fields: Mapping[str, str]) -> tuple[dict[str, Decimal | None], list[str]]:
    amounts = {ours: _amount(fields.get(name, ""), name) for name, ours in _PRICES.items()}
    for name, value in amounts.items():
        if value is not None and value > _MOST_EXPENSIVE:
            raise ValueError(f"{value} in {name} is more than a million for a million tokens.")
    return amounts, []


def _openrouter_prices(fields: Mapping[str, str]) -> tuple[dict[str, Decimal | None], list[str]]:
    amounts: dict[str, Decimal | None] = {}
    for name, ours in _OPENROUTER.items():
        text = fields.get(f"pricing.{name}", "")
        if text.strip().startswith("-"):
            raise ValueError(f"{fields.get('model', '')!r} has no fixed price ({name} is {text.strip()}).")
        per_token = _amount(text, f"pricing.{name}")
        amounts[ours] = None if per_token is None else per_token * _MILLION
    request = _amount(fields.get("pricing.request", ""), "pricing.request")
    return amounts, ["a price per request is charged besides, and is not counted."] if request else []


def _csv_entries(text: str) -> Iterator[_Entry | PriceProblem]:
    reader = csv.reader(io.StringIO(text), delimiter=_delimiter(text.lstrip().partition("\n")[0]))
    columns: list[str] | None = None
    try:
        for row in reader:
            if not any(cell.strip() for cell in row):
                continue
            if columns is None:
                columns = [_column(name) for name in row]
                _check_columns(columns)
            elif len(row) > len(columns):
                place = f"line {reader.line_num}"
                yield PriceProblem(place, f"The line has {len(row)} cells, and the header {len(columns)}.")
            else:
                yield f"line {reader.line_num}", dict(zip(columns, row, strict=False))
    except csv.Error as error:
        raise PriceFileError(f"Line {reader.line_num} of the price list is not CSV: {error}.") from None


def _check_columns(columns: Sequence[str]) -> None:
    known = ", ".join(COLUMNS)
    if "model" not in columns:
        raise PriceFileError(f"The first line of the price list has no column model. The columns are: {known}.")
    for name in columns:
        if name not in COLUMNS:
            raise PriceFileError(f"The price list has a column {name!r}, which is not known. The columns are: {known}.")
        if columns.count(name) > 1:
            raise PriceFileError(f"The price list has the column {name!r} twice.")


def _column(name: str) -> str:
    plain = "_".join(name.strip().casefold().replace("-", "_").split())
    return _OTHER_NAMES.get(plain, plain)


def _delimiter(first: str) -> str:
    return max(",;\t", key=first.count)


def _yaml_entries(text: str) -> Iterator[_Entry | PriceProblem]:
    try:
        # The base loader leaves every scalar a text, so that a price keeps its digits.
        document = yaml.load(text, Loader=yaml.BaseLoader)  # noqa: S506 (makes only lists, mappings and texts)
    except (yaml.YAMLError, RecursionError) as error:
        raise PriceFileError(f"The price list is not YAML: {str(error) or 'nested too deeply'}.") from None
    entries = document.get("prices") if isinstance(document, dict) else document
    if not isinstance(entries, list):
        raise PriceFileError("The price list is no list of prices. Write `- model: …` for each, or a list in `prices`.")
    for number, entry in enumerate(entries, start=1):
        place = f"entry {number}"
        if not isinstance(entry, dict):
            yield PriceProblem(place, "The entry is not a mapping of names to values.")
            continue
        fields = {_column(str(name)): value for name, value in entry.items()}
        unknown = [name for name in fields if name not in COLUMNS]
        odd = [name for name, value in fields.items() if not isinstance(value, str)]
        if unknown:
            yield PriceProblem(place, f"{unknown[0]!r} is not known. The names are: {', '.join(COLUMNS)}.")
        elif odd:
            yield PriceProblem(place, f"{odd[0]} is not a single value.")
        else:
            yield place, {name: "" if value.strip() in {"null", "~"} else value for name, value in fields.items()}


def _openrouter_entries(text: str) -> Iterator[_Entry | PriceProblem]:
    try:
        document = json.loads(text, parse_float=str, parse_int=str, parse_constant=str)
    except (ValueError, RecursionError) as error:
        raise PriceFileError(f"The price list is not JSON: {str(error) or 'nested too deeply'}.") from None
    models = document.get("data") if isinstance(document, dict) else document
    if not isinstance(models, list):
        raise PriceFileError("The JSON is not OpenRouter's list of models: it has no list `data`.")
    for number, model in enumerate(models):
        place = f"data[{number}]"
        pricing = model.get("pricing") if isinstance(model, dict) else None
        if not isinstance(pricing, dict):
            yield PriceProblem(place, "The entry has no object `pricing`.")
            continue
        fields = {"model": _text(model.get("id")), "provider": "OpenRouter", "source": "OpenRouter"}
        yield place, fields | {f"pricing.{name}": _text(value) for name, value in pricing.items()}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else json.dumps(value)
