"""Verdicts on where a run's rows came from."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard
from pytest_django import DjangoAssertNumQueries

from runs.access import EVERYTHING
from runs.benchmarks import THINKINGBOX_BENCH
from runs.models import Run
from runs.provenance import Coverage, Finding, Judgement, Tone, judge, selected_digest
from runs.provenance_facts import SaidBy
from runs.queries.provenance import provenance_page
from tests.canonical import make_error, make_provenance, make_result
from tests.factories import write_jsonl
from tests.runs.test_archives import ingest
from tests.stored import outcomes, store

UIDS = ["a.py:test_1", "a.py:test_2"]


def said(provenance: dict[str, Any] | None, *, uids: list[str] | None = None, **changes: Any) -> SaidBy:
    uids = UIDS if uids is None else uids
    value = None if provenance is None else {"provenance": provenance, "execution": None, "forbidden": []} | changes
    return SaidBy(said=value, rows=8, uids=frozenset(uids))


def origin(uids: list[str], **run: Any) -> dict[str, Any]:
    return make_provenance(selected_uids_sha256=selected_digest(uids), **run)


WHOLE = Coverage(tasks=2, k=4, results=8, errors=0, retried=0)
PLACES = dict.fromkeys(UIDS, "ppff")


def told(finding: Finding) -> tuple[str, list[str]]:
    return finding.tone.value, finding.details


def test_a_whole_run_of_one_origin() -> None:
    judgement = judge([said(origin(UIDS))], WHOLE, PLACES)
    assert judgement.complete == Finding(tone=Tone.OK, title="Complete: 2 tasks × 4 repetitions, each with one result.")
    assert judgement.origin == Finding(
        tone=Tone.OK, title="One origin: all rows name the same software, data and configuration."
    )
    assert judgement.evaluator.tone is Tone.OK
    assert judgement.bench.tone is Tone.UNKNOWN
    facts = {fact.label: [value.text for value in fact.values] for _, facts in judgement.groups for fact in facts}
    assert (facts["Data release"], facts["deployment"], facts["Shards"]) == (["rental-bench-v2"], ["sim-judge"], ["1"])


def test_what_is_missing_is_counted() -> None:
    short = Coverage(tasks=2, k=4, results=5, errors=1, retried=2)
    judgement = judge([said(origin([*UIDS, "a.py:test_3"]))], short, PLACES, conflicts=1)
    assert judgement.complete == Finding(
        tone=Tone.WARN,
        title="Incomplete: 5 of 8 results (2 tasks × 4 repetitions). Broken tries that a later one replaced: 2.",
        details=[
            "2 attempts not recorded at all.",
            "1 attempt without a result: broken, or not graded.",
            "1 row with another result for an attempt that the run has.",
            "The recorded tasks are not those that the run selected, by their digest: some are missing whole.",
        ],
    )


def test_what_is_wrong_beside_a_full_count_is_no_contradiction() -> None:
    full = Coverage(tasks=2, k=4, results=8, errors=0, retried=0)
    complete = judge([said(origin(UIDS))], full, PLACES, conflicts=1).complete
    assert (complete.tone, complete.title) == (
        Tone.WARN,
        "Incomplete, though each of 2 tasks × 4 repetitions has a result.",
    )
    assert complete.details == ["1 row with another result for an attempt that the run has."]


def test_shards_are_one_origin_and_a_missing_one_is_named() -> None:
    parts = [said(origin([uid], shard_count=2, shard_index=number), uids=[uid]) for number, uid in enumerate(UIDS)]
    whole = judge(parts, WHOLE, PLACES)
    assert (whole.complete.tone, whole.origin.title) == (
        Tone.OK, "One origin: all rows name the same software, data and configuration, in 2 shards.",
    )  # fmt: skip
    half = judge(parts[:1], Coverage(tasks=1, k=4, results=4, errors=0, retried=0), {UIDS[0]: "pppp"})
    assert told(half.complete) == ("warn", ["Of 2 shards, counted from 0, not here: 1."])


def test_rows_of_two_origins_say_in_what_they_differ() -> None:
    other = origin(UIDS) | {"python": "3.13.0", "data_revision": "9" * 40}
    judgement = judge([said(origin(UIDS)), said(other), said(None)], WHOLE, PLACES)
    assert told(judgement.origin) == (
        "bad",
        [
            f"data_revision: {'9' * 40} (8 rows), {'d' * 40} (8 rows)",
            "python: 3.12.1 (8 rows), 3.13.0 (8 rows)",
            "8 rows say nothing, and the others do.",
        ],
    )
    assert [fact.label for _, facts in judgement.groups for fact in facts if fact.differs] == [
        "Data revision",
        "Python",
    ]


def test_what_the_server_saw_otherwise_is_said() -> None:
    seen = {"data_release": "another", "config_sha256": "0" * 64, "task_count": 3}
    judgement = judge([said(origin(UIDS), execution=seen)], WHOLE, PLACES)
    assert told(judgement.origin) == (
        "warn",
        [
            "config.sha256: the server saw another value than the client (8 rows).",
            "data_release: the server saw another value than the client (8 rows).",
        ],
    )


def test_fields_of_the_evaluator_are_told() -> None:
    judgement = judge([said(origin(UIDS), forbidden=["effects", "tb"])], WHOLE, PLACES)
    assert told(judgement.evaluator) == ("bad", ["effects in 8 rows", "tb in 8 rows"])


def test_rows_of_tb_infer_say_nothing_and_are_not_blamed_for_it() -> None:
    judgement = judge([said(None)], WHOLE, PLACES)
    assert [finding.tone.value for finding in judgement.findings] == ["ok", "dim", "dim", "dim"]
    assert judgement.groups == []
    assert judgement.complete.title.endswith("Whether these are all tasks of the run, its rows do not say.")


def bench(**changes: Any) -> Judgement:
    uids = sorted(THINKINGBOX_BENCH.uids)
    provenance = origin(uids, repeat=20) | {"data_release": "thinkingbox-bench-v1.0"} | changes
    coverage = Coverage(tasks=507, k=20, results=10_140, errors=0, retried=0)
    return judge([said(provenance, uids=uids)], coverage, dict.fromkeys(uids, "p" * 20))


def test_a_canonical_run_of_the_benchmark() -> None:
    assert [finding.tone.value for finding in bench().findings] == ["ok"] * 4
    assert bench().bench.title == ("A canonical run of ThinkingBox-Bench v1.0 (507 tasks × 20), by what its rows say.")
    assert told(bench(data_release="v0").bench) == ("warn", ["The data release is v0, not thinkingbox-bench-v1.0."])


def test_what_is_missing_for_the_benchmark() -> None:
    uids = sorted(THINKINGBOX_BENCH.uids)[:12]
    provenance = origin(uids, repeat=20, limit=12) | {"data_release": "thinkingbox-bench-v1.0"}
    places = dict.fromkeys(uids, "p" * 20) | {uids[0]: "p" * 19 + "e", "other.py:test": "p" * 21}
    judgement = judge([said(provenance, uids=uids)], WHOLE, places)
    assert told(judgement.bench) == (
        "warn",
        [
            "495 of 507 tasks are not recorded.",
            "1 task does not belong to it.",
            "1 of its recorded tasks have not a result for each repetition from 0 to 19.",
            "There are more than 20 repetitions.",
            "The run was limited to a number of tasks.",
        ],
    )


def test_whatever_a_bundle_says_makes_a_page() -> None:
    values: list[Any] = [
        3,
        [],
        {},
        {"run": []},
        {"config": {"agent_model": "x"}},
        {"run": {"shard_count": "9"}},
        {"": {"": 1}},
    ]
    for value in values:
        judgement = judge(
            [SaidBy(said={"provenance": value, "execution": 7, "forbidden": None}, rows=1)], WHOLE, PLACES
        )
        assert len(judgement.findings) == 4


# --- Stored -----------------------------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_a_stored_run_is_judged_by_its_current_rows(tmp_path: Path) -> None:
    provenance = origin(UIDS, repeat=2)
    rows = [make_result(uid=uid, repetition=number, provenance=provenance) for uid in UIDS for number in range(2)]
    errors = [make_error(uid=UIDS[0], repetition=1, tried=0 + 1, provenance=provenance)]
    rows[1]["metadata"]["attempt"] = 2
    ingest(write_jsonl(tmp_path / "results.jsonl", rows))
    ingest(write_jsonl(tmp_path / "errors.jsonl", errors))
    page = provenance_page(Run.objects.get().slug, access=EVERYTHING)
    assert page.judgement.coverage == Coverage(tasks=2, k=2, results=4, errors=0, retried=1)
    assert [finding.tone.value for finding in page.judgement.findings] == ["ok", "ok", "ok", "dim"]
    assert [(file.file_name, file.rows, file.reader) for file in page.files] == [
        ("results.jsonl", 4, "thinkingbox-openenv"),
        ("errors.jsonl", 1, "thinkingbox-openenv"),
    ]


@pytest.mark.django_db
def test_the_page_takes_as_many_queries_for_many_files(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    run = store(outcomes("a.py:test", "pf"), repetitions=4)
    with django_assert_num_queries(5):
        provenance_page(run.slug, access=EVERYTHING)
    store(outcomes("b.py:test", "pfe"), run=run.slug, model="", benchmark="", repetitions=4)
    with django_assert_num_queries(5):
        page = provenance_page(run.slug, access=EVERYTHING)
    assert page.judgement.coverage == Coverage(tasks=2, k=4, results=4, errors=1, retried=0)


# --- The shared run, whole, in shards, mixed and cut ------------------------------------------------------------------

Rows = list[dict[str, Any]]


def shared_rows(shared: Path, copy: str) -> tuple[Rows, Rows]:
    folder = shared / "bundles" / "retail-20x-canonical" / copy
    with (folder / "results.jsonl.zst").open("rb") as packed:
        text = io.TextIOWrapper(zstandard.ZstdDecompressor().stream_reader(packed), encoding="utf-8")
        results = [json.loads(line) for line in text]
    errors = [json.loads(line) for line in (folder / "errors.jsonl").read_text(encoding="utf-8").splitlines()]
    return results, errors


def whole(results: Rows, errors: Rows) -> list[Rows]:
    return [results, errors]


def sharded(results: Rows, errors: Rows) -> list[Rows]:
    uids = sorted({row["uid"] for row in results})
    files: list[Rows] = []
    for shard in range(3):
        mine = uids[shard::3]
        rows = [row for row in [*results, *errors] if row["uid"] in mine]
        for row in rows:
            run = row.get("metadata", row)["provenance"]["run"]
            run |= {"shard_count": 3, "shard_index": shard, "selected_uids_sha256": selected_digest(mine)}
        files.append(rows)
    return files


def without_a_shard(results: Rows, errors: Rows) -> list[Rows]:
    return sharded(results, errors)[:2]


def mixed(results: Rows, errors: Rows) -> list[Rows]:
    for row in results[:40]:
        row["metadata"]["provenance"]["thinkingbox_revision"] = "0" * 40
        row["metadata"]["execution_provenance"]["thinkingbox_revision"] = "0" * 40
    return [[*results, *errors]]


def without_a_task(results: Rows, errors: Rows) -> list[Rows]:
    gone = results[0]["uid"]
    return [[row for row in results if row["uid"] != gone], [row for row in errors if row["uid"] != gone]]


@pytest.mark.shared
@pytest.mark.django_db
@pytest.mark.parametrize(
    ("copy", "make", "tones", "words"),
    [
        ("complete", whole, ("ok", "ok"), ("Complete: 12 tasks × 20", "One origin: ")),
        ("complete", sharded, ("ok", "ok"), ("Complete: 12 tasks × 20", "configuration, in 3 shards.")),
        ("complete", without_a_shard, ("warn", "ok"), ("Of 3 shards, counted from 0, not here: 2.", "in 2 shards")),
        ("complete", mixed, ("ok", "bad"), ("Complete", "thinkingbox_revision: ")),
        ("complete", without_a_task, ("warn", "ok"), ("some are missing whole.", "One origin")),
        ("incomplete", whole, ("warn", "ok"), ("3 attempts without a result: broken, or not graded.", "One origin")),
    ],
)  # fmt: skip
def test_copies_of_the_shared_run(
    copy: str,
    make: Callable[[Rows, Rows], list[Rows]],
    tones: tuple[str, str],
    words: tuple[str, str],
    shared: Path,
    tmp_path: Path,
) -> None:
    for number, rows in enumerate(make(*shared_rows(shared, copy))):
        ingest(write_jsonl(tmp_path / f"part{number}.jsonl", rows))
    judgement = provenance_page(Run.objects.get().slug, access=EVERYTHING).judgement
    assert (judgement.complete.tone, judgement.origin.tone, judgement.evaluator.tone) == (*tones, "ok")
    assert words[0] in " ".join([judgement.complete.title, *judgement.complete.details])
    assert words[1] in " ".join([judgement.origin.title, *judgement.origin.details])
    assert judgement.bench.details[0].endswith("of 507 tasks are not recorded.")
