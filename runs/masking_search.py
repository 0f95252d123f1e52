"""Finds secrets in a text by the rules of `runs.masking_rules`. Pure.

The literals of all rules are looked for together, in one pass in native code; only where one stands a rule is asked.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

from ahocorasick_rs import BytesAhoCorasick, Implementation

from runs.masking_rules import ANY_CASE, EXACT, Finder, Span

__all__ = ["spans_in"]

_FOLDED = 7
"""Bytes of a literal in any case of which all spellings are looked for. What is behind them is compared then."""


class _Literal(NamedTuple):
    rest: bytes
    """What has to follow in any case, in small letters."""
    find: Finder


def _patterns() -> dict[bytes, list[_Literal]]:
    patterns: dict[bytes, list[_Literal]] = {}
    for literals, find in EXACT:
        for literal in literals:
            patterns.setdefault(literal, []).append(_Literal(b"", find))
    for literals, find in ANY_CASE:
        for literal in literals:
            for spelling in product(*({letter, *bytes([letter]).upper()} for letter in literal[:_FOLDED])):
                patterns.setdefault(bytes(spelling), []).append(_Literal(literal[_FOLDED:], find))
    return patterns


_PATTERNS = _patterns()
_LITERALS = list(_PATTERNS.values())
_SEARCH = BytesAhoCorasick(_PATTERNS, implementation=Implementation.DFA)


def spans_in(text: bytes) -> Iterator[Span]:
    """The secrets, by the places of the rules' literals; they may overlap."""
    behind: dict[Finder, int] = {}
    places = [(at, end, number) for number, at, end in _SEARCH.find_matches_as_indexes(text, overlapping=True)]
    for at, end, number in sorted(places):
        for rest, find in _LITERALS[number]:
            # What one rule has found it does not look into again.
            if at < behind.get(find, 0) or (rest and text[end : end + len(rest)].lower() != rest):
                continue
            for span in find(text, at):
                behind[find] = span.end
                yield span
