"""Writes a run's rows back as a result file."""

from __future__ import annotations

import argparse
import gzip
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import zstandard
from django.core.management.base import BaseCommand, CommandError

from runs.access import EVERYTHING
from runs.errors import IngestError
from runs.exporting import export_rows
from runs.management.foreground import ensure_database
from runs.targets import run_named


class Command(BaseCommand):
    help = "Write a run's rows back as JSON lines, each equal as JSON to the row that came in."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("run", metavar="RUN", help="the run's name in its address")
        parser.add_argument(
            "-o", "--output", default="-", metavar="FILE", help="the file (.zst, .gz: compressed); else the output"
        )
        parser.add_argument("--current", action="store_true", help="leave out errors that a later row replaced")
        parser.add_argument("--force", action="store_true", help="write over a file that is there")

    def handle(self, *args: Any, **options: Any) -> None:
        ensure_database()
        try:
            run = run_named(options["run"], access=EVERYTHING)
        except IngestError as error:
            raise CommandError(str(error)) from error
        count = 0
        try:
            with _writing(options["output"], force=options["force"]) as target:
                for row in export_rows(run, current=options["current"]):
                    target.write(row + b"\n")
                    count += 1
        except OSError as error:
            reason = error.strerror or error
            raise CommandError(f"{options['output']}: the file cannot be written: {reason}.") from error
        self.stderr.write(f"{run.slug}: {count:,} rows written")


@contextmanager
def _writing(path: str, *, force: bool) -> Iterator[IO[bytes]]:
    """The file, which is there under its name only once it is whole."""
    if path == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    wanted = Path(path)
    if wanted.exists() and not force:
        raise CommandError(f"{path} is there already. Name another file, or write over it with --force.")
    partial = wanted.with_name(f"{wanted.name}.part")
    try:
        with partial.open("wb") as file, _packed(file, wanted.suffix) as target:
            yield target
        partial.replace(wanted)
    finally:
        partial.unlink(missing_ok=True)


@contextmanager
def _packed(file: IO[bytes], suffix: str) -> Iterator[IO[bytes]]:
    if suffix == ".zst":
        with zstandard.ZstdCompressor(level=3).stream_writer(file, closefd=False) as target:
            yield target
    elif suffix == ".gz":
        with gzip.GzipFile(fileobj=file, mode="wb", compresslevel=6, filename="") as zipped:
            yield zipped  # type: ignore[misc]
    else:
        yield file
