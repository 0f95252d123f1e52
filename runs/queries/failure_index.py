"""All failed attempts of all runs that somebody sees in memory, ready to be filtered and counted.

Per run it is taken from what is kept in the database (`runs.failure_facts`), and held in memory as long as the run's
tallies stay as they are (`Run.tallied`), some hundred bytes an attempt. A run that is being read is read anew with each
chunk that lands, the others are not.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from threading import Lock
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from runs import search
from runs.access import Access
from runs.facets import Codes, Mask, Relation, RunPart, Selection, distinct, encode, merge, repeated
from runs.failure_facts import MISTAKE, NUMBERS, Facet, difference_key, kept_parts, no_part, read_part
from runs.kept import Kept
from runs.models import Note, Run
from runs.querysets import for_evaluators, visible_runs
from runs.records import Verdict
from runs.suspicion import FEWEST_MODELS, mistakes_of_all
from runs.transcripts import Query

__all__ = ["SORTS", "Facet", "FailureIndex", "difference_key", "failure_index"]

_RUNS_KEPT = 500
_SEARCHES_KEPT = 64
_INDEXES_KEPT = 4
"""Sets of runs that somebody sees: the team's is one, and each account with runs of its own has another."""
_LARGEST_TABLE = 20_000_000
"""Ids beyond this are looked up by sorting, not in a table."""


SORTS = frozenset({"task", "model", *NUMBERS})
"""What the list can be put in order by."""


@dataclass(frozen=True)
class FailureIndex:
    """All failed attempts that count. Positions are places in `ids`."""

    ids: Codes
    marks: Codes
    numbers: dict[str, npt.NDArray[np.float64]]
    relations: tuple[Relation, ...]
    orders: dict[tuple[str, bool], Codes] = field(default_factory=dict)
    """All positions in an order, kept once it was asked for."""
    unfiltered: dict[str, dict[str, int]] = field(default_factory=dict)
    """The counts of a facet without any filter, kept once they were asked for."""
    found: Kept[Mask] = field(default_factory=lambda: Kept(_SEARCHES_KEPT))
    """Where words were found, kept for the next page and the next filter: a phrase of two frequent words takes long."""

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

    def having(self, query: Query) -> Mask:
        """The positions of the attempts whose transcripts have all terms. Two queries, none for terms that are kept.

        While transcripts wait to be indexed nothing is kept. What is stored afterwards makes another index.
        """
        known = self.found.get(query.terms)
        if known is not None:
            return known
        complete = not search.anything_waits()
        mask = self.among(search.matching(query))
        return self.found.put(query.terms, mask) if complete else mask

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
        return FailureIndex(
            self.ids, self.marks, self.numbers, (*self.relations, relation), self.orders, self.unfiltered, self.found
        )

    def counts(self, facet: Facet, selection: Selection, *, filtered: bool = True) -> dict[str, int]:
        """The counts of a facet beside a selection; not `filtered`: the selection leaves all in."""
        if filtered or facet is Facet.NOTE:
            return selection.counts(facet)
        if facet not in self.unfiltered:
            self.unfiltered[facet] = selection.counts(facet)
        return dict(self.unfiltered[facet])

    def elsewhere(self, ids: Collection[int]) -> dict[int, list[str]]:
        """Of these attempts: in which other runs (slugs) the same row is stored, as a failure that counts."""
        relation = self.relation(Facet.RUN)
        slugs, runs = relation.values[Facet.RUN], relation.codes[Facet.RUN]
        places = np.flatnonzero(np.isin(self.ids, np.array(sorted(ids), dtype=np.int64)))
        same: defaultdict[int, set[int]] = defaultdict(set)
        for at in np.flatnonzero(np.isin(self.marks, self.marks[places])).tolist():
            same[int(self.marks[at])].add(int(runs[at]))
        return {
            int(self.ids[at]): sorted(slugs[run] for run in same[int(self.marks[at])] - {int(runs[at])})
            for at in places.tolist()
        }

    def kinds(self, fields: Collection[str], selection: Selection) -> dict[str, list[tuple[str, int]]]:
        """Field → kinds of difference with the attempts that have each, the most first."""
        found: dict[str, list[tuple[str, int]]] = {name: [] for name in fields}
        for (name, kind), number in selection.pairs(Facet.FIELD, Facet.EFFECT, fields).items():
            found[name].append((kind, number))
        for kinds in found.values():
            kinds.sort(key=lambda pair: (-pair[1], pair[0]))
        return found

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


