"""The transcript side of the trace page: steps as rows, in blocks, filtered, and as a timeline."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import UNSET

from runs.queries.attempt_state_structs import Wrote
from runs.queries.attempt_structs import Block, Mark, StepLine, StepList, Timeline
from runs.queries.values import json_line
from runs.records import Step, StepKind

__all__ = ["GLYPHS", "SHOWS", "WHO", "claim_step", "letters_of", "step_block", "step_list", "timeline"]

SHOWS = ("all", "calls", "writes", "errors")
"""What the list of steps can be narrowed to."""
BLOCK = 50
"""Steps that are asked for at once."""
WHOLE = 150
"""Up to so many steps the first answer holds them all."""
LISTED = 300
"""Rows of a filtered list."""
MARKS = 300
"""Up to so many steps the timeline has a mark each; from three times as many on it has writes and errors only."""
_SAY = {"t": 200, "u": 280, "a": 280, "s": 280, "r": 280}
_CLAIM = 700
_ARGUMENTS = 160
_ARGUMENT = 24
_ERROR = 300
_AROUND = 60
"""Characters before words that were found; after them twice as many."""
_IN_VIEW = dict.fromkeys("uasr", 70)
"""Characters of a row that a narrow screen shows too: two lines of a message, one (40) of a thought or of arguments."""
_FILTERS = {"all": "uastcwexr", "calls": "cwexr", "writes": "wx", "errors": "ex"}
GLYPHS = {
    "u": "user",
    "a": "agent",
    "s": "user",
    "t": "think",
    "c": "call",
    "w": "write",
    "e": "err",
    "x": "err",
    "r": "call",
}
WHO = {"u": "User", "a": "Agent", "s": "System", "t": "Thought", "r": "Response"}
_LABELS = {
    "u": "user message", "a": "agent message", "s": "system message", "t": "thought", "c": "tool call",
    "w": "state-changing call", "e": "tool error", "x": "failed state-changing call", "r": "response without a call",
}  # fmt: skip


def letters_of(steps: Sequence[Step], write_steps: Collection[int]) -> str:
    """One letter a step, as in `StepLine.letter`."""
    writers = set(write_steps)
    return "".join(_letter(step, step.index in writers) for step in steps)


def claim_step(steps: Sequence[Step]) -> int | None:
    """The step of the last visible message of the agent: what it says that it did. None when it said nothing."""
    return next((step.index for step in reversed(steps) if step.is_agent and not step.dummy and step.content), None)


def step_list(
    steps: Sequence[Step],
    letters: str,
    wrote: Mapping[int, list[Wrote]],
    *,
    current: int,
    show: str = "all",
    find: str = "",
) -> StepList:
    """The rows of a first answer: all steps of a short trace, the blocks around `current` of a long one, or those that
    a filter leaves.
    """
    total = len(steps)
    claim = claim_step(steps)
    matching = [step.index for step in steps if letters[step.index - 1] in _FILTERS[show] and _holds(step, find)]
    if show != "all" or find:
        listed = matching[:LISTED]
        lines = [
            _with_excerpt(_line(steps, index, letters, wrote, current, claim), steps[index - 1], find)
            for index in listed
        ]
        blocks = [Block(first=1, last=total, lines=lines, find=find)]
    else:
        listed = matching
        size = total if total <= WHOLE else BLOCK
        blocks = []
        for first in range(1, total + 1, size or 1):
            last = min(total, first + size - 1)
            near = first - BLOCK <= current <= last + BLOCK
            rows = [_line(steps, at, letters, wrote, current, claim) for at in range(first, last + 1)] if near else []
            blocks.append(Block(first=first, last=last, lines=rows))
    return StepList(
        total=total,
        blocks=blocks,
        letters=letters,
        show=show,
        find=find,
        matching=len(matching),
        listed=len(listed),
        calls=sum(letter in _FILTERS["calls"] for letter in letters),
        writes=sum(letter in _FILTERS["writes"] for letter in letters),
        errors=sum(letter in _FILTERS["errors"] for letter in letters),
    )


def step_block(steps: Sequence[Step], letters: str, wrote: Mapping[int, list[Wrote]], *, first: int) -> Block:
    """The rows of the block that `first` is in."""
    first = (max(1, min(first, len(steps))) - 1) // BLOCK * BLOCK + 1
    last = min(len(steps), first + BLOCK - 1)
    claim = claim_step(steps)
    return Block(
        first=first, last=last, lines=[_line(steps, at, letters, wrote, 0, claim) for at in range(first, last + 1)]
    )


def timeline(steps: Sequence[Step], letters: str, *, current: int, cause: int | None) -> Timeline:
    """The marks of all steps on one line; drawn as paths where they are too many to be elements."""
    total = len(steps)
    if total <= MARKS:
        marks = [
            Mark(step.index, GLYPHS[letter], _label(step, letter)) for step, letter in zip(steps, letters, strict=True)
        ]
        return Timeline(total=total, step=current, cause=cause, marks=marks, dense=total > 100)
    writes_only = total >= 3 * MARKS
    kinds = [("write", "w", 3, 17), ("err", "ex", 2, 18)]
    if not writes_only:
        kinds = [("call", "cr", 6, 14), ("message", "uas", 7, 13), *kinds]
    paths = []
    for kind, members, top, bottom in kinds:
        path = "".join(f"M{at + 0.5:g} {top}V{bottom}" for at, letter in enumerate(letters) if letter in members)
        if path:
            paths.append((kind, path))
    return Timeline(total=total, step=current, cause=cause, paths=paths, writes_only=writes_only)


def _letter(step: Step, writes: bool) -> str:
    if step.kind is StepKind.THOUGHT:
        return "t"
    if step.kind is StepKind.CALL:
        return ("x" if writes else "e") if step.error is not None else ("w" if writes else "c")
    if step.kind is StepKind.RESPONSE:
        return "e" if step.error is not None else "r"
    return {"user": "u", "assistant": "a"}.get(step.role, "s")


def _label(step: Step, letter: str) -> str:
    name = f" {_cut(step.name, 60)}" if step.name else ""
    return f"{step.index} {_LABELS[letter]}{name}"


def _holds(step: Step, find: str) -> bool:
    if not find:
        return True
    wanted = find.casefold()
    texts = [step.name, step.content, step.error, _arguments_text(step.arguments)]
    return any(wanted in text.casefold() for text in texts if text)


def _with_excerpt(line: StepLine, step: Step, find: str) -> StepLine:
    """The row with the words that were asked for where it does not show them itself."""
    words = re.compile(re.escape(find), re.IGNORECASE)
    in_view = line.say[: _IN_VIEW.get(line.letter, 40)]
    if not find or any(words.search(text) for text in (in_view, line.tool or "", line.error or "")):
        return line
    is_call = step.kind is StepKind.CALL
    named = {"response" if is_call else "text": step.content or "", "arguments": _arguments_text(step.arguments)}
    for name, text in named.items():
        hit = words.search(text)
        if hit is not None:
            start, end = max(0, hit.start() - _AROUND), min(len(text), hit.end() + 2 * _AROUND)
            excerpt = f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"
            return msgspec.structs.replace(line, excerpt=excerpt, excerpt_of=name)
    return line


def _arguments_text(arguments: Any) -> str:
    if arguments is UNSET:
        return ""
    return arguments if isinstance(arguments, str) else json_line(arguments)


def _line(
    steps: Sequence[Step], index: int, letters: str, wrote: Mapping[int, list[Wrote]], current: int, claim: int | None
) -> StepLine:
    step, letter = steps[index - 1], letters[index - 1]
    is_call = step.kind is StepKind.CALL
    text = step.content or ""
    limit = _CLAIM if index == claim else _SAY.get(letter, 280)
    note = ""
    if is_call and step.content is None:
        note = "no response recorded"
    elif step.kind is StepKind.RESPONSE:
        note = "answers no call of this transcript"
    elif not is_call and not text:
        note = "empty text" if step.content is not None else "no text"
    here = wrote.get(index, [])
    marks = ["claim"] if index == claim else []
    if step.dummy:
        marks.append("put in by the harness")
    if step.tag == "direct":
        marks.append("shown to the user by the tool")
    shown = _shown_wrote(here)
    return StepLine(
        index=index,
        letter=letter,
        glyph=GLYPHS[letter],
        classes=_classes(steps, index, letter, index == claim),
        who=WHO.get(letter, "Response"),
        tool=step.name if is_call else None,
        say=_arguments_line(step.arguments) if is_call else text[:limit],
        cut=not is_call and len(text) > limit,
        size=len(text.encode(errors="surrogatepass")) if step.content and (is_call or len(text) > limit) else None,
        error=None if step.error is None else _cut(step.error, _ERROR),
        note=note,
        wrote=shown,
        more_wrote=len(here) - len(shown),
        opens=is_call or len(text) > limit,
        current=index == current,
        marks=marks,
    )


def _shown_wrote(wrote: list[Wrote]) -> list[Wrote]:
    """The first effect in full, and the names of three more; created records count as one each."""
    return wrote[:4]


def _classes(steps: Sequence[Step], index: int, letter: str, is_claim: bool) -> str:
    names = {"t": "think", "c": "call", "w": "call write", "e": "call err", "x": "call write err", "r": "call"}
    classes = [names.get(letter, "msg")]
    if is_claim:
        classes.append("claim")
    batch = steps[index - 1].batch
    if batch is not None:
        classes.append("batch")
        if index == 1 or steps[index - 2].batch != batch:
            classes.append("first")
        if index == len(steps) or steps[index].batch != batch:
            classes.append("last")
    return " ".join(classes)


def _arguments_line(arguments: Any) -> str:
    """`id: 20, status: open`; null arguments are left to the opened row."""
    if arguments is UNSET:
        return ""
    if not isinstance(arguments, dict):
        return _cut(arguments if isinstance(arguments, str) else json_line(arguments), _ARGUMENTS)
    parts: list[str] = []
    used = 0
    flat = [
        pair
        for name, value in arguments.items()
        for pair in (value.items() if isinstance(value, dict) and value else [(name, value)])
    ]
    for name, value in flat:
        if value is None:
            continue
        text = value if isinstance(value, str) else json_line(value)
        parts.append(f"{_cut(name, _ARGUMENT)}: {_cut(text, _ARGUMENT)}")
        used += len(parts[-1]) + 2
        if used > _ARGUMENTS:
            parts.append("…")
            break
    return ", ".join(parts)


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"
