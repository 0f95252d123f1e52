from __future__ import annotations

import gzip
import io
import json
from pathlib import Path
from typing import Any

import pytest
import zstandard
from django.core.management import CommandError, call_command

from runs.bundles.opening import open_bundle
from runs.exporting import export_rows
from runs.models import Run, TaskTally
from tests.factories import SERVER, make_row
from tests.runs.test_ingest_shared import ingest
from tests.stored import store

pytestmark = pytest.mark.django_db


def exported(run: Run, **options: Any) -> list[dict[str, Any]]:
    return [json.loads(row) for row in export_rows(run, **options)]


def export(*arguments: str) -> str:
    err = io.StringIO()
    call_command("export", *arguments, stderr=err)
    return err.getvalue()


def test_rows_come_back_in_their_order() -> None:
    rows = [make_row(repetition=repetition) for repetition in (2, 0, 1)]
    assert exported(store(rows)) == rows


def test_a_replaced_error_comes_back_too_unless_it_is_left_out() -> None:
    rows = [make_row(outcome="system"), make_row(outcome="passed")]
    run = store(rows)
    assert exported(run) == rows
    assert exported(run, current=True) == rows[1:]


def test_what_is_kept_at_hand_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runs.exporting._KEPT_BYTES", 0)
    rows = [make_row(repetition=repetition) for repetition in range(3)]
    rows[1]["test_context"]["effects"][SERVER]["result_db_state"]["rentals"][1]["status"] = "lost"
    assert exported(store(rows)) == rows


def test_parts_that_rows_share_are_read_once(django_assert_num_queries: Any) -> None:
    run = store([make_row(repetition=repetition) for repetition in range(20)])
    with django_assert_num_queries(4):  # ids, attempts with traces, manifests and tools, tables
        assert len(exported(run)) == 20


def test_an_exported_file_read_again_is_the_same_run(tmp_path: Path) -> None:
    run = store([make_row(repetition=0, outcome="system"), make_row(repetition=0), make_row(repetition=1)])
    path = tmp_path / "again.jsonl.zst"
    assert export(run.slug, "-o", str(path)) == f"{run.slug}: 3 rows written\n"
    answer = ingest(path, "--run", run.slug)
    assert [answer[name] for name in ("read", "stored", "same", "replaced")] == [3, 0, 3, 0]
    again = ingest(path, "--model", "again")
    assert [again[name] for name in ("read", "stored", "same", "replaced")] == [3, 2, 0, 1]
    columns = ("recorded", "passed", "failed", "errors", "verdicts")
    first, second = (
        list(TaskTally.objects.filter(run__slug=slug).values_list(*columns)) for slug in (run.slug, again["run"])
    )
    assert first == second


def test_a_file_is_packed_as_its_name_says(tmp_path: Path) -> None:
    run = store([make_row()])
    for name in ("rows.jsonl", "rows.jsonl.gz", "rows.jsonl.zst"):
        export(run.slug, "-o", str(tmp_path / name))
    plain = (tmp_path / "rows.jsonl").read_bytes()
    assert json.loads(plain) == make_row()
    assert gzip.decompress((tmp_path / "rows.jsonl.gz").read_bytes()) == plain
    packed = (tmp_path / "rows.jsonl.zst").read_bytes()
    assert zstandard.ZstdDecompressor().decompressobj().decompress(packed) == plain
    assert sorted(path.name for path in tmp_path.iterdir()) == ["rows.jsonl", "rows.jsonl.gz", "rows.jsonl.zst"]


def test_a_file_that_is_there_is_not_written_over(tmp_path: Path) -> None:
    run = store([make_row()])
    path = tmp_path / "rows.jsonl"
    path.write_text("mine", encoding="utf-8")
    with pytest.raises(CommandError, match="is there already"):
        export(run.slug, "-o", str(path))
    assert path.read_text(encoding="utf-8") == "mine"
    export(run.slug, "-o", str(path), "--force")
    assert json.loads(path.read_bytes()) == make_row()


def test_an_unknown_run_is_named() -> None:
    with pytest.raises(CommandError, match="no run named 'nowhere'"):
        export("nowhere")


@pytest.mark.shared
@pytest.mark.parametrize("bundle", ["variants/full-dump.jsonl.zst", "variants/limits.jsonl.zst"])
def test_the_harness_s_own_files_come_back(bundle: str, shared: Path) -> None:
    path = shared / "bundles" / bundle
    answer = ingest(path, "--model", "m")
    with path.open("rb") as file, open_bundle(file) as stream:
        rows = [json.loads(line) for line in stream]
    assert exported(Run.objects.get(slug=answer["run"])) == rows