class _Run(NamedTuple):
    """A run as the index names it."""

    pk: int
    created_at: datetime
    tallied: int
    slug: str
    model: str
    benchmark: str


_Stamp = tuple[int, datetime, int]
_lock = Lock()
_parts: OrderedDict[_Stamp, RunPart] = OrderedDict()
_merged: Kept[tuple[tuple[_Run, ...], FailureIndex]] = Kept(_INDEXES_KEPT)
"""Runs (ids) → what it was made from, and the index. So a run that grows leaves no old index behind."""


def failure_index(*, access: Access) -> FailureIndex:
    """The failed attempts as they are stored now. One query; one more where runs changed since, and seven for each of
    them whose facts are not kept yet.

    Raises PermissionDenied for who may not evaluate.
    """
    for_evaluators(access)
    columns = ("pk", "created_at", "tallied", "slug", "model", "benchmark__name")
    seen = Run.objects.filter(visible_runs(access)).order_by("pk")
    runs = tuple(_Run(*row) for row in seen.values_list(*columns))
    whose = tuple(run.pk for run in runs)
    with _lock:
        kept = _merged.get(whose)
        if kept is not None and kept[0] == runs:
            return kept[1]
        parts = _parts_of(runs)
        index = _merge(list(zip(runs, parts, strict=True)))
        _merged.put(whose, (runs, index))
        return index


def _parts_of(runs: Sequence[_Run]) -> list[RunPart]:
    """The parts of the runs: from memory, else as they are kept, else read."""
    missing = [run for run in runs if _stamp(run) not in _parts]
    kept = kept_parts([run.pk for run in missing]) if missing else {}
    found = []
    for run in runs:
        part = _parts.get(_stamp(run))
        if part is None:
            part = kept[run.pk] if run.pk in kept else read_part(run.pk)
            for old in [known for known in _parts if known[0] == run.pk]:
                del _parts[old]
            _parts[_stamp(run)] = part
        _parts.move_to_end(_stamp(run))
        found.append(part)
    while len(_parts) > _RUNS_KEPT:
        _parts.popitem(last=False)
    return found


def _stamp(run: _Run) -> _Stamp:
    return run.pk, run.created_at, run.tallied


def _merge(parts: Sequence[tuple[_Run, RunPart]]) -> FailureIndex:
    empty = no_part()
    filled = [(run, part) for run, part in parts if len(part.ids)]
    named = [((run.slug, run.model, run.benchmark), part) for run, part in filled] or [(("", "", ""), empty)]
    lengths = [len(part.ids) for _, part in named]
    starts = [0, *np.cumsum(lengths).tolist()]
    relations = [
        merge([(start, part.relations[number]) for start, (_, part) in zip(starts, named, strict=False)])
        for number in range(len(empty.relations))
    ]
    runs = repeated(
        (Facet.RUN, Facet.MODEL, Facet.BENCHMARK),
        [(names, length) for (names, _), length in zip(named, lengths, strict=True)],
    )
    marks = np.concatenate([part.marks for _, part in named])
    attempts = _beside(relations[0], runs)
    attempts = _beside(attempts, _column(attempts, Facet.COPY, COPIES, _copies(marks, runs.codes[Facet.RUN])))
    alike = _alike(attempts, relations[1])
    relations[0] = _beside(attempts, _column(attempts, Facet.ALIKE, ("no", "yes"), alike.astype(np.int64)))
    return FailureIndex(
        ids=np.concatenate([part.ids for _, part in named]),
        marks=marks,
        numbers={name: np.concatenate([part.numbers[name] for _, part in named]) for name in NUMBERS},
        relations=tuple(relations),
    )


