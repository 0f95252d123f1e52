"""From a kept file to stored attempts, in two ways that share every step.

Workers: `split` cuts the file into chunk files at row boundaries, `store_claimed` reads, grades and stores one of
them, `close` ends it.
A command: `ingest_file` does the same in the foreground, chunk by chunk, with no worker.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import BinaryIO

import msgspec
import zstandard
from django.conf import settings
from django.db import transaction
from django.utils import timezone

from runs.archives import Unpacked, member_uploads, unpack
from runs.bundles import ARCHIVE, read_rows, reader_named
from runs.bundles.base import RawRecord, Reader
from runs.chunks import MOST_TRIES, fence, renew
from runs.dictionaries import Dictionaries
from runs.errors import BundleError, IngestError
from runs.failure_facts import keep_facts
from runs.models import Chunk, ChunkState, Run, Upload, UploadState
from runs.prepare import PreparedRow, indexed_text, prepare
from runs.records import Problem, ProblemKind, Verdict
from runs.store import ChunkReport, add_counts, add_problems, store_chunk
from runs.targets import fits, run_for
from runs.uploads import begin, chunk_folder, forget_chunks, forget_files, limits, open_upload

__all__ = [
    "ROWS_A_CHUNK", "Row", "chunked", "close", "finish", "ingest_file", "split", "store_claimed", "store_rows",
    "unpack_file",
]  # fmt: skip

ROWS_A_CHUNK = 100
_BYTES_A_CHUNK = 48 << 20

Row = RawRecord | Problem


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


def chunked(rows: Iterator[Row]) -> Iterator[list[Row]]:
    """Rows in chunks of a hundred, or of fewer where they are large. The cuts depend on the file alone."""
    chunk: list[Row] = []
    size = 0
    for row in rows:
        chunk.append(row)
        size += len(row.text) if isinstance(row, RawRecord) else 0
        if len(chunk) == ROWS_A_CHUNK or size > _BYTES_A_CHUNK:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


# --- In the foreground ------------------------------------------------------------------------------------------------


def ingest_file(upload: Upload, stream: BinaryIO, progress: Callable[[int], None] | None = None) -> Upload:
    """Reads a file to its end, without workers. `upload` is new and unsaved; `progress` gets the position in the file,
    in bytes.

    Raises `BundleError` when no reader knows the file, `IngestError` when its rows cannot go to the named run; both
    are written down on the
    upload first. What was stored before the error stays.
    """
    upload.state = UploadState.READING
    upload.started_at = timezone.now()
    _prolong(upload)
    upload.save()
    try:
        reader, rows = read_rows(stream, name=upload.file_name, max_line=settings.MAX_LINE, limits=limits())
        upload.reader = reader.name
        upload.save(update_fields=["reader"])
        placed = False
        for chunk in chunked(rows):
            prepared = _prepared(reader, chunk, upload)
            if not placed and (uids := _uids(prepared)):
                run_for(upload, uids, _results(prepared))
                placed = True
            _store(upload, reader, prepared)
            _prolong(upload)
            Upload.objects.filter(pk=upload.pk).update(lease_until=upload.lease_until)
            if progress is not None:
                progress(stream.tell())
    except (BundleError, IngestError) as error:
        _finish(upload, UploadState.FAILED, str(error))
        raise
    except KeyboardInterrupt:
        _finish(
            upload, UploadState.STOPPED, "Stopped by hand. Run the command again: what is stored is not counted twice."
        )
        raise
    _finish(upload, UploadState.DONE)
    if upload.run_id is not None:
        keep_facts(upload.run_id)
    return upload


def unpack_file(upload: Upload, stream: BinaryIO) -> list[Upload]:
    """Unpacks an archive without workers; `upload` is new and unsaved. Returns an unsaved upload a result file in it.

    Raises `BundleError` when the archive cannot be read or holds no result file; that is written down first.
    """
    upload.reader = ARCHIVE
    upload.state = UploadState.READING
    upload.started_at = timezone.now()
    upload.save()
    try:
        unpacked = unpack(upload, stream)
        assert unpacked is not None  # nobody else works on it
        _list_problems(upload, unpacked)
        members = member_uploads(upload, unpacked)
        if not members:
            raise BundleError(_nothing_in(unpacked))
    except (BundleError, IngestError) as error:
        _finish(upload, UploadState.FAILED, str(error))
        raise
    _finish(upload, UploadState.DONE)
    return members


def _prolong(upload: Upload) -> None:
    upload.lease_until = timezone.now() + timedelta(seconds=settings.LEASE_SECONDS)


# --- By workers -------------------------------------------------------------------------------------------------------


def split(chunk: Chunk, hint: Callable[[], None]) -> None:
    """Cuts an upload into chunk files, and finds or makes its run. Begun again after a crash, it goes on behind the
    last chunk.

    `hint` is called after each chunk that a worker can take up.
    """
    upload = chunk.upload
    Upload.objects.filter(pk=upload.pk, state=UploadState.WAITING).update(
        state=UploadState.READING, started_at=timezone.now()
    )
    if upload.reader == ARCHIVE:
        _split_archive(chunk, hint)
        return
    known = set(upload.chunks.values_list("number", flat=True))
    folder = chunk_folder(upload)
    folder.mkdir(exist_ok=True)
    try:
        with open_upload(upload) as stream:
            reader, rows = read_rows(stream, name=upload.file_name, max_line=settings.MAX_LINE, limits=limits())
            Upload.objects.filter(pk=upload.pk).update(reader=reader.name)
            for number, part in enumerate(chunked(rows), start=1):
                if not renew(chunk):
                    return
                if number in known:
                    continue
                _write_chunk(upload, reader, number, part, stream.tell())
                hint()
    except (BundleError, IngestError) as error:
        _finish(upload, UploadState.FAILED, str(error))
        return
    with transaction.atomic():
        if fence(chunk):
            Upload.objects.filter(pk=upload.pk).update(split_done=True, bytes_split=upload.size)


def _split_archive(chunk: Chunk, hint: Callable[[], None]) -> None:
    """Makes an upload of each result file in an archive, all at once, so that a crash leaves none or all."""
    upload = chunk.upload
    renewed = time.monotonic()

    def alive() -> bool:
        nonlocal renewed
        if time.monotonic() - renewed < settings.LEASE_SECONDS / 6:
            return True
        renewed = time.monotonic()
        return renew(chunk)

    try:
        with open_upload(upload) as stream:
            unpacked = unpack(upload, stream, alive)
        if unpacked is None:
            return
        members = member_uploads(upload, unpacked)
    except (BundleError, IngestError) as error:
        _finish(upload, UploadState.FAILED, str(error))
        return
    with transaction.atomic():
        if not fence(chunk):
            return
        _list_problems(upload, unpacked)
        for member in members:
            member.state = UploadState.ASKING
            member.save()
            if member.model or member.run is not None:
                begin(member)
        Upload.objects.filter(pk=upload.pk).update(split_done=True, bytes_split=upload.size)
    if not members:
        _finish(upload, UploadState.FAILED, _nothing_in(unpacked))
    for _ in members:
        hint()


def _list_problems(upload: Upload, unpacked: Unpacked) -> None:
    add_problems(upload, unpacked.problems)
    rejected = sum(problem.kind is ProblemKind.REJECTED for problem in unpacked.problems)
    add_counts(upload, ChunkReport(rejected=rejected))


def _nothing_in(unpacked: Unpacked) -> str:
    if not unpacked.problems:
        return "There is no file in the archive."
    first = unpacked.problems[0].reason
    return f"There is no result file in the archive that can be read. Its first other file: {first}"


def _write_chunk(upload: Upload, reader: Reader, number: int, part: list[Row], position: int) -> None:
    path = chunk_folder(upload) / f"{number}.zst"
    rows = [_FileRow(record=row) if isinstance(row, RawRecord) else _FileRow(problem=row) for row in part]
    partial = path.with_suffix(".part")
    partial.write_bytes(zstandard.ZstdCompressor(level=1).compress(msgspec.msgpack.encode(rows)))
    partial.replace(path)
    prepared = _prepared(reader, part, upload) if upload.run is None or number == 1 else []
    uids = _uids(prepared)
    with transaction.atomic():
        if uids:
            run_for(upload, uids, _results(prepared))
        Upload.objects.filter(pk=upload.pk).update(bytes_split=position)
        Chunk.objects.create(upload=upload, number=number, path=str(path.relative_to(settings.UPLOADS_DIR)))


def store_claimed(chunk: Chunk) -> ChunkReport | None:
    """Reads, grades and stores one claimed chunk; None when another worker was quicker or the upload was stopped."""
    upload = chunk.upload
    data = (settings.UPLOADS_DIR / chunk.path).read_bytes()
    rows = msgspec.msgpack.decode(zstandard.ZstdDecompressor().decompress(data), type=list[_FileRow])
    reader = reader_named(upload.reader)
    prepared = _prepared(reader, [row.row for row in rows], upload)
    report = _store(upload, reader, prepared, fence=lambda: fence(chunk))
    if report is not None:
        (settings.UPLOADS_DIR / chunk.path).unlink(missing_ok=True)
    return report


def close(upload_id: int) -> bool:
    """Ends an upload whose chunks are all stored, or set aside; False while there is work left."""
    with transaction.atomic():
        upload = Upload.objects.select_for_update().get(pk=upload_id)
        if upload.state != UploadState.READING or not upload.split_done:
            return False
        if upload.chunks.filter(state__in=[ChunkState.WAITING, ChunkState.RUNNING]).exists():
            return False
        failed = upload.chunks.filter(state=ChunkState.FAILED).order_by("number").first()
        if failed is None:
            _finish(upload, UploadState.DONE)
        else:
            _finish(
                upload,
                UploadState.STOPPED,
                f"Part {failed.number} of the file could not be stored in {MOST_TRIES} tries. The last error: "
                f"{failed.error} The rest is stored. Try again, or read the worker's log in the data folder.",
            )
    return True


# --- As a file grows --------------------------------------------------------------------------------------------------


def store_rows(upload: Upload, reader: Reader, rows: list[Row], before: Run | None = None) -> None:
    """Stores some rows of a saved upload. `before`: the run that an earlier file of the same name went to, which these
    go to as well if they are no other results for its attempts.
    """
    prepared = _prepared(reader, rows, upload)
    if upload.run is None and (uids := _uids(prepared)):
        results = _results(prepared)
        if before is not None and fits(before, results):
            upload.run, upload.run_name = before, str(before)
            upload.save(update_fields=["run", "run_name"])
        run_for(upload, uids, results)
    _store(upload, reader, prepared)


def finish(upload: Upload, state: UploadState, error: str = "") -> None:
    """Writes down how an upload ended that no worker reads."""
    _finish(upload, state, error)


# --- Shared -----------------------------------------------------------------------------------------------------------


_dictionaries: dict[tuple[int, str, bool], Dictionaries] = {}
"""Upload, its bytes and whether they are masked → its dictionaries.

