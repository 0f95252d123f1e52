"""When a task is suspicious: all models that fail it fail in the same way. Plain Python; the one rule for all pages.

A mistake is a wrong field: its kind, table, field and value, whichever record it is in. A whole row too many or too few
is none: models that do nothing all miss the same rows, which says nothing about the task.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

__all__ = ["FEWEST_MODELS", "mistakes_of_all"]

FEWEST_MODELS = 2
"""Models that have to fail: one alone says nothing about the task."""
_MOST = 0.5
"""A model fails in a way where at least this share of its failed attempts has the mistake."""

_Mistake = TypeVar("_Mistake")


def mistakes_of_all(failed: Mapping[str, int], made: Mapping[_Mistake, Mapping[str, int]]) -> list[_Mistake]:
    """The mistakes at one task that at least half of the failed attempts of every model that fails it have.

    `failed`: model → its failed attempts at the task. `made`: mistake → model → failed attempts that have it. Whether
    another model passes the task does not count.
    """
    failing = {model: count for model, count in failed.items() if count}
    if len(failing) < FEWEST_MODELS:
        return []
    return [
        mistake
        for mistake, models in made.items()
        if all(models.get(model, 0) >= _MOST * count for model, count in failing.items())
    ]
