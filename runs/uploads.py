"""A result file on its way in: named, asked about, stopped and tried again.

Reading it is `runs.ingest`'s work.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import BinaryIO

import msgspec
from django.conf import settings
from django.db import DatabaseError, transaction
from django.utils import timezone

from runs.access import Access
from runs.bundles import ARCHIVE, read_rows
from runs.bundles.base import RawRecord
from runs.bundles.run_metadata import read_run_metadata, suggest_benchmark, suggest_model
from runs.bundles.zipping import zip_members
from runs.errors import BundleError, DiskFull, IngestError, is_full_disk
from runs.masking import mask_value
from runs.models import Chunk, ChunkState, Upload, UploadState, Visibility
from runs.naming import LONGEST_NAME, checked_name
from runs.prepare import indexed_text
from runs.records import BundleHeader
from runs.targets import check_said, known_run, run_named
from runs.upload_files import KeptFile, forget_files, keep_file, kind_of, limits, open_upload

__all__ = [
    "BY_HAND", "STANDARD_INPUT", "Wishes", "accept_kept", "accept_upload", "answer_upload", "begin", "header_of",
    "new_upload", "read_header", "refuse", "retry_upload", "stop_upload", "suggestion_for", "upload_warnings",
]  # fmt: skip

STANDARD_INPUT = "standard input"
"""The file name of what came through a pipe."""
BY_HAND = "Stopped by hand."


class Wishes(msgspec.Struct, frozen=True, kw_only=True):
    """What a person said about a file. Empty: nothing."""

    model: str = ""
    benchmark: str = ""
    repetitions: int | None = None
    run: str = ""
    """Slug of the stored run to add to."""
    private: bool = False
    """A run that the file makes is seen by its owner and by admins only."""
    mask: bool = False
    """Secrets are masked before rows are stored, also where the server's setting does not ask for it."""


def new_upload(
    file_name: str,
    kept: KeptFile,
    *,
    companion: bytes | None = None,
    wishes: Wishes | None = None,
    is_demo: bool = False,
    access: Access,
) -> Upload:
    """An unsaved upload with all that is known about it. Raises `IngestError` for an unknown run.

    A companion that cannot be read is no reason to refuse the results: why it was not read is written on the upload.
    """
    wishes = wishes or Wishes()
    header, companion_error = header_of(companion)
    suggested = "" if file_name == STANDARD_INPUT else suggest_benchmark(file_name) or ""
    upload = Upload(
        file_name=indexed_text(file_name, 500),
        sha256=kept.sha256,
        size=kept.size,
        path=kept.path,
        benchmark=checked_name("The benchmark's name", wishes.benchmark) or indexed_text(suggested, LONGEST_NAME),
        benchmark_inferred=not wishes.benchmark.strip(),
        model=checked_name("The model's name", wishes.model) or indexed_text(header.model or "", LONGEST_NAME),
        repetitions=wishes.repetitions,
        header=msgspec.to_builtins(header),
        companion_error=companion_error,
        is_demo=is_demo,
        mask=wishes.mask or settings.MASK_AT_INGEST,
        owner_id=access.user,
        visibility=Visibility.PRIVATE if wishes.private and access.user is not None else Visibility.TEAM,
    )
    if wishes.run:
        upload.run = run_named(wishes.run, access=access)
        check_said(upload.run, wishes.model.strip(), wishes.benchmark.strip())
    else:
        upload.run = known_run(kept.sha256, wishes.model.strip(), wishes.benchmark.strip(), access=access)
    if upload.run is not None:
        upload.run_name = str(upload.run)
    return upload


def header_of(companion: bytes | None) -> tuple[BundleHeader, str]:
    """What the companion says, and why it could not be read (else the empty text)."""
    if companion is None:
        return BundleHeader(), ""
    try:
        header = read_run_metadata(companion)
    except BundleError as error:
        return BundleHeader(), indexed_text(str(error), 1000)
    if header is None:
        return BundleHeader(), "The file that came along as run metadata holds something else, so it was not used."
    return msgspec.convert(mask_value(msgspec.to_builtins(header)), BundleHeader), ""


