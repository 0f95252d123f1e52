from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.core.management import call_command

from runs.bundles.opening import open_bundle
from runs.models import Attempt, AttemptPart, Payload, PayloadPart
from runs.payloads import load_evidence, load_part, restore_row
from tests.factories import make_row, make_states, write_jsonl
from tests.runs.test_ingest_shared import ingest

pytestmark = pytest.mark.django_db


def test_a_row_comes_back_equal_as_json(tmp_path: Path) -> None:
    rows = [make_row(repetition=repetition) for repetition in range(3)]
    ingest(write_jsonl(tmp_path / "rows.jsonl", rows), "--model", "m")
    stored = Attempt.objects.order_by("repetition")
    assert [json.loads(restore_row(attempt)) for attempt in stored] == rows


def test_states_are_stored_once_by_table(tmp_path: Path) -> None:
    rows = [make_row(repetition=repetition) for repetition in range(5)]
    ingest(write_jsonl(tmp_path / "rows.jsonl", rows), "--model", "m")
    states = make_states()
    tables = {json.dumps(table, sort_keys=True) for state in states.values() for table in state.values()}
    manifests = {json.dumps(state, sort_keys=True) for state in states.values()}
    tools = 1
    assert Payload.objects.count() == len(tables) + len(manifests) + tools
    assert AttemptPart.objects.count() == 5 * (len(manifests) + tools)
    assert PayloadPart.objects.count() == sum(len(state) for state in states.values())


def test_a_state_is_loaded_table_by_table(tmp_path: Path) -> None:
    ingest(write_jsonl(tmp_path / "rows.jsonl", [make_row()]), "--model", "m")
    evidence = load_evidence(Attempt.objects.get().trace)
    states = {ref.path[-1]: load_part(ref) for ref in evidence.parts if ref.is_state}
    decoded = {
        name: {table: json.loads(bytes(text)) for table, text in tables.items()}
        for name, tables in states.items()
        if isinstance(tables, dict)
    }
    expected = make_states()
    assert decoded == {
        "initial_db_state": expected["before"],
        "result_db_state": expected["after"],
        "golden_db_state": expected["required"],
    }


@pytest.mark.shared
@pytest.mark.parametrize(
    "bundle", ["smoke/smoke.jsonl.gz", "variants/full-dump.jsonl.zst", "variants/limits.jsonl.zst"]
)
def test_the_harness_s_own_rows_come_back_equal_as_json(bundle: str, shared: Path, tmp_path: Path) -> None:
    path = shared / "bundles" / bundle
    with path.open("rb") as file, open_bundle(file) as stream:
        rows = [json.loads(line) for line in stream]
    call_command("ingest", str(path), "--json")
    attempts = Attempt.objects.order_by("line").select_related("trace")
    assert [json.loads(restore_row(attempt)) for attempt in attempts] == rows
