"""What a write of an attempt is about, for a comparison: which of the fields that it names are graded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import UNSET

from runs.records import Effect, EffectKind, GradedAttempt, Grading
from runs.statediff import shipped_rules

__all__ = ["GradedField", "graded_by_step", "ungraded_by_step"]

_Table = tuple[str, str]


class GradedField(msgspec.Struct, frozen=True):
    """A graded field that a step wrote. `required` is UNSET where no such record or field is required."""

    required: Any
    settled: bool
    """The step wrote it last, and it ended as required."""


def graded_by_step(graded: GradedAttempt) -> dict[int, dict[str, GradedField]]:
    """Step → the graded fields that it wrote; of two with one name the one that failed."""
    found: dict[int, dict[str, GradedField]] = {}
    for effect in graded.effects:
        if effect.kind is EffectKind.UNGRADED or effect.positional:
            continue
        for place, write in enumerate(effect.writes):
            settled = place == 0 and effect.kind is EffectKind.CORRECT
            for name, required in _fields(effect):
                found.setdefault(write.step, {}).setdefault(name, GradedField(required, settled))
    return found


def _fields(effect: Effect) -> Iterator[tuple[str, Any]]:
    """The field of an effect with its required value; of a whole record each that it has or should have."""
    if effect.field is not None:
        yield effect.field, effect.required
        return
    required = effect.required if isinstance(effect.required, dict) else {}
    after = effect.after if isinstance(effect.after, dict) else {}
    for name in dict.fromkeys([*required, *after]):
        yield name, required.get(name, UNSET)


def ungraded_by_step(graded: GradedAttempt) -> dict[int, frozenset[str]]:
    """Step → the fields that are graded in none of the tables that it wrote to.

    A field is known as not graded from the list that was proven for its server, or from a change that did not count.
    """
    fields: dict[_Table, set[str]] = {}
    for server in graded.servers:
        if server.grading is Grading.LISTED:
            for table, rules in shipped_rules().get(server.server, {}).items():
                fields[server.server, table] = set(rules.ungraded)
    tables: dict[int, set[_Table]] = {}
    for effect in graded.effects:
        place = effect.server, effect.table
        if effect.kind is EffectKind.UNGRADED and effect.field is not None:
            fields.setdefault(place, set()).add(effect.field)
        for write in effect.writes:
            tables.setdefault(write.step, set()).add(place)
    return {
        step: frozenset(set.intersection(*(fields.get(place, set()) for place in places)))
        for step, places in tables.items()
    }
