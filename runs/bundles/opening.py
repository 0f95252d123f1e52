"""From the bytes of an upload to plain text: compression found by content, decompressed as it is read, memory flat.

What is known and not read (other archives and compressions) is named as such; what breaks half way gives its beginning.
The members of archives are found by `runs.bundles.archives`.
"""

from __future__ import annotations

import io
import lzma
import zlib
from collections.abc import Callable, Iterator
from typing import BinaryIO, Protocol

import zstandard

from runs.bundles.limits import Limits, TooLarge, check_size
from runs.errors import BundleError, UnsupportedBundle

__all__ = [
    "BOM", "HEAD_BYTES", "BrokenCompression", "BundleStream", "archive_kind", "is_compressed", "open_bundle",
    "open_stream", "tar_sum",
]  # fmt: skip

HEAD_BYTES = 64 * 1024
"""How much of the uncompressed content a format is recognised by."""

_PLAIN_CHUNK = 256 * 1024
_GZIP_CHUNK = 64 * 1024
_ZSTD_CHUNK = 256  # a zstd block of 4 bytes may stand for 128 KiB, so one step gives 8 MiB at most
_GZIP_OUTPUT = 256 * 1024
_ZSTD_WINDOW = 1 << 28  # `zstd --long=28`; the tool itself refuses more than 27 unless told
_XZ_MEMORY = 160 << 20  # `xz -9` needs 65 MiB to unpack

_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"
_ZSTD_SKIPPABLE = tuple(bytes([0x50 + n, 0x2A, 0x4D, 0x18]) for n in range(16))
BOM = b"\xef\xbb\xbf"
_XZ = b"\xfd7zXZ\x00"
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_NOT_READ = {
    b"7z\xbc\xaf\x27\x1c": "a 7z archive",
    b"BZh": "a bzip2 file",
    b"Rar!": "a rar archive",
    b"\x04\x22\x4d\x18": "an lz4 file",
}
_BLOCK = 512
_TAR_MAGIC, _TAR_AT = b"ustar", 257
_TAR_SUM = slice(148, 156)


class BrokenCompression(BundleError):
    """The compressed data ends early or is damaged. All that came before it has been read."""


class Readable(Protocol):
    """Anything with `read`: a file, standard input, a request body. It need not be seekable."""

    def read(self, size: int = ..., /) -> bytes: ...


def open_bundle(
    source: Readable, limits: Limits | None = None, beat: Callable[[], None] = lambda: None
) -> BundleStream:
    """The uncompressed bytes of a result file (gzip, zstd, xz or plain), without a byte order mark; `beat` is called
    for each block of them.

    Raises `UnsupportedBundle` for an archive. A break in the compressed data, or more of it than `limits` allow, raises
    `BrokenCompression` from `read`, after everything before the break has been read.
    """
    stream = open_stream(source, limits, beat)
    if kind := archive_kind(stream.head(_BLOCK)):
        raise UnsupportedBundle(f"This is a {kind} archive within another file, which is not read: unpack it first.")
    return stream


def open_stream(
    source: Readable, limits: Limits | None = None, beat: Callable[[], None] = lambda: None
) -> BundleStream:
    """As `open_bundle`, and the content may be an archive."""
    counted = _Counted(source)
    first = _fill(counted, _BLOCK)
    _refuse(first)
    if first.startswith(_GZIP):
        chunks = _gunzip(first, counted)
    elif first.startswith((_ZSTD, *_ZSTD_SKIPPABLE)):
        chunks = _unzstd(first, counted)
    elif first.startswith(_XZ):
        chunks = _unxz(first, counted)
    else:
        return BundleStream(_beaten(_plain(first, counted), beat))
    return BundleStream(_beaten(_limited(chunks, counted, limits or Limits()), beat))


def archive_kind(head: bytes) -> str:
    """`zip` or `tar` where the first 512 bytes are of one, else the empty text."""
    if head.startswith(_ZIP):
        return "zip"
    return "tar" if _is_tar(head[:_BLOCK]) else ""


def is_compressed(head: bytes) -> bool:
    """Whether the bytes begin a gzip, zstd or xz file."""
    return head.startswith((_GZIP, _ZSTD, _XZ, *_ZSTD_SKIPPABLE))


