"""The file: a tar archive that says first what it is and last what it should hold.

    twentyfold.json             `Contents`
    tables/<label>/000001.zst   rows of a model in MessagePack, Zstandard
    uploads/…                   result files that are being stored, or are kept
    secret_key
    checksums.json              member → SHA-256; it is the last one, so that a file that was cut short shows

Plain Python: which rows and files these are is the business of `making` and `restoring`. Nothing is unpacked by a
member's own path.
"""

from __future__ import annotations

import hashlib
import io
import re
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import msgspec
import zstandard

from runs.errors import BackupError

__all__ = ["Contents", "Writer", "check_backup", "members", "read_rows"]

FORMAT = 1
_HEAD, _TAIL = "twentyfold.json", "checksums.json"
_NAMES = re.compile(
    r"tables/[a-z_]+\.[a-z_]+/[0-9]{6}\.zst|uploads/(?:chunks-[0-9]+/)?[A-Za-z0-9_-]+(?:\.[a-z]+)?|secret_key"
)
_BLOCK = 1 << 20
_MOST_TEXT = 64 << 20
"""Bytes of the two descriptions, and more than a part of a table ever has."""


class Table(msgspec.Struct, frozen=True):
    label: str
    """`runs.attempt`."""
    columns: list[str]
    rows: int = 0


class Contents(msgspec.Struct, kw_only=True):
    """What a backup is of."""

    format: int = FORMAT
    made_at: str
    """ISO 8601, UTC."""
    database: str
    """`sqlite` or `postgresql`: where it came from; it goes into either."""
    migrations: list[tuple[str, str]]
    """The migrations that had been applied: the shape of the tables."""
    tables: list[Table]
    runs: int = 0
    attempts: int = 0


class Writer:
    """Writes a backup, member by member. `close` makes it whole."""

    def __init__(self, target: IO[bytes]) -> None:
        self._tar = tarfile.open(fileobj=target, mode="w", format=tarfile.PAX_FORMAT)  # noqa: SIM115
        self._sums: dict[str, str] = {}

    def contents(self, contents: Contents) -> None:
        self.add(_HEAD, msgspec.json.encode(contents))

    def rows(self, label: str, number: int, rows: list[Any]) -> None:
        packed = zstandard.ZstdCompressor(level=1).compress(msgspec.msgpack.encode(rows))
        self.add(f"tables/{label}/{number:06}.zst", packed)

    def add(self, name: str, data: bytes) -> None:
        self.add_stream(name, io.BytesIO(data), len(data))

    def add_stream(self, name: str, stream: IO[bytes], size: int) -> None:
        member = tarfile.TarInfo(name)
        member.size, member.mode = size, 0o600
        reading = _Hashed(stream)
        self._tar.addfile(member, reading)
        self._sums[name] = reading.hexdigest()

    def close(self) -> None:
        self.add(_TAIL, msgspec.json.encode(self._sums))
        self._tar.close()


class _Hashed:
    """A stream whose bytes are hashed as they are read."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._digest = hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        data = self._stream.read(size)
        self._digest.update(data)
        return data

    def hexdigest(self) -> str:
        return self._digest.hexdigest()


def check_backup(path: Path) -> Contents:
    """Reads the whole file and compares it with what it says of itself.

    Raises `BackupError` where it is no backup, of a newer kind, damaged, or cut short.
    """
    with _reading(path):
        return _check(path)


def _check(path: Path) -> Contents:
    contents: Contents | None = None
    sums: dict[str, str] = {}
    said: dict[str, str] | None = None
    for name, stream in members(path):
        if said is not None:
            raise BackupError(f"{path}: there is something behind the end of the backup. It was not made like this.")
        if name == _TAIL:
            said = _parsed(path, stream.read(_MOST_TEXT), dict[str, str])
            continue
        if contents is None:
            contents, sums[name] = _head(path, name, stream)
            continue
        if not _NAMES.fullmatch(name):
            raise BackupError(f"{path}: it holds {name[:80]!r}, which no backup has.")
        sums[name] = _sum_of(stream)
    if contents is None:
        raise BackupError(f"{path}: this is no backup: the file is empty.")
    if said is None:
        raise BackupError(f"{path}: the backup ends early. Its making was broken off, or it was not copied to its end.")
    wrong = sorted(name for name in said.keys() | sums.keys() if said.get(name) != sums.get(name))
    if wrong:
        raise BackupError(f"{path}: the backup is damaged: {wrong[0]} is not as it was written. Use another one.")
    return contents


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    try:
        yield
    except (tarfile.TarError, EOFError) as error:
        raise BackupError(f"{path}: this is no backup, or it is damaged or cut short ({error}).") from error
    except OSError as error:
        raise BackupError(f"{path}: the backup cannot be read: {error.strerror or error}.") from error


def members(path: Path) -> Iterator[tuple[str, IO[bytes]]]:
    """The members in order: name and content. What is wrong with the file is raised as `tarfile` does."""
    with tarfile.open(path, mode="r|") as tar:
        for member in tar:
            stream = tar.extractfile(member)
            if not member.isreg() or stream is None:
                raise BackupError(f"{path}: it holds {member.name[:80]!r}, which is no plain file.")
            yield member.name, stream


def read_rows(stream: IO[bytes]) -> list[list[Any]]:
    """The rows of a part of a table."""
    with zstandard.ZstdDecompressor().stream_reader(stream) as plain:
        rows: list[list[Any]] = msgspec.msgpack.decode(plain.read())
    return rows


def _head(path: Path, name: str, stream: IO[bytes]) -> tuple[Contents, str]:
    if name != _HEAD:
        raise BackupError(f"{path}: this is no backup: it begins with {name[:80]!r}.")
    data = stream.read(_MOST_TEXT)
    kind = _parsed(path, data, dict[str, Any]).get("format")
    if kind != FORMAT:
        raise BackupError(
            f"{path}: the backup is of kind {kind}, and this version reads kind {FORMAT}. Use a newer one."
        )
    return _parsed(path, data, Contents), hashlib.sha256(data).hexdigest()


def _sum_of(stream: IO[bytes]) -> str:
    digest = hashlib.sha256()
    while block := stream.read(_BLOCK):
        digest.update(block)
    return digest.hexdigest()


def _parsed(path: Path, data: bytes, kind: Any) -> Any:
    try:
        return msgspec.json.decode(data, type=kind)
    except msgspec.DecodeError as error:
        raise BackupError(f"{path}: the backup is damaged ({error}).") from error
