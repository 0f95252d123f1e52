"""Takes notes out as JSON, and brings them in."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from runs.access import EVERYTHING
from runs.management.foreground import ensure_database
from runs.notes import NotesError, exported, import_notes

_HOMELESS_SHOWN = 10


class Command(BaseCommand):
    help = "Write all notes to a JSON file, or add the notes of one. - is standard output or input."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("action", choices=("export", "import"))
        parser.add_argument("path", metavar="FILE", help="the JSON file, or -")

    def handle(self, *args: Any, **options: Any) -> None:
        ensure_database()
        path = options["path"]
        try:
            if options["action"] == "export":
                self._export(path)
            else:
                self._import(sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes())
        except OSError as error:
            raise CommandError(f"{path}: {error.strerror or error}") from error
        except NotesError as error:
            raise CommandError(f"{path}: {error}") from error

    def _export(self, path: str) -> None:
        text = b"".join(exported(access=EVERYTHING))
        if path == "-":
            self.stdout.write(text.decode(), ending="")
        else:
            Path(path).write_bytes(text)

    def _import(self, data: bytes) -> None:
        report = import_notes(data, access=EVERYTHING)
        self.stdout.write(
            f"{report.added:,} notes added, {report.same:,} here already, "
            f"{len(report.homeless):,} without their attempt"
        )
        for note in report.homeless[:_HOMELESS_SHOWN]:
            self.stdout.write(f"  no such attempt: run {note.run}, {note.task}, repetition {note.repetition}")
