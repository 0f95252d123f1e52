"""What the trace page costs in a browser: `uv run python -m tests.bench.trace`.

Three attempts on a fresh data folder: an ordinary one, one of 2,000 steps, one with a tool response of five megabytes.
Printed for each: size of the first answer, compressed size of all that is loaded, milliseconds from a key to the frame
that shows its effect, longest task of the main thread. The ordinary attempt is the yardstick: on a busy machine read
the others as multiples of it.
"""

from __future__ import annotations

import gzip
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from playwright.sync_api import Page, sync_playwright

from tests.e2e.browser import launch
from tests.factories import make_row, write_jsonl
from tests.trace_rows import huge_row, long_row, writing_row

_ROOT = Path(__file__).resolve().parents[2]
_PRESSES = 60
_PRESS = """key => new Promise(resolve => {
  const start = performance.now();
  document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - start)));
})"""
_WATCH = """
window.longTasks = [];
new PerformanceObserver(list => { for (const task of list.getEntries()) window.longTasks.push(task.duration); })
  .observe({ type: "longtask", buffered: true });
"""


class Cost(NamedTuple):
    """Bytes and milliseconds of one page."""

    answer: int
    loaded: int
    median: float
    most: float
    longest: float


@contextmanager
def serving(rows: dict[str, dict[str, object]]) -> Iterator[tuple[str, dict[str, str]]]:
    """A server on a fresh data folder: its address, and name → path of the attempt made of each row."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        environment = os.environ | {"TWENTYFOLD_DATA_DIR": name, "PYTHONPATH": str(_ROOT)}
        environment.pop("DATABASE_URL", None)
        for title, row in rows.items():
            path = write_jsonl(folder / f"bench.{title}.jsonl", [row])
            command = [sys.executable, "manage.py", "ingest", str(path), "--json"]
            subprocess.run(
                command, cwd=_ROOT, env=environment, check=True, stdout=subprocess.DEVNULL, stderr=sys.stderr
            )
        up = [sys.executable, "manage.py", "up", "--no-browser", "--no-demo", "--workers", "1"]
        server = subprocess.Popen(up, cwd=_ROOT, env=environment, stdout=subprocess.PIPE, text=True)
        try:
            assert server.stdout is not None
            address = next(line.split()[-1] for line in server.stdout if "running at" in line).rstrip("/")
            yield address, {title: f"/attempts/{number}/" for number, title in enumerate(rows, start=1)}
        finally:
            server.terminate()
            server.wait()


def measured(page: Page, address: str, path: str) -> Cost:
    bodies: list[bytes] = []
    page.on("response", lambda answer: bodies.append(answer.body()))
    page.add_init_script(_WATCH)
    page.goto(address + path + "?step=1")
    page.wait_for_load_state("networkidle")
    loaded = sum(len(gzip.compress(body, 6)) for body in bodies)
    times = [float(page.evaluate(_PRESS, key)) for key in "jk" * (_PRESSES // 2)]
    for key in "GgneG":
        page.keyboard.press(key)
        time.sleep(0.2)
    page.wait_for_load_state("networkidle")
    longest = max(page.evaluate("window.longTasks"), default=0)
    with urllib.request.urlopen(address + path) as answer:
        size = len(answer.read())
    return Cost(size, loaded, statistics.median(times), max(times), longest)


def main() -> None:
    rows = {
        "ordinary": make_row(),
        "2000-steps": long_row(2000),
        "2000-writes": writing_row(2000),
        "5-megabytes": huge_row(5_000_000),
    }
    with serving(rows) as (address, paths), sync_playwright() as playwright:
        browser = launch(playwright)
        costs = {}
        for title, path in paths.items():
            page = browser.new_page(viewport={"width": 1440, "height": 900})
            costs[title] = measured(page, address, path)
            page.close()
        browser.close()
    print(f"{'attempt':<14}{'answer':>12}{'loaded, gz':>12}{'key, median':>14}{'key, most':>12}{'longest task':>14}")
    for title, cost in costs.items():
        print(
            f"{title:<14}{cost.answer:>10,} B{cost.loaded:>10,} B{cost.median:>11.1f} ms{cost.most:>9.1f} ms"
            f"{cost.longest:>11.0f} ms"
        )
    print(json.dumps({title: cost._asdict() for title, cost in costs.items()}))


if __name__ == "__main__":
    main()
