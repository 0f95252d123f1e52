"""`/api/v1/uploads`: bundles that programs send."""

from __future__ import annotations

import errno
import hashlib
import io
import json
import os
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings

from inspector import receiving
from inspector.layers import Message, Scope
from inspector.receiving import STATE, Receiver, Refused, Wanted, offset_of, open_part, part_path
from runs.models import Chunk, Run, Upload
from tests.archives import zip_of
from tests.factories import make_row
from tests.inspector.api.conftest import Get
from tests.inspector.test_asgi import run_apart
from tests.stored import outcomes, upload_of
from tests.working import work_all

DATA = b"".join(json.dumps(row).encode() + b"\n" for row in outcomes("desk.py:test_1", "pf"))
DIGEST = hashlib.sha256(DATA).hexdigest()
ADDRESS = f"/api/v1/uploads/{DIGEST}"


@pytest.fixture(autouse=True)
def folder(settings: Settings, tmp_path: Path) -> Path:
    settings.UPLOADS_DIR = tmp_path
    return tmp_path


def put(client: Client, body: bytes, query: str = "?model=birch&benchmark=desk", **headers: str) -> Any:
    return client.put(
        ADDRESS + query, body, content_type="application/octet-stream",
        headers={name.replace("_", "-"): value for name, value in headers.items()},
    )  # fmt: skip


def test_a_bundle_in_one_go(client: Client, db: None, get: Get, folder: Path) -> None:
    answer = put(client, DATA, "?name=desk.birch.jsonl&model=birch&repetitions=2")
    assert (answer.status_code, answer.json()["state"]) == (201, "waiting")
    upload = Upload.objects.get()
    assert answer["Location"] == f"/api/v1/uploads/{upload.pk}"
    assert (upload.sha256, upload.size, upload.model, upload.benchmark, upload.repetitions) == (
        DIGEST, len(DATA), "birch", "desk", 2,
    )  # fmt: skip
    assert (folder / upload.path).read_bytes() == DATA
    assert list(folder.glob("*.part")) == []
    assert Chunk.objects.count() == 1  # the workers' first piece of work
    assert get(f"/uploads/{upload.pk}") == get(f"/uploads/{DIGEST}")
    head = client.head(ADDRESS)
    assert (head["Upload-Offset"], head["Upload-Complete"]) == (str(len(DATA)), "?1")


def test_a_bundle_in_parts_gone_on_with_where_it_stopped(client: Client, db: None) -> None:
    size = len(DATA)
    first = put(client, DATA[:100], Content_Range=f"bytes 0-99/{size}")
    assert (first.status_code, first["Upload-Offset"]) == (202, "100")
    assert client.head(ADDRESS)["Upload-Offset"] == "100"
    wrong = put(client, DATA[50:], Content_Range=f"bytes 50-{size - 1}/{size}")
    assert (wrong.status_code, wrong["Upload-Offset"]) == (409, "100")
    second = put(client, DATA[100:150], Upload_Offset="100", Upload_Complete="?0")
    assert (second.status_code, second.json()["offset"]) == (202, 150)
    last = put(client, DATA[150:], Upload_Offset="150")
    assert (last.status_code, Upload.objects.get().size) == (201, size)


@pytest.mark.parametrize("said", ["bytes 0-99", "bytes 9-3/100", "bytes 0-100/100"])
def test_a_range_that_is_none_is_a_wrong_field(client: Client, db: None, said: str) -> None:
    answer = put(client, DATA, Content_Range=said)
    assert (answer.status_code, answer.json()["detail"].startswith("Content-Range: ")) == (422, True)


def test_bytes_that_are_not_those_of_the_address_are_not_kept(client: Client, db: None, folder: Path) -> None:
    answer = put(client, DATA + b"more")
    assert (answer.status_code, answer["Upload-Offset"], list(folder.iterdir())) == (409, "0", [])
    assert hashlib.sha256(DATA + b"more").hexdigest() in answer.json()["detail"]
    assert client.put("/api/v1/uploads/nodigest", b"x").json()["errors"][0]["field"] == "key"


def test_a_file_that_is_too_large(client: Client, db: None, settings: Settings, folder: Path) -> None:
    settings.UPLOAD_LIMIT = 1000
    assert put(client, DATA).status_code == 413
    assert sum(path.stat().st_size for path in folder.iterdir()) == 0


