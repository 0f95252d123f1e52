"""Fills the full-text index: with what waits, or with everything anew."""

from __future__ import annotations

import argparse
from typing import Any

from django.core.management.base import BaseCommand
from django.db import connection

from runs import search
from runs.management.foreground import ensure_database


class Command(BaseCommand):
    help = "Index the transcripts that wait to be searched. With --anew all transcripts, from their own rows."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--anew", action="store_true", help="empty the index first and fill it with everything")

    def handle(self, *args: Any, **options: Any) -> None:
        ensure_database()
        if options["anew"]:
            search.clear()
            search.queue_all(connection)
        done = 0
        while indexed := search.index_some():
            done += indexed
        self.stdout.write(f"{done:,} transcripts indexed")
