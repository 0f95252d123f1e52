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

import numpy as np
import numpy.typing as npt

__all__ = ["Chosen", "Mask", "Relation", "counts", "encode", "merge", "selected"]

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


def selected(total: int, relations: Iterable[Relation], chosen: Chosen, found: Mask | None = None) -> Mask:
    """The attempts that fit everything chosen, and are among `found`."""
    mask = np.ones(total, dtype=np.bool_) if found is None else found.copy()
    for relation in relations:
        rows = _rows(relation, chosen)
        if rows is not None:
            mask &= _attempts(total, relation, rows)
    return mask


def counts(
    facet: str, total: int, relations: Sequence[Relation], chosen: Chosen, found: Mask | None = None
) -> dict[str, int]:
    """How many attempts there are for each value of a facet, were it chosen alone in its facet beside all else.

    Values that no attempt has are left out.
    """
    relation = next(relation for relation in relations if facet in relation.values)
    others = selected(total, (other for other in relations if other is not relation), chosen, found)
    keep = others[relation.attempts]
    rows = _rows(relation, {name: values for name, values in chosen.items() if name != facet})
    if rows is not None:
        keep &= rows
    codes = relation.codes[facet][keep]
    names = relation.values[facet]
    if not relation.once:
        pairs = np.unique(relation.attempts[keep] * len(names) + codes)
        codes = pairs % max(1, len(names))
    numbers = np.bincount(codes, minlength=len(names)).tolist()
    return {name: number for name, number in zip(names, numbers, strict=True) if number}


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


def _attempts(total: int, relation: Relation, rows: Mask) -> Mask:
    mask = np.zeros(total, dtype=np.bool_)
    mask[relation.attempts[rows]] = True
    return mask
