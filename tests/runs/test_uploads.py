"""A file on its way through the workers' steps, without a broker: the database alone says what is to do."""

from __future__ import annotations

import errno
import gzip
import io
import os
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
import zstandard
from django.core.management import call_command
from django.db import OperationalError, connection
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from runs import chunking, chunks, preparing, tasks
from runs.access import EVERYTHING
from runs.chunking import close, split, store_claimed
from runs.chunks import MOST_TRIES, anything_waits, claim_next, renew, set_exhausted_aside, succeed
from runs.editing import delete_run
from runs.errors import DiskFull, IngestError
from runs.models import Attempt, Chunk, Run, TaskTally, Upload
from runs.tasks import do_chunk
from runs.upload_files import keep_file
from runs.uploads import Wishes, accept_upload, answer_upload, retry_upload, stop_upload, upload_warnings
from tests.factories import make_row, write_jsonl
from tests.working import work_all

pytestmark = pytest.mark.django_db

COMPANION = b"""
setup_config:
  orchestrator:
    agent_model:
      deployment: birch-2
      temperature: 1.0
run_start_dt: '2026-11-01T10:00:00Z'
"""


@pytest.fixture(autouse=True)
def _small_chunks(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.UPLOADS_DIR = tmp_path / "uploads"
    settings.UPLOADS_DIR.mkdir()
    for module in (chunking, preparing):
        monkeypatch.setattr(module, "ROWS_A_CHUNK", 4)


def file_of(tmp_path: Path, count: int, packed: bool = False) -> list[bytes]:
    outcomes = ("passed", "failed", "system")
    rows = [make_row(repetition=number, outcome=outcomes[number % 3]) for number in range(count)]  # type: ignore[arg-type]
    data = write_jsonl(tmp_path / "rows.jsonl", rows).read_bytes()
    return [zstandard.compress(data) if packed else data]


either_way = pytest.mark.parametrize("packed", [pytest.param(False, id="extents"), pytest.param(True, id="files")])
"""Chunks are extents of a plain file, and files of their own of a compressed one."""


def numbers(upload: Upload) -> tuple[str, int, int, int, int, int]:
    upload.refresh_from_db()
    return (upload.state, upload.read, upload.stored, upload.passed, upload.failed, upload.errors)


@either_way
def test_a_file_with_its_companion_goes_through_in_chunks(packed: bool, tmp_path: Path, settings: Settings) -> None:
    upload = accept_upload("desk.birch-2.jsonl", file_of(tmp_path, 10, packed), companion=COMPANION, access=EVERYTHING)
    assert upload.state == "waiting"
    assert work_all() == 4
    assert numbers(upload) == ("done", 10, 10, 4, 3, 3)
    run = Run.objects.get()
    assert (run.model, run.model_inferred, run.benchmark.name, run.repetitions) == ("birch-2", False, "desk", 10)
    assert TaskTally.objects.get().verdicts == "pfepfepfep"
    assert list(settings.UPLOADS_DIR.iterdir()) == []


def test_without_a_name_for_the_model_it_is_asked_for(tmp_path: Path) -> None:
    upload = accept_upload("rows.jsonl", file_of(tmp_path, 3), access=EVERYTHING)
    assert (upload.state, anything_waits()) == ("asking", False)
    with pytest.raises(IngestError, match="model's name is missing"):
        answer_upload(upload, Wishes(), access=EVERYTHING)
    answer_upload(upload, Wishes(model="birch-2", repetitions=5), access=EVERYTHING)
    assert work_all() == 2
    run = Run.objects.get()
    assert (run.model, run.repetitions, run.repetitions_inferred) == ("birch-2", 5, False)


def test_a_file_that_no_reader_knows_fails_at_once_and_is_not_kept(tmp_path: Path, settings: Settings) -> None:
    upload = accept_upload("picture.jsonl", [b"\x89PNG\r\n\x1a\n" + bytes(50)], access=EVERYTHING)
    assert (upload.state, anything_waits()) == ("failed", False)
    assert "PNG" in upload.error
    assert list(settings.UPLOADS_DIR.iterdir()) == []


def test_a_file_beyond_the_limit_leaves_nothing(tmp_path: Path, settings: Settings) -> None:
    settings.UPLOAD_LIMIT = 10
    with pytest.raises(IngestError, match="larger than 10 bytes"):
        accept_upload("rows.jsonl", [b"12345678", b"90ab"], access=EVERYTHING)
    assert list(settings.UPLOADS_DIR.iterdir()) == []


@either_way
def test_a_chunk_taken_over_by_another_worker_stores_nothing_of_the_first(
    packed: bool, tmp_path: Path, settings: Settings
) -> None:
    accept_upload("desk.birch-2.jsonl", file_of(tmp_path, 4, packed), companion=COMPANION, access=EVERYTHING)
    cutting = claim_next()
    assert cutting is not None
    split(cutting, hint=lambda: None)
    slow = claim_next()
    assert slow is not None
    Chunk.objects.filter(pk=slow.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
    quick = claim_next()
    assert quick is not None
    assert quick.pk == slow.pk
    assert (renew(slow), renew(quick)) == (False, True)
    kept = settings.UPLOADS_DIR / (slow.path if packed else slow.upload.path)
    data = kept.read_bytes()
    assert store_claimed(quick) is not None
    kept.write_bytes(data)
    assert store_claimed(slow) is None
    assert Attempt.objects.count() == 4


@either_way
def test_cutting_begun_again_goes_on_behind_the_last_chunk(packed: bool, tmp_path: Path) -> None:
    upload = accept_upload("desk.birch-2.jsonl", file_of(tmp_path, 10, packed), companion=COMPANION, access=EVERYTHING)
    cutting = claim_next()
    assert cutting is not None

    class Killed(Exception):
        pass

    def killed() -> None:
        if upload.chunks.count() == 3:
            raise Killed

    with pytest.raises(Killed):
        split(cutting, hint=killed)
    Chunk.objects.filter(pk=cutting.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
    work_all()
    assert numbers(upload) == ("done", 10, 10, 4, 3, 3)
    assert sorted(upload.chunks.values_list("number", flat=True)) == [0, 1, 2, 3]


@either_way
def test_a_stopped_upload_keeps_what_it_has_and_goes_on_when_tried_again(packed: bool, tmp_path: Path) -> None:
    upload = accept_upload("desk.birch-2.jsonl", file_of(tmp_path, 10, packed), companion=COMPANION, access=EVERYTHING)
    for _ in range(2):
        chunk = claim_next()
        assert chunk is not None
        if chunk.number:
            store_claimed(chunk)
        else:
            split(chunk, hint=lambda: None)
    stop_upload(upload)
    assert numbers(upload)[:3] == ("stopped", 4, 4)
    assert work_all() == 0
    stopped_at = upload.moved_at
    retry_upload(upload)
    upload.refresh_from_db()
    assert upload.moved_at is not None
    assert stopped_at is not None
    assert upload.moved_at > stopped_at
    work_all()
    assert numbers(upload) == ("done", 10, 10, 4, 3, 3)


@either_way
def test_a_chunk_that_ends_its_worker_each_time_is_set_aside_and_the_rest_is_stored(
    packed: bool, tmp_path: Path
) -> None:
    upload = accept_upload("desk.birch-2.jsonl", file_of(tmp_path, 10, packed), companion=COMPANION, access=EVERYTHING)
    cutting = claim_next()
    assert cutting is not None
    split(cutting, hint=lambda: None)
    poisonous = upload.chunks.get(number=2)
    for _ in range(MOST_TRIES):
        Chunk.objects.exclude(pk=poisonous.pk).filter(state="waiting").update(state="parked")
        assert claim_next() == poisonous
        Chunk.objects.filter(pk=poisonous.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
    assert claim_next() is None
    Chunk.objects.filter(state="parked").update(state="waiting")
    set_exhausted_aside()
    work_all()
    assert numbers(upload)[:3] == ("stopped", 6, 6)
    assert "Part 2 of the file could not be stored" in upload.error
    retry_upload(upload)
    work_all()
    assert numbers(upload) == ("done", 10, 10, 4, 3, 3)


@pytest.fixture
def _places(monkeypatch: pytest.MonkeyPatch) -> None:
    """The place of this process is put back afterwards."""
    monkeypatch.setattr(chunks, "_place", "")


@pytest.mark.usefixtures("_places")
def test_a_successor_gives_back_what_its_place_had_claimed_and_nothing_else(tmp_path: Path) -> None:
    upload = accept_upload("desk.birch-2.jsonl", file_of(tmp_path, 14), companion=COMPANION, access=EVERYTHING)
    cutting = claim_next()
    assert cutting is not None
    split(cutting, hint=lambda: None)
    nowhere = claim_next()
    claims = []
    for place in ("one", "one2", "two"):
        assert succeed(place) == 0
        claims.append(claim_next())
    one, longer, other = claims
    assert nowhere is not None
    assert one is not None
    assert longer is not None
    assert other is not None
    assert claim_next() is None
    assert succeed("one") == 1
    assert [renew(chunk) for chunk in (nowhere, one, longer, other)] == [True, False, True, True]
    again = claim_next()
    assert again == one
    assert again.tries == 2
    # Whoever it was, it stores nothing any more.
    assert store_claimed(one) is None
    for chunk in (nowhere, again, longer, other):
        assert store_claimed(chunk) is not None
    assert close(upload.pk)
    assert succeed("one") == 0
    assert numbers(upload)[:3] == ("done", 14, 14)


@pytest.mark.usefixtures("_places")
def test_a_chunk_that_ends_each_successor_is_set_aside_too(tmp_path: Path) -> None:
    upload = accept_upload("desk.birch-2.jsonl", file_of(tmp_path, 4), companion=COMPANION, access=EVERYTHING)
    given_back = []
    for _ in range(MOST_TRIES + 1):
        given_back.append(succeed("one"))
        claim_next()
    assert given_back == [0, *[1] * MOST_TRIES]
    set_exhausted_aside()
    assert [(chunk.number, chunk.state) for chunk in upload.chunks.all()] == [(0, "failed")]


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "The disk is full: make space first ([Errno 28] No space"),
        (
            OperationalError("database or disk is full"),
            "The disk is full: make space first (database or disk is full).",
        ),
        (OperationalError("disk I/O error"), "The last error: OperationalError: disk I/O error."),
    ],
)
def test_what_the_disk_would_not_take_is_said_and_the_rest_is_stored(
    error: Exception, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    upload = accept_upload("desk.birch-2.jsonl", file_of(tmp_path, 10), companion=COMPANION, access=EVERYTHING)
    store = store_claimed

    def fails(chunk: Chunk) -> object:
        if chunk.number == 2:
            raise error
        return store(chunk)

    def work() -> None:
        while (chunk := claim_next()) is not None:
            do_chunk(chunk, hint=lambda: None)

    monkeypatch.setattr(tasks, "store_claimed", fails)
    work()
    assert numbers(upload)[:3] == ("stopped", 6, 6)
    assert upload.error.startswith(f"Part 2 of the file could not be stored in {MOST_TRIES} tries. {said}")
    assert upload.error.endswith(" The rest is stored. Try again, or read the worker's log in the data folder.")
    monkeypatch.setattr(tasks, "store_claimed", store)
    retry_upload(upload)
    work()
    assert numbers(upload) == ("done", 10, 10, 4, 3, 3)


def test_a_file_that_cannot_be_cut_for_want_of_space_stops_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    upload = accept_upload("desk.birch-2.jsonl", file_of(tmp_path, 10), companion=COMPANION, access=EVERYTHING)

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(tasks, "split", full)
    for _ in range(MOST_TRIES):
        assert numbers(upload)[0] == "waiting"
        cutting = claim_next()
        assert cutting is not None
        do_chunk(cutting)
    assert numbers(upload)[:3] == ("stopped", 0, 0)
    assert upload.error == (
        f"The file could not be read to its end in {MOST_TRIES} tries. The disk is full: make space first ([Errno 28] "
        "No space left on device). What was read of it is stored. Try again, or read the worker's log in the data "
        "folder."
    )
    monkeypatch.undo()
    retry_upload(upload)
    work_all()
    assert numbers(upload) == ("done", 10, 10, 4, 3, 3)


@pytest.mark.parametrize("begun", [False, True])
@pytest.mark.parametrize("said", ["", "The disk is full: make space first (database or disk is full)."])
def test_a_file_whose_cutting_could_not_even_be_given_back_is_stopped_by_the_sweep(
    said: str, begun: bool, tmp_path: Path
) -> None:
    upload = accept_upload("desk.birch-2.jsonl", file_of(tmp_path, 10), companion=COMPANION, access=EVERYTHING)
    for number in range(MOST_TRIES):
        cutting = claim_next()
        assert cutting is not None
        if number == 0 and begun:
            Upload.objects.filter(pk=upload.pk).update(state="reading")
        Chunk.objects.update(lease_until=timezone.now() - timedelta(seconds=1), error=said)
    assert claim_next() is None
    tasks.sweep()
    assert numbers(upload)[:3] == ("stopped", 0, 0)
    assert (said or "the disk was so full that not even this could be written.") in upload.error
    retry_upload(upload)
    work_all()
    assert numbers(upload) == ("done", 10, 10, 4, 3, 3)


@either_way
def test_cutting_keeps_its_lease_where_no_row_comes_and_ends_when_it_is_stopped(
    packed: bool, tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.LEASE_SECONDS = 0
    rows = file_of(tmp_path, 2)[0] + b"\n" * (9 << 20)
    data = [gzip.compress(rows, 1)] if packed else [rows]
    upload = accept_upload("desk.birch-2.jsonl", data, companion=COMPANION, access=EVERYTHING)
    cutting = claim_next()
    assert cutting is not None
    kept = []

    def renewed(chunk: Chunk) -> bool:
        kept.append(renew(chunk))
        if len(kept) == 3:
            stop_upload(upload)
        return kept[-1]

    monkeypatch.setattr(chunking, "renew", renewed)
    split(cutting, hint=lambda: None)
    assert kept == [True, True, True, False]
    assert (numbers(upload)[0], upload.chunks.filter(number=0, state="done").exists()) == ("stopped", False)


def test_chunks_in_any_order_give_what_one_pass_gives(tmp_path: Path) -> None:
    rows = [
        make_row(outcome="system"),
        *(make_row(repetition=number) for number in range(1, 5)),
        make_row(outcome="passed"),
        make_row(repetition=2, outcome="passed"),
        make_row(repetition=3),
    ]
    data = [write_jsonl(tmp_path / "rows.jsonl", rows).read_bytes()]
    seen = []
    for order in ("number", "-number"):
        upload = accept_upload(
            "desk.birch-2.jsonl", data, companion=COMPANION, wishes=Wishes(model=f"m{order}"), access=EVERYTHING
        )
        cutting = claim_next()
        assert cutting is not None
        split(cutting, hint=lambda: None)
        for pk in list(upload.chunks.filter(number__gt=0).order_by(order).values_list("pk", flat=True)):
            Chunk.objects.filter(upload=upload, number__gt=0, state="waiting").exclude(pk=pk).update(state="parked")
            chunk = claim_next()
            assert chunk is not None
            store_claimed(chunk)
            Chunk.objects.filter(state="parked").update(state="waiting")
        assert close(upload.pk) is True
        problems = [(p.line, p.kind, p.kept) for p in upload.problems.all()]
        attempts = Attempt.objects.filter(run=upload.run, current=True).order_by("repetition")
        seen.append((numbers(upload), problems, list(attempts.values_list("repetition", "verdict", "line"))))
    assert seen[0] == seen[1]
    assert seen[0][0] == ("done", 8, 5, 1, 4, 0)


def test_two_copies_that_come_in_before_either_is_read_become_one_run(tmp_path: Path) -> None:
    data = file_of(tmp_path, 6)
    first = accept_upload("desk.birch-2.jsonl", data, companion=COMPANION, access=EVERYTHING)
    second = accept_upload("desk.birch-2.jsonl", data, companion=COMPANION, access=EVERYTHING)
    other = accept_upload(
        "desk.birch-2.jsonl", data, companion=COMPANION, wishes=Wishes(model="birch-3"), access=EVERYTHING
    )
    work_all()
    assert numbers(first) == ("done", 6, 6, 2, 2, 2)
    assert numbers(second) == ("done", 6, 0, 2, 2, 2)
    assert numbers(other) == ("done", 6, 6, 2, 2, 2)
    assert (second.run, second.same) == (first.run, 6)
    assert list(Run.objects.order_by("pk").values_list("model", flat=True)) == ["birch-2", "birch-3"]


def test_a_file_with_lines_that_were_not_stored_is_kept_until_its_run_is_deleted(
    tmp_path: Path, settings: Settings, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    data = [*file_of(tmp_path, 6), b"not json\n"]
    upload = accept_upload("desk.birch-2.jsonl", data, companion=COMPANION, access=EVERYTHING)
    work_all()
    assert (numbers(upload)[:3], upload.rejected) == (("done", 6, 6), 1)
    assert [file.read_bytes() for file in settings.UPLOADS_DIR.iterdir()] == [b"".join(data)]
    assert upload.run is not None
    with django_capture_on_commit_callbacks(execute=True):
        delete_run(upload.run)
    assert list(settings.UPLOADS_DIR.iterdir()) == []


def test_what_is_said_of_an_existing_run_holds_or_is_refused(tmp_path: Path) -> None:
    upload = accept_upload("desk.birch-2.jsonl", file_of(tmp_path, 3), companion=COMPANION, access=EVERYTHING)
    work_all()
    run = Run.objects.get()
    assert (run.repetitions, run.repetitions_inferred) == (3, True)
    accept_upload(
        "desk.birch-2.jsonl", file_of(tmp_path, 3), wishes=Wishes(run=run.slug, repetitions=9), access=EVERYTHING
    )
    work_all()
    run.refresh_from_db()
    assert (run.repetitions, run.repetitions_inferred) == (9, False)
    few = accept_upload(
        "desk.birch-2.jsonl", file_of(tmp_path, 3), wishes=Wishes(run=run.slug, repetitions=2), access=EVERYTHING
    )
    work_all()
    run.refresh_from_db()
    few.refresh_from_db()
    assert (run.repetitions, len(upload_warnings(few))) == (9, 1)
    for wishes in (Wishes(run=run.slug, model="other"), Wishes(run=run.slug, benchmark="other")):
        with pytest.raises(IngestError, match="and 'other' was said"):
            accept_upload("desk.birch-2.jsonl", file_of(tmp_path, 3), wishes=wishes, access=EVERYTHING)
    assert numbers(upload)[:3] == ("done", 3, 3)


@pytest.mark.parametrize(
    ("name", "message"),
    [("x" * 201, "has 201 characters, and 200 are the most"), ("a\nb", "holds a line break"), ("a\x1bb", "control")],
)
def test_a_name_that_would_be_cut_or_shown_oddly_is_refused(name: str, message: str, tmp_path: Path) -> None:
    for wishes in (Wishes(model=name), Wishes(model="m", benchmark=name)):
        with pytest.raises(IngestError, match=message):
            accept_upload("rows.jsonl", file_of(tmp_path, 3), wishes=wishes, access=EVERYTHING)


def test_a_full_disk_is_said_and_leaves_nothing(settings: Settings) -> None:
    def blocks() -> Iterator[bytes]:
        yield b"rows"
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    before = set(settings.UPLOADS_DIR.iterdir())
    with pytest.raises(IngestError, match="The disk of the data folder is full"):
        keep_file(blocks())
    assert set(settings.UPLOADS_DIR.iterdir()) == before


def test_a_database_without_room_is_a_full_disk_and_leaves_nothing(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def save(self: Upload, **_: object) -> None:
        raise OperationalError("database or disk is full")

    monkeypatch.setattr(Upload, "save", save)
    with pytest.raises(DiskFull, match="The disk of the data folder is full"):
        accept_upload("desk.birch-2.jsonl", file_of(tmp_path, 3), companion=COMPANION, access=EVERYTHING)
    assert list(settings.UPLOADS_DIR.iterdir()) == []
    assert not Upload.objects.exists()


def test_a_file_whose_name_leaves_no_room_for_a_companion_s_is_read(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / f"{'x' * 249}.jsonl", [make_row()])
    call_command("ingest", str(path), "--model", "m", stdout=io.StringIO(), stderr=io.StringIO())
    assert Attempt.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_database_that_takes_nothing_is_said(tmp_path: Path) -> None:
    if connection.vendor != "sqlite":
        pytest.skip("A way to make SQLite refuse.")
    path = write_jsonl(tmp_path / "rows.jsonl", [make_row()])
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA query_only = ON")
    try:
        err = io.StringIO()
        with pytest.raises(SystemExit):
            call_command("ingest", str(path), "--model", "m", stderr=err)
    finally:
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA query_only = OFF")
    assert "the database did not take the rows (attempt to write a readonly database)" in err.getvalue()