def accept_upload(
    file_name: str,
    blocks: Iterable[bytes],
    *,
    companion: bytes | None = None,
    wishes: Wishes | None = None,
    is_demo: bool = False,
    access: Access,
) -> Upload:
    """Keeps a file and makes its upload: waiting for a worker, asking for the model's name, or failed with the reason.

    The caller sends a hint to the workers (`runs.tasks.work.delay_on_commit()`) when its state is `waiting`.
    """
    return accept_kept(file_name, keep_file(blocks), companion=companion, wishes=wishes, is_demo=is_demo, access=access)


def accept_kept(
    file_name: str,
    kept: KeptFile,
    *,
    companion: bytes | None = None,
    wishes: Wishes | None = None,
    is_demo: bool = False,
    access: Access,
) -> Upload:
    """The same for a file that lies in the folder of uploads already. Where it is refused, the file goes."""
    try:
        upload = new_upload(file_name, kept, companion=companion, wishes=wishes, is_demo=is_demo, access=access)
    except IngestError:
        (settings.UPLOADS_DIR / kept.path).unlink(missing_ok=True)
        raise
    try:
        with open_upload(upload) as stream:
            upload.reader = _reader_of(stream, upload.file_name)
    except BundleError as error:
        refuse(upload, str(error))
        return upload
    if upload.reader != ARCHIVE:
        with open_upload(upload) as stream:
            read_header(upload, stream)
    upload.state = UploadState.ASKING
    try:
        with transaction.atomic():
            upload.save()
            if upload.model or upload.run is not None or upload.reader == ARCHIVE:
                begin(upload)
    except DatabaseError as error:
        if not is_full_disk(error):
            raise
        forget_files(upload)
        raise DiskFull from error
    return upload


def refuse(upload: Upload, error: str) -> None:
    """Saves an unsaved upload as one that cannot be read; a file that was kept for it goes."""
    upload.state = UploadState.FAILED
    upload.error = indexed_text(error, 4000)
    upload.finished_at = timezone.now()
    forget_files(upload)
    upload.path = ""
    upload.save()


def _reader_of(stream: BinaryIO, file_name: str) -> str:
    kind = kind_of(stream)
    if kind == "zip":
        next(zip_members(stream, limits()), None)  # a cut or too large one is told at once
    if kind:
        return ARCHIVE
    reader, _ = read_rows(stream, name=file_name, max_line=settings.MAX_LINE, limits=limits())
    return reader.name


def read_header(upload: Upload, stream: BinaryIO) -> None:
    """Takes from the first row that can be read what it says of the whole run, and nobody said otherwise.

    The stream is at its start, and is again. Raises `BundleError` when no reader knows the file.
    """
    reader, rows = read_rows(stream, name=upload.file_name, max_line=settings.MAX_LINE, limits=limits())
    first = next((row for row in rows if isinstance(row, RawRecord)), None)
    stream.seek(0)
    header = reader.header(first.text) if first is not None else None
    if header is None:
        return
    upload.model = upload.model or indexed_text(header.model or "", LONGEST_NAME)
    if upload.benchmark_inferred and header.benchmark:
        upload.benchmark, upload.benchmark_inferred = indexed_text(header.benchmark, LONGEST_NAME), False
    upload.repetitions = upload.repetitions or header.repetitions
    said = {name: value for name, value in mask_value(msgspec.to_builtins(header)).items() if value not in (None, {})}
    upload.header = {**upload.header, **said}


def begin(upload: Upload) -> None:
    """Puts the cutting of an upload into the workers' list."""
    upload.state = UploadState.WAITING
    upload.save(update_fields=["state", "model", "benchmark", "benchmark_inferred", "repetitions", "run", "run_name"])
    Chunk.objects.get_or_create(upload=upload, number=0)