class BundleStream(io.RawIOBase, BinaryIO):
    """The content of a bundle, read once from front to back; its first bytes can be looked at before."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._buffer = b""
        self._start = 0
        self._error: BrokenCompression | None = None
        self._ended = False
        self._head_of_content()

    def _head_of_content(self) -> None:
        self._gather(_TAR_AT + len(_TAR_MAGIC))
        if self._error is not None and not self._buffer:
            raise self._error
        if self._buffer.startswith(BOM):
            self._start = len(BOM)
        _refuse(self._buffer[self._start :])

    def _gather(self, size: int) -> None:
        """Have `size` bytes at hand, or all there are."""
        parts = [self._buffer[self._start :]]
        at_hand = len(parts[0])
        while at_hand < size and not self._ended:
            try:
                parts.append(next(self._chunks))
                at_hand += len(parts[-1])
            except StopIteration:
                self._ended = True
            except BrokenCompression as error:
                self._ended, self._error = True, error
        self._buffer, self._start = b"".join(filter(None, parts)), 0  # one part is not copied

    def head(self, size: int = HEAD_BYTES) -> bytes:
        """The next bytes, which stay to be read. Fewer than asked for only where the content is shorter."""
        if len(self._buffer) - self._start < size:
            self._gather(size)
        return self._buffer[self._start : self._start + size]

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1, /) -> bytes:
        """As of a file; raises `BrokenCompression` once everything before a break has been read."""
        if size is None or size < 0:
            parts = []
            while part := self.read(_PLAIN_CHUNK):
                parts.append(part)
            return b"".join(parts)
        if self._start == len(self._buffer):
            self._gather(1)
        part = self._buffer[self._start : self._start + size]
        self._start += len(part)
        if not part and size and self._error is not None:
            raise self._error
        return part

    def readinto(self, target: bytearray | memoryview, /) -> int:  # type: ignore[override]
        part = self.read(len(target))
        target[: len(part)] = part
        return len(part)


class _Counted:
    """A source that counts what was read of it."""

    def __init__(self, source: Readable) -> None:
        self._source = source
        self.size = 0

    def read(self, size: int = -1, /) -> bytes:
        data = self._source.read(size)
        self.size += len(data)
        return data


def _beaten(chunks: Iterator[bytes], beat: Callable[[], None]) -> Iterator[bytes]:
    for chunk in chunks:
        beat()
        yield chunk


def _limited(chunks: Iterator[bytes], source: _Counted, limits: Limits) -> Iterator[bytes]:
    size = 0
    for chunk in chunks:
        size += len(chunk)
        try:
            check_size(size, source.size, limits)
        except TooLarge as error:
            raise BrokenCompression(str(error)) from error
        yield chunk


def _fill(source: Readable, size: int) -> bytes:
    """Up to `size` bytes; fewer only at the end. A pipe may give them in pieces."""
    data = b""
    while len(data) < size and (more := source.read(size - len(data))):
        data += more
    return data


def _plain(first: bytes, source: Readable) -> Iterator[bytes]:
    yield first
    while chunk := source.read(_PLAIN_CHUNK):
        yield chunk


def _pieces(first: bytes, source: Readable, size: int) -> Iterator[bytes]:
    """The compressed bytes in small pieces, read from the source in large ones."""
    large = first
    while large:
        for start in range(0, len(large), size):
            yield large[start : start + size]
        large = source.read(_PLAIN_CHUNK)


def _gunzip(first: bytes, source: Readable) -> Iterator[bytes]:
    member = zlib.decompressobj(wbits=31)
    fresh = False  # between two members, where the file may end
    for piece in _pieces(first, source, _GZIP_CHUNK):
        while piece:
            if fresh and not piece.strip(b"\x00"):  # padding after the last member
                break
            fresh = False
            try:
                yield member.decompress(piece, _GZIP_OUTPUT)
            except zlib.error as error:
                raise BrokenCompression(_damaged("gzip", str(error))) from error
            piece = member.unconsumed_tail
            if member.eof:
                piece, member, fresh = member.unused_data, zlib.decompressobj(wbits=31), True
    while not fresh and (rest := member.decompress(b"", _GZIP_OUTPUT)):
        yield rest
    if not fresh and not member.eof:
        raise BrokenCompression(_cut("gzip"))


def _unzstd(first: bytes, source: Readable) -> Iterator[bytes]:
    context = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW)
    frame = context.decompressobj()
    fresh = False
    for piece in _pieces(first, source, _ZSTD_CHUNK):
        while piece:
            fresh = False
            try:
                output = frame.decompress(piece)
            except zstandard.ZstdError as error:
                raise BrokenCompression(_damaged("zstd", str(error))) from error
            piece = b""
            if frame.eof:
                piece, frame, fresh = frame.unused_data, context.decompressobj(), True
            yield output
    if not fresh:
        raise BrokenCompression(_cut("zstd"))


def _unxz(first: bytes, source: Readable) -> Iterator[bytes]:
    stream = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_MEMORY)
    fresh = False
    for piece in _pieces(first, source, _GZIP_CHUNK):
        while piece or not (stream.needs_input or stream.eof):
            if fresh and not piece.strip(b"\x00"):  # padding between two streams, or after the last
                break
            fresh = False
            try:
                output = stream.decompress(piece, _GZIP_OUTPUT)
            except (lzma.LZMAError, MemoryError) as error:
                raise BrokenCompression(_damaged("xz", str(error))) from error
            piece = b""
            if stream.eof:
                piece, stream, fresh = stream.unused_data, lzma.LZMADecompressor(lzma.FORMAT_XZ, _XZ_MEMORY), True
            yield output
    if not fresh:
        raise BrokenCompression(_cut("xz"))


def _cut(kind: str) -> str:
    return f"The {kind} data ends early, so the file is probably cut off. Copy it again, and give the whole file."


def _damaged(kind: str, detail: str) -> str:
    return f"The {kind} data is damaged ({detail}). Copy the file again."


def _refuse(head: bytes) -> None:
    what = next((what for magic, what in _NOT_READ.items() if head.startswith(magic)), None)
    if what is not None:
        raise UnsupportedBundle(f"This is {what}, which is not read: unpack it and give the .jsonl file in it.")


def _is_tar(block: bytes) -> bool:
    """By the magic of every modern writer, else (Unix v7) by the checksum."""
    if block[_TAR_AT : _TAR_AT + len(_TAR_MAGIC)] == _TAR_MAGIC:
        return True
    if len(block) < _BLOCK or not block[0]:
        return False
    written = block[_TAR_SUM].strip(b" \0")
    return written.isdigit() and set(written) <= set(b"01234567") and int(written, 8) == tar_sum(block)


def tar_sum(block: bytes) -> int:
    """The checksum of a tar header: the sum of its bytes, where those of the checksum itself count as blanks."""
    return sum(block) - sum(block[_TAR_SUM]) + 8 * ord(" ")
