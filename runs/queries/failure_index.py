"""All failed attempts of all runs that somebody sees in memory, ready to be filtered and counted.

Per run it is read once and kept as long as the run's tallies stay as they are (`Run.tallied`); what is kept takes some
hundred bytes an attempt. A run that is being read is read anew with each chunk that lands, the others are not.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from threading import Lock

import numpy as np
import numpy.typing as npt
from django.db.models import Model

from runs.access import Access
from runs.facets import Codes, Mask, Relation, Selection, encode, merge, repeated
from runs.kept import Kept
from runs.models import Attempt, AttemptEffect, AttemptLabel, AttemptRubric, Note, Run, TaskTally, ToolUse
from runs.querysets import for_evaluators, visible_runs
from runs.records import Verdict

__all__ = ["SORTS", "Facet", "FailureIndex", "difference_key", "failure_index"]

_RUNS_KEPT = 500
_INDEXES_KEPT = 4
"""Sets of runs that somebody sees: the team's is one, and each account with runs of its own has another."""
_LARGEST_TABLE = 20_000_000
"""Ids beyond this are looked up by sorting, not in a table."""
_APART = "\x1f"


class Facet(StrEnum):
    """What failures are filtered by, in the order of the page; the value is the name in the address."""

    RUN = "run"
    LOOKED = "looked"
    """Looked like a success: ended cleanly, called a state-changing tool, last tool response without error."""
    CLAIMED = "claimed"
    SIGNATURE = "signature"
    LABEL = "label"
    EFFECT = "effect"
    TABLE = "table"
    FIELD = "field"
    """`table.field`; nothing behind the point for a whole row."""
    SAME = "same"
    """The attempt's first difference, with its values (`difference_key`)."""
    TOOL = "tool"
    ERRED = "erred"
    DOMAIN = "domain"
    TASK = "task"
    MODEL = "model"
    RUBRIC = "rubric"
    FINISH = "finish"
    DISAGREES = "disagrees"
    LONE = "lone"
    """The only failure at a task of which the run passed all other attempts that the benchmark asks for."""
    ALIKE = "alike"
    """At a task that no model ever passed, and at which every model made this same first difference."""
    NOTE = "note"


_NUMBERS = ("repetition", "steps", "tool_errors", "write_calls", "differences", "duration", "tokens")
SORTS = frozenset({"task", "model", *_NUMBERS})
"""What the list can be put in order by."""

_OF_ATTEMPT = (
    Facet.TASK, Facet.DOMAIN, Facet.SIGNATURE, Facet.LOOKED, Facet.CLAIMED, Facet.FINISH, Facet.DISAGREES, Facet.LONE,
    Facet.SAME,
)  # fmt: skip
_OF_EFFECT = (Facet.EFFECT, Facet.TABLE, Facet.FIELD)


@dataclass(frozen=True)
class _RunPart:
    """One run's failed attempts, in the order of their ids."""

    ids: Codes
    numbers: dict[str, npt.NDArray[np.float64]]
    """What is sorted by; NaN where it is not known."""
    relations: tuple[Relation, ...]
    passed: dict[str, int]
    """Task → how often the run passed it, for each task that it tried."""


@dataclass(frozen=True)
class FailureIndex:
    """All failed attempts that count. Positions are places in `ids`."""

    ids: Codes
    numbers: dict[str, npt.NDArray[np.float64]]
    relations: tuple[Relation, ...]
    orders: dict[tuple[str, bool], Codes] = field(default_factory=dict)
    """All positions in an order, kept once it was asked for."""
    unfiltered: dict[str, dict[str, int]] = field(default_factory=dict)
    """The counts of a facet without any filter, kept once they were asked for."""

    @property
    def total(self) -> int:
        return len(self.ids)

    def among(self, ids: Codes) -> Mask:
        """The positions of those attempts that are among `ids`."""
        highest = int(self.ids.max(initial=0))
        if highest > _LARGEST_TABLE:
            return np.isin(self.ids, ids)
        there = np.zeros(highest + 1, dtype=np.bool_)
        there[ids[ids <= highest]] = True
        return there[self.ids]

    def with_notes(self) -> FailureIndex:
        """The same with the labels that people gave, which may change at any time. One query."""
        notes = Note.objects.exclude(label="").filter(attempt__verdict=Verdict.FAILED, attempt__current=True)
        pairs = sorted(set(notes.values_list("attempt_id", "label")))
        if not pairs:
            return self._beside(encode((Facet.NOTE,), []))
        order = np.argsort(self.ids)
        places = np.searchsorted(self.ids, [pk for pk, _ in pairs], sorter=order)
        known = set(self.ids[order[places[places < self.total]]].tolist()) if self.total else set()
        rows = [
            (int(order[place]), (label,))
            for place, (pk, label) in zip(places.tolist(), pairs, strict=True)
            if pk in known
        ]
        return self._beside(encode((Facet.NOTE,), rows))

    def _beside(self, relation: Relation) -> FailureIndex:
        return FailureIndex(self.ids, self.numbers, (*self.relations, relation), self.orders, self.unfiltered)

    def counts(self, facet: Facet, selection: Selection, *, filtered: bool = True) -> dict[str, int]:
        """The counts of a facet beside a selection; not `filtered`: the selection leaves all in."""
        if filtered or facet is Facet.NOTE:
            return selection.counts(facet)
        if facet not in self.unfiltered:
            self.unfiltered[facet] = selection.counts(facet)
        return dict(self.unfiltered[facet])

    def order(self, mask: Mask, sort: str, *, descending: bool) -> Codes:
        """The positions in the mask in order; what is not known comes last, and ids decide where all is equal."""
        whole = self.orders.get((sort, descending))
        if whole is None:
            whole = self.orders[sort, descending] = self._order(sort, descending)
        return whole[mask[whole]]

    def _order(self, sort: str, descending: bool) -> Codes:
        by = self._ranks(Facet(sort)) if sort in {"task", "model"} else self.numbers[sort]
        key = by.astype(np.float64)
        key = np.where(np.isnan(key), np.inf, -key if descending else key)
        return np.lexsort((self.ids, self.numbers["repetition"], key))

    def _ranks(self, facet: Facet) -> Codes:
        """For each attempt the rank of its value in alphabetic order. Only for facets with one value an attempt."""
        relation = self.relation(facet)
        names = relation.values[facet]
        rank = np.empty(len(names), dtype=np.int64)
        rank[sorted(range(len(names)), key=lambda code: names[code])] = np.arange(len(names))
        return rank[relation.codes[facet]]

    def relation(self, facet: Facet) -> Relation:
        return next(relation for relation in self.relations if facet in relation.values)


