"""What a write of an attempt is about, for a comparison: which of the fields that it names are not graded."""

from __future__ import annotations

from runs.records import EffectKind, GradedAttempt, Grading
from runs.statediff import shipped_rules

__all__ = ["ungraded_by_step"]

_Table = tuple[str, str]


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
