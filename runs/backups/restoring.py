"""A backup into an empty place, or over what is there."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from tarfile import TarError
from typing import IO, Any

import msgspec
import zstandard
from django.apps.registry import Apps
from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.exceptions import ValidationError
from django.core.management import call_command
from django.core.management.color import no_style
from django.db import DatabaseError, DataError, connection, transaction
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.recorder import MigrationRecorder
from django.db.models import Field, Model

from runs import search
from runs.backups.container import Contents, check_backup, members, read_rows
from runs.backups.values import loaded, misfit
from runs.databases import insert_rows
from runs.errors import BackupError
from runs.models import Note, PendingTranscript, Run, Upload

__all__ = ["restore_backup"]

_INDEX = "runs_transcript"


def restore_backup(path: Path, *, force: bool = False) -> Contents:
    """Puts everything of a backup into the database and the data folder of the settings.

    The file is checked to its end before anything is touched. The rows come in one transaction: all of them, or what
    was there stays. `force` puts them in the place of what is stored. Raises `BackupError`.
    """
    contents = check_backup(path)
    if _runs_here():
        raise BackupError("Twentyfold is running on this data folder. Stop it first: it would go on with other rows.")
    executor = MigrationExecutor(connection)
    _refuse_newer(path, contents, executor)
    if not _has_tables():
        executor.migrate(_leaves(contents, executor))
    elif set(MigrationRecorder(connection).applied_migrations()) != set(contents.migrations):
        raise BackupError(
            f"{path}: the backup is of another version than the tables of this database. Restore it into an empty "
            "database or data folder; it is then brought to this version."
        )
    elif not force and (there := _what_is_there()):
        raise BackupError(
            f"There is something stored here already ({there}). Restore into an empty database or data folder, or put "
            "the backup in the place of all that is stored with --force."
        )
    old = executor.loader.project_state(contents.migrations).apps
    try:
        with transaction.atomic():
            _put_rows(path, contents, old)
            _put_files(path)
    except (DatabaseError, ValidationError, LookupError, msgspec.DecodeError, zstandard.ZstdError, TarError) as error:
        raise BackupError(
            f"{path}: the rows cannot be put into this database ({error}). What was here is as it was."
        ) from error
    call_command("migrate", verbosity=0, interactive=False)
    with transaction.atomic():
        search.clear()
        search.queue_all(connection)
    return contents


def _runs_here() -> bool:
    """Whether `up` holds the data folder. Other processes have to be stopped by those who started them."""
    try:
        with (settings.DATA_DIR / "up.lock").open("r") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    return False


def _has_tables() -> bool:
    return Run._meta.db_table in connection.introspection.table_names()


def _refuse_newer(path: Path, contents: Contents, executor: MigrationExecutor) -> None:
    unknown = sorted(
        f"{app}.{name}" for app, name in contents.migrations if (app, name) not in executor.loader.disk_migrations
    )
    if unknown:
        raise BackupError(
            f"{path}: the backup was made by another version, which has {unknown[0]}. Install that one, or a newer one."
        )


def _leaves(contents: Contents, executor: MigrationExecutor) -> list[tuple[str, str]]:
    """The last migrations of the backup, one an app."""
    applied = {(app, name) for app, name in contents.migrations}
    nodes = executor.loader.graph.node_map
    return sorted(
        key
        for key in applied
        if not any(child.key in applied and child.key[0] == key[0] for child in nodes[key].children)
    )


def _what_is_there() -> str:
    counts = {
        "runs": Run.objects.count(),
        "uploads": Upload.objects.count(),
        "notes": Note.objects.count(),
        "accounts": get_user_model()._default_manager.count(),
    }
    return ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)


def _put_rows(path: Path, contents: Contents, old: Apps) -> None:
    models = {
        table.label: model
        for table in contents.tables
        for model in old.get_models(include_auto_created=True)
        if model._meta.label_lower == table.label
    }
    everything = {PendingTranscript._meta.db_table, *(model._meta.db_table for model in models.values())}
    there = [name for name in connection.introspection.table_names() if name in everything]
    # Deferred checks of what was written before in this transaction would be in the way.
    connection.check_constraints()
    with connection.cursor() as cursor:
        for statement in connection.ops.sql_flush(no_style(), there):
            cursor.execute(statement)
    fields = {table.label: _fields(models[table.label], table.columns) for table in contents.tables}
    for label, rows in _tables(path):
        columns = [field.column for field in fields[label]]
        try:
            insert_rows(models[label]._meta.db_table, columns, _loaded(fields[label], rows))
        except DataError as error:
            if not (reason := misfit(fields[label], rows)):
                raise
            raise BackupError(
                f"{path}: this database does not take a row of {label}: {reason}. What was here is as it was. Correct "
                "that where the backup comes from, and make another one."
            ) from error
    connection.check_constraints()
    with connection.cursor() as cursor:
        for statement in connection.ops.sequence_reset_sql(no_style(), list(models.values())):
            cursor.execute(statement)


def _fields(model: type[Model], columns: list[str]) -> list[Field[Any, Any]]:
    by_column = {field.column: field for field in model._meta.local_concrete_fields}
    return [by_column[column] for column in columns]


def _tables(path: Path) -> Iterator[tuple[str, list[list[Any]]]]:
    for name, stream in members(path):
        if name.startswith("tables/"):
            yield name.split("/")[1], read_rows(stream)


def _loaded(fields: list[Field[Any, Any]], rows: list[list[Any]]) -> Iterator[list[Any]]:
    for row in rows:
        yield [loaded(field, value) for field, value in zip(fields, row, strict=True)]


def _put_files(path: Path) -> None:
    """Uploaded files, and the key. Their names were held against those that a backup may have."""
    for name, stream in members(path):
        if name.startswith("uploads/"):
            _put_file(settings.UPLOADS_DIR / name.removeprefix("uploads/"), stream)
        elif name == "secret_key":
            _put_file(settings.DATA_DIR / name, stream)


def _put_file(target: Path, stream: IO[bytes]) -> None:
    target.parent.mkdir(mode=0o700, exist_ok=True)
    partial = target.with_name(f"{target.name}.part")
    partial.unlink(missing_ok=True)
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        shutil.copyfileobj(stream, file)
    partial.replace(target)
