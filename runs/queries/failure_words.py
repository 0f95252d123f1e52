"""What facets and their values are called on pages."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from runs.queries.failure_index import Facet
from runs.signatures import LABEL_TITLES, SIGNATURE_TITLES, Label, Signature

__all__ = ["FACET_TITLES", "Difference", "difference_of", "value_title"]

FACET_TITLES = {
    Facet.RUN: "Run",
    Facet.BENCHMARK: "Benchmark",
    Facet.MODEL: "Model",
    Facet.DOMAIN: "Domain",
    Facet.TASK: "Task",
    Facet.SIGNATURE: "Signature",
    Facet.LABEL: "Finer label",
    Facet.LOOKED: "Looked like a success",
    Facet.CLAIMED: "Claimed success",
    Facet.EFFECT: "Difference",
    Facet.TABLE: "Table",
    Facet.FIELD: "Field",
    Facet.SAME: "First difference",
    Facet.TOOL: "Tool called",
    Facet.ERRED: "Tool that erred",
    Facet.RUBRIC: "Rubric failed",
    Facet.FINISH: "Finish reason",
    Facet.DISAGREES: "Check and diff disagree",
    Facet.LONE: "Only failure of its task",
    Facet.ALIKE: "All models fail alike",
    Facet.COPY: "Row in several runs",
    Facet.NOTE: "Label of a note",
}
_EMPTY = {
    Facet.DOMAIN: "no domain",
    Facet.SIGNATURE: "not classified",
    Facet.LOOKED: "not known",
    Facet.CLAIMED: "not known",
    Facet.FINISH: "not recorded",
    Facet.SAME: "no difference",
    Facet.TOOL: "no name",
    Facet.ERRED: "no name",
}
_COPIES = {"no": "in one run only", "first": "in several: the oldest", "again": "in several: a copy"}


class Difference(msgspec.Struct, frozen=True):
    """A difference without its record; values are JSON, cut, and empty where there is none."""

    kind: str
    table: str
    field: str
    """Empty: a whole row."""
    after: str
    required: str


def difference_of(key: str) -> Difference:
    """What a value of `Facet.SAME` says; a text that is none says nothing."""
    kind, table, field, after, required = (*key.split("\x1f"), "", "", "", "", "")[:5]
    return Difference(kind, table, field, after, required)


def value_title(facet: Facet, value: str, models: Mapping[str, str]) -> str:
    """A value as a person reads it. `models`: slug of a run → its model."""
    if not value:
        return _EMPTY.get(facet, "empty")
    match facet:
        case Facet.RUN:
            return f"{models[value]} · {value}" if value in models else value
        case Facet.TASK:
            return value.rpartition(":")[2] or value
        case Facet.SIGNATURE:
            return SIGNATURE_TITLES[Signature(value)] if value in set(Signature) else value
        case Facet.COPY:
            return _COPIES.get(value, value)
        case Facet.LABEL:
            return LABEL_TITLES[Label(value)] if value in set(Label) else value
        case Facet.FIELD:
            return value if not value.endswith(".") else f"{value[:-1]} (whole row)"
        case Facet.SAME:
            found = difference_of(value)
            values = f": is {found.after or 'not there'}, required {found.required or 'not there'}"
            return f"{found.kind} {found.table} {found.field or 'row'}{values if found.field else ''}"
    return value
