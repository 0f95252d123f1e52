"""From the bytes of an upload to plain text: compression found by content, decompressed as it is read, memory flat.

What is known and not read (archives, other compressions) is named as such; what breaks half way gives its beginning.
"""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterator
from typing import BinaryIO, Protocol

import zstandard

from runs.errors import BundleError, UnsupportedBundle

__all__ = ["HEAD_BYTES", "BrokenCompression", "BundleStream", "open_bundle"]

HEAD_BYTES = 64 * 1024
"""How much of the uncompressed content a format is recognised by."""

_PLAIN_CHUNK = 256 * 1024
_GZIP_CHUNK = 64 * 1024
_ZSTD_CHUNK = 256  # a zstd block of 4 bytes may stand for 128 KiB, so one step gives 8 MiB at most
_GZIP_OUTPUT = 256 * 1024
_ZSTD_WINDOW = 1 << 28  # `zstd --long=28`; the tool itself refuses more than 27 unless told

_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"
_ZSTD_SKIPPABLE = tuple(bytes([0x50 + n, 0x2A, 0x4D, 0x18]) for n in range(16))
_BOM = b"\xef\xbb\xbf"
_NOT_READ = {
    b"PK\x03\x04": "a zip archive",
    b"PK\x05\x06": "a zip archive",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive",
    b"\xfd7zXZ\x00": "an xz file",
    b"BZh": "a bzip2 file",
    b"Rar!": "a rar archive",
    b"\x04\x22\x4d\x18": "an lz4 file",
}
_TAR_MAGIC, _TAR_AT = b"ustar", 257


class BrokenCompression(BundleError):
    """The compressed data ends early or is damaged. All that came before it has been read."""


class Readable(Protocol):
    """Anything with `read`: a file, standard input, a request body. It need not be seekable."""

    def read(self, size: int = ..., /) -> bytes: ...


def open_bundle(source: Readable) -> BundleStream:
    """The uncompressed bytes of a result file (gzip, zstd or plain), without a byte order mark.

    Raises `UnsupportedBundle` for an archive. A break in the compressed data raises `BrokenCompression` from `read`,
    after everything before the break has been read.
    """
    first = _fill(source, 512)
    _refuse_archive(first)
    if first.startswith(_GZIP):
        return BundleStream(_gunzip(first, source))
    if first.startswith((_ZSTD, *_ZSTD_SKIPPABLE)):
        return BundleStream(_unzstd(first, source))
    return BundleStream(_plain(first, source))


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
        if self._buffer.startswith(_BOM):
            self._start = len(_BOM)
        _refuse_archive(self._buffer[self._start :])

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


def _cut(kind: str) -> str:
    return f"The {kind} data ends early, so the file is probably cut off. Copy it again, and give the whole file."


def _damaged(kind: str, detail: str) -> str:
    return f"The {kind} data is damaged ({detail}). Copy the file again."


def _refuse_archive(head: bytes) -> None:
    what = next((what for magic, what in _NOT_READ.items() if head.startswith(magic)), None)
    if head[_TAR_AT : _TAR_AT + len(_TAR_MAGIC)] == _TAR_MAGIC:
        what = "a tar archive"
    if what is not None:
        raise UnsupportedBundle(f"This is {what}, which is not read yet: unpack it and give the .jsonl file in it.")
