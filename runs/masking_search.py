"""Finds secrets in a text by the rules of `runs.masking_rules`. Pure.

The literals of all rules are looked for together, by their first bytes, in a few passes in C; only where one stands a
rule is asked.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import numpy as np

from runs.masking_rules import ANY_CASE, EXACT, Finder, Span

__all__ = ["spans_in"]

_START = 3
"""Bytes of a literal that are looked for first, in any case. No literal has fewer."""
_BY_START: dict[bytes, list[tuple[bytes, bytes, Finder]]] = {}
for _rules, _folds in ((EXACT, False), (ANY_CASE, True)):
    for _literals, _find in _rules:
        for _literal in _literals:
            _BY_START.setdefault(_literal[:_START].lower(), []).append((_literal, b"" if _folds else _literal, _find))


class _Table(NamedTuple):
    """What tells where a literal may begin, by the bytes there, in any case."""

    pairs: np.ndarray
    """The first two bytes as a little-endian number → whether a literal begins with them."""
    lower: np.ndarray
    """Byte → its small letter."""
    starts: np.ndarray
    """The first three bytes of literals as big-endian numbers, in order."""
    fourths: np.ndarray
    """Number of the start, byte → whether a literal goes on with it, or has ended."""


def _table() -> _Table:
    starts = sorted(_BY_START)
    pairs = np.zeros(1 << 16, dtype=bool)
    fourths = np.zeros((len(starts), 256), dtype=bool)
    for number, start in enumerate(starts):
        for first, second in product(*({byte, *bytes([byte]).upper()} for byte in start[:2])):
            pairs[first | second << 8] = True
        for literal, _, _ in _BY_START[start]:
            fourth = literal[_START : _START + 1]
            fourths[number, [*fourth.lower(), *fourth.upper()] if fourth else slice(None)] = True
    lower = np.frombuffer(bytes(range(256)).lower(), dtype=np.uint8).astype(np.int32)
    return _Table(pairs, lower, np.array([int.from_bytes(start, "big") for start in starts]), fourths)


_TABLE = _table()


def _places(text: bytes) -> list[int]:
    """Where a literal may begin, in order. A few passes in C for all literals together."""
    letters = np.frombuffer(text, dtype=np.uint8)
    places: list[int] = []
    for first in (0, 1):
        pairs = np.frombuffer(text, dtype="<u2", count=max(0, len(text) - first - 1) // 2, offset=min(first, len(text)))
        at = 2 * np.flatnonzero(_TABLE.pairs.take(pairs, mode="clip")) + first
        one, two, three = (_TABLE.lower.take(letters.take(at + place)) for place in range(_START))
        starts = one << 16 | two << 8 | three
        number = np.searchsorted(_TABLE.starts, starts)
        known = _TABLE.starts.take(number, mode="clip") == starts
        at, number = at[known], number[known]
        # At the very end there is no fourth byte: the last one stands for it, and only may let a place pass.
        places += at[_TABLE.fourths[number, letters.take(at + _START, mode="clip")]].tolist()
    return sorted(places)


def spans_in(text: bytes) -> Iterator[Span]:
    """The secrets, by the places of the rules' literals; they may overlap."""
    behind: dict[Finder, int] = {}
    for at in _places(text):
        for literal, exact, find in _BY_START.get(text[at : at + 3].lower(), ()):
            # What one rule has found it does not look into again.
            if at < behind.get(find, 0):
                continue
            there = text[at : at + len(literal)]
            if there != exact if exact else there.lower() != literal:
                continue
            for span in find(text, at):
                behind[find] = span.end
                yield span
