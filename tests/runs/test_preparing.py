"""A file whose rows are prepared by several processes gives what one process gives, and nothing is left behind."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest
from django.core.management import call_command
from django.db import connection

from runs import ingest as ingest_module
from runs import preparing
from runs.access import EVERYTHING
from runs.databases import is_sqlite
from runs.errors import PreparersEnded
from runs.ingest import ingest_file, store_prepared
from runs.models import Attempt, TaskTally, Upload, UploadProblem
from runs.payloads import KnownTexts, restore_row
from runs.prepare import PreparedRow
from runs.preparing import Prepared, Row
from runs.upload_files import KeptFile
from runs.uploads import Wishes, new_upload
from tests.factories import Outcome, make_row, write_jsonl

pytestmark = pytest.mark.django_db

ROOT = Path(__file__).resolve().parents[2]
OUTCOMES: tuple[Outcome, ...] = ("passed", "failed", "system")


@pytest.fixture(autouse=True)
def _small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preparing, "ROWS_A_CHUNK", 4)
    monkeypatch.setattr(preparing, "_BYTES_A_PIECE", 1)
    monkeypatch.setattr(preparing, "_ALONE_SECONDS", 0.0)


@pytest.fixture
def lines(tmp_path: Path) -> bytes:
    """Thirty rows of three tasks, some more than once, and lines that cannot be stored."""
    rows = [make_row(uid=f"t{at % 3}", repetition=at // 3, outcome=OUTCOMES[at % 3]) for at in range(30)]
    made = write_jsonl(tmp_path / "rows.jsonl", [*rows, *rows[:2]]).read_bytes().splitlines(keepends=True)
    made[7:7] = [b"{\n", b"[]\n"]
    made[20:20] = [b"\n", b'{"uid": 1}\n']
    return b"".join(made)


def ingest(path: Path, *, processes: int, model: str = "birch", mask: bool = False) -> Upload:
    data = path.read_bytes()
    kept = KeptFile("", hashlib.sha256(model.encode() + data).hexdigest(), len(data))
    wishes = Wishes(model=model, benchmark="desk", mask=mask)
    upload = new_upload(path.name, kept, wishes=wishes, access=EVERYTHING)
    with path.open("rb") as stream:
        return ingest_file(upload, stream, processes=processes)


def all_of(model: str) -> dict[str, Any]:
    """What the store has of a model's file, without numbers of rows in the database."""
    known = KnownTexts(1 << 20)
    attempts = Attempt.objects.filter(run__model=model).order_by("line")
    upload = Upload.objects.get(model=model)
    counts = ("read", "stored", "same", "passed", "failed", "errors", "rejected", "conflicts", "masked", "state")
    columns = ("task__uid", "repetition", "verdict", "differences", "digest", "line", "signature", "masked")
    tallies = TaskTally.objects.filter(run__model=model).order_by("task__uid")
    problems = UploadProblem.objects.filter(upload=upload)
    return {
        "counts": [getattr(upload, name) for name in counts],
        "attempts": list(attempts.values_list(*columns)),
        "rows": [restore_row(each, known) for each in attempts.select_related("trace__dictionary")],
        "tallies": list(tallies.values_list("task__uid", "recorded", "passed", "failed", "errors", "tool_calls")),
        "problems": sorted(problems.values_list("line", "kind", "reason")),
    }