_lock = Lock()
_parts: OrderedDict[tuple[int, datetime, int], _RunPart] = OrderedDict()
_merged: Kept[tuple[tuple[object, ...], FailureIndex]] = Kept(_INDEXES_KEPT)
"""Runs (ids) → what it was made from, and the index. So a run that grows leaves no old index behind."""


def failure_index(*, access: Access) -> FailureIndex:
    """The failed attempts as they are stored now. One query; seven more for each run that changed since.

    Raises PermissionDenied for who may not evaluate.
    """
    for_evaluators(access)
    rows = (
        Run.objects.filter(visible_runs(access))
        .order_by("pk")
        .values_list("pk", "created_at", "tallied", "slug", "model", named=True)
    )
    runs = list(rows)
    whose, version = tuple(run.pk for run in runs), tuple(runs)
    with _lock:
        kept = _merged.get(whose)
        if kept is not None and kept[0] == version:
            return kept[1]
        parts = [(run, _part(run.pk, run.created_at, run.tallied)) for run in runs]
        index = _merge([(run.slug, run.model, part) for run, part in parts])
        _merged.put(whose, (version, index))
        return index


def difference_key(kind: str, table: str, field: str, after: str, required: str) -> str:
    """What makes two differences the same one, whichever record they are in. Of whole rows: kind and table."""
    return _APART.join((kind, table, field, after, required) if field else (kind, table, "", "", ""))


def _part(pk: int, created_at: datetime, tallied: int) -> _RunPart:
    stamp = (pk, created_at, tallied)
    part = _parts.get(stamp)
    if part is None:
        part = _parts[stamp] = _read(pk)
        for old in [known for known in _parts if known[0] == pk and known != stamp]:
            del _parts[old]
        while len(_parts) > _RUNS_KEPT:
            _parts.popitem(last=False)
    else:
        _parts.move_to_end(stamp)
    return part


def _merge(parts: Sequence[tuple[str, str, _RunPart]]) -> FailureIndex:
    empty = _RunPart(np.empty(0, dtype=np.int64), {name: np.empty(0) for name in _NUMBERS}, _relations(0, [], {}), {})
    filled = [(slug, model, part) for slug, model, part in parts if len(part.ids)] or [("", "", empty)]
    lengths = [len(part.ids) for _, _, part in filled]
    starts = [0, *np.cumsum(lengths).tolist()]
    relations = [
        merge([(start, part.relations[number]) for start, (_, _, part) in zip(starts, filled, strict=False)])
        for number in range(len(empty.relations))
    ]
    runs = repeated((Facet.RUN, Facet.MODEL), [((slug, model), len(part.ids)) for slug, model, part in filled])
    relations[0] = _beside(relations[0], runs)
    relations[0] = _beside(relations[0], _alike(relations[0], [(model, part.passed) for _, model, part in parts]))
    return FailureIndex(
        ids=np.concatenate([part.ids for _, _, part in filled]),
        numbers={name: np.concatenate([part.numbers[name] for _, _, part in filled]) for name in _NUMBERS},
        relations=tuple(relations),
    )


