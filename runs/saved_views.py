"""Named views of the page of failures."""

from __future__ import annotations

from runs.models import SavedView
from runs.prepare import indexed_text
from runs.queries.failure_filters import FailureFilters

__all__ = ["LONGEST_NAME", "save_view", "saved_views"]

LONGEST_NAME = 100
_MOST_LISTED = 200


def save_view(name: str, filters: FailureFilters) -> SavedView | None:
    """Keeps filters under a name, in place of what was kept under it; None for a name without a letter."""
    name = indexed_text(" ".join(name.split()), LONGEST_NAME)
    if not name:
        return None
    view, _ = SavedView.objects.update_or_create(name=name, defaults={"query": filters.but().query()})
    return view


def saved_views() -> list[SavedView]:
    """By name; the first two hundred."""
    return list(SavedView.objects.order_by("name")[:_MOST_LISTED])
