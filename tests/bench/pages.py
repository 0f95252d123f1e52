"""Server times of the pages over a filled database: `uv run python -m tests.bench.pages [--rounds 40]`.

Fill the database first (`tests.bench.make_campaign`, and for the trace pages `manage.py ingest` of a bundle); it is the
one of the settings: TWENTYFOLD_DATA_DIR, or DATABASE_URL for PostgreSQL. Requests pass all middleware inside this
process, one after the other. `first` is the first request of the process, which computes what later ones keep; p50 and
p95 are of those after it. `changed` is the first one after a run was recounted. `cpu` is the p95 of this process's own
time, without the database's: on a busy machine the wall clock says more about the neighbours.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from runs.models import Run

BUDGETS = {"leaderboard": 100, "run": 150, "failures": 200, "trace": 80, "trace, state": 80}
"""Milliseconds, p95."""


class Timed(NamedTuple):
    name: str
    first: float
    p50: float
    p95: float
    cpu: float
    """p95 of processor time."""
    changed: float
    size: int
    """Bytes of the answer."""


def measure(rounds: int) -> list[Timed]:
    """Milliseconds by page."""
    from django.db.models import F  # noqa: PLC0415 (Django has to be set up first)
    from django.test import Client  # noqa: PLC0415

    from runs.models import Leaderboard, Run  # noqa: PLC0415

    board = Leaderboard.objects.exclude(entries=None).order_by("-pk").first()
    run, other = Run.objects.order_by("pk").first(), Run.objects.order_by("pk")[1:].first()
    if board is None or run is None or other is None:
        raise SystemExit(
            "The database has no leaderboard with runs. Fill it: uv run python -m tests.bench.make_campaign"
        )
    pages = {
        "leaderboard": board.get_absolute_url(),
        "leaderboard by 20 of 20": f"{board.get_absolute_url()}?by=all",
        "leaderboard, errors left out": f"{board.get_absolute_url()}?errors=excluded",
        "leaderboard as CSV": f"{board.get_absolute_url()}file/csv",
        "run": run.get_absolute_url(),
        "run, errors left out": f"{run.get_absolute_url()}?errors=excluded",
        "runs": "/",
        "leaderboards": "/leaderboards/",
        "prices": "/prices/",
        "failures": "/failures/",
        "compare runs": f"/compare/?base={run.slug}&candidate={other.slug}",
        **_below(run),
    }
    client = Client(HTTP_HOST="127.0.0.1")

    def once(path: str) -> tuple[float, float, int]:
        begun, worked = time.perf_counter(), time.process_time()
        answer = client.get(path)
        taken, work = (time.perf_counter() - begun) * 1000, (time.process_time() - worked) * 1000
        if answer.status_code != 200:
            raise SystemExit(f"{path} answered {answer.status_code}.")
        return taken, work, len(answer.content)

    timed = []
    for name, path in pages.items():
        first, _, size = once(path)
        asked = [once(path) for _ in range(rounds)]
        Run.objects.filter(pk=run.pk).update(tallied=F("tallied") + 1)
        changed, _, _ = once(path)
        walls, works = [wall for wall, _, _ in asked], [work for _, work, _ in asked]
        timed.append(Timed(name, first, statistics.median(walls), _p95(walls), _p95(works), changed, size))
    return timed


def _below(run: Run) -> dict[str, str]:
    """A task, and the failed attempt with the most steps among those that have a trace; a campaign's own have none."""
    from runs.models import Attempt, Task  # noqa: PLC0415

    task = Task.objects.filter(attempts__run=run).order_by("pk").first()
    pages = (
        {}
        if task is None
        else {"task of a run": f"{run.get_absolute_url()}tasks/{task.uid}/", "task": f"/tasks/{task.uid}/"}
    )
    attempt = Attempt.objects.filter(trace__isnull=False, verdict="failed").order_by("-steps", "pk").first()
    if attempt is not None:
        pages["trace"] = attempt.get_absolute_url()
        pages["trace, state"] = f"{attempt.get_absolute_url()}?tab=state"
    return pages


def _p95(times: list[float]) -> float:
    return sorted(times)[min(len(times) - 1, round(0.95 * len(times)))]


def main() -> int:
    """0 when every budget is kept."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "inspector.settings")
    import django  # noqa: PLC0415

    django.setup()
    from django.db import connection  # noqa: PLC0415

    from runs.models import Attempt, Run  # noqa: PLC0415

    parser = argparse.ArgumentParser(description="Times the pages in this process.")
    parser.add_argument("--rounds", type=int, default=40)
    options = parser.parse_args()
    print(f"{connection.vendor}: {Run.objects.count():,} runs, {Attempt.objects.count():,} attempts")
    timed = measure(options.rounds)
    print(f"{'page':30} {'p50':>8} {'p95':>8} {'budget':>8} {'cpu':>8} {'first':>8} {'changed':>8} {'kB':>8}   (ms)")
    late = []
    for page in timed:
        budget = BUDGETS.get(page.name)
        print(
            f"{page.name:30} {page.p50:8.1f} {page.p95:8.1f} {budget or '':>8} {page.cpu:8.1f} {page.first:8.0f} "
            f"{page.changed:8.0f} "
            f"{page.size / 1000:8.0f}"
        )
        if budget is not None and page.p95 > budget:
            late.append(page.name)
    if late:
        print(f"Over budget: {', '.join(late)}.")
    return 1 if late else 0


if __name__ == "__main__":
    sys.exit(main())
