"""Results and errors of one run, in whatever order and parts they come."""

from __future__ import annotations

import io
import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from runs.models import Attempt, Provenance, Run, TaskTally
from tests.archives import zip_of
from tests.canonical import make_error, make_provenance, make_result
from tests.factories import write_jsonl
from tests.runs.test_archives import ingest

pytestmark = pytest.mark.django_db

RESULTS = [make_result(repetition=0), make_result(repetition=1, tried=3, outcome="failed"), make_result(repetition=3)]
ERRORS = [make_error(repetition=1, tried=1), make_error(repetition=1, tried=2), make_error(repetition=2, tried=1)]


def files(folder: Path) -> list[Path]:
    return [write_jsonl(folder / "results.jsonl", RESULTS), write_jsonl(folder / "errors.jsonl", ERRORS)]


def stored() -> list[tuple[int, int | None, str, bool]]:
    rows = Attempt.objects.order_by("repetition", "tried").values_list("repetition", "tried", "verdict", "current")
    return list(rows)


EXPECTED = [
    (0, 1, "passed", True),
    (1, 1, "error", False),
    (1, 2, "error", False),
    (1, 3, "failed", True),
    (2, 1, "error", True),
    (3, 1, "passed", True),
]


@pytest.mark.parametrize("order", list(itertools.permutations(range(2))))
def test_results_and_errors_meet_in_one_run_in_either_order(order: tuple[int, ...], tmp_path: Path) -> None:
    paths = files(tmp_path)
    answers = [ingest(paths[number]) for number in order]
    assert [(answer["conflicts"], answer["rejected"], answer["notes"]) for answer in answers] == [([], [], [])] * 2
    run = Run.objects.get()
    assert (run.model, run.benchmark.name, run.repetitions, run.repetitions_inferred) == (
        "birch-2", "rental-bench-v2", 4, False,
    )  # fmt: skip
    assert TaskTally.objects.get().verdicts == "pfep"
    assert stored() == EXPECTED
    again = [ingest(path) for path in paths]
    assert [(answer["same"], answer["stored"], answer["replaced"]) for answer in again] == [(3, 0, 0), (3, 0, 0)]
    assert stored() == EXPECTED
    assert Provenance.objects.count() == 2  # a result says what the server saw too


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_tries_of_one_repetition_settle_alike_in_any_order(order: tuple[int, ...], tmp_path: Path) -> None:
    rows = [make_error(tried=1), make_error(tried=2), make_result(tried=3)]
    for number in order:
        ingest(write_jsonl(tmp_path / f"part{number}.jsonl", [rows[number]]))
    assert stored() == [(0, 1, "error", False), (0, 2, "error", False), (0, 3, "passed", True)]
    assert Run.objects.count() == 1


def test_shards_meet_in_one_run(tmp_path: Path) -> None:
    for shard in range(3):
        provenance = make_provenance(shard_index=shard, shard_count=3, selected_uids_sha256=f"{shard}" * 64)
        rows = [make_result(uid=f"a.py:test_{shard}", provenance=provenance)]
        ingest(write_jsonl(tmp_path / f"results.{shard}.jsonl", rows))
    assert (Run.objects.count(), Attempt.objects.count()) == (1, 3)


def test_a_second_run_of_the_same_configuration_is_a_run_of_its_own(tmp_path: Path) -> None:
    ingest(write_jsonl(tmp_path / "results.jsonl", [make_result(outcome="passed")]))
    answer = ingest(write_jsonl(tmp_path / "again.jsonl", [make_result(outcome="failed")]))
    assert (answer["stored"], answer["conflicts"], Run.objects.count()) == (1, [], 2)


def test_another_configuration_is_another_run(tmp_path: Path) -> None:
    ingest(write_jsonl(tmp_path / "results.jsonl", [make_result()]))
    ingest(
        write_jsonl(tmp_path / "other.jsonl", [make_result(provenance=make_provenance(agent="plain"), repetition=1)])
    )
    assert Run.objects.count() == 2


def test_both_files_in_an_archive(tmp_path: Path) -> None:
    content = {f"run/{path.name}": path.read_bytes() for path in files(tmp_path)}
    archive = tmp_path / "run.zip"
    archive.write_bytes(zip_of(content))
    answer = ingest(archive)
    assert (answer["read"], answer["passed"], answer["failed"], answer["missing"]) == (6, 2, 1, 0)
    assert stored() == EXPECTED


