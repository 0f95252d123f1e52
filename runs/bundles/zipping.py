"""Zip archives, from a seekable file: by the directory at their end, as every reader does.

The standard library's reader makes an object of each entry before anything can be counted, and reads overlapping
entries; so the directory is read here, entry by entry.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterator
from typing import BinaryIO, Protocol

import msgspec
import zstandard

from runs.bundles.archives import BrokenArchive, BrokenMember, Member
from runs.bundles.limits import Limits, TooLarge, check_size

__all__ = ["zip_members"]

_END = struct.Struct("<4s4H2LH")
_END64_PLACE = struct.Struct("<4sLQL")
_END64 = struct.Struct("<4sQ2H2L4Q")
_ENTRY = struct.Struct("<4s6H3L5H2L")
_LOCAL = struct.Struct("<4s5H3L2H")
_PIECE = 64 * 1024
_STORED, _DEFLATED, _ZSTD = 0, 8, 93
_UNKNOWN = 0xFFFFFFFF
_CUT = "The zip archive has no directory at its end, so it is probably cut off. Copy it again, and give the whole file."
_DAMAGED = "The zip archive is damaged: its directory cannot be read. Copy it again."


class _Entry(msgspec.Struct, frozen=True):
    number: int
    name: bytes
    flags: int
    method: int
    crc: int
    packed: int
    size: int
    place: int
    """Of the local header in the file."""
    mode: int

    @property
    def text(self) -> str:
        return self.name.decode("utf-8" if self.flags & 0x800 else "cp437", errors="replace")


class _Directory(msgspec.Struct, frozen=True):
    start: int
    size: int
    shift: int
    """Bytes before the archive, as in a program that unpacks itself."""


def zip_members(file: BinaryIO, limits: Limits) -> Iterator[Member]:
    """The members of a zip archive, folders left out.

    Raises `BrokenArchive` where its directory cannot be read, `TooLarge` beyond the number of members or the bytes that
    are allowed.
    """
    directory = _find_directory(file)
    entries = _entries(file, directory, limits)
    overlapping = _overlapping(entries, directory)
    tally = _Tally(limits)
    for entry in entries:
        if entry.text.endswith("/") and not entry.size:
            continue
        problem = _problem(entry)
        if entry.number in overlapping:
            problem = "It lies over another member of the archive, as no packer writes it."
        if problem:
            yield Member(number=entry.number, name=entry.text, problem=problem)
        else:
            yield Member(number=entry.number, name=entry.text, content=_content(file, entry, directory, tally))


class _Tally:
    """What was unpacked so far of all members."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.unpacked = self.packed = 0

    def add(self, unpacked: int, packed: int) -> None:
        self.unpacked += unpacked
        self.packed += packed
        check_size(self.unpacked, self.packed, self.limits)


def _find_directory(file: BinaryIO) -> _Directory:
    size = file.seek(0, 2)
    start = max(0, size - _END.size - 0xFFFF)
    file.seek(start)
    tail = file.read()
    at = tail.rfind(b"PK\x05\x06")
    while at >= 0:
        if at + _END.size <= len(tail):
            end = _END.unpack_from(tail, at)
            if at + _END.size + end[7] <= len(tail):
                return _directory(file, start + at, end)
        at = tail.rfind(b"PK\x05\x06", 0, at)
    raise BrokenArchive(_CUT)


def _directory(file: BinaryIO, place: int, end: tuple[bytes, int, int, int, int, int, int, int]) -> _Directory:
    size, offset, ends_at = end[5], end[6], place
    file.seek(max(0, place - _END64_PLACE.size))
    pointer = file.read(_END64_PLACE.size)
    if len(pointer) == _END64_PLACE.size and pointer.startswith(b"PK\x06\x07"):
        ends_at = place - _END64_PLACE.size - _END64.size
        if ends_at < 0:
            raise BrokenArchive(_DAMAGED)
        file.seek(ends_at)
        record = file.read(_END64.size)
        if not record.startswith(b"PK\x06\x06"):
            raise BrokenArchive(_DAMAGED)
        size, offset = _END64.unpack(record)[8:10]
    elif end[1] or end[2]:
        raise BrokenArchive("The zip archive is one part of several. Put the parts together first.")
    shift = ends_at - size - offset
    if shift < 0:
        raise BrokenArchive(_DAMAGED)
    return _Directory(offset + shift, size, shift)


def _entries(file: BinaryIO, directory: _Directory, limits: Limits) -> list[_Entry]:
    """Every entry of the directory, however many its end says there are."""
    entries: list[_Entry] = []
    file.seek(directory.start)
    left = directory.size
    while left:
        if len(entries) == limits.members:
            raise TooLarge(
                f"It has more than {limits.members:,} members (TWENTYFOLD_MAX_MEMBERS). Pack only the result files, or "
                "raise the limit if it is yours."
            )
        fixed = file.read(min(left, _ENTRY.size))
        if len(fixed) < _ENTRY.size or not fixed.startswith(b"PK\x01\x02"):
            raise BrokenArchive(_DAMAGED)
        values = _ENTRY.unpack(fixed)
        name_size, extra_size, comment_size = values[10:13]
        rest = file.read(name_size + extra_size + comment_size)
        left -= _ENTRY.size + name_size + extra_size + comment_size
        if left < 0 or len(rest) < name_size + extra_size + comment_size:
            raise BrokenArchive(_DAMAGED)
        sizes = _long_sizes(rest[name_size : name_size + extra_size], [values[9], values[8], values[16]])
        entries.append(
            _Entry(
                number=len(entries) + 1,
                name=rest[:name_size],
                flags=values[3],
                method=values[4],
                crc=values[7],
                packed=sizes[1],
                size=sizes[0],
                place=sizes[2] + directory.shift,
                mode=values[15] >> 16,
            )
        )
    return entries


