"""The lines of a comparison: steps side by side, what differs in them word by word, where the two part."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import UNSET

from runs.alignment import Match, Relation, arguments_of
from runs.queries.attempt_state_structs import Wrote
from runs.queries.attempt_steps import GLYPHS, WHO
from runs.queries.compare_structs import Argument, Bar, Cell, CompareLine, Piece, ShowLines
from runs.queries.compare_writes import GradedField
from runs.queries.values import json_line
from runs.records import Step, StepKind

__all__ = [
    "Steps", "differs", "first_difference", "first_write", "made_lines", "shown_matches", "word_pieces",
]  # fmt: skip

_TEXT = 420
_VALUE = 240
_ERROR = 300
_LISTED = 6
"""Equal arguments that are written out."""
_WROTE = 2
"""Fields that a step wrote, failing ones first; the rest is counted."""
_TOKENS = 240
"""Words and signs of a text that are compared one by one; longer texts are marked as a whole."""
_ALIKE = 0.5
"""Texts that share fewer of their words than this are not marked word by word: every second word would be."""
_CONTEXT = 1
"""Equal lines shown before and after a difference."""
_TOKEN = re.compile(r"\s+|\w+|[^\w\s]")


class Steps(msgspec.Struct, frozen=True, kw_only=True):
    """One side, ready to be shown."""

    steps: Sequence[Step]
    letters: str
    wrote: Mapping[int, list[Wrote]]
    label: str
    ungraded: Mapping[int, frozenset[str]] = {}
    """Step → fields that count for nothing in all that it wrote."""
    graded: Mapping[int, Mapping[str, GradedField]] = {}
    """Step → the graded fields that it wrote."""
    explaining: frozenset[int] = frozenset()
    """Steps that wrote a value in which the two attempts end otherwise."""

    def writes(self, index: int | None) -> bool:
        return index is not None and self.letters[index - 1] in "wx"


def differs(match: Match, left: Steps, right: Steps) -> bool:
    """Whether a line is a difference: the same call answered otherwise is one only where one answer is an error."""
    if match.relation is Relation.ANSWER and match.left is not None and match.right is not None:
        return (left.steps[match.left - 1].error is None) != (right.steps[match.right - 1].error is None)
    return match.relation is not Relation.EQUAL


def first_difference(matches: Sequence[Match], left: Steps, right: Steps) -> int | None:
    """Position of the first line that differs, thoughts not counted; None where none does."""
    return next(
        (at for at, match in enumerate(matches) if differs(match, left, right) and not _is_thought(match, left, right)),
        None,
    )


def first_write(matches: Sequence[Match], left: Steps, right: Steps) -> int | None:
    """Position of the first line with a state-changing call that differs or that one side alone has.

    Two calls that differ only in fields that are not graded are no such line. A line that wrote a value in which the
    attempts end otherwise goes before one that did not.
    """
    parting = [
        at
        for at, match in enumerate(matches)
        if differs(match, left, right)
        and (left.writes(match.left) or right.writes(match.right))
        and not _is_ungraded(match, left, right)
    ]
    explaining = (at for at in parting if matches[at].left in left.explaining or matches[at].right in right.explaining)
    return next(explaining, parting[0] if parting else None)


def _is_ungraded(match: Match, left: Steps, right: Steps) -> bool:
    """Whether two calls differ in arguments, and none of these is about a graded field."""
    if match.relation is not Relation.DIFFERS or match.left is None or match.right is None:
        return False
    changed = _changed_names(left.steps[match.left - 1], right.steps[match.right - 1])
    return bool(changed) and not _graded_names(changed, match, left, right)


def _graded_names(names: Sequence[str], match: Match, left: Steps, right: Steps) -> list[str]:
    """The arguments without those that name a field that is not graded (`item.subject` is about `subject`)."""
    known = [side.ungraded.get(at or 0) for side, at in ((left, match.left), (right, match.right))]
    fields = [ungraded for ungraded in known if ungraded is not None]
    if not fields:
        return list(names)
    ungraded = frozenset.intersection(*fields)
    return [name for name in names if name.rpartition(".")[2] not in ungraded]


def _changed_names(one: Step, other: Step) -> list[str]:
    mine, yours = arguments_of(one), arguments_of(other)
    return [
        name
        for name in dict.fromkeys([*mine, *yours])
        if name not in mine or name not in yours or not _same(mine[name], yours[name])
    ]


def shown_matches(matches: Sequence[Match], show: ShowLines, left: Steps, right: Steps) -> list[tuple[int, int]]:
    """What is listed: position and 1, or where equal lines are folded the first position and how many they are."""
    if show is ShowLines.ALL:
        return [(at, 1) for at in range(len(matches))]
    if show is ShowLines.WRITES:
        return [(at, 1) for at, match in enumerate(matches) if left.writes(match.left) or right.writes(match.right)]
    keep = {
        near
        for at, match in enumerate(matches)
        if differs(match, left, right)
        for near in range(at - _CONTEXT, at + _CONTEXT + 1)
    }
    listed: list[tuple[int, int]] = []
    at = 0
    while at < len(matches):
        length = 1
        if at not in keep:
            while at + length < len(matches) and at + length not in keep:
                length += 1
        listed += [(at, length)] if length > 2 else [(one, 1) for one in range(at, at + length)]
        at += length
    return listed


def made_lines(
    matches: Sequence[Match], listed: Sequence[tuple[int, int]], left: Steps, right: Steps
) -> list[CompareLine]:
    """The lines with their cells, and a bar before the first difference and before the first divergent write."""
    first, write = first_difference(matches, left, right), first_write(matches, left, right)
    lines = []
    for at, length in listed:
        if length > 1:
            lines.append(CompareLine(relation="fold", folded=length))
            continue
        match = matches[at]
        bar = None
        if at == write:
            bar = _bar(match, left, right, write=True)
        elif at == first:
            bar = _bar(match, left, right, write=False)
        lines.append(_line(match, left, right, bar))
    return lines


def word_pieces(one: str, other: str, *, limit: int) -> tuple[list[Piece], list[Piece]]:
    """Both texts in pieces, with the words marked that the other does not have. Each is cut at `limit` characters."""
    ours, theirs = one[:limit], other[:limit]
    a, b = _TOKEN.findall(ours), _TOKEN.findall(theirs)
    if len(a) > _TOKENS or len(b) > _TOKENS:
        return [Piece(ours, True)], [Piece(theirs, True)]
    words = [[token for token in tokens if not token.isspace()] for tokens in (a, b)]
    if difflib.SequenceMatcher(None, words[0], words[1], autojunk=False).ratio() < _ALIKE:
        return [Piece(ours, True)], [Piece(theirs, True)]
    matcher = difflib.SequenceMatcher(None, a, b, autojunk=False)
    left: list[Piece] = []
    right: list[Piece] = []
    for tag, a1, a2, b1, b2 in matcher.get_opcodes():
        if a2 > a1:
            left.append(Piece("".join(a[a1:a2]), tag != "equal"))
        if b2 > b1:
            right.append(Piece("".join(b[b1:b2]), tag != "equal"))
    return left, right


def _is_thought(match: Match, left: Steps, right: Steps) -> bool:
    step = left.steps[match.left - 1] if match.left is not None else right.steps[(match.right or 1) - 1]
    return step.kind is StepKind.THOUGHT


def _line(match: Match, left: Steps, right: Steps, bar: Bar | None) -> CompareLine:
    one = None if match.left is None else left.steps[match.left - 1]
    other = None if match.right is None else right.steps[match.right - 1]
    relation = match.relation.value
    if match.relation is Relation.ANSWER and not differs(match, left, right):
        relation = Relation.ANSWER.value
    elif match.relation is Relation.ANSWER:
        relation = Relation.DIFFERS.value
    if one is not None and other is not None and match.relation is Relation.DIFFERS:
        ours, theirs = _pair(one, other, left, right)
        cells = _cell(one, left, ours, match.relation), _cell(other, right, theirs, match.relation)
        graded = any(argument.worth for argument in [*ours.arguments, *theirs.arguments])
        return CompareLine(relation=relation, left=cells[0], right=cells[1], bar=bar, graded=graded)
    return CompareLine(
        relation=relation,
        left=None if one is None else _cell(one, left, _alone(one), match.relation),
        right=None if other is None else _cell(other, right, _alone(other), match.relation),
        bar=bar,
    )


class _Content(msgspec.Struct, frozen=True, kw_only=True):
    arguments: list[Argument] = []
    equal: int = 0
    pieces: list[Piece] = []
    cut: bool = False


def _alone(step: Step) -> _Content:
    if step.kind is not StepKind.CALL:
        text = step.content or ""
        return _Content(pieces=[Piece(text[:_TEXT])], cut=len(text) > _TEXT)
    given = [(name, value) for name, value in arguments_of(step).items() if value is not None]
    listed = [Argument(name=name, pieces=[Piece(_cut(_text(value), 60))]) for name, value in given[:_LISTED]]
    return _Content(arguments=listed, equal=len(given) - len(listed))


def _pair(one: Step, other: Step, left_side: Steps, right_side: Steps) -> tuple[_Content, _Content]:
    if one.kind is not StepKind.CALL:
        ours, theirs = one.content or "", other.content or ""
        left, right = word_pieces(ours, theirs, limit=_TEXT)
        # A text marked from end to end says no more than the sign between the two.
        left, right = ([Piece(p[0].text)] if len(p) == 1 else p for p in (left, right))
        return _Content(pieces=left, cut=len(ours) > _TEXT), _Content(pieces=right, cut=len(theirs) > _TEXT)
    mine, yours = arguments_of(one), arguments_of(other)
    changed = _changed_names(one, other)
    equal = [name for name, value in mine.items() if name not in changed and value is not None]
    left_arguments, right_arguments = [], []
    for name in changed:
        a, b = _given(mine, name), _given(yours, name)
        left, right = word_pieces(a or "", b or "", limit=_VALUE)
        left_arguments.append(_changed(name, a, left, _worth(one, name, left_side)))
        right_arguments.append(_changed(name, b, right, _worth(other, name, right_side)))
    rest = [Argument(name=name, pieces=[Piece(_cut(_text(mine[name]), 40))]) for name in equal[:3]]
    more = max(0, len(equal) - 3)
    return (
        _Content(arguments=left_arguments + rest, equal=more),
        _Content(arguments=right_arguments + rest, equal=more),
    )


def _changed(name: str, text: str | None, pieces: list[Piece], worth: str) -> Argument:
    if text is not None and len(text) > _VALUE:
        pieces = [*pieces, Piece("…")]
    return Argument(name=name, pieces=pieces, differs=True, absent=text is None, worth=worth)


def _worth(step: Step, name: str, side: Steps) -> str:
    """`must` or `is` for an argument that a graded field was written from; empty for any other."""
    field = side.graded.get(step.index, {}).get(name.rpartition(".")[2])
    arguments = arguments_of(step)
    if field is None or name not in arguments:
        return ""
    required = field.required is not UNSET and _same(arguments[name], field.required)
    return "must" if required or field.settled else "is"


def _given(arguments: Mapping[str, Any], name: str) -> str | None:
    return _text(arguments[name]) if name in arguments else None


def _same(one: Any, other: Any) -> bool:
    return json_line(one) == json_line(other)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json_line(value)


def _cell(step: Step, side: Steps, content: _Content, relation: Relation) -> Cell:
    letter = side.letters[step.index - 1]
    is_call = step.kind is StepKind.CALL
    note = ""
    if is_call and step.content is None:
        note = "no response recorded"
    elif not is_call and not step.content:
        note = "empty text" if step.content is not None else "no text"
    elif relation is Relation.ANSWER:
        note = "answered otherwise"
    here = side.wrote.get(step.index, [])
    return Cell(
        index=step.index,
        glyph=GLYPHS[letter],
        who=WHO.get(letter, "Response"),
        tool=step.name if is_call else None,
        arguments=content.arguments,
        equal=content.equal,
        pieces=content.pieces,
        cut=content.cut,
        error="" if step.error is None else _cut(step.error, _ERROR),
        note=note,
        wrote=here[:_WROTE],
        more_wrote=max(0, len(here) - _WROTE),
    )


def _bar(match: Match, left: Steps, right: Steps, *, write: bool) -> Bar:
    title = "First divergent write" if write else "First difference"
    one = None if match.left is None else left.steps[match.left - 1]
    other = None if match.right is None else right.steps[match.right - 1]
    writes = left.writes(match.left) or right.writes(match.right)
    harmless = "" if writes else " No state-changing call."
    if one is None or other is None:
        only, label = (one, left.label) if one is not None else (other, right.label)
        assert only is not None
        if only.kind is StepKind.CALL:
            return Bar(title=title, sentence=f"Only {label} calls this.{harmless}", write=write)
        return Bar(title=title, sentence=f"Only {label} has this message.", write=write)
    if one.kind is not StepKind.CALL:
        return Bar(title=title, sentence="The same speaker, another wording.", write=write)
    if match.relation is Relation.ANSWER:
        failed = left.label if one.error is not None else right.label
        return Bar(title=title, sentence=f"The same call; in {failed} the answer is an error.", write=write)
    names = _changed_names(one, other)
    if write:
        names = _graded_names(names, match, left, right)
    told = ", ".join(_cut(name, 40) or "arguments" for name in names[:4]) + (" …" if len(names) > 4 else "")
    return Bar(title=title, sentence="Both make this call and differ in", field=told, after=harmless, write=write)


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"
