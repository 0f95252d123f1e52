"""A backup of one moment, while everything goes on."""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from django.apps import apps
from django.conf import settings
from django.db import connection, models
from django.db.migrations.recorder import MigrationRecorder

from runs.backups.container import Contents, Table, Writer
from runs.backups.values import dumped
from runs.databases import snapshot
from runs.errors import BackupError
from runs.models import Attempt, Chunk, ChunkState, PendingTranscript, Run, Upload

__all__ = ["make_backup"]

_ROWS_AT_ONCE = 500
_PART_BYTES = 4 << 20
_LEFT_OUT = {PendingTranscript._meta.label_lower}
"""What waits to be indexed: all transcripts do after a restore, as the index is not in the backup."""


def make_backup(path: Path, *, force: bool = False) -> Contents:
    """Writes everything that is stored into one file, which is there under its name only once it is whole.

    The file holds the key that signs forms and sessions, so only its owner can read it. Raises `BackupError`.
    """
    if path.exists() and not force:
        raise BackupError(f"{path} is there already. Name another file, or write over it with --force.")
    partial = path.with_name(f"{path.name}.part")
    try:
        partial.unlink(missing_ok=True)
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as target, _held_uploads() as held:
            contents = _write(target, held)
            target.flush()
            os.fsync(target.fileno())
        partial.replace(path)
    except OSError as error:
        raise BackupError(f"{path}: the backup cannot be written: {error.strerror or error}.") from error
    finally:
        partial.unlink(missing_ok=True)
    return contents


def _write(target: IO[bytes], held: Path) -> Contents:
    writer = Writer(target)
    with snapshot():
        chosen = [
            model
            for model in apps.get_models(include_auto_created=True)
            if model._meta.managed and not model._meta.proxy and model._meta.label_lower not in _LEFT_OUT
        ]
        contents = Contents(
            made_at=datetime.now(UTC).isoformat(timespec="seconds"),
            database=connection.vendor,
            migrations=sorted(MigrationRecorder(connection).applied_migrations()),
            tables=[
                Table(
                    model._meta.label_lower,
                    [field.column for field in model._meta.local_concrete_fields],
                    model._base_manager.count(),
                )
                for model in chosen
            ],
            runs=Run.objects.count(),
            attempts=Attempt.objects.count(),
        )
        writer.contents(contents)
        # What has come in since the folder was held, and is of this moment.
        _hold(held)
        for model in chosen:
            for number, rows in enumerate(_parts(model), start=1):
                writer.rows(model._meta.label_lower, number, rows)
        for name in _needed_files():
            _add_file(writer, f"uploads/{name}", held / name)
    _add_file(writer, "secret_key", settings.DATA_DIR / "secret_key")
    writer.close()
    return contents


def _parts(model: type[models.Model]) -> Iterator[list[list[Any]]]:
    """The rows of a table, by primary key, in parts of a few megabytes."""
    fields = model._meta.local_concrete_fields
    rows: list[list[Any]] = []
    size = 0
    values = model._base_manager.order_by("pk").values_list(*(field.attname for field in fields))
    for row in values.iterator(chunk_size=_ROWS_AT_ONCE):
        rows.append([dumped(field, value) for field, value in zip(fields, row, strict=True)])
        size += sum(len(value) if isinstance(value, bytes | str) else 8 for value in rows[-1])
        if size > _PART_BYTES:
            yield rows
            rows, size = [], 0
    if rows:
        yield rows


def _needed_files() -> list[str]:
    waiting = Chunk.objects.exclude(state=ChunkState.DONE).exclude(path="")
    return [
        *Upload.objects.exclude(path="").order_by("pk").values_list("path", flat=True),
        *waiting.order_by("pk").values_list("path", flat=True),
    ]


def _add_file(writer: Writer, name: str, path: Path) -> None:
    try:
        stream = path.open("rb")
    except FileNotFoundError:  # `verify` tells of files that are missing; a key may come from the environment
        return
    with stream:
        writer.add_stream(name, stream, os.fstat(stream.fileno()).st_size)


@contextmanager
def _held_uploads() -> Iterator[Path]:
    """A folder of second names of all uploaded files: a worker that is done with one may remove the first."""
    folder: Path = settings.TEMP_DIR / f"backup-{uuid.uuid4().hex}"
    folder.mkdir(mode=0o700)
    try:
        _hold(folder)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _hold(folder: Path) -> None:
    for path in sorted(settings.UPLOADS_DIR.rglob("*")):
        if path.suffix == ".part" or not path.is_file():
            continue
        held = folder / path.relative_to(settings.UPLOADS_DIR)
        held.parent.mkdir(exist_ok=True)
        if held.exists():
            continue
        try:
            os.link(path, held)
        except FileNotFoundError:
            continue
        except OSError:  # a file system without hard links
            shutil.copyfile(path, held)
