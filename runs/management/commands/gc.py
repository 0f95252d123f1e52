"""Removes what nothing uses any more."""

from __future__ import annotations

import argparse
from typing import Any

from django.core.management.base import BaseCommand

from runs.leftovers import left_over_files, remove_left_over_files
from runs.management.foreground import ensure_database
from runs.unused import collect, unused
from runs.wording import counted


class Command(BaseCommand):
    help = "Remove payloads that no attempt uses, and files that a killed process left in the data folder."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="only say what would go")

    def handle(self, *args: Any, **options: Any) -> None:
        ensure_database()
        if options["dry_run"]:
            payloads, files = unused().count(), len(left_over_files())
            tables = " and the tables that only they hold" if payloads else ""
            self.stdout.write(f"{counted(payloads, 'payload')}{tables}, and {counted(files, 'file')} would go")
            return
        files = len(list(remove_left_over_files()))
        self.stdout.write(f"{counted(collect(), 'payload')} and {counted(files, 'file')} removed")
