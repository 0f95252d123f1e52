"""Some steps of an attempt with what they say, each text cut, for readers who pay by the character."""

from __future__ import annotations

import msgspec

from runs.access import Access
from runs.queries.attempt_detail import part_text
from runs.queries.attempt_steps import letters_of
from runs.queries.attempts import attempt_seen, open_attempt
from runs.queries.values import json_line
from runs.records import Step

__all__ = ["StepText", "StepWindow", "WindowStep", "attempt_window", "step_parts"]


class StepText(msgspec.Struct, frozen=True, kw_only=True):
    part: str
    """`arguments`, `response` or `text`."""
    text: str
    """The beginning."""
    length: int
    """Characters of the whole."""


class WindowStep(msgspec.Struct, frozen=True, kw_only=True):
    index: int
    letter: str
    """As in `StepLine.letter`."""
    tool: str
    error: str
    """The beginning of the tool error; empty without one."""
    texts: list[StepText]


class StepWindow(msgspec.Struct, frozen=True, kw_only=True):
    run: str
    """Slug."""
    uid: str
    repetition: int
    verdict: str
    steps: int
    """All of the attempt."""
    matching: int
    """Those that fit the question, wherever they are."""
    first: int
    shown: list[WindowStep]
    following: int | None
    """The next step that fits; None at the end."""


def attempt_window(
    pk: int, *, first: int, count: int, letters: str = "", words: str = "", characters: int = 600, access: Access
) -> StepWindow | None:
    """Up to `count` steps from step `first` on, with `letters` only those of these kinds, with `words` only those that
    hold them. None when there is no such attempt. One query."""
    attempt = attempt_seen(pk, access)
    if attempt is None:
        return None
    opened = open_attempt(attempt, access)
    record = opened.record
    known = letters_of(record.steps, opened.graded.write_steps)
    wanted = words.casefold()
    fitting = [
        step
        for step, letter in zip(record.steps, known, strict=True)
        if (not letters or letter in letters) and (not wanted or _holds(step, wanted))
    ]
    ahead = [step for step in fitting if step.index >= first]
    shown = ahead[:count]
    return StepWindow(
        run=attempt.run.slug,
        uid=attempt.task.uid,
        repetition=attempt.repetition,
        verdict=attempt.verdict,
        steps=len(record.steps),
        matching=len(fitting),
        first=first,
        shown=[_shown(step, known[step.index - 1], characters) for step in shown],
        following=ahead[len(shown)].index if len(ahead) > len(shown) else None,
    )


def step_parts(step: Step) -> dict[str, str]:
    """The texts that a step has, arguments on one line."""
    found = {name: part_text(step, name) for name in ("arguments", "response", "text")}
    if found["arguments"] is not None and not isinstance(step.arguments, str):
        found["arguments"] = json_line(step.arguments)
    return {name: text for name, text in found.items() if text is not None}


def _shown(step: Step, letter: str, characters: int) -> WindowStep:
    return WindowStep(
        index=step.index,
        letter=letter,
        tool=step.name or "",
        error=(step.error or "")[:characters],
        texts=[
            StepText(part=name, text=text[:characters], length=len(text)) for name, text in step_parts(step).items()
        ],
    )


def _holds(step: Step, words: str) -> bool:
    return any(words in text.casefold() for text in (step.name or "", step.error or "", *step_parts(step).values()))
