"""Tar archives as a stream: ustar, with the long names of GNU and of POSIX (pax)."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from runs.bundles.archives import BrokenArchive, BrokenMember, Member
from runs.bundles.limits import Limits, TooLarge
from runs.bundles.opening import BrokenCompression, Readable, tar_sum

__all__ = ["tar_members"]

_BLOCK = 512
_PIECE = 256 * 1024
_MOST_EXTRA = 1 << 20
"""Bytes of a header that only holds a long name. A real one has some hundreds."""
_FILE = {b"0", b"\0", b"7"}
_OTHER = {
    b"1": "It is a link, which is not followed.",
    b"2": "It is a link, which is not followed.",
    b"3": "It is a device, and no file.",
    b"4": "It is a device, and no file.",
    b"6": "It is a pipe, and no file.",
    b"S": "It is a sparse file, which is not read. Pack it without --sparse.",
}


class _Header(msgspec.Struct):
    name: str
    size: int
    kind: bytes


class _Names(msgspec.Struct):
    """What the headers before a member say of it."""

    name: str | None = None
    size: int | None = None
    sparse: bool = False


def tar_members(stream: Readable, limits: Limits) -> Iterator[Member]:
    """The members of a tar archive, folders left out.

    Raises `BrokenArchive` where it can be read no further, `TooLarge` beyond the number of members.
    """
    source = _Source(stream)
    said = _Names()
    number = 0
    while (header := _next_header(source)) is not None:
        number += 1
        if number > limits.members:
            raise TooLarge(
                f"It has more than {limits.members:,} members (TWENTYFOLD_MAX_MEMBERS). Pack only the result files, or "
                "raise the limit if it is yours."
            )
        if header.kind in {b"L", b"K", b"x", b"g"}:
            _extra(source, header, said)
            continue
        name, size = said.name or header.name, header.size if said.size is None else said.size
        kind = b"S" if said.sparse else header.kind
        said = _Names()
        if kind in {b"1", b"2", b"3", b"4", b"5", b"6"}:  # these have no content, whatever the size says
            size = 0
        source.begin(size)
        if kind in _FILE and not name.endswith("/"):
            yield Member(number=number, name=name, content=source.content())
        elif kind not in _FILE and kind != b"5":
            problem = _OTHER.get(kind, f"It is of a kind that is not known ({kind!r}).")
            yield Member(number=number, name=name, problem=problem)
        source.finish()


class _Source:
    """The stream, and how much of the member at hand is still to come."""

    def __init__(self, stream: Readable) -> None:
        self._stream = stream
        self._left = 0
        self._padding = 0

    def begin(self, size: int) -> None:
        self._left, self._padding = size, -size % _BLOCK

    def content(self) -> Iterator[bytes]:
        while self._left:
            yield self._piece(BrokenMember)

    def finish(self) -> None:
        """Passes over what nobody read of the member."""
        while self._left:
            self._piece(BrokenArchive)
        self._left, self._padding = self._padding, 0
        while self._left:
            self._piece(BrokenArchive)

    def block(self) -> bytes:
        """A whole block, or nothing at the end of the stream."""
        data = b""
        while len(data) < _BLOCK and (more := self._read(_BLOCK - len(data), BrokenArchive)):
            data += more
        if data and len(data) < _BLOCK:
            raise BrokenArchive(_ENDS_EARLY)
        return data

    def _piece(self, kind: type[BrokenArchive | BrokenMember]) -> bytes:
        data = self._read(min(self._left, _PIECE), kind)
        if not data:
            raise kind(_ENDS_EARLY)
        self._left -= len(data)
        return data

    def _read(self, size: int, kind: type[BrokenArchive | BrokenMember]) -> bytes:
        try:
            return self._stream.read(size)
        except BrokenCompression as error:
            if isinstance(error.__cause__, TooLarge):
                raise error.__cause__ from error
            raise kind(str(error)) from error


_ENDS_EARLY = "The archive ends early, so it is probably cut off. Copy it again, and give the whole file."


def _next_header(source: _Source) -> _Header | None:
    """None at the end: a block of zeros, or no more blocks."""
    block = source.block()
    if not block.strip(b"\0"):
        return None
    if _number(block[148:156]) != tar_sum(block):
        raise BrokenArchive("The archive is damaged: a member's header has a wrong checksum. Copy it again.")
    size = _number(block[124:136])
    if size is None or size < 0:
        raise BrokenArchive("The archive is damaged: a member's size is no number. Copy it again.")
    name = _text(block[:100])
    if block[257:262] == b"ustar" and block[262:264] != b" \0" and block[345]:  # GNU keeps other things there
        name = f"{_text(block[345:500])}/{name}"
    return _Header(name, size, block[156:157])


def _extra(source: _Source, header: _Header, said: _Names) -> None:
    if header.size > _MOST_EXTRA:
        raise BrokenArchive(f"The archive is damaged: a member's name would have {header.size:,} bytes.")
    source.begin(header.size)
    data = b"".join(source.content())
    source.finish()
    if header.kind == b"L":
        said.name = _text(data)
    elif header.kind == b"x":
        _pax(data, said)


def _pax(data: bytes, said: _Names) -> None:
    """Records `<length> <name>=<value>\\n`; the length counts the whole record."""
    at = 0
    while at < len(data):
        digits, blank, _ = data[at : at + 20].partition(b" ")
        length = int(digits) if blank and digits.isdigit() else 0
        record = data[at + len(digits) + 1 : at + length]
        name, equals, value = record.rstrip(b"\n").partition(b"=")
        if length < 5 or at + length > len(data) or not equals:
            raise BrokenArchive("The archive is damaged: a member's extended header cannot be read. Copy it again.")
        at += length
        if name == b"path":
            said.name = _text(value)
        elif name == b"size":
            if not value.isdigit() or len(value) > 20:
                raise BrokenArchive("The archive is damaged: a member's size is no number. Copy it again.")
            said.size = int(value)
        elif name.startswith(b"GNU.sparse."):
            said.sparse = True


def _number(field: bytes) -> int | None:
    """Octal digits, or (GNU) a binary number with its first bit set; None for anything else."""
    if field[0] & 0x80:
        return int.from_bytes(bytes([field[0] & 0x7F]) + field[1:], "big") if field[0] == 0x80 else -1
    digits = field.strip(b" \0")
    if not digits:
        return 0
    return int(digits, 8) if set(digits) <= set(b"01234567") else None


def _text(field: bytes) -> str:
    return field.partition(b"\0")[0].decode("utf-8", errors="replace")
