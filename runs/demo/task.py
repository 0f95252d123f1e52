"""What a task is: the words of the customer, what has to be done, and the ways in which agents go wrong."""

from __future__ import annotations

from typing import Any, NamedTuple


class Call(NamedTuple):
    tool: str
    arguments: dict[str, Any]


class Slip(NamedTuple):
    """One write with other values than required."""

    write: int
    values: dict[str, Any]
    thought: str


class Rubric(NamedTuple):
    question: str
    yes: str
    """The judge's reason when the answer is Yes."""


class Spoiled(NamedTuple):
    """A final answer for which the judge says No."""

    rubric: int
    answer: str
    no: str


class Task(NamedTuple):
    file: str
    name: str
    domain: str
    language: str
    query: str
    context: str
    """What only the simulated customer knows."""
    reads: tuple[tuple[Call, ...], ...]
    """Look-ups, in batches that can be made at once."""
    writes: tuple[Call, ...]
    """The required calls, in order."""
    wordings: dict[tuple[int, str], tuple[str, ...]]
    """(write, argument) → other texts for a field that is not graded."""
    slips: tuple[Slip, ...]
    extras: tuple[Call, ...]
    others: tuple[tuple[tuple[Call, ...], str], ...]
    """Whole other lists of writes, each with what the agent thinks."""
    refused: Call
    """A call that the tool or its schema refuses."""
    insights: tuple[str, ...]
    answers: tuple[str, ...]
    rubrics: tuple[Rubric, ...] = ()
    spoiled: tuple[Spoiled, ...] = ()
    optional: tuple[Call, ...] = ()
    """Look-ups that only some agents make at the end."""

    @property
    def uid(self) -> str:
        return f"{self.file}:{self.name}"
