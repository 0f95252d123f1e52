"""Whole lines of a file that somebody else is still writing.

A line without its end waits. A file that was cut, rewritten or replaced by another is read again from its start, which
is known by its bytes: what was read last, and how it begins, are looked at before each reading.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import BinaryIO

import msgspec

__all__ = ["Piece", "Place", "Tail"]

_SAMPLE = 4096
_BLOCK = 1 << 20


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """How far a file was read, and by what its bytes before that are known again."""

    position: int = 0
    lines: int = 0
    head: str = ""
    """Digest of its first bytes, 4 KiB at most."""
    tail: str = ""
    """Digest of the last bytes before the position, 4 KiB at most."""


class Piece(msgspec.Struct, frozen=True, kw_only=True):
    """Whole lines that follow each other."""

    data: bytes = b""
    lines_before: int = 0
    size: int = 0
    """Of the file."""
    restarted: bool = False
    """The file is another one than before: this is its beginning, and nothing that was read holds any more."""
    final: bool = False
    """The file was moved away, so its last line gets no end any more."""
    too_long: int = 0
    """The length of one line that is longer than allowed, and not in `data`."""


class Tail:
    """One path that is read again and again."""

    def __init__(self, path: Path, place: Place | None = None, *, max_line: int) -> None:
        self.path = path
        self.place = place or Place()
        self._max_line = max_line
        self._file: BinaryIO | None = None

    def poll(self, most: int = 8 << 20) -> Piece:
        """The next whole lines, about `most` bytes of them; none where nothing new is whole.

        Raises `OSError` when the file cannot be read. One that is not there yet, or not any more, has no lines.
        """
        moved = self._file is not None and not self._is_same()
        if self._file is not None and moved:
            piece = self._next(self._file, most)
            if piece.data or piece.too_long:
                return piece
            rest = self._rest(self._file)
            self.close()
            begun, self.place = self.place, Place()
            if rest:
                return Piece(data=rest, lines_before=begun.lines, final=True)
            return Piece(restarted=begun.position > 0)
        if self._file is None:
            try:
                self._file = self.path.open("rb")
            except FileNotFoundError:
                return Piece()
        restarted = not self._fits(self._file)
        if restarted:
            self.place = Place()
        piece = self._next(self._file, most)
        return msgspec.structs.replace(piece, restarted=restarted)

    def rest(self) -> bytes:
        """What follows the last whole line, when nobody writes any more."""
        return b"" if self._file is None else self._rest(self._file)

    def fits(self) -> bool:
        """Whether the file at the path still has what was read of it."""
        try:
            with self.path.open("rb") as file:
                return self._fits(file)
        except OSError:
            return False

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def __del__(self) -> None:
        self.close()

    def _is_same(self) -> bool:
        assert self._file is not None
        try:
            there = self.path.stat()
        except FileNotFoundError:
            return False
        mine = os.fstat(self._file.fileno())
        return (there.st_ino, there.st_dev) == (mine.st_ino, mine.st_dev)

    def _fits(self, file: BinaryIO) -> bool:
        position = self.place.position
        if not position:
            return True
        if os.fstat(file.fileno()).st_size < position:
            return False
        return (self.place.head, self.place.tail) == _digests(file, position)

    def _next(self, file: BinaryIO, most: int) -> Piece:
        start, size = self.place.position, os.fstat(file.fileno()).st_size
        file.seek(start)
        data = file.read(most)
        end = data.rfind(b"\n")
        if end < 0 and len(data) == most:
            data, end = self._long_line(file, data)
            if end >= 0 and end > self._max_line:
                self._advance(file, end + 1, 1)
                return Piece(lines_before=self.place.lines - 1, size=size, too_long=end)
        if end < 0:
            return Piece(lines_before=self.place.lines, size=size)
        data = data[: end + 1]
        before = self.place.lines
        self._advance(file, len(data), data.count(b"\n"))
        return Piece(data=data, lines_before=before, size=size)

    def _long_line(self, file: BinaryIO, data: bytes) -> tuple[bytes, int]:
        """A line that is longer than one reading, and where it ends (-1: not yet). Its bytes are not kept beyond the
        longest that is allowed."""
        parts, length = [data], len(data)
        while block := file.read(_BLOCK):
            end = block.find(b"\n")
            if end >= 0:
                return b"".join([*parts, block[: end + 1]]), length + end
            length += len(block)
            parts = [] if length > self._max_line else [*parts, block]
        return b"", -1

    def _advance(self, file: BinaryIO, length: int, lines: int) -> None:
        position = self.place.position + length
        head, tail = _digests(file, position)
        self.place = Place(position=position, lines=self.place.lines + lines, head=head, tail=tail)

    def _rest(self, file: BinaryIO) -> bytes:
        file.seek(self.place.position)
        return file.read(self._max_line + 1)


def _digests(file: BinaryIO, position: int) -> tuple[str, str]:
    size = min(_SAMPLE, position)
    file.seek(0)
    head = hashlib.sha256(file.read(size)).hexdigest()
    file.seek(position - size)
    return head, hashlib.sha256(file.read(size)).hexdigest()
