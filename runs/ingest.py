"""From a file to stored attempts without workers: `ingest_file` for a whole one, `store_rows` for one that grows.

`runs.chunking` does the same by workers, with the steps that are shared below.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import closing
from datetime import timedelta
from typing import BinaryIO

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from runs.archives import Unpacked, member_uploads, unpack
from runs.bundles import ARCHIVE, read_rows
from runs.bundles.base import Reader
from runs.errors import BundleError, IngestError, PreparersEnded
from runs.failure_facts import keep_facts
from runs.models import Run, Upload, UploadState
from runs.prepare import PreparedRow, indexed_text
from runs.preparing import Row, chunked, prepare_chunks, prepare_rows
from runs.records import Problem, ProblemKind, Verdict
from runs.store import ChunkReport, add_counts, add_problems, store_chunk
from runs.targets import fits, run_for
from runs.upload_files import forget_chunks, forget_files, limits

__all__ = [
    "finish", "ingest_file", "list_problems", "nothing_in", "results_of", "store_prepared", "store_rows", "uids_of",
    "unpack_file",
]  # fmt: skip

# --- In the foreground ------------------------------------------------------------------------------------------------


def ingest_file(
    upload: Upload, stream: BinaryIO, progress: Callable[[int], None] | None = None, *, processes: int = 1
) -> Upload:
    """Reads a file to its end, without workers. `upload` is new and unsaved; `progress` gets the position in the file,
    in bytes; a file that takes longer is prepared by so many processes, while this one reads and stores.

    Raises `BundleError` when no reader knows the file, `IngestError` when its rows cannot go to the named run or a
    process was killed; each is written down on the upload first. What was stored before the error stays.
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
        with closing(prepare_chunks(reader, chunked(rows), upload, processes=processes)) as chunks:
            for prepared in chunks:
                if not placed and (uids := uids_of(prepared)):
                    run_for(upload, uids, results_of(prepared))
                    placed = True
                store_prepared(upload, reader, prepared)
                _prolong(upload)
                Upload.objects.filter(pk=upload.pk).update(lease_until=upload.lease_until)
                if progress is not None:
                    progress(stream.tell())
    except PreparersEnded as error:
        finish(upload, UploadState.STOPPED, str(error))
        raise
    except (BundleError, IngestError) as error:
        finish(upload, UploadState.FAILED, str(error))
        raise
    except KeyboardInterrupt:
        finish(
            upload, UploadState.STOPPED, "Stopped by hand. Run the command again: what is stored is not counted twice."
        )
        raise
    finish(upload, UploadState.DONE)
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
        list_problems(upload, unpacked)
        members = member_uploads(upload, unpacked)
        if not members:
            raise BundleError(nothing_in(unpacked))
    except (BundleError, IngestError) as error:
        finish(upload, UploadState.FAILED, str(error))
        raise
    finish(upload, UploadState.DONE)
    return members


def _prolong(upload: Upload) -> None:
    upload.lease_until = timezone.now() + timedelta(seconds=settings.LEASE_SECONDS)


# --- As a file grows --------------------------------------------------------------------------------------------------


def store_rows(upload: Upload, reader: Reader, rows: Iterable[Row], before: Run | None = None) -> None:
    """Stores some rows of a saved upload. `before`: the run that an earlier file of the same name went to, which these
    go to as well if they are no other results for its attempts.
    """
    prepared = prepare_rows(reader, rows, upload)
    if upload.run is None and (uids := uids_of(prepared)):
        results = results_of(prepared)
        if before is not None and fits(before, results):
            upload.run, upload.run_name = before, str(before)
            upload.save(update_fields=["run", "run_name"])
        run_for(upload, uids, results)
    store_prepared(upload, reader, prepared)


# --- Shared -----------------------------------------------------------------------------------------------------------


def list_problems(upload: Upload, unpacked: Unpacked) -> None:
    add_problems(upload, unpacked.problems)
    rejected = sum(problem.kind is ProblemKind.REJECTED for problem in unpacked.problems)
    add_counts(upload, ChunkReport(rejected=rejected))


def nothing_in(unpacked: Unpacked) -> str:
    if not unpacked.problems:
        return "There is no file in the archive."
    first = unpacked.problems[0].reason
    return f"There is no result file in the archive that can be read. Its first other file: {first}"


def uids_of(rows: Iterable[PreparedRow | Problem]) -> set[str]:
    return {row.uid for row in rows if isinstance(row, PreparedRow)}


def results_of(rows: Iterable[PreparedRow | Problem]) -> dict[tuple[str, int], str]:
    """Task and repetition → digest of the rows that are no errors."""
    prepared = (row for row in rows if isinstance(row, PreparedRow) and row.verdict is not Verdict.ERROR)
    return {(row.uid, row.repetition): row.digest for row in prepared}


def store_prepared(
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


def finish(upload: Upload, state: UploadState, error: str = "") -> None:
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
