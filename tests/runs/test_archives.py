"""Archives through both ways in: by workers, and by the command."""

from __future__ import annotations

import gzip
import io
import json
import lzma
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import zstandard
from django.core.management import call_command
from pytest_django import Settings

from runs.access import EVERYTHING
from runs.models import Attempt, Run, Upload, UploadState
from runs.uploads import Wishes, accept_upload, retry_upload, stop_upload
from tests.archives import patched, tar_of, zip_of
from tests.factories import make_row, write_jsonl
from tests.runs.test_uploads import COMPANION
from tests.working import work_all

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _uploads(settings: Settings, tmp_path: Path) -> None:
    settings.UPLOADS_DIR = tmp_path / "uploads"
    settings.UPLOADS_DIR.mkdir()


def rows(tmp_path: Path, letters: str) -> bytes:
    words = {"p": "passed", "f": "failed", "e": "system"}
    made = [make_row(repetition=number, outcome=words[letter]) for number, letter in enumerate(letters)]  # type: ignore[arg-type]
    return write_jsonl(tmp_path / "rows.jsonl", made).read_bytes()


def campaign(tmp_path: Path) -> dict[str, bytes]:
    """Two runs, one of them with its metadata, among what else lies in a folder of results."""
    return {
        "campaign/": b"",
        "campaign/one/desk.birch-2_run_metadata.yaml": COMPANION,
        "campaign/one/desk.birch-2.jsonl": rows(tmp_path, "pfe"),
        "campaign/one/config.yaml": b"judge_type: legacy\n",
        "__MACOSX/campaign/one/._desk.birch-2.jsonl": b"junk",
        "campaign/.DS_Store": b"junk",
        "../../desk.cedar.jsonl.gz": gzip.compress(rows(tmp_path, "pp")),
    }


PACKERS: dict[str, Callable[[dict[str, bytes]], bytes]] = {
    "campaign.zip": zip_of,
    "campaign.tar": tar_of,
    "campaign.tar.gz": lambda files: gzip.compress(tar_of(files)),
    "campaign.tar.zst": lambda files: zstandard.compress(tar_of(files)),
    "campaign.tar.xz": lambda files: lzma.compress(tar_of(files)),
}


def told(upload: Upload) -> list[tuple[int, str, str]]:
    return list(upload.problems.values_list("line", "kind", "reason"))


def numbers() -> list[tuple[str, str, int, int, int]]:
    return [
        (upload.file_name, upload.state, upload.passed, upload.failed, upload.errors)
        for upload in Upload.objects.exclude(reader="archive").order_by("file_name")
    ]


def ingest(*arguments: str | Path) -> dict[str, Any]:
    out = io.StringIO()
    with suppress(SystemExit):
        call_command("ingest", *map(str, arguments), "--json", stdout=out, stderr=io.StringIO())
    answer: dict[str, Any] = json.loads(out.getvalue())
    return answer


@pytest.mark.parametrize("name", PACKERS)
def test_each_result_file_of_an_archive_becomes_a_run_as_it_would_alone(
    name: str, tmp_path: Path, settings: Settings
) -> None:
    upload = accept_upload(name, [PACKERS[name](campaign(tmp_path))], access=EVERYTHING)
    work_all()
    upload.refresh_from_db()
    assert (upload.state, upload.error) == ("done", "")
    assert numbers() == [
        ("campaign/one/desk.birch-2.jsonl", "done", 1, 1, 1),
        ("desk.cedar.jsonl.gz", "asking", 0, 0, 0),
    ]
    assert [kind for _, kind, _ in told(upload)] == ["note"]
    assert told(upload)[0][2].startswith("Passed over, as it holds no results: campaign/one/config.yaml is of no known")
    assert [(run.model, run.benchmark.name, run.settings) for run in Run.objects.all()] == [
        ("birch-2", "desk", {"temperature": 1.0})
    ]
    asking = Upload.objects.get(state=UploadState.ASKING)
    assert asking.archive == upload
    assert [file.name for file in settings.UPLOADS_DIR.iterdir()] == [asking.path]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["rows.jsonl", "uploads"]


