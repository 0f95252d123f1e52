"""The steps of two attempts side by side: which belong together, and what only one of them did.

A global sequence alignment. Steps can stand side by side only where kind, speaker and tool are the same; the costs say
what is worth more: equal steps first, then calls of one tool with like arguments, then messages of one speaker. A call
weighs more than a message, a message more than a thought, since the calls are what reaches the records.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from enum import StrEnum
from itertools import pairwise
from typing import Any

import msgspec
import numpy as np
from msgspec import UNSET
from numpy.typing import NDArray

from runs.records import Step, StepKind

__all__ = ["LARGEST", "Match", "Relation", "align", "arguments_of"]

LARGEST = 2200
"""Steps of one side that are aligned at once; longer ones are aligned in pieces of this length."""

_CALL, _MESSAGE, _THOUGHT = 100, 60, 14
"""What it costs to leave a step alone."""
_UNLIKE = 0.96
"""A pair that has nothing in common but its kind and tool, as a part of what leaving both alone costs."""
_LIKE = 0.30
"""A pair that has all but one thing in common, likewise."""
_MOST_WORDS = 60
_WORD = re.compile(r"\w+")

Costs = NDArray[np.int32]


class Relation(StrEnum):
    EQUAL = "equal"
    """The same message, or the same call with the same arguments and the same response."""
    ANSWER = "answer"
    """The same call with the same arguments, answered otherwise."""
    DIFFERS = "differs"
    LEFT = "left"
    """Only the left attempt has such a step."""
    RIGHT = "right"


class Match(msgspec.Struct, frozen=True):
    """One line of a comparison: a step of each side by its index (from 1), or of one side alone."""

    left: int | None
    right: int | None
    relation: Relation


def align(left: Sequence[Step], right: Sequence[Step]) -> list[Match]:
    """All steps of both in order, each once. Both sides empty gives an empty list.

    2,000 steps against 2,000 take a fraction of a second. Beyond `LARGEST` what lies between the equal beginnings and
    ends is cut into as many pieces on both sides, which may part steps that belong together.
    """
    ours, theirs = [_identity(step) for step in left], [_identity(step) for step in right]
    head = _common(ours, theirs)
    tail = _common(ours[head:][::-1], theirs[head:][::-1])
    ends = len(left) - tail, len(right) - tail
    pairs: list[tuple[int | None, int | None]] = [(at, at) for at in range(head)]
    for (a, b), (c, d) in _pieces(head, *ends):
        pairs += _aligned(left[a:b], right[c:d], ours[a:b], theirs[c:d], a, c)
    pairs += list(zip(range(ends[0], len(left)), range(ends[1], len(right)), strict=True))
    return [_match(left, right, ours, theirs, a, b) for a, b in pairs]


def arguments_of(step: Step) -> dict[str, Any]:
    """Argument → value, with the fields of an object inside one by one (`item.status`). Empty without arguments.

    Arguments that are no object are under the empty name.
    """
    arguments = step.arguments
    if arguments is UNSET:
        return {}
    if not isinstance(arguments, dict):
        return {"": arguments}
    found: dict[str, Any] = {}
    for name, value in arguments.items():
        if isinstance(value, dict) and value:
            found |= {f"{name}.{inner}": item for inner, item in value.items()}
        else:
            found[name] = value
    return found


def _identity(step: Step) -> Hashable:
    """What makes two steps equal; the response of a call is no part of it."""
    if step.kind is StepKind.CALL:
        arguments = None if step.arguments is UNSET else json.dumps(step.arguments, sort_keys=True)
        return step.kind, step.name, arguments
    return step.kind, step.role, step.name, step.content


def _shape(step: Step) -> Hashable:
    """What two steps must have in common to stand side by side."""
    return step.kind, step.role, step.name


def _common(one: Sequence[Hashable], other: Sequence[Hashable]) -> int:
    length = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        length += 1
    return length


def _pieces(head: int, left: int, right: int) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """What lies between the equal ends, in one piece or in several of about the same share of both sides."""
    count = max(1, -(-(left - head) // LARGEST), -(-(right - head) // LARGEST))
    at = [(head + (left - head) * n // count, head + (right - head) * n // count) for n in range(count + 1)]
    for (a, c), (b, d) in pairwise(at):
        yield (a, b), (c, d)


def _aligned(
    left: Sequence[Step],
    right: Sequence[Step],
    ours: Sequence[Hashable],
    theirs: Sequence[Hashable],
    first_left: int,
    first_right: int,
) -> list[tuple[int | None, int | None]]:
    if not left or not right:
        return [
            *((first_left + at, None) for at in range(len(left))),
            *((None, first_right + at) for at in range(len(right))),
        ]
    gaps_left, gaps_right = _gaps(left), _gaps(right)
    moves = _moves(_pair_costs(left, right, ours, theirs, gaps_left, gaps_right), gaps_left, gaps_right)
    pairs: list[tuple[int | None, int | None]] = []
    a, b = len(left), len(right)
    while a or b:
        if a and b and moves[a, b] == 0:
            a, b = a - 1, b - 1
            pairs.append((first_left + a, first_right + b))
        elif b and (not a or moves[a, b] == 2):
            b -= 1
            pairs.append((None, first_right + b))
        else:
            a -= 1
            pairs.append((first_left + a, None))
    return pairs[::-1]


def _gaps(steps: Sequence[Step]) -> Costs:
    weights = {StepKind.MESSAGE: _MESSAGE, StepKind.THOUGHT: _THOUGHT}
    return np.array([weights.get(step.kind, _CALL) for step in steps], dtype=np.int32)


def _pair_costs(
    left: Sequence[Step],
    right: Sequence[Step],
    ours: Sequence[Hashable],
    theirs: Sequence[Hashable],
    gaps_left: Costs,
    gaps_right: Costs,
) -> Costs:
    """What each pair costs. Pairs that may not stand side by side cost more than leaving both alone."""
    both = gaps_left[:, None] + gaps_right[None, :]
    costs = both + 1
    by_shape: defaultdict[Hashable, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for at, step in enumerate(left):
        by_shape[_shape(step)][0].append(at)
    for at, step in enumerate(right):
        by_shape[_shape(step)][1].append(at)
    for rows, columns in by_shape.values():
        if rows and columns:
            block = np.ix_(rows, columns)
            like = _likeness([left[at] for at in rows], [right[at] for at in columns])
            costs[block] = (both[block] * (_UNLIKE - (_UNLIKE - _LIKE) * like)).astype(np.int32)
    by_identity: defaultdict[Hashable, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for at, identity in enumerate(ours):
        by_identity[identity][0].append(at)
    for at, identity in enumerate(theirs):
        by_identity[identity][1].append(at)
    for rows, columns in by_identity.values():
        if rows and columns:
            costs[np.ix_(rows, columns)] = 0
    return costs


def _likeness(left: Sequence[Step], right: Sequence[Step]) -> NDArray[np.float32]:
    """Between 0 and 1: twice what two steps have in common, by all that they have."""
    bags = [[_bag(step) for step in side] for side in (left, right)]
    where: defaultdict[str, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for side, found in enumerate(bags):
        for at, bag in enumerate(found):
            for item in bag:
                where[item][side].append(at)
    common = np.zeros((len(left), len(right)), dtype=np.float32)
    for rows, columns in where.values():
        if rows and columns:
            common[np.ix_(rows, columns)] += 1
    sizes = [np.array([len(bag) for bag in found], dtype=np.float32) for found in bags]
    total = np.maximum(sizes[0][:, None] + sizes[1][None, :], 1)
    like: NDArray[np.float32] = 2 * common / total
    return like


def _bag(step: Step) -> frozenset[str]:
    """What a step is made of: a call's arguments with their values and the words in them, a text's words."""
    if step.kind is not StepKind.CALL:
        return _words(step.content or "")
    items: set[str] = set()
    for name, value in arguments_of(step).items():
        text = value if isinstance(value, str) else json.dumps(value, sort_keys=True)
        items.add(f"{name}\0{text}")
        if len(text) > 12:
            items |= _words(text)
    return frozenset(items)


def _words(text: str) -> frozenset[str]:
    found: set[str] = set()
    for match in _WORD.finditer(text[:4000]):
        found.add(match.group().casefold())
        if len(found) == _MOST_WORDS:
            break
    return frozenset(found)


def _moves(costs: Costs, gaps_left: Costs, gaps_right: Costs) -> NDArray[np.int8]:
    """The last move of the cheapest way to each point: 0 a pair, 1 a left step alone, 2 a right step alone.

    A row at a time: what lies to the left in the same row is a running minimum once the cost of going right is taken
    off.
    """
    rows, columns = costs.shape
    moves = np.empty((rows + 1, columns + 1), dtype=np.int8)
    moves[0], moves[:, 0] = 2, 1
    along = np.concatenate([[0], np.cumsum(gaps_right)]).astype(np.int64)
    above = along.copy()
    for at in range(rows):
        best = above + gaps_left[at]
        np.minimum(best[1:], above[:-1] + costs[at], out=best[1:])
        here = np.minimum.accumulate(best - along) + along
        paired = np.zeros(columns + 1, dtype=bool)
        paired[1:] = here[1:] == above[:-1] + costs[at]
        # Of equal ways the one that ends on the right: read backwards it lists what only the left did first.
        alone = here[1:] == here[:-1] + gaps_right
        moves[at + 1, 1:] = np.where(paired[1:], 0, np.where(alone, 2, 1))
        above = here
    return moves


def _match(
    left: Sequence[Step],
    right: Sequence[Step],
    ours: Sequence[Hashable],
    theirs: Sequence[Hashable],
    a: int | None,
    b: int | None,
) -> Match:
    if a is None or b is None:
        relation = Relation.LEFT if b is None else Relation.RIGHT
    elif ours[a] != theirs[b]:
        relation = Relation.DIFFERS
    else:
        one, other = left[a], right[b]
        same = one.content == other.content and (one.error is None) == (other.error is None)
        relation = Relation.EQUAL if same else Relation.ANSWER
    return Match(None if a is None else left[a].index, None if b is None else right[b].index, relation)
