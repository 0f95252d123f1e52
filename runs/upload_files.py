"""The bytes of a result file on its way in: kept, hashed, told apart, opened and forgotten."""

from __future__ import annotations

import hashlib
import shutil
import uuid
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

import msgspec
from django.conf import settings

from runs.bundles.limits import Limits
from runs.bundles.opening import archive_kind, open_stream
from runs.errors import DiskFull, IngestError, UnsupportedBundle, is_full_disk
from runs.models import Upload

__all__ = [
    "KeptFile", "blocks_of", "chunk_folder", "forget_chunks", "forget_files", "has_room", "hash_stream", "keep_file",
    "kind_of", "limits", "open_upload",
]  # fmt: skip

_BLOCK = 1 << 20
_LEAST_ROOM = 4 << 20


class KeptFile(msgspec.Struct, frozen=True):
    path: str
    """Relative to the folder of uploads."""
    sha256: str
    size: int


def keep_file(blocks: Iterable[bytes]) -> KeptFile:
    """Writes a file into the folder of uploads as it arrives, hashing it.

    Raises `IngestError` beyond the limit, and where the disk is full; then nothing stays.
    """
    name = uuid.uuid4().hex
    partial = settings.UPLOADS_DIR / f"{name}.part"
    digest = hashlib.sha256()
    size = 0
    try:
        with partial.open("wb") as target:
            for block in blocks:
                size += len(block)
                if size > settings.UPLOAD_LIMIT:
                    raise IngestError(
                        f"The file is larger than {settings.UPLOAD_LIMIT:,} bytes, the limit of this server "
                        "(TWENTYFOLD_UPLOAD_LIMIT). Nothing of it was kept."
                    )
                digest.update(block)
                target.write(block)
        partial.rename(settings.UPLOADS_DIR / name)
    except BaseException as error:
        partial.unlink(missing_ok=True)
        if is_full_disk(error):
            raise DiskFull from error
        raise
    return KeptFile(name, digest.hexdigest(), size)


def has_room() -> bool:
    """Whether the disk of the data folder takes anything more to speak of."""
    return shutil.disk_usage(settings.DATA_DIR).free >= _LEAST_ROOM


def hash_stream(stream: BinaryIO) -> KeptFile:
    """The digest and size of a seekable file that stays where it is; the stream is at its start again."""
    digest = hashlib.sha256()
    size = 0
    for block in blocks_of(stream):
        digest.update(block)
        size += len(block)
    stream.seek(0)
    return KeptFile("", digest.hexdigest(), size)


def blocks_of(stream: BinaryIO) -> Iterable[bytes]:
    """A stream's content in blocks of a megabyte."""
    while block := stream.read(_BLOCK):
        yield block


def limits() -> Limits:
    """How much one file may become when it is unpacked, by the settings."""
    return Limits(members=settings.MAX_MEMBERS, unpacked=settings.MAX_UNPACKED, ratio=settings.MAX_RATIO)


def kind_of(stream: BinaryIO) -> str:
    """`zip` or `tar` (compressed or not) where the file is an archive, else the empty text. The stream is at its start.

    Raises `BundleError` for what is known and not read.
    """
    try:
        kind = archive_kind(stream.read(512))
        stream.seek(0)
        if not kind and (kind := archive_kind(open_stream(stream, limits()).head(512))) == "zip":
            raise UnsupportedBundle("This is a zip archive that was compressed once more. Unpack it once.")
    finally:
        stream.seek(0)
    return kind


def open_upload(upload: Upload) -> BinaryIO:
    """The kept file, as it came."""
    return (settings.UPLOADS_DIR / upload.path).open("rb")


def forget_files(upload: Upload) -> None:
    """Removes an upload's kept file and chunk files. Idempotent."""
    if upload.path:
        (settings.UPLOADS_DIR / upload.path).unlink(missing_ok=True)
    forget_chunks(upload)


def forget_chunks(upload: Upload) -> None:
    """Removes an upload's chunk files. Idempotent."""
    folder = chunk_folder(upload)
    if folder.is_dir():
        for file in folder.iterdir():
            file.unlink(missing_ok=True)
        folder.rmdir()


def chunk_folder(upload: Upload) -> Path:
    """Where an upload's chunk files are."""
    folder: Path = settings.UPLOADS_DIR / f"chunks-{upload.pk}"
    return folder
