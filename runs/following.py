"""A result file that is still being written: its whole lines are stored as they come, into one run.

Storing a row twice changes nothing, so a file that was cut or replaced is simply read again, as a new upload.
"""

from __future__ import annotations

import hashlib
import io
import os
from datetime import datetime, timedelta
from pathlib import Path

import msgspec
from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from runs.access import EVERYTHING
from runs.bundles import detect, open_bundle, reader_named
from runs.bundles.base import Reader
from runs.bundles.opening import HEAD_BYTES, archive_kind, is_compressed
from runs.bundles.run_metadata import read_beside, suggest_benchmark, suggest_model
from runs.bundles.tailing import Piece, Place, Tail
from runs.errors import UnsupportedBundle
from runs.ingest import finish, store_rows
from runs.models import Run, Upload, UploadState
from runs.preparing import Row, chunked
from runs.records import Problem, ProblemKind
from runs.upload_files import KeptFile
from runs.uploads import BY_HAND, Wishes, header_of, new_upload, read_header
from runs.wording import counted

__all__ = ["Follower", "forget_refused", "known_as", "told"]

_REPLACED = "The file was cut or replaced while it was followed. The new one is read from its start, as another entry."


class Follower:
    """Follows one path. `step` reads what is new, `finish` ends it.

    Both raise `BundleError` for a file that no reader knows, `IngestError` when its rows cannot go to the named run.
    """

    def __init__(self, path: Path, wishes: Wishes | None = None, *, expected: int | None = None) -> None:
        self.path = path.absolute()
        self.wishes = wishes or Wishes()
        self.expected = expected
        self.upload: Upload | None = None
        self.stopped = False
        """Somebody stopped the upload on its page."""
        self._active = False
        """This process has stored rows of the upload."""
        self._run: Run | None = None
        """Where the rows of an earlier file at this path went."""
        self._reader: Reader | None = None
        self._tail = self._begin()

    def step(self) -> int:
        """Stores the lines that are new and whole. Returns how many rows there were; 0 where nothing is new."""
        if self.stopped:
            return 0
        piece = self._tail.poll()
        if piece.restarted:
            self._let_go()
        if not piece.data and not piece.too_long:
            self._stay()
            return 0
        rows = self._rows(piece)
        self._store(rows, self._tail.place, piece.size)
        if piece.final:
            self._let_go()
        return len(rows)

    def finish(self, *, whole: bool = True) -> Upload | None:
        """Nobody writes any more: reads the rest, with or without a line end; unless `whole`, what has one.

        None where no row ever came.
        """
        while self.step():
            pass
        rest = self._tail.rest() if whole else b""
        if rest.strip() and not self.stopped:
            place = self._tail.place
            rows = self._rows(Piece(data=rest, lines_before=place.lines, size=place.position + len(rest)))
            self._store(rows, place, place.position + len(rest))
        upload = self.upload
        if upload is not None and upload.state == UploadState.READING and not self.stopped:
            self._take_metadata(upload)
            self._sign(upload)
            finish(upload, UploadState.DONE)
        self._tail.close()
        return upload

    def close(self, error: str = "The file is not followed any more. Follow it again to read the rest.") -> None:
        """Stops following, and leaves the upload to be gone on with; `error` says why it stopped."""
        self._tail.close()
        if self.upload is not None and self.upload.state == UploadState.READING and not self.stopped:
            finish(self.upload, UploadState.STOPPED, error)

    def _begin(self) -> Tail:
        """Where an earlier watch ended, if the file still has what was read of it."""
        last = (
            Upload.objects.filter(followed_path=known_as(self.path))
            .exclude(reader="")
            .select_related("run__benchmark")
            .first()
        )
        if last is None:
            return Tail(self.path, max_line=settings.MAX_LINE)
        self._run = last.run
        tail = Tail(self.path, msgspec.convert(last.followed or {}, Place), max_line=settings.MAX_LINE)
        if not tail.fits():
            return Tail(self.path, max_line=settings.MAX_LINE)
        self.upload, self._reader = last, reader_named(last.reader)
        self._forget_half_lines(last, tail.place)
        if last.state == UploadState.STOPPED and not last.error.startswith(BY_HAND):
            last.state, last.error, last.finished_at, last.lease_until = UploadState.READING, "", None, _lease()
            last.save(update_fields=["state", "error", "finished_at", "lease_until"])
        return tail

    def _forget_half_lines(self, upload: Upload, place: Place) -> None:
        """A last line without its end, which was not stored when an earlier watch ended, is read again."""
        with transaction.atomic():
            gone, _ = upload.problems.filter(kind=ProblemKind.REJECTED, line__gt=place.lines).delete()
            if gone:
                Upload.objects.filter(pk=upload.pk).update(rejected=F("rejected") - gone)
        upload.refresh_from_db(fields=["rejected"])

    def _rows(self, piece: Piece) -> list[Row]:
        if self._reader is None:
            self._reader = self._recognised(piece.data)
        if self.upload is None:
            self.upload = self._new_upload(piece.data)
        if piece.too_long:
            reason = (
                f"The line has {piece.too_long:,} bytes, more than the limit of {settings.MAX_LINE:,} "
                "(TWENTYFOLD_MAX_LINE), so it was passed over."
            )
            return [Problem(line=piece.lines_before + 1, kind=ProblemKind.REJECTED, reason=reason)]
        stream = io.BytesIO(piece.data) if piece.lines_before else open_bundle(io.BytesIO(piece.data))
        return [
            msgspec.structs.replace(row, line=row.line + piece.lines_before)
            for row in self._reader.rows(stream, max_line=settings.MAX_LINE)
        ]

    def _recognised(self, data: bytes) -> Reader:
        if is_compressed(data) or archive_kind(data):
            raise UnsupportedBundle(
                f"{self.path.name} is compressed or an archive: it can be read once it is whole, not followed. "
                "Ingest it, or put it into a folder that is watched."
            )
        return detect(open_bundle(io.BytesIO(data)).head(HEAD_BYTES), self.path.name)

    def _new_upload(self, data: bytes) -> Upload:
        upload = new_upload(
            self.path.name, KeptFile("", "", 0), companion=self._companion(), wishes=self.wishes, access=EVERYTHING
        )
        read_header(upload, io.BytesIO(data))
        if not upload.model and upload.run is None:
            upload.model = suggest_model(self.path.name) or suggest_benchmark(self.path.name) or "unnamed"
            upload.model_inferred = True
        assert self._reader is not None
        upload.reader = self._reader.name
        upload.followed_path, upload.expected = known_as(self.path), self.expected
        upload.state, upload.started_at = UploadState.READING, timezone.now()
        upload.lease_until = _lease()
        upload.save()
        forget_refused(self.path)
        return upload

    def _store(self, rows: list[Row], place: Place, size: int) -> None:
        assert self.upload is not None
        assert self._reader is not None
        upload = self.upload
        if self._active and self._was_stopped(upload):
            self.stopped = True
            return
        self._active = True
        known = {"followed": msgspec.to_builtins(place), "size": size, "bytes_split": place.position}
        with transaction.atomic():
            for chunk in chunked(iter(rows)):
                store_rows(upload, self._reader, chunk, before=self._run)
            Upload.objects.filter(pk=upload.pk).update(
                state=UploadState.READING,
                finished_at=None,
                error="",
                lease_until=_lease(),
                grew_at=timezone.now(),
                **known,
            )
        upload.refresh_from_db()
        self._run = upload.run or self._run

    def _stay(self) -> None:
        """Keeps the lease, so that the sweep does not take the silence of the file for the end of this process."""
        upload = self.upload
        if upload is None or upload.state != UploadState.READING:
            return
        if upload.lease_until is not None and upload.lease_until - timezone.now() > timedelta(
            seconds=settings.LEASE_SECONDS * 2 / 3
        ):
            return
        upload.lease_until = _lease()
        if self._was_stopped(upload):
            self.stopped = True
        else:
            Upload.objects.filter(pk=upload.pk).update(
                state=UploadState.READING, lease_until=upload.lease_until, error=""
            )

    def _was_stopped(self, upload: Upload) -> bool:
        """By hand: what the sweep stopped while this machine slept goes on."""
        now = Upload.objects.filter(pk=upload.pk).values_list("state", "error").first()
        return now is None or (now[0] == UploadState.STOPPED and now[1].startswith(BY_HAND))

    def _let_go(self) -> None:
        """The file at the path is another one now."""
        if self.upload is not None and self.upload.state == UploadState.READING:
            finish(self.upload, UploadState.STOPPED, _REPLACED)
        self.upload = self._reader = None
        self._active = False

    def _companion(self) -> bytes | None:
        return read_beside(self.path, links=False)

    def _take_metadata(self, upload: Upload) -> None:
        """The harness writes the run metadata at its end: what was inferred from the file's name is told by it now."""
        data = self._companion()
        run = upload.run
        if data is None or run is None or upload.header.get("model"):
            return
        header, error = header_of(data)
        upload.header, upload.companion_error = msgspec.to_builtins(header), error
        upload.save(update_fields=["header", "companion_error"])
        if header.model and run.model_inferred:
            run.model, run.model_inferred = header.model, False
        run.settings = run.settings or header.parameters
        run.duration = run.duration or header.duration
        run.save(update_fields=["model", "model_inferred", "settings", "duration", "updated_at"])

    def _sign(self, upload: Upload) -> None:
        """The digest of what was read, by which the same file is known again."""
        digest = hashlib.sha256()
        left = upload.size
        try:
            with self.path.open("rb") as file:
                while left and (block := file.read(min(left, 1 << 20))):
                    digest.update(block)
                    left -= len(block)
        except OSError:
            return
        Upload.objects.filter(pk=upload.pk).update(sha256=digest.hexdigest())


def known_as(path: Path) -> str:
    """A path as uploads have it: a database takes no name that is not UTF-8."""
    return os.fsencode(path).decode(errors="backslashreplace")[:1000]


def forget_refused(path: Path) -> None:
    """What stood at a path before, and could not be read, is told of no longer."""
    Upload.objects.filter(followed_path=known_as(path), state=UploadState.FAILED, reader="").delete()


def told(follower: Follower) -> str:
    """How far a file has been read: `run desk-birch: 6 rows of 12; 3 passed, …`."""
    upload = follower.upload
    if upload is None or upload.run is None:
        return "no row"
    of = f" of {upload.expected:,}" if upload.expected else ""
    return (
        f"run {upload.run.slug}: {counted(upload.read, 'row')}{of}; "
        f"{upload.passed:,} passed, {upload.failed:,} failed, {counted(upload.errors, 'error')}, "
        f"{f'{upload.same:,} the same, ' if upload.same else ''}{counted(upload.rejected, 'line')} not stored"
    )


def _lease() -> datetime:
    return timezone.now() + timedelta(seconds=settings.LEASE_SECONDS)