COPIES = ("no", "first", "again")
"""Values of `Facet.COPY`: in no other run; in several, of which this is the oldest; in an older run as well."""


def _copies(marks: Codes, runs: Codes) -> Codes:
    """For each attempt the number of its value in `COPIES`. Runs are numbered from the oldest."""
    order = np.lexsort((runs, marks))
    ranked, by = marks[order], runs[order]
    begins = np.ones(len(marks), dtype=np.bool_)
    begins[1:] = ranked[1:] != ranked[:-1]
    group = np.cumsum(begins) - 1
    first = by[begins][group] if len(marks) else by
    last = by[np.append(begins[1:], True)][group] if len(marks) else by
    codes = np.empty(len(marks), dtype=np.int64)
    codes[order] = np.where(by != first, 2, np.where(last != first, 1, 0))
    return codes


def _alike(attempts: Relation, effects: Relation) -> Mask:
    """The failures with a mistake that all models make that fail the task; tasks of two benchmarks are two tasks."""
    total = len(attempts.attempts)
    if not total or not len(effects.attempts):
        return np.zeros(total, dtype=np.bool_)
    models, names = attempts.codes[Facet.MODEL], attempts.values[Facet.MODEL]
    benchmarks = len(attempts.values[Facet.BENCHMARK])
    tasks = attempts.codes[Facet.TASK] * benchmarks + attempts.codes[Facet.BENCHMARK]
    failed = _counted(tasks, models, names)
    # Only what as many models make as fail the task can be made by all of them: few are left for the rule itself.
    real = np.array([bool(mistake) for mistake in effects.values[MISTAKE]], dtype=np.bool_)
    rows = real[effects.codes[MISTAKE]]
    kinds = len(real)
    once = distinct(effects.attempts[rows] * kinds + effects.codes[MISTAKE][rows])
    by, made = once // kinds, once % kinds
    pairs = tasks[by] * kinds + made
    shared, numbers = np.unique(distinct(pairs * len(names) + models[by]) // len(names), return_counts=True)
    shared, numbers = shared[numbers >= FEWEST_MODELS], numbers[numbers >= FEWEST_MODELS]
    enough = np.array([len(failed[pair // kinds]) for pair in shared.tolist()], dtype=np.int64)
    possible = shared[numbers == enough]
    keep = np.isin(pairs, possible)
    of_task: defaultdict[int, dict[int, Mapping[str, int]]] = defaultdict(dict)
    for pair, counts in _counted(pairs[keep], models[by[keep]], names).items():
        of_task[pair // kinds][pair] = counts
    alike = [pair for task, made_at in of_task.items() for pair in mistakes_of_all(failed[task], made_at)]
    mask = np.zeros(total, dtype=np.bool_)
    mask[by[np.isin(pairs, np.array(alike, dtype=np.int64))]] = True
    return mask


def _counted(keys: Codes, models: Codes, names: Sequence[str]) -> dict[int, dict[str, int]]:
    """Key → model → how often the two stand together."""
    found: defaultdict[int, dict[str, int]] = defaultdict(dict)
    both, numbers = np.unique(keys * len(names) + models, return_counts=True)
    for pair, number in zip(both.tolist(), numbers.tolist(), strict=True):
        found[pair // len(names)][names[pair % len(names)]] = number
    return found


def _column(beside: Relation, facet: Facet, values: Sequence[str], codes: Codes) -> Relation:
    return Relation(beside.attempts, {facet: values}, {facet: codes}, once=True)


def _beside(first: Relation, second: Relation) -> Relation:
    """One relation of two that have the same rows."""
    return Relation(first.attempts, {**first.values, **second.values}, {**first.codes, **second.codes}, once=True)