def test_an_upload_asks_is_answered_stopped_and_tried_again(client: Client, db: None, get: Get) -> None:
    asking = put(client, DATA, "").json()
    assert asking["state"] == "asking"

    def post(verb: str, status: int = 200, **said: Any) -> Any:
        answer = client.post(f"/api/v1/uploads/{asking['id']}/{verb}", json.dumps(said), "application/json")
        assert answer.status_code == status, answer.content
        return answer.json()

    assert post("answer", 409)["detail"].startswith("The model's name is missing")
    assert post("answer", model="birch", benchmark="desk")["state"] == "waiting"
    assert post("stop")["state"] == "stopped"
    assert post("retry")["state"] == "waiting"
    assert [row["id"] for row in get("/uploads")["items"]] == [asking["id"]]


def test_lines_that_were_not_stored(birch: Run, get: Get) -> None:
    upload = upload_of([make_row(uid="desk.py:test_1", outcome="failed"), {"uid": "x"}], run=birch.slug)
    found = get(f"/uploads/{upload.pk}/lines")["items"]
    assert [(row["line"], row["kind"]) for row in found] == [(1, "conflict"), (2, "rejected")]


def send_archive(client: Client, members: dict[str, bytes], query: str = "") -> Any:
    content = zip_of(members)
    address = f"/api/v1/uploads/{hashlib.sha256(content).hexdigest()}{query}"
    return client.put(address, content, content_type="application/octet-stream").json()


def test_an_archive_has_the_counts_of_its_members_and_is_done_when_they_have_ended(
    client: Client, db: None, get: Get
) -> None:
    other = DATA.replace(b"desk.py:test_1", b"desk.py:test_2") + b"no row\n"
    sent = send_archive(
        client,
        {"desk.birch.jsonl": DATA, "desk.cedar.jsonl": other, "results.jsonl": DATA.replace(b"desk.py", b"oak.py")},
    )
    work_all()
    found = get(f"/uploads/{sent['id']}")
    assert (found["state"], found["error"], found["members"], found["run"]) == ("asking", "", 3, None)
    for file, model in zip(found["files"], ("birch", "cedar", "oak"), strict=True):
        assert get(f"/uploads/{sent['id']}")["files"][-1]["state"] == "asking"
        said = {"model": model, "benchmark": "desk"}
        client.post(f"/api/v1/uploads/{file['id']}/answer", said, content_type="application/json")
    assert get(f"/uploads/{sent['id']}", fields="state,progress") == {"state": "reading", "progress": 0.0}
    work_all()
    found = get(f"/uploads/{sent['id']}")
    assert [found[name] for name in ("state", "read", "stored", "passed", "failed", "rejected", "progress")] == [
        "done", 6, 6, 3, 3, 1, 1.0,
    ]  # fmt: skip
    assert [(file["file_name"], file["state"], file["stored"], file["rejected"]) for file in found["files"]] == [
        ("desk.birch.jsonl", "done", 2, 0), ("desk.cedar.jsonl", "done", 2, 1), ("results.jsonl", "done", 2, 0),
    ]  # fmt: skip
    assert {file["run"] for file in found["files"]} == {run.slug for run in Run.objects.all()}
    assert [item for item in get("/uploads")["items"] if item["id"] == sent["id"]] == [found | {"problems": []}]


def test_an_archive_of_one_run_names_it_and_says_what_was_not_read(client: Client, birch: Run, get: Get) -> None:
    files = {"one.jsonl": DATA, "more.jsonl": DATA.replace(b"desk.py", b"oak.py")}
    sent = send_archive(client, files, f"?run={birch.slug}")
    work_all()
    Upload.objects.filter(file_name="more.jsonl").update(state="failed", error="It broke.")
    found = get(f"/uploads/{sent['id']}")
    assert (found["state"], found["run"]["slug"]) == ("done", birch.slug)
    assert found["error"] == "1 of 2 result files was not read to the end; `files` says why."
    assert [file["error"] for file in found["files"]] == ["", "It broke."]


# --- The layer that takes the bodies off ------------------------------------------------------------------------------


