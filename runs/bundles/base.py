"""What a reader is: it turns one harness's result files into attempt records, one line at a time.

The way of a row: `lines` of the file → `RawRecord` (its text, with its line number) → `ReadRecord`: the attempt in this
project's words, and the row again without its large shared parts, which is stored and can be put together again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import BinaryIO, Protocol

import msgspec
from msgspec import Raw

from runs.bundles.lines import Blanks
from runs.bundles.opening import Readable
from runs.records import AttemptRecord, BundleHeader, Problem

__all__ = ["Detached", "Part", "RawRecord", "ReadRecord", "Reader"]


class RawRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One row as JSON text. `line` counts from 1 (a YAML document: the line it starts on).

    Whether the text is sound all through is found by `Reader.read`, so that a row is decoded once.
    """

    line: int
    text: bytes
    notes: list[str] = []
    """What had to be changed to make it JSON, in sentences; `read` adds its own to the record's notes."""


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """A large part of a row that many rows share, taken out at `path`: the tables of a state, or another JSON value."""

    path: tuple[str, ...]
    tables: dict[str, Raw] | None = None
    value: Raw | None = None


class Detached(msgspec.Struct, frozen=True, kw_only=True):
    """A row in two: its JSON text with null where a part was, and the parts."""

    skeleton: bytes
    parts: list[Part] = []
    content: bytes = b""
    """The canonical JSON of the skeleton, where the reader has it at hand; empty: it is made from the skeleton."""


class ReadRecord(msgspec.Struct, frozen=True, kw_only=True):
    record: AttemptRecord
    detached: Detached


class Reader(Protocol):
    """One result format."""

    name: str
    """Stored with each attempt, so that its payload can be read again: `thinkingbox`."""
    title: str
    """For people: `ThinkingBox tb infer`."""
    by_line: bool
    """Each line is a row or blank, so that the parts of a file can be read apart, by `rows_of_lines`."""

    def matches(self, head: bytes) -> bool:
        """Whether the first bytes (up to 64 KiB, uncompressed) of a file are this format's. Never asks for its name."""
        ...

    def rows(self, stream: BinaryIO, *, max_line: int) -> Iterator[RawRecord | Problem]:
        """The rows of a stream, lazily and in order.

        A line that is seen to be no JSON object, or is longer than `max_line` bytes, is a Problem.
        """
        ...

    def rows_of_lines(
        self, stream: Readable, blanks: Blanks, *, max_line: int, first: int = 1
    ) -> Iterator[RawRecord | Problem]:
        """The rows of a part of a file, whose first line has the number `first`; `blanks` gets its blank lines.

        Of a reader that is not `by_line` it is never asked for.
        """
        ...

    def header(self, text: bytes) -> BundleHeader | None:
        """What a row says of its whole run; None where this format's rows say nothing."""
        ...

    def read(self, text: bytes) -> ReadRecord:
        """A row's text, normalised.

        Raises `BadRecord`, naming the field, when it is not this format's, and without a field when it is no JSON.
        """
        ...

    def normalise(self, skeleton: bytes) -> AttemptRecord:
        """The record of a stored row without its parts: no states, no tools."""
        ...

    def attach(self, skeleton: bytes, parts: Mapping[tuple[str, ...], Raw]) -> bytes:
        """The row again, equal as JSON to what came in."""
        ...
