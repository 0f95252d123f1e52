"""Checks what is stored: digests, counts, references."""

from __future__ import annotations

import argparse
from typing import Any

from django.core.management.base import BaseCommand

from runs.management.foreground import ensure_database
from runs.models import Attempt, Payload, TaskTally
from runs.verifying import CHECKS, Finding

_SHOWN = 50


class Command(BaseCommand):
    help = "Check that what is stored is what came in: digests, tallies, references. Exit status 1: something is wrong."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--repair", action="store_true", help="mend what can be made again from the rest")
        parser.add_argument("--all", action="store_true", help=f"print everything, not {_SHOWN} findings of a kind")

    def handle(self, *args: Any, **options: Any) -> None:
        ensure_database()
        found: list[Finding] = []
        for name, check in CHECKS.items():
            shown = 0
            for finding in check(options["repair"]):
                found.append(finding)
                shown += 1
                if shown <= _SHOWN or options["all"]:
                    self.stdout.write(f"{'repaired: ' if finding.repaired else ''}{finding.text}")
            if shown > _SHOWN and not options["all"]:
                self.stdout.write(f"and {shown - _SHOWN:,} more about {name}; --all prints them.")
        self.stdout.write(_looked_at() + _verdict(found))
        if any(not finding.repaired for finding in found):
            raise SystemExit(1)


def _looked_at() -> str:
    return (
        f"{Attempt.objects.count():,} attempts, {Payload.objects.count():,} payloads and "
        f"{TaskTally.objects.count():,} tallies checked: "
    )


def _verdict(found: list[Finding]) -> str:
    if not found:
        return "all is well."
    repaired = sum(finding.repaired for finding in found)
    left = len(found) - repaired
    words = [f"{left:,} found" if left else "", f"{repaired:,} repaired" if repaired else ""]
    could = sum(finding.repairable and not finding.repaired for finding in found)
    advice = f" --repair mends {could:,} of them." if could else ""
    return f"{', '.join(word for word in words if word)}.{advice}"
