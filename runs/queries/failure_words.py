"""What facets and their values are called on pages."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from runs.queries.failure_index import Facet
from runs.queries.values import stored_value
from runs.signatures import LABEL_TITLES, SIGNATURE_TITLES, Label, Signature

__all__ = ["EFFECT_HINTS", "FACET_HINTS", "FACET_TITLES", "Difference", "difference_of", "value_title"]

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
FACET_HINTS = {
    Facet.RUN: "One model on one benchmark, as it was sent",
    Facet.BENCHMARK: "The set of tasks",
    Facet.MODEL: "All its runs together",
    Facet.DOMAIN: "The part of the benchmark that the task belongs to",
    Facet.TASK: "One workflow; each run tries it several times",
    Facet.SIGNATURE: "The one diagnosis of a failed attempt; the first rule that matches gives it",
    Facet.LABEL: "What else stands out; an attempt can have several",
    Facet.LOOKED: "Ended cleanly, called a state-changing tool, and its last tool response was no error",
    Facet.CLAIMED: "The final message says that it is done (English words only)",
    Facet.EFFECT: "How the records left differ from those required",
    Facet.TABLE: "Where a difference is",
    Facet.FIELD: "Which field differs, with attempts by kind of difference",
    Facet.SAME: "The first difference of an attempt, with its values",
    Facet.TOOL: "Tools that the attempt called at least once",
    Facet.ERRED: "Tools that answered with an error at least once",
    Facet.RUBRIC: "A question of the judge that was answered with no",
    Facet.FINISH: "How the harness says that the attempt ended",
    Facet.DISAGREES: "The recorded hashes say one thing about the state, the comparison of the records another",
    Facet.LONE: "The run passed the task in all its other repetitions",
    Facet.ALIKE: "A mistake that at least half of the failed attempts of every model that fails the task have",
    Facet.COPY: "The same row stored in several runs, as a retry file repeats it: without copies each counts once",
    Facet.NOTE: "What people wrote on attempts",
}
"""What a filter is about, in a few words for who sees it for the first time."""
EFFECT_HINTS = {
    "wrong": "has a value that is not the required one",
    "missing": "a required change was not made",
    "extra": "changed without being required",
    "reported": "known from the check's message only",
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


def value_title(facet: Facet, value: str, runs: Mapping[str, str]) -> str:
    """A value as a person reads it. `runs`: slug of a run → what it is called."""
    if not value:
        return _EMPTY.get(facet, "empty")
    match facet:
        case Facet.RUN:
            return runs.get(value, value)
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
            after, required = (stored_value(side) or "not there" for side in (found.after, found.required))
            values = f": is {after}, required {required}"
            return f"{found.kind} {found.table} {found.field or 'row'}{values if found.field else ''}"
    return value
