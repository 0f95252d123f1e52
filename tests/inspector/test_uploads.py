from __future__ import annotations

import csv
import io
import json
import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from inspector.companions import matched_files
from runs.chunking import split
from runs.chunks import claim_next
from runs.models import Chunk, ChunkState, Run, Upload, UploadProblem, UploadState
from runs.tasks import do_chunk, work
from tests.archives import zip_of
from tests.stored import outcomes, store, upload_of

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}
ADDRESS = "/uploads/"
COMPANION = b"setup_config: {orchestrator: {agent_model: {deployment: birch-2}}}\n"


@pytest.fixture(autouse=True)
def hints(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Own folder, and no broker: what the workers were told."""
    settings.UPLOADS_DIR = tmp_path / "uploads"
    settings.UPLOADS_DIR.mkdir()
    told: list[str] = []
    monkeypatch.setattr(work, "delay", lambda: told.append("work"))
    return told


def file_of(rows: list[dict[str, Any]], name: str = "desk.birch.jsonl") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, "".join(json.dumps(row) + "\n" for row in rows).encode())


def send(client: Client, *files: SimpleUploadedFile, headers: dict[str, str] | None = None, **fields: str) -> Any:
    return client.post(ADDRESS, {"files": list(files), **fields}, headers=headers or {})


def work_all() -> None:
    while (chunk := claim_next()) is not None:
        do_chunk(chunk)


def jsonl_of(letters: str) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in outcomes("a.py:one", letters)).encode()


def entries(answer: Any) -> list[tuple[str, str]]:
    """The entries in an answer: id, and how many members a list that has it says it has."""
    tags = re.findall('<article class="up" [^>]*>', answer.content.decode())
    return [("".join(re.findall('id="([^"]+)"', tag)), "".join(re.findall('"listed": ([0-9]+)', tag))) for tag in tags]


def flat(answer: Any) -> str:
    return " ".join(answer.content.decode().split())


def states() -> list[tuple[str, str]]:
    return list(Upload.objects.order_by("pk").values_list("file_name", "state"))


def test_several_files_at_once_as_an_ordinary_form(client: Client, hints: list[str]) -> None:
    answer = send(
        client,
        file_of(outcomes("a.py:one", "pf"), "one.jsonl"),
        file_of(outcomes("a.py:one", "ff"), "two.jsonl"),
        SimpleUploadedFile("one_run_metadata.yaml", COMPANION),
    )
    assert (answer.status_code, answer.headers["Location"]) == (303, ADDRESS)
    assert states() == [("one.jsonl", UploadState.WAITING), ("two.jsonl", UploadState.ASKING)]
    assert Upload.objects.get(file_name="one.jsonl").model == "birch-2"
    assert hints == ["work"]


def test_a_file_becomes_a_run(client: Client) -> None:
    answer = send(client, file_of(outcomes("a.py:one", "pfe")), headers=HTMX, model="birch")
    upload = Upload.objects.get()
    assert flat(answer).startswith(
        f'<article class="up" id="upload-{upload.pk}" data-kind="moving" hx-get="/uploads/{upload.pk}/"'
    )
    work_all()
    answer = client.get(reverse("upload", args=[upload.pk]), headers=HTMX)
    text = flat(answer)
    assert "hx-trigger" not in text.partition(">")[0]
    assert "<b>3</b> new" in text
    assert "<b>1</b> error<" in text
    run = Run.objects.get()
    assert f'href="/runs/{run.slug}/">Open run</a>' in text
    assert client.get(reverse("upload", args=[upload.pk])).content.startswith(b"<!doctype html>")


def test_what_the_file_does_not_say_is_asked_and_answered(client: Client, hints: list[str]) -> None:
    send(client, file_of(outcomes("a.py:one", "pf"), "desk.birch.jsonl"))
    upload = Upload.objects.get()
    text = flat(client.get(ADDRESS))
    assert "The rows do not say which model they are of." in text
    assert 'name="model" maxlength="200" autocomplete="off" value="birch"' in text
    address = reverse("upload_answer", args=[upload.pk])
    refused = client.post(address, {"model": "", "run": ""}, headers=HTMX)
    assert refused.status_code == 422
    assert "The model&#x27;s name is missing." in flat(refused)
    assert hints == []
    answer = client.post(address, {"model": "birch", "benchmark": "desk", "repetitions": "4"})
    assert answer.status_code == 303
    work_all()
    assert Run.objects.values_list("model", "benchmark__name", "repetitions", "repetitions_inferred").get() == (
        "birch", "desk", 4, False,
    )  # fmt: skip


def test_a_file_can_be_added_to_a_stored_run(client: Client) -> None:
    run = store(outcomes("a.py:one", "p"))
    send(client, file_of(outcomes("a.py:one", ".f")))
    upload = Upload.objects.get(state=UploadState.ASKING)
    client.post(reverse("upload_answer", args=[upload.pk]), {"run": run.slug})
    work_all()
    assert list(run.attempts.order_by("repetition").values_list("verdict", flat=True)) == ["passed", "failed"]
    unknown = send(client, file_of(outcomes("a.py:one", "f")), run="nothing")
    assert unknown.status_code == 422
    assert "There is no run named &#x27;nothing&#x27;" in flat(unknown)


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("results.parquet", b"PAR1\x00\x00", "results.parquet"),
        ("rows.zip", b"PK\x03\x04" + b"\0" * 40, "rows.zip"),
        ("empty.jsonl", b"", "empty.jsonl"),
    ],
)
def test_a_file_that_cannot_be_read_says_why(name: str, content: bytes, sentence: str, client: Client) -> None:
    send(client, SimpleUploadedFile(name, content), model="birch")
    upload = Upload.objects.get()
    assert upload.state == UploadState.FAILED
    text = flat(client.get(ADDRESS))
    assert sentence in text
    assert len(upload.error) > 20
    assert "Try again" not in text


def test_a_companion_alone_is_refused_with_a_sentence(client: Client) -> None:
    answer = send(client, SimpleUploadedFile("one_run_metadata.yaml", COMPANION), headers=HTMX)
    assert answer.status_code == 422
    assert "describes a run, and its result file was not sent along" in flat(answer)


def test_no_file_is_refused_with_a_sentence(client: Client) -> None:
    answer = client.post(ADDRESS, {})
    assert answer.status_code == 422
    assert "No file was chosen." in flat(answer)


def test_a_file_beyond_the_limit_is_refused_and_leaves_nothing(client: Client, settings: Settings) -> None:
    settings.UPLOAD_LIMIT = 1000
    answer = send(client, file_of(outcomes("a.py:one", "p")), model="birch")
    assert answer.status_code == 422
    assert "The file is larger than 1,000 bytes" in flat(answer)
    assert list(settings.UPLOADS_DIR.iterdir()) == []


def test_stopped_and_tried_again(client: Client, hints: list[str]) -> None:
    send(client, file_of(outcomes("a.py:one", "pf")), model="birch")
    upload = Upload.objects.get()
    text = flat(client.post(reverse("upload_stop", args=[upload.pk]), headers=HTMX))
    assert "Stopped by hand." in text
    assert "Try again" in text
    work_all()
    assert Run.objects.count() == 0
    assert client.post(reverse("upload_retry", args=[upload.pk])).status_code == 303
    assert hints == ["work", "work"]
    work_all()
    assert Run.objects.count() == 1


def test_a_file_that_waits_says_that_the_disk_is_full(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    upload = Upload.objects.create(file_name="big.jsonl", sha256="0", size=9, state=UploadState.WAITING)
    told = "Waiting for a worker. The disk of the data folder is full: make space there, and it goes on by itself."
    for room in (True, False):
        monkeypatch.setattr("inspector.views.uploads.has_room", lambda room=room: room)
        pages = [flat(client.get(address)) for address in (ADDRESS, f"{ADDRESS}{upload.pk}/")]
        assert [told in page for page in pages] == [not room] * 2


@pytest.mark.parametrize("moved", [pytest.param(2, id="going on"), pytest.param(40, id="quiet")])
def test_no_time_is_promised_while_no_worker_is_at_it(moved: int, client: Client) -> None:
    now = timezone.now()
    upload = Upload.objects.create(
        file_name="big.jsonl", sha256="0", size=9, state=UploadState.READING, bytes_split=9, split_done=True, read=300,
        started_at=now - timedelta(seconds=moved + 6), moved_at=now - timedelta(seconds=moved),
    )  # fmt: skip
    for number, state in enumerate([ChunkState.DONE] * 3 + [ChunkState.RUNNING] * 3):
        Chunk.objects.create(upload=upload, number=number, state=state)
    page = flat(client.get(f"{ADDRESS}{upload.pk}/"))
    found = client.get(f"/api/v1/uploads/{upload.pk}").json()
    told = [
        "Waiting for a worker: nothing was stored for 40 s." in page,
        '<span class="push">waiting for a worker</span>' in page,
        found["quiet"] is not None,
    ]
    promised = [
        "States and checks are being compared." in page,
        re.search("rows a minute, about [0-9]+ s left", page) is not None,
        found["seconds_left"] is not None,
    ]
    assert (told, promised) == (([True] * 3, [False] * 3) if moved == 40 else ([False] * 3, [True] * 3))


def test_actions_need_a_post_and_a_token(client: Client) -> None:
    upload = upload_of(outcomes("a.py:one", "p"))
    for name in ("upload_answer", "upload_stop", "upload_retry"):
        assert client.get(reverse(name, args=[upload.pk])).status_code == 405
    strict = Client(enforce_csrf_checks=True)
    for address in (ADDRESS, reverse("upload_stop", args=[upload.pk]), reverse("run_delete", args=["desk-birch"])):
        answer = strict.post(address, {})
        assert answer.status_code == 403
        assert "The form was refused" in flat(answer)


def test_a_broker_that_is_away_loses_nothing(
    client: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def away() -> None:
        raise OSError("no broker")

    monkeypatch.setattr(work, "delay", away)
    assert send(client, file_of(outcomes("a.py:one", "p")), model="birch").status_code == 303
    assert states() == [("desk.birch.jsonl", UploadState.WAITING)]
    assert "The workers could not be told of an upload: no broker" in caplog.text


def test_lines_that_were_not_stored_are_listed_and_downloaded(client: Client) -> None:
    upload = upload_of([*outcomes("a.py:one", "p"), *outcomes("a.py:one", "f")])
    UploadProblem.objects.create(
        upload=upload, line=9, kind="rejected", reason='=HYPERLINK("http://x")', uid="@SUM(A1)"
    )
    UploadProblem.objects.create(upload=upload, line=10, kind="rejected", reason=" +1", uid="-2+3", repetition=0)
    text = flat(client.get(ADDRESS))
    assert "1 line not stored" in text
    answer = client.get(reverse("upload_problems", args=[upload.pk]))
    assert answer.headers["Content-Disposition"] == f'attachment; filename="upload-{upload.pk}-lines.csv"'
    rows = list(csv.reader(io.StringIO(b"".join(answer).decode())))
    assert rows[0] == ["line", "kind", "uid", "repetition", "reason", "kept"]
    assert [row[:4] for row in rows[1:]] == [
        ["2", "conflict", "a.py:one", "0"],
        ["9", "rejected", "'@SUM(A1)", ""],
        ["10", "rejected", "'-2+3", "0"],
    ]
    assert (rows[2][4], rows[3][4]) == ('\'=HYPERLINK("http://x")', "' +1")


def test_what_was_not_read_of_an_archive_is_listed_without_task_and_repetition(client: Client) -> None:
    archive = zip_of({"one.jsonl": jsonl_of("p"), "two.jsonl.gz": b"\x1f\x8bcut", "=notes.txt": b"no results"})
    send(client, SimpleUploadedFile("campaign.zip", archive), model="birch")
    work_all()
    upload = Upload.objects.get(archive=None)
    text = flat(client.get(reverse("upload", args=[upload.pk])))
    head = re.findall('<th scope="col"[^>]*>([^<]*)</th>', text)
    cells = [len(re.findall("<td", row)) for row in re.findall("<tr><td.*?</tr>", text)]
    assert (head, cells) == (["Member", "What", "Reason"], [3, 3])
    answer = client.get(reverse("upload_problems", args=[upload.pk]))
    rows = list(csv.reader(io.StringIO(b"".join(answer).decode())))
    assert [row[:2] for row in rows] == [["member", "kind"], ["2", "rejected"], ["3", "note"]]
    assert [len(row) for row in rows] == [3, 3, 3]


def test_members_come_behind_the_entry_of_their_archive_once(client: Client) -> None:
    """The list says how many it has, and gets the others; an entry that stands alone gets none."""
    archive = zip_of({"one.jsonl": jsonl_of("p"), "two.jsonl": jsonl_of("f"), "three.jsonl": b""})
    answer = send(client, SimpleUploadedFile("campaign.zip", archive), headers=HTMX)
    upload = Upload.objects.get()
    address = reverse("upload", args=[upload.pk])
    assert entries(answer) == [(f"upload-{upload.pk}", "0")]
    chunk = claim_next()
    assert chunk is not None
    split(chunk, hint=lambda: None)
    members = [f"upload-{member.pk}" for member in upload.members.order_by("-pk")]
    assert len(members) == 2
    # They ask for the model, with the runs to choose from.
    run = store(outcomes("a.py:one", "p"))
    lacking = client.get(address, {"listed": "0"}, headers=HTMX)
    assert entries(lacking) == [(f"upload-{upload.pk}", "2"), *((member, "0") for member in members)]
    assert flat(lacking).count(f'<option value="{run.slug}">birch on desk</option>') == 2
    assert entries(client.get(address, {"listed": "2"}, headers=HTMX)) == [(f"upload-{upload.pk}", "2")]
    stopped = client.post(reverse("upload_stop", args=[upload.pk]), {"listed": "0"}, headers=HTMX)
    assert [pk for pk, _ in entries(stopped)] == [f"upload-{upload.pk}", *members]
    for alone in (client.get(address, headers=HTMX), client.get(address, {"listed": "0"})):
        assert entries(alone) == [(f"upload-{upload.pk}", "")]


def test_hostile_file_names_show_as_text(client: Client) -> None:
    name = "<script>alert(1)<-script>\u202e\x1b[31m.jsonl"
    Upload.objects.create(file_name=name, sha256="0", size=1, state=UploadState.FAILED, error="<img src=x onerror=y>")
    text = flat(client.get(ADDRESS))
    assert "<script>alert" not in text
    assert "<img src=x" not in text
    assert "\u202e" not in text
    assert "\x1b" not in text


def test_companions_are_matched_by_name() -> None:
    names = ["b.jsonl.zst", "a_run_metadata.yaml", "a.jsonl", "b_run_metadata.yaml", "c_run_metadata.yaml", "d.jsonl"]
    assert matched_files(names) == ([(0, 3), (2, 1), (5, None)], [4])


def test_files_that_ask_stand_apart_and_do_not_repeat_a_long_list_of_runs(client: Client) -> None:
    for number in range(21):
        store(outcomes("a.py:one", "p"), model=f"model {number}")
        if number == 19:
            send(client, file_of(outcomes("a.py:one", "pf"), "one.jsonl"))
            assert flat(client.get(ADDRESS)).count(">model 3 on desk</option>") == 2
    send(client, file_of(outcomes("a.py:one", "ff"), "two.jsonl"))
    text = flat(client.get(ADDRESS))
    asking = text[text.index('id="waiting"') : text.index('id="now"')]
    assert re.findall(r'data-kind="(\w+)"', asking) == ["asking", "asking"]
    assert asking.count('list="run-choices"') == 2
    # Once for all files that ask, once for new ones.
    assert text.count(">model 3 on desk</option>") == 2
    upload = Upload.objects.get(file_name="two.jsonl")
    refused = client.post(reverse("upload_answer", args=[upload.pk]), {"run": "no-such-run"}, headers=HTMX)
    assert 'list="run-choices" autocomplete="off" placeholder="a new run" value="no-such-run"' in flat(refused)
    assert "There is no run named &#x27;no-such-run&#x27;" in flat(refused)
