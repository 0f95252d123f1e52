"""Commands as processes: several at once on a new data folder, and output that nobody reads to its end."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.factories import make_row, write_jsonl

ROOT = Path(__file__).resolve().parents[2]


def started(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    kept = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"}
    return subprocess.Popen(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env=kept | {"TWENTYFOLD_DATA_DIR": str(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_commands_that_start_at_once_on_a_new_folder_take_turns(tmp_path: Path) -> None:
    paths = [write_jsonl(tmp_path / f"desk.m{number}.jsonl", [make_row(repetition=number)]) for number in range(3)]
    running = [started(tmp_path / "data", "ingest", str(path), "--json", "--model", path.stem) for path in paths]
    answers = [process.communicate(timeout=60) for process in running]
    assert [process.returncode for process in running] == [0, 0, 0]
    assert [json.loads(out)["stored"] for out, _ in answers] == [1, 1, 1]


def test_a_reader_that_leaves_early_gets_no_traceback(tmp_path: Path) -> None:
    row = make_row()
    row["messages"] += [{"T": "Text", "metadata": {}, "role": "user", "content": "x" * 300}] * 2000
    path = write_jsonl(tmp_path / "desk.m.jsonl", [row])
    first = started(tmp_path / "data", "ingest", str(path), "--model", "m")
    out, _ = first.communicate(timeout=60)
    slug = out.splitlines()[0].rpartition(" ")[2]
    shown = started(tmp_path / "data", "show", slug, row["uid"], "0")
    assert shown.stdout is not None
    assert shown.stderr is not None
    assert shown.stdout.readline().endswith("failed\n")
    shown.stdout.close()
    assert shown.wait(timeout=60) == 1
    assert shown.stderr.read() == ""
    shown.stderr.close()
