"""Says by hand which tools of a benchmark change state, and grades its attempts again."""

from __future__ import annotations

import argparse
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from runs.management.foreground import ensure_database
from runs.models import Benchmark, Run, ToolUse
from runs.regrade import regrade


class Command(BaseCommand):
    help = "List a benchmark's tools, or say which of them change state; this wins over every other source."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("benchmark", metavar="BENCHMARK", help="the benchmark's name")
        parser.add_argument("--writes", nargs="+", default=[], metavar="TOOL", help="these tools change state")
        parser.add_argument("--reads", nargs="+", default=[], metavar="TOOL", help="these tools change nothing")
        parser.add_argument("--forget", nargs="+", default=[], metavar="TOOL", help="nothing is said of these by hand")

    def handle(self, *args: Any, **options: Any) -> None:
        ensure_database()
        benchmark = Benchmark.objects.filter(name=options["benchmark"]).first()
        if benchmark is None:
            names = ", ".join(Benchmark.objects.values_list("name", flat=True)[:10]) or "none yet"
            raise CommandError(f"There is no benchmark named {options['benchmark']!r}. Stored benchmarks: {names}.")
        seen = set(ToolUse.objects.filter(attempt__run__benchmark=benchmark).values_list("name", flat=True))
        said = dict(benchmark.tool_overrides)
        said |= dict.fromkeys(options["writes"], True) | dict.fromkeys(options["reads"], False)
        for name in options["forget"]:
            said.pop(name, None)
        unknown = sorted({*options["writes"], *options["reads"]} - seen)
        if unknown:
            self.stderr.write(f"No stored attempt calls {', '.join(unknown)}; what is said of it holds all the same.")
        if said != benchmark.tool_overrides:
            benchmark.tool_overrides = said
            benchmark.save(update_fields=["tool_overrides"])
            self._regrade(benchmark)
        for name in sorted(seen | said.keys()):
            by_hand = {True: "changes state, by hand", False: "changes nothing, by hand", None: "by the other sources"}
            self.stdout.write(f"{name}: {by_hand[said.get(name)]}")

    def _regrade(self, benchmark: Benchmark) -> None:
        for run in Run.objects.filter(benchmark=benchmark).select_related("benchmark"):
            attempts = max(regrade(run), default=0)
            self.stderr.write(f"{run.slug}: {attempts:,} attempts graded again.")
