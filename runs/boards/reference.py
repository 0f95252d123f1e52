"""The leaderboard of the published results."""

from __future__ import annotations

from runs.boards.inputs import USUAL_COLUMNS, Order
from runs.metrics import ErrorRule
from runs.models import Leaderboard
from runs.published import THINKINGBOX_BENCH_RESULTS

__all__ = ["REFERENCE_SLUG", "make_reference"]

REFERENCE_SLUG = "thinkingbox-bench-v1-0"


def make_reference() -> Leaderboard:
    """Makes the board where it is not there, and leaves it alone where it is."""
    results = THINKINGBOX_BENCH_RESULTS
    board, _ = Leaderboard.objects.get_or_create(
        slug=REFERENCE_SLUG,
        defaults={
            "title": results.benchmark,
            "text": "The results that were published for this benchmark; none of them was measured here.",
            "published": [model.name for model in results.models],
            "columns": [column.value for column in USUAL_COLUMNS],
            "order": Order.PASS_AT_1.value,
            "error_rule": ErrorRule.AS_FAILED.value,
        },
    )
    return board
