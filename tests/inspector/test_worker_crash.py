"""Real workers on the embedded broker, killed while they store: nothing is lost, doubled or half stored."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import zstandard

from runs.demo import bundles

ROOT = Path(__file__).resolve().parents[2]
LEASE = 2

ACCEPT = """
from runs.access import EVERYTHING
from runs.demo import bundles
from runs.tasks import work
from runs.uploads import Wishes, accept_upload
for number in range(2):
    for bundle in bundles():
        accept_upload(
            bundle.path.name,
            [bundle.path.read_bytes()],
            wishes=Wishes(model=f"{bundle.model}-{number}"),
            access=EVERYTHING,
        )
        work.delay()
"""
REPORT = """
import json
from django.db.models import Count, Sum
from runs.models import Attempt, AttemptEffect, TaskTally, Trace, Upload
columns = ("state", "read", "stored", "same", "passed", "failed", "errors")
uploads = list(Upload.objects.order_by("pk").values_list(*columns))
tallies = TaskTally.objects.aggregate(*[Sum(name) for name in ("recorded", "passed", "failed", "errors")])
print(json.dumps([uploads, tallies, Attempt.objects.count(), Trace.objects.count(), AttemptEffect.objects.count()]))
"""


def django(folder: Path, code: str) -> str:
    """Runs code in a process of its own, as another machine would."""
    script = f"import django; django.setup()\n{code}"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, env=environment(folder), capture_output=True, text=True, check=True
    )
    return done.stdout


def environment(folder: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in {"DATABASE_URL", "CELERY_BROKER_URL"}}
    return kept | {
        "TWENTYFOLD_DATA_DIR": str(folder),
        "TWENTYFOLD_LEASE": str(LEASE),
        "DJANGO_SETTINGS_MODULE": "inspector.settings",
    }


def start_worker(folder: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "celery", "-A", "inspector", "worker", "-P", "solo", "--loglevel", "ERROR"]
    return subprocess.Popen(
        command, cwd=ROOT, env=environment(folder), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


@contextmanager
def workers(folder: Path, count: int) -> Iterator[list[subprocess.Popen[bytes]]]:
    started = [start_worker(folder) for _ in range(count)]
    try:
        yield started
    finally:
        for worker in started:
            worker.kill()
            worker.wait()


def test_killed_workers_lose_double_and_halve_nothing(tmp_path: Path) -> None:
    django(tmp_path, "from django.core.management import call_command; call_command('migrate', verbosity=0)")
    django(tmp_path, ACCEPT)
    chance = random.Random(20)
    kills = 0
    with workers(tmp_path, 2) as running:
        deadline = time.monotonic() + 300
        while time.monotonic() < deadline:
            time.sleep(chance.uniform(0.6, 1.4))
            uploads, tallies, attempts, traces, effects = json.loads(django(tmp_path, REPORT))
            if {state for state, *_ in uploads} == {"done"}:
                break
            if kills < 6:
                victim = chance.randrange(2)
                running[victim].kill()
                running[victim].wait()
                running[victim] = start_worker(tmp_path)
                kills += 1
    verdicts = [verdict_counts(bundle.path) for bundle in bundles()] * 2
    assert uploads == [["done", 240, 240, 0, *counts] for counts in verdicts]
    assert kills >= 2
    assert (attempts, traces) == (1440, 1440)
    assert tallies == {
        "recorded__sum": 1440,
        "passed__sum": sum(passed for passed, _, _ in verdicts),
        "failed__sum": sum(failed for _, failed, _ in verdicts),
        "errors__sum": sum(errors for _, _, errors in verdicts),
    }
    assert effects > 0


def verdict_counts(path: Path) -> tuple[int, int, int]:
    """(passed, failed, errors) of a demo bundle, counted by a plain pass over its lines."""
    counts = {"passed": 0, "failed": 0, "error": 0}
    with path.open("rb") as file, zstandard.ZstdDecompressor(max_window_size=2**31).stream_reader(file) as stream:
        for line in stream.read().splitlines():
            row = json.loads(line)
            test = row["test_result"]
            if row["is_system_error"] or test is None or test["is_system_error"]:
                counts["error"] += 1
            else:
                counts["passed" if test["result"] else "failed"] += 1
    return counts["passed"], counts["failed"], counts["error"]