def test_export_gives_rows_back_equal(tmp_path: Path) -> None:
    from runs.payloads import restore_row  # noqa: PLC0415

    for path in files(tmp_path):
        ingest(path)
    back = [json.loads(restore_row(attempt)) for attempt in Attempt.objects.select_related("trace")]

    def key(row: dict[str, Any]) -> str:
        return json.dumps(row, sort_keys=True)

    assert sorted(back, key=key) == sorted([*RESULTS, *ERRORS], key=key)


COUNTS = {
    "retail-20x-canonical/complete": ((240, 202, 38, 0), 3),
    "retail-20x-canonical/incomplete": ((240, 200, 37, 3), 0),
    "other/openenv-thinkingbox/generated": ((20, 14, 5, 1), 2),
}
"""(attempts, passed, failed, errors), and errors that a later try replaced."""


@pytest.mark.shared
@pytest.mark.parametrize("bundle", COUNTS)
@pytest.mark.parametrize("errors_first", [False, True])
def test_the_adapters_files_count_as_their_readme_says(bundle: str, errors_first: bool, shared: Path) -> None:
    folder = shared / "bundles" / bundle
    paths = sorted(folder.glob("*.jsonl*"), reverse=not errors_first)
    answers = [ingest(path) for path in paths]
    assert [(answer["conflicts"], answer["rejected"], answer["notes"]) for answer in answers] == [([], [], [])] * 2
    numbers, replaced = COUNTS[bundle]
    current = Attempt.objects.filter(current=True)
    verdicts = [current.filter(verdict=verdict).count() for verdict in ("passed", "failed", "error")]
    assert (current.count(), *verdicts) == numbers
    assert Attempt.objects.filter(current=False).count() == replaced
    tallies = list(TaskTally.objects.values_list("passed", "failed", "errors"))
    assert [sum(counts) for counts in zip(*tallies, strict=True)] == list(numbers[1:])


@pytest.mark.shared
def test_a_canonical_run_shows_what_the_harness_own_run_shows(shared: Path) -> None:
    """The retried run of `tb infer` and its canonical copy agree attempt by attempt."""
    bundles = shared / "bundles"
    call = ["retail-20x/retail-20x.aster-large.retry.jsonl.zst", "retail-20x-canonical/complete/results.jsonl.zst"]
    call_command("ingest", *(str(bundles / path) for path in call), stdout=io.StringIO(), stderr=io.StringIO())
    native, canonical = (
        {
            (uid, repetition): rest
            for uid, repetition, *rest in Attempt.objects.filter(run=run, current=True).values_list(
                "task__uid",
                "repetition",
                "verdict",
                "steps",
                "tool_calls",
                "output_tokens",
                "task__domain",
            )
        }
        for run in Run.objects.order_by("pk")
    )
    assert len(native) == 240
    assert canonical == native


def test_results_ingested_without_their_errors_are_told_of(tmp_path: Path) -> None:
    def said(*names: str) -> str:
        err = io.StringIO()
        call_command("ingest", *(str(tmp_path / name) for name in names), stdout=io.StringIO(), stderr=err)
        return err.getvalue()

    results, _ = files(tmp_path)
    assert said("results.jsonl") == (
        f"{results}: errors.jsonl lies beside the file and was not read. Ingest it too: the attempts that broke are in "
        "it.\n"
    )
    assert said("results.jsonl", "errors.jsonl") == ""


def test_only_errors_that_are_there_and_were_never_read_are_told_of(tmp_path: Path) -> None:
    def said(path: Path) -> str:
        err = io.StringIO()
        call_command("ingest", str(path), stdout=io.StringIO(), stderr=err)
        return err.getvalue()

    results, errors = write_jsonl(tmp_path / "part.1.jsonl", RESULTS), tmp_path / "part.1.errors.jsonl"
    errors.touch()
    write_jsonl(tmp_path / "errors.jsonl", ERRORS)
    assert said(results) == ""
    write_jsonl(errors, ERRORS)
    assert said(results).startswith(f"{results}: part.1.errors.jsonl lies beside the file and was not read.")
    assert said(errors) == said(results) == ""
