from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.http import Http404
from django.utils import timezone

from runs.access import EVERYTHING
from runs.bundles import ARCHIVE
from runs.models import Chunk, ChunkState, Upload, UploadProblem, UploadState
from runs.queries import uploads
from runs.queries.uploads import problem_rows, upload_list, upload_row
from tests.stored import outcomes, upload_of

pytestmark = pytest.mark.django_db


def test_a_finished_upload_names_its_run_and_what_became_of_its_rows() -> None:
    upload = upload_of(outcomes("a.py:one", "pfe"))
    row = upload_row(upload.pk, access=EVERYTHING)
    assert row.run is not None
    assert (row.state, row.tone, row.read, row.stored, row.passed, row.failed, row.errors) == (
        "done",
        "ok",
        3,
        3,
        1,
        1,
        1,
    )
    assert (row.run.slug, row.run.title, row.run.numbers.recorded) == ("desk-birch", "birch on desk", 3)
    assert (row.moving, row.progress, row.problems, row.not_stored) == (False, 1.0, [], 0)


def test_a_conflict_is_listed() -> None:
    rows = [*outcomes("a.py:one", "p"), *outcomes("a.py:one", "f")]
    row = upload_row(upload_of(rows).pk, access=EVERYTHING)
    assert (row.not_stored, row.problem_total, row.tone, row.notes) == (1, 1, "warn", 0)
    assert [(problem.line, problem.kind, problem.uid, problem.repetition) for problem in row.problems] == [
        (2, "conflict", "a.py:one", 0)
    ]


def test_only_the_first_problems_are_shown_and_all_are_downloaded() -> None:
    uploads = [Upload.objects.create(file_name=name, sha256="0", size=1, state="done") for name in ("a", "b")]
    UploadProblem.objects.bulk_create(
        [
            UploadProblem(upload=upload, line=line, kind="rejected", reason="No.")
            for upload in uploads
            for line in range(60, 0, -1)
        ]
    )
    listed = upload_list(access=EVERYTHING).finished
    assert [[problem.line for problem in row.problems] for row in listed] == [[1, 2, 3, 4, 5]] * 2
    assert [row.problem_total for row in listed] == [60, 60]
    assert len(upload_row(uploads[0].pk, access=EVERYTHING).problems) == 50
    assert [problem.line for problem in problem_rows(uploads[1].pk)] == list(range(1, 61))


def test_progress_is_the_share_of_the_file_that_is_stored() -> None:
    upload = Upload.objects.create(
        file_name="big.jsonl", sha256="0", size=1000, state=UploadState.READING, bytes_split=500, read=300,
        started_at=timezone.now() - timedelta(seconds=60),
    )  # fmt: skip
    Chunk.objects.create(upload=upload, number=0)
    for number, state in enumerate([ChunkState.DONE, ChunkState.DONE, ChunkState.RUNNING, ChunkState.WAITING], start=1):
        Chunk.objects.create(upload=upload, number=number, state=state)
    row = upload_list(access=EVERYTHING).active[0]
    assert (row.moving, row.progress) == (True, 0.25)
    assert row.rate == pytest.approx(300, rel=0.05)
    assert row.seconds_left == pytest.approx(180, rel=0.05)


def reading(*states: ChunkState, begun: float, moved: float, **changes: Any) -> Upload:
    """An upload with its chunks; reading was begun, and went on last, so many seconds ago."""
    now = timezone.now()
    upload = Upload.objects.create(**{
        "file_name": "big.jsonl", "sha256": "0", "size": 1000, "state": UploadState.READING, "bytes_split": 1000,
        "split_done": True, "read": 100, "started_at": now - timedelta(seconds=begun),
        "moved_at": now - timedelta(seconds=moved),
        **changes,
    })  # fmt: skip
    Chunk.objects.create(upload=upload, number=0, state=ChunkState.DONE)
    for number, state in enumerate(states, start=1):
        Chunk.objects.create(upload=upload, number=number, state=state)
    return upload


