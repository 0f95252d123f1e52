"""How fast a bundle with states goes in, beside a pass that only parses it:

    uv run python -m tests.bench.ingest [--rounds N] [--rows N] [--profile]

The bundle is that of `tests.bench.make_bundle`. Each measurement is a process of its own, and the rounds take turns, so
that what else the machine does meets all of them. CPU seconds are those of the measured processes alone; what
PostgreSQL's own processes use is in the wall time only. The database is a new SQLite file, or DATABASE_URL, which is
emptied for each round.

    parse   each line by the standard library's json, verdicts counted
    halves  the same by two processes, each one half of the lines: what a second process gains on this machine
    one     one process ingests everything: differences, attribution, signatures, and on SQLite the full text
    two     two workers share the same
    command the command `ingest` with two processes, which prepare the rows that it reads and stores
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from tests.bench.make_bundle import make_bundle

ROOT = Path(__file__).resolve().parents[2]
NAMES = ("parse", "halves", "one", "two", "command")

_OURS = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
_PLAIN = {"parse", "halves"}
_IN_TWO = {"halves", "two"}


def parse(path: Path) -> dict[str, Any]:
    """The pass to compare with."""
    verdicts: dict[str, int] = defaultdict(int)
    with path.open("rb") as file:
        for line in file:
            row = json.loads(line)
            test = row["test_result"]
            verdicts["error" if row["is_system_error"] or not test else str(test["result"])] += 1
    return {"rows": sum(verdicts.values())}


def half(path: Path) -> dict[str, Any]:
    """Every second line of it."""
    rows = 0
    with path.open("rb") as file:
        for line in file:
            json.loads(line)
            rows += 1
            next(file, None)
    return {"rows": rows}


def one(path: Path, processes: int = 1) -> dict[str, Any]:
    """What `ingest` does; with one process all of it in this one."""
    from runs.access import EVERYTHING  # noqa: PLC0415
    from runs.databases import spare_memory  # noqa: PLC0415
    from runs.ingest import ingest_file  # noqa: PLC0415 (Django has to be set up first)
    from runs.upload_files import hash_stream  # noqa: PLC0415
    from runs.uploads import Wishes, new_upload  # noqa: PLC0415

    spare_memory()
    with path.open("rb") as stream:
        wishes = Wishes(model="m", benchmark="bench")
        upload = new_upload(path.name, hash_stream(stream), wishes=wishes, access=EVERYTHING)
        ingest_file(upload, stream, processes=processes)
    return {"rows": upload.read}


def share(path: Path) -> dict[str, Any]:
    """What a worker does: one of two processes. Ends when all is stored."""
    from runs.chunks import claim_next  # noqa: PLC0415
    from runs.models import Upload, UploadState  # noqa: PLC0415
    from runs.tasks import do_chunk  # noqa: PLC0415

    while Upload.objects.exclude(state=UploadState.DONE).exists():
        if (chunk := claim_next()) is not None:
            do_chunk(chunk, hint=lambda: None)
        else:
            time.sleep(0.01)
    return {"rows": Upload.objects.get().read}


def _measure(name: str, path: Path) -> None:
    """Runs in the measured process: does it, and prints what it took."""
    if name not in _PLAIN:
        import django  # noqa: PLC0415

        django.setup()
    passes: dict[str, Callable[[Path], dict[str, Any]]] = {
        "parse": parse, "halves": half, "one": one, "two": share, "command": partial(one, processes=2),
    }  # fmt: skip
    done = passes[name]
    began, used = time.perf_counter(), _used()
    answer = done(path)
    answer |= {
        "wall": time.perf_counter() - began,
        "cpu": _used() - used,
        "mb": max(resource.getrusage(who).ru_maxrss for who in _OURS) / 1024,
    }
    print(json.dumps(answer))


def _used() -> float:
    """Processor seconds of this process and of those that it started and that have ended."""
    return sum(usage.ru_utime + usage.ru_stime for usage in map(resource.getrusage, _OURS))


def _environment(folder: Path) -> dict[str, str]:
    return {**os.environ, "TWENTYFOLD_DATA_DIR": str(folder), "DJANGO_SETTINGS_MODULE": "inspector.settings"}


def _start(name: str, path: Path, folder: Path, profile: Path | None = None) -> subprocess.Popen[str]:
    profiling = ["-m", "cProfile", "-o", str(profile)] if profile else []
    return subprocess.Popen(
        [sys.executable, *profiling, "-m", "tests.bench.ingest", "--measure", name, str(path)],
        cwd=ROOT, env=_environment(folder), stdout=subprocess.PIPE, text=True,
    )  # fmt: skip


def _django(folder: Path, code: str) -> str:
    script = f"import django; django.setup()\n{code}"
    return subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, env=_environment(folder), check=True, capture_output=True, text=True
    ).stdout


ACCEPT = """
from pathlib import Path
from runs.access import EVERYTHING
from runs.upload_files import blocks_of
from runs.uploads import Wishes, accept_upload
with Path({path!r}).open("rb") as stream:
    accept_upload("bench.jsonl", blocks_of(stream), wishes=Wishes(model="m", benchmark="bench"), access=EVERYTHING)
