"""Server times of facets and search over a filled database: `uv run python -m tests.bench.failures [--rounds 40]`.

Fill the database first (`tests.bench.make_campaign`, then `tests.bench.make_details`); it is the one of the settings:
TWENTYFOLD_DATA_DIR, or DATABASE_URL for PostgreSQL. Requests pass all middleware inside this process, one after the
other. `first` is the first request, which for the first page takes what is kept of all runs out of the database, and
imports the site; `changed` is the first one after a run was recounted, which reads that run's attempts again. `cpu` is
what this process itself computed for the p95: on a machine that does other things too it says more than the clock, but
it leaves out a PostgreSQL server's work.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time

BUDGET = 200
"""Milliseconds, p95, of the page of failures."""
PAGES = {
    "all failures": "/failures/",
    "ungrouped": "/failures/?group=none",
    "by task": "/failures/?group=task",
    "one run": "/failures/?run=campaign-03",
    "difference, field, tool": "/failures/?effect=wrong&field=table_1.field_3&tool=tool_7",
    "tool that erred, 2 labels": "/failures/?erred=tool_3&label=empty_lookup&label=wrong_field_value&group=none",
    "most tokens, last page": "/failures/?group=none&sort=-tokens&page=4000",
    "all tasks listed": "/failures/?all=task",
    "a frequent word": "/failures/?q=w0",
    "a rare word": "/failures/?q=w19998",
    "two words and a run": "/failures/?q=w5+w900&run=campaign-03",
    "a phrase": "/failures/?q=%22w0+w1%22",
    "search: one attempt": "/search/?q=only77777",
    "search: a frequent word": "/search/?q=w0",
    "errors": "/failures/errors/",
    "look next": "/failures/next/",
}
_SLOWER = {"search: one attempt", "search: a frequent word"}


def main() -> int:
    """0 when every page of failures keeps the budget."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "inspector.settings")
    import django  # noqa: PLC0415

    django.setup()
    from django.db import connection  # noqa: PLC0415
    from django.db.models import F  # noqa: PLC0415
    from django.test import Client  # noqa: PLC0415

    from runs.models import Attempt, Run  # noqa: PLC0415

    parser = argparse.ArgumentParser(description="Times facets and search in this process.")
    parser.add_argument("--rounds", type=int, default=40)
    options = parser.parse_args()
    client = Client(HTTP_HOST="127.0.0.1")

    def once(path: str) -> tuple[float, float, int]:
        begun, computed = time.perf_counter(), time.process_time()
        answer = client.get(path)
        taken, computed = (time.perf_counter() - begun) * 1000, (time.process_time() - computed) * 1000
        if answer.status_code != 200:
            raise SystemExit(f"{path} answered {answer.status_code}.")
        return taken, computed, len(answer.content)

    failed = Attempt.objects.filter(verdict="failed").count()
    print(f"{connection.vendor}: {Attempt.objects.count():,} attempts, {failed:,} of them failed")
    print(f"{'page':30} {'p50':>8} {'p95':>8} {'cpu':>8} {'first':>8} {'its cpu':>8} {'changed':>8} {'kB':>6}   (ms)")
    late = []
    for name, path in PAGES.items():
        first, first_cpu, size = once(path)
        rounds = [once(path) for _ in range(options.rounds)]
        times, cpu = sorted(taken for taken, _, _ in rounds), sorted(computed for _, computed, _ in rounds)
        Run.objects.filter(slug="campaign-03").update(tallied=F("tallied") + 1)
        changed, _, _ = once(path)
        late_one = min(len(times) - 1, round(0.95 * len(times)))
        p95 = times[late_one]
        middle = statistics.median(times)
        print(
            f"{name:30} {middle:8.1f} {p95:8.1f} {cpu[late_one]:8.1f} {first:8.0f} {first_cpu:8.0f} {changed:8.0f} "
            f"{size / 1000:6.0f}",
            flush=True,
        )
        if p95 > BUDGET and name not in _SLOWER:
            late.append(name)
    if late:
        print(f"Over {BUDGET} ms: {', '.join(late)}.")
    return 1 if late else 0


if __name__ == "__main__":
    sys.exit(main())
