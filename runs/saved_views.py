"""Named views of the page of failures."""

from __future__ import annotations

from runs.errors import RunsError
from runs.models import SavedView
from runs.naming import UNSTORABLE, storable
from runs.queries.failure_filters import FailureFilters

__all__ = ["LONGEST_NAME", "NameTaken", "SavedViewError", "save_view", "saved_views"]

LONGEST_NAME = 100
_MOST_LISTED = 200


class SavedViewError(RunsError):
    """A view that cannot be saved; the message is a sentence."""


class NameTaken(SavedViewError):
    """Another set of filters has the name."""


def save_view(name: str, filters: FailureFilters, *, replace: bool = False) -> SavedView:
    """Keeps filters under a name; blanks in a row count as one.

    Raises `SavedViewError` for a name that says nothing, is too long or cannot be stored, and `NameTaken` where other
    filters are kept under it, unless `replace` says that they may go.
    """
    name = " ".join(name.split())
    if not name:
        raise SavedViewError("The view has no name. Type at least one letter or digit.")
    if not storable(name):
        raise SavedViewError(f"The name {UNSTORABLE}")
    if len(name) > LONGEST_NAME:
        raise SavedViewError(f"The name has {len(name):,} characters, and {LONGEST_NAME:,} are the most.")
    query = filters.but().query()
    if replace:
        return SavedView.objects.update_or_create(name=name, defaults={"query": query})[0]
    view, is_new = SavedView.objects.get_or_create(name=name, defaults={"query": query})
    if not is_new and view.query != query:
        raise NameTaken(f"There is a saved view “{name}” with other filters. Choose another name, or replace it.")
    return view


def saved_views() -> list[SavedView]:
    """By name; the first two hundred."""
    return list(SavedView.objects.order_by("name")[:_MOST_LISTED])
