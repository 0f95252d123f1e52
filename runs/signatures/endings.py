"""How an attempt ended: the last visible message of the agent, and the harness's reason to stop."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from runs.records import Step

__all__ = ["BROKEN_OFF", "MARKER", "TURN_LIMITS", "Ending", "read_ending"]

MARKER = "<DONE>"
"""What an agent writes when it has nothing left to do."""
TURN_LIMITS = frozenset({"user_limit", "agent_limit"})
BROKEN_OFF = TURN_LIMITS | {"agent_error"}
"""Finish reasons of attempts that did not come to their own end."""

_LINK = re.compile(r"\b(?:https?://|www\.)[^\s<>\"')\]]+", re.IGNORECASE)


class Ending(NamedTuple):
    """The last visible message of the agent; thoughts and what the harness put in are not visible."""

    step: int | None
    """None: the agent said nothing."""
    text: str

    @property
    def empty(self) -> bool:
        return not self.text.strip()

    @property
    def marker(self) -> bool:
        return MARKER in self.text

    @property
    def question_mark(self) -> bool:
        return "?" in self.text

    @property
    def question(self) -> int | None:
        """Position of the last question mark outside of a link; None when there is none."""
        if "?" not in self.text:
            return None
        blanked = _LINK.sub(lambda link: "-" * len(link[0].rstrip("?")) + "?" * _trailing(link[0]), self.text)
        position = blanked.rfind("?")
        return None if position < 0 else position

    @property
    def clean(self) -> bool:
        """The study's clean termination: not empty, with the marker, and no question mark anywhere in the text."""
        return not self.empty and self.marker and not self.question_mark


def read_ending(steps: Sequence[Step]) -> Ending:
    for step in reversed(steps):
        if step.is_agent and not step.dummy:
            return Ending(step.index, step.content or "")
    return Ending(None, "")


def _trailing(link: str) -> int:
    """Question marks behind a link belong to the sentence."""
    return len(link) - len(link.rstrip("?"))