class Site:
    """Stands for Django: says where the file is, and notes what it is asked."""

    def __init__(self, path: Path, status: int = 200) -> None:
        self.path = path
        self.status = status
        self.asked: list[tuple[str, bytes, dict[str, Any]]] = []

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        if scope["method"] == "HEAD" and self.status == 200:
            scope[STATE]["path"] = self.path
        body = (await receive())["body"]
        self.asked.append((scope["method"], body, dict(scope[STATE])))
        await send({"type": "http.response.start", "status": self.status, "headers": []})
        await send({"type": "http.response.body", "body": b""})


def receive_all(site: Site, messages: list[Message], headers: list[tuple[bytes, bytes]] | None = None) -> list[Message]:
    sent: list[Message] = []
    waiting = iter(messages)

    async def receive() -> Message:
        return next(waiting)

    async def send(message: Message) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "PUT", "path": ADDRESS, "query_string": b"model=x", "headers": headers or []}

    async def run() -> None:
        await Receiver(site)(scope, receive, send)

    run_apart(run())
    return sent


def part(body: bytes, *, more: bool) -> Message:
    return {"type": "http.request", "body": body, "more_body": more}


def test_what_came_before_the_connection_broke_stays(folder: Path) -> None:
    site = Site(part_path(DIGEST, None))
    assert receive_all(site, [part(b"abc", more=True), part(b"def", more=True), {"type": "http.disconnect"}]) == []
    assert (site.path.read_bytes(), [method for method, _, _ in site.asked]) == (b"abcdef", ["HEAD"])
    receive_all(site, [part(b"gh", more=False)], [(b"upload-offset", b"6")])
    assert site.path.read_bytes() == b"abcdefgh"
    assert site.asked[-1] == ("PUT", b"", {"path": site.path, "ended": True, "received": 8})


def test_nothing_is_written_for_who_may_not(folder: Path) -> None:
    site = Site(part_path(DIGEST, None), status=403)
    receive_all(site, [part(b"abc", more=False)])
    assert (list(folder.iterdir()), [method for method, _, _ in site.asked]) == ([], ["HEAD", "PUT"])


@pytest.mark.django_db
def test_what_the_file_would_be_refused_for_is_said_before_it_is_taken(client: Client) -> None:
    """The layer that takes bodies off asks with HEAD, and writes nothing where the answer is no."""
    address = f"/api/v1/uploads/{DIGEST}"
    assert client.head(f"{address}?model=x&name=desk.jsonl").status_code == 200
    assert client.head(f"{address}?modle=x").status_code == 422
    assert client.head(f"{address}?repetitions=none").status_code == 422


class Full(io.FileIO):
    """Takes two bytes a time, and four in all."""

    def write(self, data: Any, /) -> int:
        if self.tell() >= 4:
            raise OSError(errno.ENOSPC, "No space left on device")
        return super().write(bytes(data)[:2])


@pytest.mark.parametrize(("sent", "kept"), [(b"abcd", b"abcd"), (b"abcdef", b"")])
def test_a_full_disk_is_said_and_what_came_goes(
    sent: bytes, kept: bytes, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = Site(part_path(DIGEST, None))
    monkeypatch.setattr(receiving, "open_part", lambda path, wanted: Full(path, "ab"))
    receive_all(site, [part(sent, more=False)])
    assert site.path.read_bytes() == kept
    refused = site.asked[-1][2].get("refused")
    assert (refused is None) == bool(kept)
    if refused is not None:
        assert (refused.status, refused.offset) == (507, 0)
        assert refused.reason.startswith("The disk of the data folder is full")


def test_a_part_that_another_request_has_just_taken_up_is_passed_over(folder: Path, settings: Settings) -> None:
    old = folder / "sent-0-old.part"
    old.touch()
    os.utime(old, (0, 0))

    class Listed:
        def glob(self, pattern: str) -> list[Path]:
            return [folder / "sent-0-gone.part", old]

    settings.UPLOADS_DIR = Listed()
    receiving.sweep_parts()
    assert not old.exists()
    assert offset_of(old) == 0


def test_two_requests_cannot_write_one_file_at_once(folder: Path) -> None:
    path = part_path(DIGEST, None)
    with open_part(path, Wanted()), pytest.raises(Refused) as refused:
        open_part(path, Wanted())
    assert (refused.value.status, offset_of(path)) == (409, 0)