def _alike(attempts: Relation, passed: Sequence[tuple[str, dict[str, int]]]) -> Relation:
    """Marks failures at tasks that no model ever passed and at which all, at least two, made the same difference."""
    models: defaultdict[str, set[str]] = defaultdict(set)
    solved: set[str] = set()
    for model, tasks in passed:
        for uid, count in tasks.items():
            models[uid].add(model)
            if count:
                solved.add(uid)
    task, same, by = (attempts.codes[facet] for facet in (Facet.TASK, Facet.SAME, Facet.MODEL))
    uids, differences = attempts.values[Facet.TASK], attempts.values[Facet.SAME]
    kinds, those = len(differences), len(attempts.values[Facet.MODEL])
    made = task * kinds + same
    # Each pair of a task and a difference with the number of models that made it.
    pairs, numbers = np.unique(np.unique(made * those + by) // max(1, those), return_counts=True)
    everyone = [
        pair
        for pair, number in zip(pairs.tolist(), numbers.tolist(), strict=True)
        if differences[pair % kinds]
        and uids[pair // kinds] not in solved
        and number == len(models[uids[pair // kinds]]) > 1
    ]
    codes = np.isin(made, np.array(everyone, dtype=np.int64)).astype(np.int64)
    return Relation(attempts.attempts, {Facet.ALIKE: ["no", "yes"]}, {Facet.ALIKE: codes}, once=True)


def _beside(first: Relation, second: Relation) -> Relation:
    """One relation of two that have the same rows."""
    return Relation(first.attempts, {**first.values, **second.values}, {**first.codes, **second.codes}, once=True)


_COLUMNS = (
    "pk", "task__uid", "task__domain", "signature", "ended_cleanly", "called_write", "last_response_ok",
    "claimed_success", "finish_reason", "disagrees", "repetition", "steps", "tool_errors", "write_calls", "differences",
    "duration", "input_tokens", "output_tokens",
)  # fmt: skip


def _read(run: int) -> _RunPart:
    failed = Attempt.objects.filter(run=run, verdict=Verdict.FAILED, current=True).order_by("pk")
    attempts = list(failed.values_list(*_COLUMNS, named=True))
    ids = [row.pk for row in attempts]
    place = {pk: number for number, pk in enumerate(ids)}
    effects = list(_narrow(AttemptEffect, run, place, "kind", "table", "field", "after", "required"))
    tallies = TaskTally.objects.filter(run=run).values_list(
        "task__uid", "passed", "failed", "recorded", "run__repetitions"
    )
    passed = {uid: count for uid, count, *_ in tallies}
    alone = {
        uid
        for uid, count, failed, recorded, k in tallies
        if failed == 1 and count == recorded - 1 and recorded >= k > 1
    }
    first: dict[int, str] = {}
    for at, effect in effects:
        first.setdefault(at, difference_key(*effect))
    tools = list(_narrow(ToolUse, run, place, "name", "errors"))
    rows = [
        (
            row.task__uid,
            row.task__domain,
            row.signature,
            _yes(row.ended_cleanly and row.called_write and row.last_response_ok),
            _yes(row.claimed_success),
            row.finish_reason,
            _yes(row.disagrees),
            _yes(row.task__uid in alone),
            first.get(number, ""),
        )
        for number, row in enumerate(attempts)
    ]
    narrow: dict[Facet, list[tuple[int, Sequence[str]]]] = {
        Facet.EFFECT: [(at, (kind, table, f"{table}.{field}")) for at, (kind, table, field, *_) in effects],
        Facet.TOOL: [(at, (name,)) for at, (name, _) in tools],
        Facet.ERRED: [(at, (name,)) for at, (name, errors) in tools if errors],
        Facet.LABEL: [(at, label) for at, label in _narrow(AttemptLabel, run, place, "label")],
        Facet.RUBRIC: [(at, question) for at, question in _narrow(AttemptRubric, run, place, "question")],
    }
    numbers = {name: np.array([getattr(row, name) for row in attempts], dtype=np.float64) for name in _NUMBERS[:-1]}
    tokens = [
        None if row.input_tokens is None or row.output_tokens is None else row.input_tokens + row.output_tokens
        for row in attempts
    ]
    numbers["tokens"] = np.array(tokens, dtype=np.float64)
    return _RunPart(np.array(ids, dtype=np.int64), numbers, _relations(len(attempts), rows, narrow), passed)


def _relations(
    total: int, rows: Sequence[Sequence[str]], narrow: dict[Facet, list[tuple[int, Sequence[str]]]]
) -> tuple[Relation, ...]:
    return (
        encode(_OF_ATTEMPT, zip(range(total), rows, strict=True)),
        encode(_OF_EFFECT, narrow.get(Facet.EFFECT, []), once=False),
        *(encode((facet,), narrow.get(facet, [])) for facet in (Facet.TOOL, Facet.ERRED, Facet.LABEL, Facet.RUBRIC)),
    )


def _narrow(
    model: type[Model], run: int, place: dict[int, int], *columns: str
) -> Iterator[tuple[int, tuple[str, ...]]]:
    rows = model._default_manager.filter(
        attempt__run=run, attempt__verdict=Verdict.FAILED, attempt__current=True
    ).order_by("pk")
    for pk, *values in rows.values_list("attempt_id", *columns).iterator(chunk_size=5000):
        # An attempt that was stored between two queries comes with the next reading.
        if pk in place:
            yield place[pk], tuple(values)


def _yes(value: bool | None) -> str:
    return "" if value is None else "yes" if value else "no"
