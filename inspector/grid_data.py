"""What the script of the grid needs to name the cell under the pointer and to open its attempt."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from django.http import QueryDict
from django.urls import reverse
from django.utils.http import RFC3986_SUBDELIMS

from inspector.paths import UidConverter
from runs.queries.run_grid import Colour, Grid, GridView, Order

__all__ = ["grid_data", "grid_view"]


def grid_view(query: QueryDict) -> GridView:
    """`?grid=rep&colour=signature`; anything else is the usual view."""
    return GridView(
        order=Order.REPETITION if query.get("grid") == Order.REPETITION.value else Order.FIRST,
        colour=Colour.SIGNATURE if query.get("colour") == Colour.SIGNATURE.value else Colour.VERDICT,
    )


def grid_data(grid: Grid) -> dict[str, Any]:
    """For `json_script`. A task is its name, its uid as it stands in an address, and its letters."""
    escape = UidConverter().to_url
    return {
        "rows": grid.rows,
        "columns": grid.columns,
        "order": grid.view.order.value,
        "base": reverse("run", args=[grid.slug]) + "tasks/",
        "words": {
            "p": "passed", "f": "failed", "e": "system error or not graded", ".": "not recorded",
            **{letter: f"failed, {words.title}" for letter, words, _ in grid.legend},
        },
        "bands": [
            [
                [task.name, quote(escape(task.uid), safe=RFC3986_SUBDELIMS + "/~:@"), task.cells]
                for task in band.tasks
            ]
            for band in grid.bands
        ],
    }  # fmt: skip