@pytest.mark.parametrize("mask", [False, True])
def test_several_processes_give_what_one_gives(lines: bytes, mask: bool, tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(lines.replace(b"refund", b"sk-ant-REDACTED refund"))
    ingest(path, processes=1, model="one", mask=mask)
    ingest(path, processes=2, model="several", mask=mask)
    one, several = all_of("one"), all_of("several")
    assert len(one["rows"]) == 30
    assert len(one["problems"]) >= 3
    assert several == one


def test_rows_before_a_damage_are_stored_the_same(lines: bytes, tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl.gz"
    # Stored without being compressed, so that the cut is behind rows of several chunks.
    packed = gzip.compress(lines, compresslevel=0)
    path.write_bytes(packed[: len(packed) * 3 // 4])
    for model, processes in (("one", 1), ("several", 2)):
        assert ingest(path, processes=processes, model=model).state == "done"
    one, several = all_of("one"), all_of("several")
    assert 4 < len(one["rows"]) < 30
    assert "cut off" in one["problems"][-1][2]
    assert several == one


def ends(reader: str, rows: list[Row], overrides: dict[str, bool], key: Any) -> Prepared:
    """In place of the piece with line 15, the process ends."""
    if any(row.line == 15 for row in rows):
        os._exit(9)
    return preparing._prepare_piece(reader, rows, overrides, key)


def test_a_process_that_is_killed_stops_the_file_and_loses_nothing(
    lines: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(lines)
    with monkeypatch.context() as patch:
        patch.setattr(preparing, "_prepare_piece", ends)
        with pytest.raises(PreparersEnded, match="--processes 1"):
            ingest(path, processes=2)
    stopped = Upload.objects.get()
    assert (stopped.state, stopped.error) == ("stopped", str(PreparersEnded()))
    assert 4 <= Attempt.objects.count() < 30
    again = ingest(path, processes=1)
    assert (again.state, Attempt.objects.count()) == ("done", 30)


_ENDLESS = """
import django; django.setup()
from itertools import count
from runs import ingest as ingest_module
from runs import preparing
from runs.bundles import reader_named
from runs.bundles.base import RawRecord
from runs.models import Upload
from tests.factories import make_row
import json
preparing._ALONE_SECONDS = 0.0
rows = (RawRecord(line=at, text=json.dumps(make_row(repetition=at)).encode()) for at in count(1))
for chunk in preparing.prepare_chunks(reader_named("thinkingbox"), preparing.chunked(rows), Upload(), processes=2):
    print(len(chunk), flush=True)
"""


def until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not true():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_no_process_outlives_the_command_that_started_it() -> None:
    with subprocess.Popen([sys.executable, "-c", _ENDLESS], cwd=ROOT, stdout=subprocess.PIPE) as command:
        try:
            assert command.stdout is not None
            assert [command.stdout.readline() for _ in range(3)] == [b"100\n"] * 3
            children = psutil.Process(command.pid).children()
            assert len(children) >= 2
        finally:
            command.kill()
    until(lambda: not any(child.is_running() and child.status() != psutil.STATUS_ZOMBIE for child in children))


def test_ctrl_c_stops_it_in_a_sentence_and_a_second_time_reads_the_rest(
    lines: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(lines)
    said, answers = io.StringIO(), io.StringIO()

    def interrupted(upload: Upload, reader: Any, rows: Prepared) -> object:
        if any(isinstance(row, PreparedRow) and row.line == 15 for row in rows):
            raise KeyboardInterrupt
        return store_prepared(upload, reader, rows)

    with monkeypatch.context() as patch:
        patch.setattr(ingest_module, "store_prepared", interrupted)
        with pytest.raises(SystemExit) as ended:
            call_command("ingest", str(path), "--model", "m", "--processes", "2", stdout=answers, stderr=said)
    assert (ended.value.code, answers.getvalue()) == (130, "")
    assert said.getvalue().endswith(
        "rows.jsonl: stopped. Run the command again for the rest: what is stored is not counted twice.\n"
    )
    assert (Upload.objects.get().state, Attempt.objects.count()) == ("stopped", 10)
    call_command("ingest", str(path), "--model", "m", "--processes", "1", stdout=answers, stderr=said)
    assert Attempt.objects.count() == 30


def test_who_stores_rows_maps_no_file_into_memory(lines: bytes, tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(lines)
    call_command("ingest", str(path), "--model", "m", stdout=io.StringIO(), stderr=io.StringIO())
    if is_sqlite():
        with connection.cursor() as cursor:
            assert cursor.execute("PRAGMA mmap_size").fetchone() in [(0,), None]
            assert cursor.execute("PRAGMA cache_size").fetchone() == (-16000,)