One file's rows never lean on another's: a run can go with all that only it has.
"""


@contextmanager
def _fewer_collections() -> Iterator[None]:
    """Rows are trees without cycles, made and dropped by the thousand: looking for cycles in them finds nothing, and
    costs a twentieth of the time.
    """
    thresholds = gc.get_threshold()
    gc.set_threshold(20_000, 20, 50)
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)


def _prepared(reader: Reader, rows: Iterable[Row], upload: Upload) -> list[PreparedRow | Problem]:
    overrides = upload.run.benchmark.tool_overrides if upload.run is not None else {}
    key = upload.pk, upload.sha256, upload.mask
    if key not in _dictionaries:
        _dictionaries.clear()
    shared = _dictionaries.setdefault(key, Dictionaries())
    with _fewer_collections():
        return [
            prepare(reader, row, overrides, shared, mask=upload.mask) if isinstance(row, RawRecord) else row
            for row in rows
        ]


def _uids(rows: Iterable[PreparedRow | Problem]) -> set[str]:
    return {row.uid for row in rows if isinstance(row, PreparedRow)}


def _results(rows: Iterable[PreparedRow | Problem]) -> dict[tuple[str, int], str]:
    """Task and repetition → digest of the rows that are no errors."""
    prepared = (row for row in rows if isinstance(row, PreparedRow) and row.verdict is not Verdict.ERROR)
    return {(row.uid, row.repetition): row.digest for row in prepared}


def _store(
    upload: Upload,
    reader: Reader,
    rows: list[PreparedRow | Problem],
    fence: Callable[[], bool] = lambda: True,
) -> ChunkReport | None:
    if upload.run is not None:
        return store_chunk(upload.run, upload, reader.name, rows, fence=fence)
    # No row of the file could be read yet, so there is no run; its lines are listed all the same.
    problems = [row for row in rows if isinstance(row, Problem)]
    report = ChunkReport(rejected=len(problems))
    with transaction.atomic():
        if not fence():
            return None
        add_problems(upload, problems)
        add_counts(upload, report)
    return report


def _finish(upload: Upload, state: UploadState, error: str = "") -> None:
    """Writes down how an upload ended. Its file goes, unless it is to be kept, to be tried again, or holds lines that
    were not stored: these exist nowhere else. One whose secrets were to be masked stays to be tried again alone."""
    upload.refresh_from_db(fields=["rejected", "conflicts"])
    unstored = state == UploadState.DONE and (upload.rejected or upload.conflicts)
    keep = state == UploadState.STOPPED or (not upload.mask and (settings.KEEP_UPLOADS or unstored))
    if not keep:
        forget_files(upload)
    elif state == UploadState.DONE:
        forget_chunks(upload)
    Upload.objects.filter(pk=upload.pk).update(
        state=state,
        error=indexed_text(error, 4000),
        finished_at=timezone.now(),
        lease_until=None,
        **({} if keep else {"path": ""}),
    )
    upload.refresh_from_db()
