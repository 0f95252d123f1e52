"""Counting and choosing among many attempts by what they have in common. Plain Python and numpy.

A relation says of rows which attempt they belong to and which value they have in each of its facets: all attempts have
one row in one relation, an attempt has a row for each tool it called in another. Values are numbers into a list, so
that counting a hundred thousand attempts by a million values takes milliseconds.

Several values of a facet mean "one of them"; several facets must all fit. Facets of one relation must fit one and the
same row: the kind, the table and the field of one difference.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

__all__ = ["Chosen", "Codes", "Mask", "Relation", "RunPart", "Selection", "distinct", "encode", "merge", "repeated"]

Mask = npt.NDArray[np.bool_]
Codes = npt.NDArray[np.int64]
Chosen = Mapping[str, Collection[str]]
"""Facet → the values to have. A facet without values is not there."""


@dataclass(frozen=True)
class Relation:
    """Rows of attempts. `attempts[i]` is the position of row i's attempt, `codes[facet][i]` its value's number."""

    attempts: Codes
    values: Mapping[str, Sequence[str]]
    codes: Mapping[str, Codes]
    once: bool
    """No attempt has the same value twice in a facet."""

    @cached_property
    def firsts(self) -> dict[str, Mask | None]:
        """For each facet the rows that are their attempt's first with their value; None: all are."""
        return {facet: None if self.once else self._firsts(facet) for facet in self.values}

    def _firsts(self, facet: str) -> Mask:
        pairs = self.attempts * len(self.values[facet]) + self.codes[facet]
        mask = np.zeros(len(pairs), dtype=np.bool_)
        mask[np.unique(pairs, return_index=True)[1]] = True
        return mask


@dataclass(frozen=True)
class RunPart:
    """One run's failed attempts, in the order of their ids."""

    ids: Codes
    marks: Codes
    """The first 64 bits of the digest of each attempt's row: the same row stored in two runs has the same."""
    numbers: Mapping[str, npt.NDArray[np.float64]]
    """What is sorted by; NaN where it is not known."""
    relations: tuple[Relation, ...]


def distinct(numbers: Codes) -> Codes:
    """The different numbers in order. Sorting many is several times as quick as the hash table of `numpy.unique`."""
    ordered = np.sort(numbers)
    keep = np.ones(len(ordered), dtype=np.bool_)
    keep[1:] = ordered[1:] != ordered[:-1]
    return ordered[keep]


def encode(facets: Sequence[str], rows: Iterable[tuple[int, Sequence[str]]], *, once: bool = True) -> Relation:
    """A relation of rows `(position, a value for each facet)`."""
    known: list[dict[str, int]] = [{} for _ in facets]
    attempts: list[int] = []
    codes: list[list[int]] = [[] for _ in facets]
    for position, row in rows:
        attempts.append(position)
        for found, column, value in zip(known, codes, row, strict=True):
            column.append(found.setdefault(value, len(found)))
    return Relation(
        attempts=np.array(attempts, dtype=np.int64),
        values={facet: list(found) for facet, found in zip(facets, known, strict=True)},
        codes={facet: np.array(column, dtype=np.int64) for facet, column in zip(facets, codes, strict=True)},
        once=once,
    )


def repeated(facets: Sequence[str], rows: Sequence[tuple[Sequence[str], int]]) -> Relation:
    """A relation with one row an attempt, from `(a value for each facet, how many attempts in a row have them)`."""
    few = encode(facets, ((0, values) for values, _ in rows))
    times = np.array([count for _, count in rows], dtype=np.int64)
    codes = {facet: np.repeat(column, times) for facet, column in few.codes.items()}
    return Relation(np.arange(times.sum(), dtype=np.int64), few.values, codes, once=True)


def merge(parts: Sequence[tuple[int, Relation]]) -> Relation:
    """One relation of several with the same facets. Each comes with the position of its first attempt."""
    facets = list(parts[0][1].values)
    known: dict[str, dict[str, int]] = {facet: {} for facet in facets}
    codes: dict[str, list[Codes]] = {facet: [] for facet in facets}
    for _, part in parts:
        for facet in facets:
            numbers = known[facet]
            mapping = [numbers.setdefault(value, len(numbers)) for value in part.values[facet]]
            codes[facet].append(np.array(mapping, dtype=np.int64)[part.codes[facet]])
    return Relation(
        attempts=np.concatenate([part.attempts + start for start, part in parts]),
        values={facet: list(numbers) for facet, numbers in known.items()},
        codes={facet: np.concatenate(columns) for facet, columns in codes.items()},
        once=all(part.once for _, part in parts),
    )