def answer_upload(upload: Upload, wishes: Wishes, *, access: Access) -> Upload:
    """Takes the answer to what an upload asked.

    Raises `IngestError` when it asks nothing, or the answer names neither model nor run.
    """
    with transaction.atomic():
        locked = Upload.objects.select_for_update().get(pk=upload.pk)
        if locked.state != UploadState.ASKING:
            raise IngestError(
                f"The file {locked.file_name!r} asks nothing; its state is: {locked.get_state_display()}."
            )
        if wishes.run:
            locked.run = run_named(wishes.run, access=access)
            check_said(locked.run, wishes.model.strip(), wishes.benchmark.strip())
            locked.run_name = str(locked.run)
        elif not wishes.model.strip():
            raise IngestError(
                "The model's name is missing: the rows do not tell it. Give the name, or the run to add to."
            )
        locked.model = checked_name("The model's name", wishes.model)
        if wishes.benchmark.strip():
            locked.benchmark = checked_name("The benchmark's name", wishes.benchmark)
            locked.benchmark_inferred = False
        locked.repetitions = wishes.repetitions
        begin(locked)
    return locked


def stop_upload(upload: Upload) -> None:
    """Stops an upload that is not finished. What is stored stays; the rest can be read later with `retry_upload`."""
    Upload.objects.filter(
        pk=upload.pk, state__in=[UploadState.ASKING, UploadState.WAITING, UploadState.READING]
    ).update(state=UploadState.STOPPED, error=f"{BY_HAND} What was stored stays; {_again(upload)} to read the rest.")


def _again(upload: Upload) -> str:
    return "follow the file again" if upload.followed_path else "try again"


def retry_upload(upload: Upload) -> None:
    """Puts a stopped upload back to work, from its last stored chunk.

    Raises `IngestError` when its file is no longer here.
    """
    with transaction.atomic():
        locked = Upload.objects.select_for_update().get(pk=upload.pk)
        if locked.state != UploadState.STOPPED:
            return
        if not locked.path:
            raise IngestError(
                f"The file {locked.file_name!r} is no longer kept here. Upload it again; nothing is stored twice."
            )
        locked.error = ""
        ask = not locked.model and locked.run_id is None and locked.reader != ARCHIVE
        begun = locked.chunks.filter(state=ChunkState.DONE).exists()
        locked.state = UploadState.ASKING if ask else UploadState.READING if begun else UploadState.WAITING
        locked.moved_at = timezone.now()
        locked.save(update_fields=["state", "error", "moved_at"])
        if not ask:
            Chunk.objects.get_or_create(upload=locked, number=0)
        locked.chunks.exclude(state=ChunkState.DONE).update(
            state=ChunkState.WAITING, tries=0, claim="", lease_until=None, error=""
        )


def suggestion_for(upload: Upload) -> str:
    """A model's name from the file's name, or the empty text."""
    return suggest_model(upload.file_name) or ""


def upload_warnings(upload: Upload) -> list[str]:
    """What a person should look at once a file is read, in sentences."""
    warnings = []
    unstored = upload.rejected + upload.conflicts
    if upload.companion_error:
        warnings.append(f"{upload.companion_error} The rows were read without it.")
    named = upload.header.get("model")
    if upload.repetitions is not None and upload.run is not None and upload.repetitions < upload.run.repetitions:
        warnings.append(
            f"{upload.repetitions:,} repetitions were said, and the run has repetition {upload.run.repetitions - 1:,}, "
            f"counted from 0. So it is taken to have {upload.run.repetitions:,}."
        )
    if named and upload.read and upload.run is not None and named != upload.run.model:
        warnings.append(
            f"The run metadata names the model {named!r}, and the rows went to a run of {upload.run.model!r}. "
            "A run is one model: delete or correct the run if this was a mistake."
        )
    if upload.conflicts >= 3 and upload.conflicts * 20 > upload.read:
        warnings.append(
            f"{upload.conflicts:,} of {upload.read:,} rows hold other results for attempts that the run already has. "
            "These look like two runs: ingest the file as a run of its own."
        )
    if upload.mask and not upload.followed_path and upload.state == UploadState.DONE and unstored:
        warnings.append(
            f"{unstored:,} lines were not stored. The file was deleted all the same, since its secrets were to be "
            "masked: to have these lines, correct them and upload the file again."
        )
    if upload.state == UploadState.DONE and not upload.read and not upload.rejected and upload.reader != ARCHIVE:
        warnings.append("The file holds no rows.")
    return warnings