def _long_sizes(extra: bytes, sizes: list[int]) -> list[int]:
    """Size, packed size and place, each from the zip64 field where the entry itself has no room for it."""
    at = 0
    while at + 4 <= len(extra):
        kind, length = struct.unpack_from("<HH", extra, at)
        if kind == 1:
            field = extra[at + 4 : at + 4 + length]
            for position, size in enumerate(sizes):
                if size == _UNKNOWN and len(field) >= 8:
                    sizes[position], field = struct.unpack_from("<Q", field)[0], field[8:]
        at += 4 + length
    return sizes


def _overlapping(entries: list[_Entry], directory: _Directory) -> set[int]:
    """Entries that share bytes with another one or with the directory. All of them: none can be trusted."""
    found: set[int] = set()
    ordered = sorted(entries, key=lambda entry: entry.place)
    reached, by = 0, 0
    for entry in ordered:
        end = entry.place + _LOCAL.size + len(entry.name) + entry.packed
        if entry.place < reached:
            found |= {entry.number, by}
        if end > directory.start:
            found.add(entry.number)
        if end > reached:
            reached, by = end, entry.number
    return found


def _problem(entry: _Entry) -> str:
    if entry.flags & 0x2041:
        return "It is encrypted. Unpack it with its password, and give the file in it."
    if entry.mode & 0o170000 == 0o120000:
        return "It is a link, which is not followed."
    if entry.method not in {_STORED, _DEFLATED, _ZSTD}:
        return f"It is packed by method {entry.method}, which is not read. Pack it as deflate, the usual one."
    return ""


class _Inflate(Protocol):
    def __call__(self, data: bytes, /) -> Iterator[bytes]: ...


def _content(file: BinaryIO, entry: _Entry, directory: _Directory, tally: _Tally) -> Iterator[bytes]:
    place = _data_place(file, entry, directory)
    tally.add(0, _LOCAL.size)
    inflate, ended = _inflater(entry.method)
    size, crc, left = 0, 0, entry.packed
    while left:
        file.seek(place)
        data = file.read(min(left, _PIECE))
        if not data:
            raise BrokenMember("It is damaged: its data ends early. Copy the archive again.")
        place, left = place + len(data), left - len(data)
        tally.add(0, len(data))
        try:
            for piece in filter(None, inflate(data)):  # nothing yet is not the end
                size += len(piece)
                if size > entry.size:
                    raise BrokenMember(f"It is damaged: it holds more than the {entry.size:,} bytes that it names.")
                tally.add(len(piece), 0)
                crc = zlib.crc32(piece, crc)
                yield piece
        except (zlib.error, zstandard.ZstdError) as error:
            raise BrokenMember(f"It is damaged ({error}). Copy the archive again.") from error
    if size != entry.size or not ended():
        raise BrokenMember(f"It is damaged: it holds {size:,} bytes, and names {entry.size:,}. Copy the archive again.")
    if crc != entry.crc:
        raise BrokenMember("It is damaged: its checksum is wrong. Copy the archive again.")


def _data_place(file: BinaryIO, entry: _Entry, directory: _Directory) -> int:
    """Where a member's data begins. Its own header has to agree with the directory."""
    file.seek(entry.place)
    fixed = file.read(_LOCAL.size)
    if len(fixed) < _LOCAL.size or not fixed.startswith(b"PK\x03\x04"):
        raise BrokenMember("It is damaged: there is no member where the directory says. Copy the archive again.")
    values = _LOCAL.unpack(fixed)
    name = file.read(values[9])
    if name != entry.name or values[3] != entry.method:
        raise BrokenMember("It is damaged: the directory names it otherwise than it names itself.")
    place: int = entry.place + _LOCAL.size + values[9] + values[10]
    if place + entry.packed > directory.start:
        raise BrokenMember("It is damaged: it reaches beyond the end of the archive's data.")
    return place


def _inflater(method: int) -> tuple[_Inflate, Callable[[], bool]]:
    """From packed pieces to plain ones, each small; and whether the packed data was whole."""
    if method == _STORED:
        return lambda data: iter((data,)), lambda: True
    if method == _DEFLATED:
        raw = zlib.decompressobj(wbits=-15)

        def inflate(data: bytes, /) -> Iterator[bytes]:
            while data and not raw.eof:
                yield raw.decompress(data, _PIECE * 4)
                data = raw.unconsumed_tail
            while not raw.eof and (rest := raw.decompress(b"", _PIECE * 4)):
                yield rest

        return inflate, lambda: raw.eof
    frames = zstandard.ZstdDecompressor(max_window_size=1 << 27)
    frame = frames.decompressobj()

    def unpack(data: bytes, /) -> Iterator[bytes]:
        nonlocal frame
        for start in range(0, len(data), 256):
            packed = data[start : start + 256]
            while packed:
                if frame.eof:
                    frame = frames.decompressobj()
                yield frame.decompress(packed)
                packed = frame.unused_data if frame.eof else b""

    return unpack, lambda: frame.eof