@pytest.mark.parametrize("name", PACKERS)
def test_the_command_reads_archives_too(name: str, tmp_path: Path, settings: Settings) -> None:
    path = tmp_path / name
    path.write_bytes(PACKERS[name](campaign(tmp_path)))
    answer = ingest(path)
    assert (answer["format"], answer["read"], answer["passed"], answer["failed"], answer["errors"]) == (
        "archive", 5, 3, 1, 1,
    )  # fmt: skip
    assert [(member["file"], member["run"], member["read"]) for member in answer["members"]] == [
        ("campaign/one/desk.birch-2.jsonl", "desk-birch-2", 3),
        ("desk.cedar.jsonl.gz", "desk-cedar", 2),
    ]
    assert list(settings.UPLOADS_DIR.iterdir()) == []
    assert ingest(path)["same"] == 5
    assert Attempt.objects.count() == 5


def test_the_command_names_what_it_passed_over_by_its_place_in_the_archive(tmp_path: Path) -> None:
    archive = tmp_path / "all.zip"
    archive.write_bytes(zip_of({"desk.birch.jsonl": rows(tmp_path, "pf") + b"{\n", "notes.txt": b"hello\n"}))
    out = io.StringIO()
    call_command("ingest", str(archive), stdout=out, stderr=io.StringIO())
    places = [line.split(": ")[0].strip() for line in out.getvalue().splitlines()[2:]]
    assert places == ["desk.birch.jsonl, line 3", "member 2"]


def test_a_file_is_found_again_in_an_archive(tmp_path: Path) -> None:
    """The run is that of the same bytes, however they come."""
    path = tmp_path / "desk.birch.jsonl"
    path.write_bytes(rows(tmp_path, "ppf"))
    ingest(path)
    archive = tmp_path / "all.zip"
    archive.write_bytes(zip_of({"deep/folder/renamed.jsonl": path.read_bytes()}))
    answer = ingest(archive)
    assert (answer["run"], answer["same"], Run.objects.count()) == ("desk-birch", 3, 1)


def test_what_is_said_of_an_archive_holds_for_its_files(tmp_path: Path) -> None:
    archive = zip_of({"a.jsonl": rows(tmp_path, "p"), "b.jsonl": rows(tmp_path, "pf")})
    accept_upload(
        "all.zip", [archive], wishes=Wishes(model="birch", benchmark="desk", repetitions=4), access=EVERYTHING
    )
    work_all()
    assert [(run.model, run.benchmark.name, run.repetitions) for run in Run.objects.all()] == [("birch", "desk", 4)] * 2


def test_members_that_cannot_be_read_are_named_and_the_others_are_read(tmp_path: Path) -> None:
    good = rows(tmp_path, "pf")
    archive = zip_of(
        {"secret.jsonl": good, "broken.jsonl": good, "inner.zip": zip_of({"x": b"1"}), "desk.a.jsonl": good}
    )
    archive = patched(patched(archive, 1, flags=1), 2, crc=1)
    upload = accept_upload("all.zip", [archive], wishes=Wishes(model="birch"), access=EVERYTHING)
    work_all()
    upload.refresh_from_db()
    assert numbers() == [("desk.a.jsonl", "done", 1, 1, 0)]
    assert told(upload) == [
        (1, "rejected", "secret.jsonl: It is encrypted. Unpack it with its password, and give the file in it."),
        (
            2,
            "rejected",
            "broken.jsonl: It is damaged: its checksum is wrong. Copy the archive again. Nothing of it was read.",
        ),
        (
            3,
            "rejected",
            "inner.zip: It is an archive in the archive, which is not read. Unpack it, and give its files.",
        ),
    ]
    assert (upload.state, upload.rejected, bool(upload.path)) == ("done", 3, True)


