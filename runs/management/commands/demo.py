"""Loads the demo runs."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from runs.demo_runs import load_demo
from runs.management.foreground import ensure_database


class Command(BaseCommand):
    help = "Load the demo runs: three invented models on an invented benchmark. Loading them twice changes nothing."

    def handle(self, *args: Any, **options: Any) -> None:
        ensure_database()
        for run in load_demo():
            self.stdout.write(f"{run}: /runs/{run.slug}/")
