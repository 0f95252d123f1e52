"""From a kept file to stored attempts by workers: `split` cuts it into chunks of rows, `store_claimed` reads, grades
and stores one of them, `close` ends it.

The chunks of a plain file of lines are extents of it. Of any other file they are files of their own.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import BinaryIO

import msgspec
import zstandard
from django.conf import settings
from django.db import transaction
from django.utils import timezone

from runs.archives import member_uploads, unpack
from runs.bundles import ARCHIVE, cut_rows, read_rows, reader_named
from runs.bundles.base import RawRecord, Reader
from runs.bundles.cutting import Extent, Window
from runs.bundles.lines import Blanks
from runs.chunks import AT_WORK, MOST_TRIES, fence, renew
from runs.errors import BundleError, IngestError
from runs.ingest import finish, list_problems, nothing_in, results_of, store_prepared, uids_of
from runs.models import Chunk, ChunkState, Upload, UploadState
from runs.preparing import BYTES_A_CHUNK, ROWS_A_CHUNK, Row, chunked, prepare_rows
from runs.records import Problem
from runs.store import ChunkReport, add_problems
from runs.targets import run_for
from runs.upload_files import chunk_folder, limits, open_upload
from runs.uploads import begin

__all__ = ["close", "split", "store_claimed"]


class _FileRow(msgspec.Struct, array_like=True):
    """A row, or what is wrong with a line, in a chunk file: one of the two is there."""

    record: RawRecord | None = None
    problem: Problem | None = None

    @property
    def row(self) -> Row:
        if self.record is not None:
            return self.record
        assert self.problem is not None
        return self.problem


class _Cut(msgspec.Struct, frozen=True, kw_only=True):
    """A chunk to be: an extent of the file, or rows that were read from it."""

    position: int
    """Bytes of the file up to its end."""
    extent: Extent | None = None
    rows: list[Row] = []


def split(chunk: Chunk, hint: Callable[[], None]) -> None:
    """Cuts an upload into chunks, and finds or makes its run. Begun again after a crash, it goes on behind the last
    chunk.

    `hint` is called after each chunk that a worker can take up.
    """
    upload = chunk.upload
    now = timezone.now()
    Upload.objects.filter(pk=upload.pk, state=UploadState.WAITING).update(
        state=UploadState.READING, started_at=now, moved_at=now
    )
    if upload.reader == ARCHIVE:
        _split_archive(chunk, hint)
        return
    known = set(upload.chunks.values_list("number", flat=True))
    blanks = Blanks()
    lease = _Lease(chunk)
    try:
        with open_upload(upload) as stream:
            reader, cuts = _cuts(upload, stream, blanks, lease.keep)
            Upload.objects.filter(pk=upload.pk).update(reader=reader.name)
            for number, cut in enumerate(cuts, start=1):
                if not renew(chunk):
                    return
                if number in known:
                    continue
                _add_chunk(upload, reader, number, cut)
                hint()
    except _LeaseLost:
        return
    except (BundleError, IngestError) as error:
        finish(upload, UploadState.FAILED, str(error))
        return
    with transaction.atomic():
        if fence(chunk):
            add_problems(upload, blanks.notes())
            Upload.objects.filter(pk=upload.pk).update(split_done=True, bytes_split=upload.size)


class _LeaseLost(Exception):
    """Another worker has taken the chunk over, or the upload was stopped."""


class _Lease:
    """The lease of a chunk, prolonged from time to time by who works on it for long."""

    def __init__(self, chunk: Chunk) -> None:
        self._chunk = chunk
        self._prolonged = time.monotonic()

    def holds(self) -> bool:
        if time.monotonic() - self._prolonged < settings.LEASE_SECONDS / 6:
            return True
        self._prolonged = time.monotonic()
        return renew(self._chunk)

    def keep(self) -> None:
        if not self.holds():
            raise _LeaseLost


def _cuts(upload: Upload, stream: BinaryIO, blanks: Blanks, beat: Callable[[], None]) -> tuple[Reader, Iterator[_Cut]]:
    name, max_line = upload.file_name, settings.MAX_LINE
    found = cut_rows(
        stream, blanks, name=name, max_line=max_line, most_rows=ROWS_A_CHUNK, most_bytes=BYTES_A_CHUNK, beat=beat
    )
    if found is not None:
        reader, extents = found
        return reader, (_Cut(position=extent.end, extent=extent) for extent in extents)
    reader, rows = read_rows(stream, name=name, max_line=max_line, limits=limits(), beat=beat)
    return reader, (_Cut(rows=list(part), position=stream.tell()) for part in chunked(rows))


def _split_archive(chunk: Chunk, hint: Callable[[], None]) -> None:
    """Makes an upload of each result file in an archive, all at once, so that a crash leaves none or all."""
    upload = chunk.upload
    try:
        with open_upload(upload) as stream:
            unpacked = unpack(upload, stream, _Lease(chunk).holds)
        if unpacked is None:
            return
        members = member_uploads(upload, unpacked)
    except (BundleError, IngestError) as error:
        finish(upload, UploadState.FAILED, str(error))
        return
    with transaction.atomic():
        if not fence(chunk):
            return
        list_problems(upload, unpacked)
        for member in members:
            member.state = UploadState.ASKING
            member.save()
            if member.model or member.run is not None:
                begin(member)
        Upload.objects.filter(pk=upload.pk).update(split_done=True, bytes_split=upload.size)
        if not members:
            finish(upload, UploadState.FAILED, nothing_in(unpacked))
    for _ in members:
        hint()


def _add_chunk(upload: Upload, reader: Reader, number: int, cut: _Cut) -> None:
    path = "" if cut.extent is not None else _write_rows(upload, number, cut.rows)
    prepared = []
    if upload.run is None or number == 1:
        rows = iter(cut.rows) if cut.extent is None else _rows_of(upload, reader, cut.extent)
        prepared = prepare_rows(reader, rows, upload)
    with transaction.atomic():
        if uids := uids_of(prepared):
            run_for(upload, uids, results_of(prepared))
        Upload.objects.filter(pk=upload.pk).update(bytes_split=cut.position)
        Chunk.objects.create(
            upload=upload,
            number=number,
            path=path,
            extent=None if cut.extent is None else msgspec.to_builtins(cut.extent),
        )


def _write_rows(upload: Upload, number: int, rows: list[Row]) -> str:
    """Writes a chunk file; returns its name within the folder of uploads."""
    folder = chunk_folder(upload)
    folder.mkdir(exist_ok=True)
    path = folder / f"{number}.zst"
    written = [_FileRow(record=row) if isinstance(row, RawRecord) else _FileRow(problem=row) for row in rows]
    partial = path.with_suffix(".part")
    partial.write_bytes(zstandard.ZstdCompressor(level=1).compress(msgspec.msgpack.encode(written)))
    partial.replace(path)
    return str(path.relative_to(settings.UPLOADS_DIR))


def _rows_of(upload: Upload, reader: Reader, extent: Extent) -> Iterator[Row]:
    with open_upload(upload) as stream:
        window = Window(stream, extent)
        # Its blank lines are told of when the whole file is cut.
        yield from reader.rows_of_lines(window, Blanks(), max_line=settings.MAX_LINE, first=extent.first_line)


def _rows_in(chunk: Chunk, reader: Reader) -> Iterator[Row]:
    if chunk.extent is not None:
        return _rows_of(chunk.upload, reader, msgspec.convert(chunk.extent, Extent))
    data = (settings.UPLOADS_DIR / chunk.path).read_bytes()
    rows = msgspec.msgpack.decode(zstandard.ZstdDecompressor().decompress(data), type=list[_FileRow])
    return (row.row for row in rows)


def store_claimed(chunk: Chunk) -> ChunkReport | None:
    """Reads, grades and stores one claimed chunk; None when another worker was quicker or the upload was stopped."""
    upload = chunk.upload
    reader = reader_named(upload.reader)
    prepared = prepare_rows(reader, _rows_in(chunk, reader), upload)
    report = store_prepared(upload, reader, prepared, fence=lambda: fence(chunk))
    if report is not None and chunk.path:
        (settings.UPLOADS_DIR / chunk.path).unlink(missing_ok=True)
    return report


def close(upload_id: int) -> bool:
    """Ends an upload whose chunks are all stored, or set aside; False while there is work left."""
    with transaction.atomic():
        upload = Upload.objects.select_for_update().get(pk=upload_id)
        if upload.state not in AT_WORK:
            return False
        if upload.chunks.filter(state__in=[ChunkState.WAITING, ChunkState.RUNNING]).exists():
            return False
        failed = upload.chunks.filter(state=ChunkState.FAILED).order_by("number").first()
        if failed is not None:
            finish(upload, UploadState.STOPPED, _said_of(failed))
        elif upload.split_done:
            finish(upload, UploadState.DONE)
        else:
            return False
    return True


def _said_of(failed: Chunk) -> str:
    what, rest = f"Part {failed.number} of the file could not be stored", "The rest is stored."
    if failed.number == 0:
        what, rest = "The file could not be read to its end", "What was read of it is stored."
    return (
        f"{what} in {MOST_TRIES} tries. {failed.error} {rest} Try again, or read the worker's log in the data folder."
    )