"""
EMPTY = """
from django.core.management import call_command
call_command("migrate", verbosity=0)
call_command("flush", verbosity=0, interactive=False)
from runs import search
search.clear()
"""
SIZE = """
from django.db import connection
with connection.cursor() as cursor:
    if connection.vendor == "sqlite":
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        cursor.execute("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")
    else:
        cursor.execute("SELECT sum(pg_total_relation_size(relid)) FROM pg_stat_user_tables WHERE relname LIKE 'runs_%'")
    print(cursor.fetchone()[0])
"""


def measure(name: str, path: Path, profile: Path | None = None) -> dict[str, Any]:
    """One measurement in processes of its own, on an empty database."""
    with tempfile.TemporaryDirectory(prefix="twentyfold-bench-") as name_of_folder:
        folder = Path(name_of_folder)
        if name not in _PLAIN:
            _django(folder, EMPTY)
        if name == "two":
            _django(folder, ACCEPT.format(path=str(path)))
        began = time.perf_counter()
        processes = [_start(name, path, folder, profile) for _ in range(2 if name in _IN_TWO else 1)]
        answers = [json.loads(process.communicate()[0]) for process in processes]
        found = {
            "rows": answers[0]["rows"],
            "cpu": sum(answer["cpu"] for answer in answers),
            "wall": max(answer["wall"] for answer in answers),
            "mb": max(answer["mb"] for answer in answers),
            "busiest": max(answer["cpu"] for answer in answers),
            "all": time.perf_counter() - began,
        }
        if name == "one":
            found["stored"] = int(_django(folder, SIZE))
        return found


def main() -> None:
    parser = argparse.ArgumentParser(description="Measures ingest beside a pass that only parses.")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rows", type=int, default=2_320, help="10,140 are a campaign's of one model")
    parser.add_argument("--only", nargs="+", choices=NAMES, default=list(NAMES))
    parser.add_argument("--profile", type=Path, help="write a profile of one process here, and measure nothing")
    parser.add_argument("--measure", nargs=2, metavar=("NAME", "PATH"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        _measure(options.measure[0], Path(options.measure[1]))
        return
    folder = Path(tempfile.mkdtemp(prefix="twentyfold-bundle-"))
    try:
        path = folder / "bench.jsonl"
        rows = make_bundle(path, options.rows)
        size = path.stat().st_size
        print(f"{rows:,} rows, {size / 1e6:,.0f} MB, {size / rows / 1e3:,.0f} KB a row")
        if options.profile:
            measure("one", path, options.profile)
            return
        found: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for _ in range(options.rounds):
            for name in options.only:
                found[name].append(measure(name, path))
        _report(found, rows, size)
    finally:
        shutil.rmtree(folder)


def _report(found: dict[str, list[dict[str, Any]]], rows: int, size: int) -> None:
    base = found.get("parse")
    print("          CPU s   ms/row  × parse   wall s  × parse   MB/s  rows/s  peak MB")
    for name, rounds in found.items():
        cpu, wall = (median(each[key] for each in rounds) for key in ("cpu", "wall"))
        ratios = ["", ""]
        if base:
            pairs = list(zip(rounds, base, strict=True))
            # Of two workers the busiest one says how long the work takes where each has a core.
            key = "busiest" if name in _IN_TWO else "cpu"
            ratios = [
                f"{median(mine[key] / theirs['cpu'] for mine, theirs in pairs):.2f}",
                f"{median(mine['wall'] / theirs['wall'] for mine, theirs in pairs):.2f}",
            ]
        print(
            f"{name:<8}{cpu:7.2f}{cpu / rows * 1e3:9.2f}{ratios[0]:>9}{wall:9.2f}{ratios[1]:>9}"
            f"{size / wall / 1e6:7.0f}{rows / wall:8.0f}{max(each['mb'] for each in rounds):9.0f}"
        )
    for each in found.get("one", [])[:1]:
        print(f"stored: {each['stored'] / 1e6:,.1f} MB, {each['stored'] / size:.1%} of the rows, "
              f"{each['stored'] / rows / 1e3:,.1f} KB an attempt")  # fmt: skip


if __name__ == "__main__":
    main()
