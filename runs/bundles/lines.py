"""Lines of a stream, with a bound on what one line may occupy in memory."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from runs.bundles.opening import BrokenCompression, Readable
from runs.records import Problem, ProblemKind

__all__ = ["Blanks", "Line", "blank_run", "split_lines"]

_CHUNK = 256 * 1024
_BLANK = re.compile(rb"[ \t\r\n]*")


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """One line, without its end. `number` counts from 1."""

    number: int
    length: int
    """Bytes, without the line end."""
    data: bytes = b""
    """Empty when the line was longer than the limit, or broke."""
    ended: bool = True
    """Whether a line end follows; only the last line of a file may lack it."""
    too_long: bool = False
    broken: str = ""
    """Why the data stopped within this line: the compressed data ends early."""
    count: int = 1
    """How many lines this is: blank ones that follow each other may come as one."""

    @property
    def blank(self) -> bool:
        return not self.too_long and not self.broken and not self.data.strip()


class Blanks:
    """The blank lines of a file, which are no rows."""

    def __init__(self) -> None:
        self._first = self._count = 0

    def add(self, number: int, count: int = 1) -> None:
        """`count` lines, of which the first has this number."""
        self._first = self._first or number
        self._count += count

    def notes(self) -> list[Problem]:
        """What is to be said of them: nothing, or one sentence."""
        if not self._count:
            return []
        lines = "1 blank line was" if self._count == 1 else f"{self._count:,} blank lines were"
        return [Problem(line=self._first, kind=ProblemKind.NOTE, reason=f"{lines} passed over.")]


def blank_run(data: bytes, start: int, *, max_line: int) -> tuple[int, int] | None:
    """Where the blank lines end that begin at `start`, and how many they are; None for fewer than two. Together they
    have at most `max_line` bytes.

    A file can be gigabytes of them. One after the other they would take minutes.
    """
    blank = _BLANK.match(data, start, start + max_line)
    end = data.rfind(b"\n", start, blank.end()) + 1 if blank else 0
    count = data.count(b"\n", start, end) if end else 0
    return (end, count) if count > 1 else None


def split_lines(stream: Readable, *, max_line: int, first: int = 1) -> Iterator[Line]:
    """All lines, blank ones included. A line of more than `max_line` bytes is passed over without keeping its bytes.

    `first`: the number of the first one.
    """
    number, length = first, 0
    kept: list[bytes] = []
    while True:
        try:
            chunk = stream.read(_CHUNK)
        except BrokenCompression as error:
            yield Line(number=number, length=length, ended=False, broken=str(error))
            return
        if not chunk:
            break
        start = 0
        while (end := chunk.find(b"\n", start)) >= 0:
            if not length and (run := blank_run(chunk, start, max_line=max_line)) is not None:
                start, count = run
                yield Line(number=number, length=0, count=count)
                number += count
                continue
            length += end - start
            if length > max_line:
                yield Line(number=number, length=length, too_long=True)
            else:
                kept.append(chunk[start:end])
                yield Line(number=number, length=length, data=b"".join(kept))
            number, length, start = number + 1, 0, end + 1
            kept.clear()
        length += len(chunk) - start
        if length > max_line:
            kept.clear()
        elif start < len(chunk):
            kept.append(chunk[start:])
    if length > max_line:
        yield Line(number=number, length=length, ended=False, too_long=True)
    elif length:
        yield Line(number=number, length=length, data=b"".join(kept), ended=False)
