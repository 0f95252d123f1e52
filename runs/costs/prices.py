"""Price lists: what a model's tokens cost at a provider, on a day, by a source."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

import msgspec

from runs.costs.tokens import Tokens, UsageStyle, detect_style

__all__ = ["PER_MILLION", "FoundPrice", "Price", "PriceList", "attempt_cost", "find_price", "same_model"]

PER_MILLION = Decimal(1_000_000)


class Price(msgspec.Struct, frozen=True, kw_only=True):
    """Prices per million tokens. None is "not known", never 0."""

    model: str
    provider: str = ""
    input: Decimal | None = None
    cached: Decimal | None = None
    """Of input tokens read from a cache; where it is None, they cost what input costs."""
    cache_write: Decimal | None = None
    """Of input tokens written to a cache; where it is None, they cost what input costs."""
    output: Decimal | None = None
    currency: str = "USD"
    date: str = ""
    """ISO 8601 day on which the price was seen; empty when not said."""
    source: str = ""
    quantised: bool | None = None
    """Whether the provider serves a quantised model; None when not said."""

    def covers(self, tokens: Tokens) -> bool:
        """Whether each price that these tokens need is known."""
        return (self.input is not None or not (tokens.input or tokens.cached or tokens.cache_write)) and (
            self.output is not None or not tokens.output
        )

    def __post_init__(self) -> None:
        for name in ("input", "cached", "cache_write", "output"):
            value = getattr(self, name)
            if value is not None and not (value.is_finite() and value >= 0):
                raise ValueError(f"The {name} price of {self.model!r} is {value}, which is no price.")


class PriceList(msgspec.Struct, frozen=True, kw_only=True):
    """A named list. A changed list is another version, so that an old page keeps its prices."""

    name: str
    version: int = 1
    prices: tuple[Price, ...] = ()

    @property
    def label(self) -> str:
        return self.name if self.version == 1 else f"{self.name}, version {self.version}"


class FoundPrice(msgspec.Struct, frozen=True):
    """A price, or a sentence that says why there is none; with a price, a sentence on what it is not."""

    price: Price | None
    reason: str = ""


def find_price(prices: PriceList, model: str, provider: str = "") -> FoundPrice:
    """The one price of a model in a list, never a guess between several: then the run has to name a provider.

    A model's only price is taken whatever provider it is of, and `reason` says so where the run names another.
    """
    named = [price for price in prices.prices if same_model(price.model, model)]
    if not named:
        return FoundPrice(None, f"The price list “{prices.label}” has no price of {model}.")
    served = [price for price in named if provider and price.provider.casefold() == provider.casefold()]
    candidates = served or named
    candidates = [price for price in candidates if price.model == model] or candidates
    if len(candidates) > 1:
        where = ", ".join(sorted(f"{price.model} at {price.provider or 'no provider'}" for price in candidates))
        return FoundPrice(
            None, f"The price list “{prices.label}” has several prices of {model} ({where}): name the provider."
        )
    other = candidates[0].provider
    if provider and other and not served:
        return FoundPrice(candidates[0], f"The price is of {other}, the run of {provider}.")
    return FoundPrice(candidates[0])


def same_model(listed: str, model: str) -> bool:
    """Whether a listed id names the model: equal but for case and separators, with or without the vendor before `/`."""
    ours, theirs = _plain(listed), _plain(model)
    (vendor, _, name), (other_vendor, _, other_name) = ours.rpartition("/"), theirs.rpartition("/")
    return ours == theirs or (bool(name) and name == other_name and "" in {vendor, other_vendor})


def _plain(name: str) -> str:
    return "-".join(name.strip().casefold().replace("_", "-").split())


def attempt_cost(tokens: Tokens, price: Price | None, style: UsageStyle | None = None) -> Decimal | None:
    """What these tokens cost, in the price's currency; None where a price that is needed is not known.

    Each token is priced once: cached and written ones at their own price, reasoning as the output it is a part of.
    Without a style it is detected from these tokens alone.
    """
    if price is None:
        return None
    read = style or detect_style([tokens])
    parts: Sequence[tuple[int, Decimal | None]] = (
        (tokens.fresh(read), price.input),
        (tokens.cached, price.input if price.cached is None else price.cached),
        (tokens.cache_write, price.input if price.cache_write is None else price.cache_write),
        (tokens.output, price.output),
    )
    total = Decimal(0)
    for count, rate in parts:
        if not count:
            continue
        if rate is None:
            return None
        total += count * rate / PER_MILLION
    return total
