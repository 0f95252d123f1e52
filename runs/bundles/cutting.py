"""Where a plain file of lines can be cut, so that several processes read it at once, each its own part of the file.

Only line ends are looked for, so cutting costs a fraction of reading. A compressed file, and one whose rows are not
lines, has to be read from front to back.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import BinaryIO, NamedTuple

import msgspec

from runs.bundles.lines import Blanks, blank_run

__all__ = ["Extent", "Window", "cut_lines"]

_BLOCK = 1 << 20
_SOLID = re.compile(rb"\S")


class Extent(msgspec.Struct, frozen=True, kw_only=True):
    """Lines of a file that follow each other."""

    first_line: int
    """Counted from 1."""
    start: int
    end: int
    """In bytes from the file's beginning; `end` is behind the last line's end."""


class _Line(NamedTuple):
    end: int
    length: int
    blank: bool
    lines: int = 1
    """Blank lines that follow each other may come as one."""


def cut_lines(
    stream: BinaryIO, blanks: Blanks, *, max_line: int, most_rows: int, most_bytes: int, beat: Callable[[], None]
) -> Iterator[Extent]:
    """Parts of at most so many rows, of fewer where they are large; `blanks` gets the blank lines, and `beat` is called
    for each block that is read.

    From where the stream stands to its end. The cuts depend on the file alone.
    """
    first, start = 1, stream.tell()
    number = end = rows = size = 0
    for line in _lines(stream, max_line, beat):
        end = line.end
        number += line.lines
        if line.blank and line.length <= max_line:
            blanks.add(number - line.lines + 1, line.lines)
            continue
        rows += 1
        size += line.length
        if rows == most_rows or size > most_bytes:
            yield Extent(first_line=first, start=start, end=end)
            first, start, rows, size = number + 1, end, 0, 0
    if rows:
        yield Extent(first_line=first, start=start, end=end)


def _lines(stream: BinaryIO, max_line: int, beat: Callable[[], None]) -> Iterator[_Line]:
    start = position = stream.tell()
    blank = True
    while block := stream.read(_BLOCK):
        beat()
        seen = 0
        while (end := block.find(b"\n", seen)) >= 0:
            begins = start == position + seen
            if begins and (run := blank_run(block, seen, max_line=max_line)) is not None:
                seen, count = run
                start = position + seen
                yield _Line(start, 0, True, count)
                continue
            blank = blank and _SOLID.search(block, seen, end) is None
            yield _Line(position + end + 1, position + end - start, blank)
            start, seen, blank = position + end + 1, end + 1, True
        blank = blank and _SOLID.search(block, seen) is None
        position += len(block)
    if position > start:
        yield _Line(position, position - start, blank)


class Window:
    """A part of a file, read as if it were a file of its own."""

    def __init__(self, stream: BinaryIO, part: Extent) -> None:
        stream.seek(part.start)
        self._stream = stream
        self._left = part.end - part.start

    def read(self, size: int = -1, /) -> bytes:
        data = self._stream.read(self._left if size < 0 else min(size, self._left))
        self._left -= len(data)
        return data
