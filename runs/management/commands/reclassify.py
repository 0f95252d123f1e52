"""Grades and classifies stored attempts again, from their own rows."""

from __future__ import annotations

import argparse
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from runs.access import EVERYTHING
from runs.errors import IngestError
from runs.management.foreground import ensure_database
from runs.models import Run
from runs.regrade import regrade
from runs.signatures import CURRENT
from runs.targets import run_named


class Command(BaseCommand):
    help = "Grade and classify stored attempts again, from their own rows, with the newest rules. Verdicts stay."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("runs", nargs="*", metavar="RUN", help="names of runs; none means all")

    def handle(self, *args: Any, **options: Any) -> None:
        ensure_database()
        try:
            chosen = [run_named(slug, access=EVERYTHING) for slug in options["runs"]]
        except IngestError as error:
            raise CommandError(str(error)) from error
        for run in chosen or Run.objects.select_related("benchmark").order_by("pk"):
            attempts = max(regrade(run), default=0)
            self.stdout.write(f"{run.slug}: {attempts:,} attempts graded and classified again, signatures v{CURRENT}")
