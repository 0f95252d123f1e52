"""Puts a backup back."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from runs.backups import check_backup, restore_backup
from runs.errors import BackupError


class Command(BaseCommand):
    help = "Check a backup and put it into this database and data folder. Stop everything first."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE", help="what `backup` wrote")
        parser.add_argument("--force", action="store_true", help="in the place of all that is stored here")
        parser.add_argument("--check", action="store_true", help="only check the file")

    def handle(self, *args: Any, **options: Any) -> None:
        path: Path = options["file"]
        try:
            contents = check_backup(path) if options["check"] else restore_backup(path, force=options["force"])
        except BackupError as error:
            raise CommandError(str(error)) from error
        what = f"{contents.runs:,} runs, {contents.attempts:,} attempts of {contents.made_at}"
        if options["check"]:
            self.stdout.write(f"{path}: the backup is whole: {what}")
        else:
            self.stdout.write(
                f"{path}: restored: {what}. Workers, or `manage.py reindex`, take the transcripts into the search."
            )
