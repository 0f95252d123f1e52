"""`expire`: deletes the runs whose time is over, now."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management import BaseCommand
from django.utils import timezone

from inspector.retention import expire_runs, expired
from runs.management.foreground import ensure_database


class Command(BaseCommand):
    help = "Deletes the runs whose time is over, with all that only they hold. Workers do it by themselves as well."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="only say which runs would go")

    def handle(self, *args: Any, **options: Any) -> None:
        ensure_database()
        now = timezone.now()
        if options["dry_run"]:
            for run in expired(now):
                self.stdout.write(f"{run.slug} would be deleted.")
            return
        gone = expire_runs(now)
        for slug in gone:
            self.stdout.write(f"{slug} was deleted.")
        self.stdout.write(f"{len(gone):,} runs were deleted.")
