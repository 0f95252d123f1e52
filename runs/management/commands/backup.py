"""Writes everything that is stored into one file."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from runs.backups import make_backup
from runs.errors import BackupError
from runs.management.foreground import ensure_database


class Command(BaseCommand):
    help = "Write all that is stored, of one moment, into one file. Everything may run meanwhile."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE", help="the file to write; it holds secrets")
        parser.add_argument("--force", action="store_true", help="write over a file that is there")

    def handle(self, *args: Any, **options: Any) -> None:
        ensure_database()
        path: Path = options["file"]
        try:
            contents = make_backup(path, force=options["force"])
        except BackupError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(
            f"{path}: {contents.runs:,} runs, {contents.attempts:,} attempts, {path.stat().st_size / 1e6:,.1f} MB"
        )
