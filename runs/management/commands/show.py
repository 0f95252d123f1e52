"""Shows one attempt as text, or as one JSON object."""

from __future__ import annotations

import argparse
import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from runs.access import EVERYTHING
from runs.errors import IngestError
from runs.management.foreground import ensure_database
from runs.models import Attempt, Run
from runs.payloads import load_evidence, load_record
from runs.showing import attempt_json, attempt_text
from runs.targets import run_named


class Command(BaseCommand):
    help = "Show an attempt: verdict, evidence, checks and steps."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("run", metavar="RUN", help="the run's name in its address")
        parser.add_argument("uid", metavar="UID", help="the task: file.py:test_name, or its part behind the colon")
        parser.add_argument("repetition", metavar="REPETITION", type=int, help="the harness's number, from 0")
        parser.add_argument("--json", action="store_true", help="answer with one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        ensure_database()
        try:
            run = run_named(options["run"], access=EVERYTHING)
        except IngestError as error:
            raise CommandError(str(error)) from error
        attempt = _attempt(run, options["uid"], options["repetition"])
        record = load_record(attempt.trace)
        graded = load_evidence(attempt.trace).graded
        if options["json"]:
            self.stdout.write(json.dumps(attempt_json(record, graded), ensure_ascii=False))
        else:
            for line in attempt_text(record, graded):
                self.stdout.write(line)


def _attempt(run: Run, uid: str, repetition: int) -> Attempt:
    found = Attempt.objects.filter(run=run, current=True).select_related("trace__dictionary")
    task = found.filter(task__uid=uid) if ":" in uid else found.filter(task__uid__endswith=f":{uid}")
    attempt = task.filter(repetition=repetition).first()
    if attempt is not None:
        return attempt
    recorded = sorted(task.values_list("repetition", flat=True))
    if recorded:
        numbers = ", ".join(str(number) for number in recorded[:40])
        raise CommandError(f"The run {run.slug} has no repetition {repetition} of {uid}; it has {numbers}.")
    tasks = ", ".join(run.tallies.values_list("task__uid", flat=True)[:5])
    raise CommandError(f"The run {run.slug} has no task {uid}. It has, for example: {tasks or 'no tasks'}.")
