"""What single attempts of a run cost, by the price that the run has."""

from __future__ import annotations

from decimal import Decimal

import msgspec

from runs.boards.gather import inputs_by_run, with_pricing
from runs.costs import Price, Tokens, UsageStyle, attempt_cost, detect_style
from runs.models import Attempt, Run
from runs.records import Usage

__all__ = ["AttemptCost", "AttemptPrice", "attempt_price", "usage_of"]


class AttemptCost(msgspec.Struct, frozen=True, kw_only=True):
    """What the tokens of one attempt cost."""

    amount: Decimal
    currency: str
    price_list: str
    """The label of the list whose price it is."""


class AttemptPrice(msgspec.Struct, frozen=True, kw_only=True):
    """By which all attempts of a run are priced."""

    price: Price
    price_list: str
    style: UsageStyle
    """How the run's cached tokens are counted."""

    def of(self, usage: Usage | None) -> AttemptCost | None:
        """None where no tokens, or not every price that is needed, are known."""
        if usage is None:
            return None
        amount = attempt_cost(Tokens.of(usage), self.price, self.style)
        if amount is None:
            return None
        return AttemptCost(amount=amount, currency=self.price.currency, price_list=self.price_list)


def attempt_price(run: int) -> AttemptPrice | None:
    """None for a run that is not priced by its tokens: a stated total says nothing of single attempts.

    One query, two more where the run has changed since the last time.
    """
    stored = with_pricing(Run.objects.filter(pk=run)).first()
    if stored is None:
        return None
    given = inputs_by_run([stored])[run]
    tokens = [task.usage().tokens for task in given.tasks]
    if given.price is None or given.stated is not None or not all(map(given.price.covers, tokens)):
        return None
    style = given.style or detect_style(tokens)
    return AttemptPrice(price=given.price, price_list=given.price_list, style=style)


def usage_of(attempt: Attempt) -> Usage | None:
    """The tokens of an attempt as its row in the database has them; None where none are recorded."""
    if attempt.input_tokens is None and attempt.output_tokens is None:
        return None
    return Usage(
        input=attempt.input_tokens or 0,
        cached=attempt.cached_tokens or 0,
        cache_write=attempt.cache_write_tokens or 0,
        output=attempt.output_tokens or 0,
        beside=attempt.usage_beside,
    )
