from __future__ import annotations

import io
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import call_command
from django.db import connection, transaction

from runs.leftovers import SETTLED_SECONDS, left_over_files
from runs.models import Attempt, AttemptPart, Chunk, Payload, Upload
from runs.payloads import NewPayload, put_payloads
from runs.unused import collect
from runs.verifying import verify
from tests.factories import make_row
from tests.stored import store


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, setting in (("uploads", "UPLOADS_DIR"), ("tmp", "TEMP_DIR")):
        (tmp_path / name).mkdir()
        monkeypatch.setattr(settings, setting, tmp_path / name)
    return tmp_path


def file(path: Path, *, old: bool) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"rows")
    if old:
        then = time.time() - SETTLED_SECONDS - 60
        os.utime(path, (then, then))
    return path


def upload(**fields: object) -> Upload:
    return Upload.objects.create(**{"file_name": "a.jsonl", "sha256": "0" * 64, "size": 4, **fields})


def new(number: int, *tables: NewPayload) -> NewPayload:
    return NewPayload(f"{number:064x}", b"[]", tables)


@pytest.mark.django_db
def test_only_what_nothing_uses_goes() -> None:
    store([make_row()])
    used = set(Payload.objects.values_list("pk", flat=True))
    put_payloads([new(1), new(2), new(3, new(1), new(2))])
    assert collect() == 3
    assert set(Payload.objects.values_list("pk", flat=True)) == used
    assert collect() == 0
    assert list(verify()) == []


@pytest.mark.django_db
def test_a_table_that_a_used_state_holds_stays() -> None:
    store([make_row()])
    state = AttemptPart.objects.filter(payload__parts__isnull=False).order_by("pk")[0].payload
    table = state.parts.order_by("pk")[0].part
    put_payloads([new(1, NewPayload(table.digest, b""))])
    assert collect() == 1
    assert list(verify()) == []


@pytest.mark.django_db
def test_files_that_no_upload_names_go_once_they_are_old(folders: Path) -> None:
    uploads = folders / "uploads"
    kept = file(uploads / "kept", old=True)
    upload(path="kept", state="done")
    left = [file(uploads / "lost", old=True), file(uploads / "lost.part", old=True), file(folders / "tmp/t", old=True)]
    fresh = [
        file(uploads / "coming", old=False),
        file(uploads / "coming.part", old=False),
        file(folders / "tmp/n", old=False),
    ]
    assert sorted(left_over_files()) == sorted(left)
    out = io.StringIO()
    call_command("gc", "--dry-run", stdout=out)
    call_command("gc", stdout=out)
    assert out.getvalue() == "0 payloads, and 3 files would go\n0 payloads and 3 files removed\n"
    assert [path.exists() for path in [kept, *fresh, *left]] == [True] * 4 + [False] * 3


@pytest.mark.django_db
def test_parts_of_a_file_stay_while_they_are_to_be_stored(folders: Path) -> None:
    uploads = folders / "uploads"
    reading, done = upload(state="reading"), upload(state="done")
    waiting = file(uploads / f"chunks-{reading.pk}/1.zst", old=True)
    Chunk.objects.create(upload=reading, number=1, path=f"chunks-{reading.pk}/1.zst")
    stored = file(uploads / f"chunks-{reading.pk}/2.zst", old=True)
    Chunk.objects.create(upload=reading, number=2, path=f"chunks-{reading.pk}/2.zst", state="done")
    cut = file(uploads / f"chunks-{reading.pk}/3.part", old=False)
    over, orphan = file(uploads / f"chunks-{done.pk}/1.zst", old=False), file(uploads / "chunks-99999/1.zst", old=False)
    assert sorted(left_over_files()) == sorted([stored, over, orphan])
    call_command("gc", stdout=io.StringIO())
    assert [path.exists() for path in (waiting, cut)] == [True, True]
    assert sorted(path.name for path in uploads.iterdir()) == [f"chunks-{reading.pk}"]


@pytest.fixture
def other_connection() -> Iterator[None]:
    yield
    connection.close()


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_what_a_writer_is_about_to_use_stays(other_connection: None) -> None:
    """A payload that nothing uses yet, looked up by a transaction that is still open, and a collector beside it."""
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has one writer at a time, and the database of the tests one connection.")
    run = store([make_row()])
    attempt = Attempt.objects.get(run=run)
    put_payloads([new(1)])
    found: list[int] = []

    def collecting() -> None:
        found.append(collect())
        connection.close()

    thread = threading.Thread(target=collecting)
    with transaction.atomic():
        ids = put_payloads([new(1)])
        thread.start()
        thread.join(timeout=0.5)  # it passes over what others hold
        AttemptPart.objects.create(attempt=attempt, payload_id=ids[new(1).digest])
    thread.join(timeout=30)
    assert found == [0]
    assert AttemptPart.objects.filter(attempt=attempt, payload__digest=new(1).digest).count() == 1