def test_a_cut_archive_gives_what_came_before_the_cut(tmp_path: Path) -> None:
    good = rows(tmp_path, "pf")
    whole = tar_of({"desk.a.jsonl": good, "desk.b.jsonl": good})
    upload = accept_upload("all.tar", [whole[: len(good) + 3000]], wishes=Wishes(model="birch"), access=EVERYTHING)
    work_all()
    assert numbers() == [("desk.a.jsonl", "done", 1, 1, 0)]
    reasons = [reason for _, _, reason in told(upload)]
    assert reasons[0].startswith("desk.b.jsonl: The archive ends early")
    assert reasons[1].startswith("After member 2 the archive cannot be read.")


@pytest.mark.parametrize(
    ("setting", "value", "message"),
    [
        ("MAX_MEMBERS", 2, "It has more than 2 members (TWENTYFOLD_MAX_MEMBERS)."),
        ("MAX_UNPACKED", 10_000, "It unpacks to more than 10,000 bytes (TWENTYFOLD_MAX_UNPACKED)."),
    ],
)
def test_an_archive_beyond_a_limit_is_refused_whole(
    setting: str, value: int, message: str, tmp_path: Path, settings: Settings
) -> None:
    good = rows(tmp_path, "pf")
    setattr(settings, setting, value)
    upload = accept_upload(
        "all.zip", [zip_of({f"{n}.jsonl": good for n in range(3)})], wishes=Wishes(model="birch"), access=EVERYTHING
    )
    work_all()
    upload.refresh_from_db()
    assert (upload.state, upload.error.startswith(message), upload.members.count()) == ("failed", True, 0)
    assert list(settings.UPLOADS_DIR.iterdir()) == []


def test_an_archive_without_results_says_so() -> None:
    upload = accept_upload("all.zip", [zip_of({"notes.txt": b"hello", ".DS_Store": b"x"})], access=EVERYTHING)
    work_all()
    upload.refresh_from_db()
    assert upload.state == "failed"
    assert upload.error.startswith("There is no result file in the archive that can be read. Its first other file: ")


def test_unpacking_begun_again_after_a_crash_leaves_each_file_once(tmp_path: Path, settings: Settings) -> None:
    upload = accept_upload("all.zip", [zip_of(campaign(tmp_path))], wishes=Wishes(model="birch"), access=EVERYTHING)
    (settings.UPLOADS_DIR / f"member-{upload.pk}-left").write_bytes(b"half a member")
    work_all()
    assert numbers() == [
        ("campaign/one/desk.birch-2.jsonl", "done", 1, 1, 1),
        ("desk.cedar.jsonl.gz", "done", 2, 0, 0),
    ]
    assert list(settings.UPLOADS_DIR.iterdir()) == []


def test_an_archive_that_was_stopped_is_unpacked_when_it_is_tried_again(tmp_path: Path) -> None:
    upload = accept_upload("all.zip", [zip_of(campaign(tmp_path))], access=EVERYTHING)
    stop_upload(upload)
    work_all()
    assert numbers() == []
    retry_upload(upload)
    work_all()
    assert len(numbers()) == 2


@pytest.mark.shared
@pytest.mark.parametrize("name", ["truncated.jsonl", "duplicate.jsonl.zst", "missing-repetition.jsonl.zst"])
@pytest.mark.parametrize("packer", ["campaign.zip", "campaign.tar.gz", "campaign.tar.zst"])
def test_a_damaged_file_counts_in_an_archive_as_it_does_alone(
    name: str, packer: str, tmp_path: Path, shared: Path
) -> None:
    path = shared / "bundles" / "damaged" / name
    archive = tmp_path / packer
    archive.write_bytes(PACKERS[packer]({f"damaged/{name}": path.read_bytes()}))
    alone = ingest(path, "--model", "one")
    inside = ingest(archive, "--model", "two")["members"][0]
    for answer in (alone, inside):
        for field in ("seconds", "run", "bytes", "file"):
            answer.pop(field, None)
    assert alone["read"] >= 8
    assert inside == alone