DONE, RUNNING, WAITING = ChunkState.DONE, ChunkState.RUNNING, ChunkState.WAITING


@pytest.mark.parametrize(
    ("states", "begun", "moved", "quiet"),
    [
        pytest.param((DONE, RUNNING), 12, 10, False, id="a moment"),
        pytest.param((DONE, RUNNING), 22, 20, True, id="ten chunks"),
        pytest.param((DONE, WAITING), 22, 20, True, id="nobody at work"),
        pytest.param((DONE, RUNNING), 26, 20, False, id="three large chunks"),
        pytest.param((RUNNING,), 20, 20, True, id="none stored yet"),
        pytest.param((DONE, RUNNING), 200, 100, True, id="a lease"),
    ],
)
def test_without_a_stored_chunk_for_long_no_time_is_promised(
    states: tuple[ChunkState, ...], begun: float, moved: float, quiet: bool
) -> None:
    row = upload_row(reading(*states, begun=begun, moved=moved).pk, access=EVERYTHING)
    assert row.quiet == (pytest.approx(moved, abs=2) if quiet else None)
    assert (row.seconds_left is None) is (quiet or DONE not in states)


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"followed_path": "/inbox/big.jsonl"}, id="followed"),
        pytest.param({"lease_until": timezone.now()}, id="read by a command"),
        pytest.param({"reader": ARCHIVE}, id="archive"),
        pytest.param({"state": UploadState.STOPPED}, id="stopped"),
        pytest.param({"moved_at": None}, id="begun by an earlier version"),
    ],
)
def test_what_no_worker_stores_in_chunks_waits_for_none(changes: dict[str, Any]) -> None:
    row = upload_row(reading(RUNNING, begun=900, moved=900, **changes).pk, access=EVERYTHING)
    assert row.quiet is None


def test_the_bar_is_not_ahead_of_the_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """A chunk that is stored between two statements is in neither number."""
    upload = reading(RUNNING, WAITING, begun=1, moved=1, read=0)

    def stored_meanwhile(*arguments: object) -> dict[int, int]:
        Chunk.objects.filter(upload=upload, number=1).update(state=DONE)
        Upload.objects.filter(pk=upload.pk).update(read=100)
        return {}

    monkeypatch.setattr(uploads, "_problem_totals", stored_meanwhile)
    row = upload_row(upload.pk, access=EVERYTHING)
    assert (row.read, row.progress) == (0, 0.0)
    row = upload_row(upload.pk, access=EVERYTHING)
    assert (row.read, row.progress) == (100, 0.5)


def test_an_upload_that_asks_suggests_the_name_of_its_file() -> None:
    upload = Upload.objects.create(file_name="desk.birch-2.jsonl.zst", sha256="0", size=1, state=UploadState.ASKING)
    row = upload_row(upload.pk, access=EVERYTHING)
    assert (row.asking, row.suggested_model, row.tone) == (True, "birch-2", "warn")


@pytest.mark.parametrize("count", [1, 3])
def test_the_list_takes_the_same_queries_for_any_number_of_uploads(count: int, django_assert_num_queries) -> None:  # type: ignore[no-untyped-def]
    for number in range(count):
        upload_of(outcomes("a.py:one", "pf"), model=f"model {number}")
        Upload.objects.create(file_name=f"{number}", sha256="0", size=1, state=UploadState.READING)
    with django_assert_num_queries(8):
        found = upload_list(access=EVERYTHING)
    assert (len(found.active), len(found.finished)) == (count, count)


def test_the_history_is_paged() -> None:
    Upload.objects.bulk_create(
        [Upload(file_name=str(number), sha256="0", size=1, state=UploadState.DONE) for number in range(30)]
    )
    second = upload_list(2, access=EVERYTHING)
    assert (second.page.first, second.page.last, second.page.total) == (26, 30, 30)
    assert [row.file_name for row in second.finished] == ["4", "3", "2", "1", "0"]


def test_an_unknown_upload_is_not_found() -> None:
    with pytest.raises(Http404):
        upload_row(1, access=EVERYTHING)