class Selection:
    """The attempts that fit everything chosen and are among `found`, and the counts beside it."""

    def __init__(self, total: int, relations: Sequence[Relation], chosen: Chosen, found: Mask | None = None) -> None:
        self._total = total
        self._relations = relations
        self._chosen = chosen
        self._found = found
        self._masks = [self._fitting(relation) for relation in relations]

    @property
    def mask(self) -> Mask:
        """The attempts that fit."""
        mask = self._but(None)
        return np.ones(self._total, dtype=np.bool_) if mask is None else mask

    def counts(self, facet: str) -> dict[str, int]:
        """How many attempts there are for each value of a facet, were it chosen alone in its facet beside all else.

        Values that no attempt has are left out.
        """
        relation = next(relation for relation in self._relations if facet in relation.values)
        others = self._but(relation)
        rows = _rows(relation, {name: values for name, values in self._chosen.items() if name != facet})
        names, codes = relation.values[facet], relation.codes[facet]
        if rows is None:
            # An attempt's rows are all here or none is, so the first with a value stands for all.
            rows = relation.firsts[facet]
            keep = (
                rows
                if others is None
                else others[relation.attempts]
                if rows is None
                else rows & others[relation.attempts]
            )
            codes = codes if keep is None else codes[keep]
        else:
            keep = rows if others is None else rows & others[relation.attempts]
            codes = codes[keep]
            if not relation.once:
                codes = distinct(relation.attempts[keep] * len(names) + codes) % max(1, len(names))
        numbers = np.bincount(codes, minlength=len(names)).tolist()
        return {name: number for name, number in zip(names, numbers, strict=True) if number}

    def pairs(self, facet: str, other: str, values: Collection[str]) -> dict[tuple[str, str], int]:
        """How many attempts have a row with one of these values of a facet and a value of another facet of the same
        relation. What is chosen counts as in `counts(facet)`."""
        relation = next(relation for relation in self._relations if facet in relation.values)
        names, others = relation.values[facet], relation.values[other]
        wanted = np.fromiter((name in values for name in names), dtype=np.bool_, count=len(names))
        keep = wanted[relation.codes[facet]]
        rows = _rows(relation, {name: chosen for name, chosen in self._chosen.items() if name != facet})
        keep = keep if rows is None else keep & rows
        fitting = self._but(relation)
        keep = keep if fitting is None else keep & fitting[relation.attempts]
        both = relation.codes[facet][keep] * len(others) + relation.codes[other][keep]
        kinds = max(1, len(names) * len(others))
        once = distinct(relation.attempts[keep] * kinds + both) % kinds
        found, numbers = np.unique(once, return_counts=True)
        return {
            (names[pair // len(others)], others[pair % len(others)]): number
            for pair, number in zip(found.tolist(), numbers.tolist(), strict=True)
        }

    def _fitting(self, relation: Relation) -> Mask | None:
        """The attempts that fit what is chosen in a relation; None when nothing is."""
        rows = _rows(relation, self._chosen)
        if rows is None:
            return None
        mask = np.zeros(self._total, dtype=np.bool_)
        mask[relation.attempts[rows]] = True
        return mask

    def _but(self, left_out: Relation | None) -> Mask | None:
        """The attempts that fit, whatever is chosen in one relation; None: all of them."""
        mask = None if self._found is None else self._found.copy()
        for relation, fitting in zip(self._relations, self._masks, strict=True):
            if fitting is not None and relation is not left_out:
                mask = fitting.copy() if mask is None else mask & fitting
        return mask


def _rows(relation: Relation, chosen: Chosen) -> Mask | None:
    """The rows that fit; None when nothing is chosen in this relation's facets."""
    keep: Mask | None = None
    for facet, names in relation.values.items():
        wanted = chosen.get(facet)
        if not wanted:
            continue
        fits = np.fromiter((name in wanted for name in names), dtype=np.bool_, count=len(names))
        rows = fits[relation.codes[facet]]
        keep = rows if keep is None else keep & rows
    return keep
