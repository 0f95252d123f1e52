"""What the shipped demo runs are priced by, and the leaderboard they are on."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from django.db import transaction

from runs.access import EVERYTHING
from runs.boards.edit import BoardChanges, create_board
from runs.costs import Price
from runs.models import Leaderboard, PriceList, Run, RunPricing
from runs.models.run import Weights
from runs.prices import PricingChoice, create_list, price_run

__all__ = ["board_demo_runs"]

_LIST = "Example prices"
_BOARD = "Rental desk"
_PROVIDER = "Example host"
_MODELS = (
    # model, weights, input, cached input, output: invented, in a plausible relation to each other
    ("marlow-3-pro", Weights.PROPRIETARY, "4.00", "0.40", "20.00"),
    ("tansy-flash", Weights.PROPRIETARY, "0.60", "0.06", "2.40"),
    ("ovenbird-7b", Weights.OPEN, "0.20", "0.05", "0.60"),
)


@transaction.atomic
def board_demo_runs(runs: Sequence[Run]) -> Leaderboard:
    """Prices the demo runs and puts them on a leaderboard. What a person has changed since stays as it is."""
    prices = PriceList.objects.filter(is_example=True).order_by("-version").first() or _price_list()
    weights = {model: kind for model, kind, *_ in _MODELS}
    for run in runs:
        if not run.weights and run.model in weights:
            Run.objects.filter(pk=run.pk).update(weights=weights[run.model].value)
        if not RunPricing.objects.filter(run=run).exists():
            price_run(run, PricingChoice(price_list=prices.pk))
    board = Leaderboard.objects.filter(is_example=True).order_by("pk").first()
    if board is not None:
        return board
    return create_board(
        BoardChanges(
            title=_BOARD,
            text="Three invented models, with invented prices, at a desk that hires out tools: which of them can it be "
            "left to?",
            runs=tuple(run.slug for run in runs),
            by_weights=False,
        ),
        is_example=True,
        access=EVERYTHING,
    )


def _price_list() -> PriceList:
    made = [
        Price(
            model=model,
            provider=_PROVIDER,
            input=Decimal(fresh),
            cached=Decimal(cached),
            output=Decimal(output),
            date="2026-03-18",
            source="invented for the example",
        )
        for model, _, fresh, cached, output in _MODELS
    ]
    note = "Invented prices of invented models, so that the example shows costs."
    return create_list(_LIST, made, note=note, is_example=True)
