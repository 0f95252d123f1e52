"""A result file that is followed ends with the same numbers as one that is read whole, whatever happened to it."""

from __future__ import annotations

import gzip
import io
import json
import os
import random
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError
from pytest_django import Settings

from runs.errors import DiskFull
from runs.following import Follower
from runs.inbox import Inbox
from runs.models import Attempt, Run, TaskTally, Upload
from runs.queries.live import run_live
from runs.uploads import Wishes, stop_upload
from tests.archives import zip_of
from tests.canonical import make_result
from tests.factories import Outcome, make_row
from tests.runs.test_archives import ingest
from tests.runs.test_uploads import COMPANION
from tests.working import work_all

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _uploads(settings: Settings, tmp_path: Path) -> None:
    settings.UPLOADS_DIR = tmp_path / "uploads"
    settings.UPLOADS_DIR.mkdir()


def lines(count: int, tasks: int = 3) -> list[bytes]:
    words: tuple[Outcome, ...] = ("passed", "failed", "system")
    rows = [
        make_row(uid=f"a.py:test_{n % tasks}", repetition=n // tasks, outcome=words[n % 3 if n % 5 else 0])
        for n in range(count)
    ]
    return [json.dumps(row).encode() + b"\n" for row in rows]


def write(path: Path, data: bytes, mode: str = "ab") -> None:
    with path.open(mode) as file:
        file.write(data)


def state(run: Run) -> list[Any]:
    """What a run's numbers are made of."""
    tallies = (
        TaskTally.objects.filter(run=run).order_by("task__uid").values_list("task__uid", "verdicts", "input_tokens")
    )
    attempts = Attempt.objects.filter(run=run).order_by("task__uid", "repetition")
    return [*tallies, *attempts.values_list("repetition", "verdict", "digest", "current", "line")]


def plain(path: Path) -> list[Any]:
    """The numbers of the same file when it is read whole, into a run of its own."""
    answer = ingest(path, "--model", "whole")
    return state(Run.objects.get(slug=answer["run"]))


def counts(upload: Upload) -> tuple[str, int, int, int, int, int]:
    upload.refresh_from_db()
    return (upload.state, upload.read, upload.passed, upload.failed, upload.errors, upload.rejected)


def test_rows_are_stored_as_they_come_and_a_torn_line_waits(tmp_path: Path) -> None:
    path, rows = tmp_path / "desk.birch.jsonl", lines(9)
    follower = Follower(path, expected=9)
    assert follower.step() == 0
    write(path, rows[0] + rows[1] + rows[2][:100])
    assert (follower.step(), follower.step(), Attempt.objects.count()) == (2, 0, 2)
    upload = follower.upload
    assert upload is not None
    run = Run.objects.get()
    assert (run.model, run.model_inferred, run.benchmark.name) == ("birch", True, "desk")
    live = run_live(run)
    assert live is not None
    assert (live.followed, live.expected, live.expected_said, live.numbers.recorded) == (True, 9, True, 2)
    write(path, rows[2][100:] + b"".join(rows[3:8]) + rows[8].rstrip())
    assert follower.step() == 6
    assert follower.finish() is not None
    assert counts(upload) == ("done", 9, *counts(upload)[2:5], 0)
    assert run_live(run) is None
    assert state(run) == plain(path)


def test_a_file_that_was_followed_is_known_again(tmp_path: Path) -> None:
    path = tmp_path / "desk.birch.jsonl"
    write(path, b"".join(lines(6)))
    follower = Follower(path)
    follower.step()
    follower.finish()
    answer = ingest(path)
    assert (answer["same"], answer["stored"], Run.objects.count()) == (6, 0, 1)


@pytest.mark.parametrize("replaced", ["cut", "moved", "rewritten"])
def test_a_file_that_begins_again_ends_with_the_same_numbers(replaced: str, tmp_path: Path) -> None:
    path, rows = tmp_path / "desk.birch.jsonl", lines(12)
    follower = Follower(path)
    write(path, b"".join(rows[:7]) + rows[7][:50])
    follower.step()
    if replaced == "moved":
        path.rename(tmp_path / "old")
    write(path, b"".join(rows[:4]), "wb")
    if replaced == "rewritten":
        write(path, b"".join(rows[4:6]))
    while follower.step() or follower.step():
        pass
    write(path, b"".join(rows[len(path.read_bytes().splitlines()) :]))
    upload = follower.finish()
    assert upload is not None
    uploads = list(Upload.objects.order_by("pk"))
    assert [entry.state for entry in uploads] == ["stopped", "done"]
    assert counts(upload)[1] == 12
    run = Run.objects.get()
    if replaced != "moved":  # there, the half line stays with the old file, listed
        assert [entry.rejected for entry in uploads] == [0, 0]
    assert [row[:-1] for row in state(run)[3:]] == [row[:-1] for row in plain(path)[3:]]
    assert state(run)[:3] == state(Run.objects.get(model="whole"))[:3]


def test_other_results_at_the_same_path_are_a_run_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "desk.birch.jsonl"
    write(path, b"".join(lines(3)))
    follower = Follower(path)
    follower.step()
    other = json.dumps(make_row(uid="a.py:test_0", repetition=0, outcome="failed")).encode() + b"\n"
    write(path, other, "wb")
    while follower.step():
        pass
    follower.finish()
    assert [run.attempts.count() for run in Run.objects.order_by("pk")] == [3, 1]
    assert sum(upload.conflicts for upload in Upload.objects.all()) == 0


def test_a_watch_begun_again_goes_on_where_it_was(tmp_path: Path) -> None:
    path, rows = tmp_path / "desk.birch.jsonl", lines(9)
    write(path, b"".join(rows[:4]))
    first = Follower(path)
    first.step()
    first.close()
    assert Upload.objects.get().state == "stopped"
    write(path, b"".join(rows[4:]))
    second = Follower(path)
    assert second.step() == 5
    second.finish()
    upload = Upload.objects.get()
    assert counts(upload)[:2] == ("done", 9)
    assert state(Run.objects.get()) == plain(path)


def test_a_watch_that_died_leaves_nothing_doubled(tmp_path: Path) -> None:
    path, rows = tmp_path / "desk.birch.jsonl", lines(9)
    write(path, b"".join(rows[:4]))
    Follower(path).step()  # and is never heard of again
    write(path, b"".join(rows[4:]))
    second = Follower(path)
    second.step()
    second.finish()
    assert counts(Upload.objects.get())[:2] == ("done", 9)


def test_the_page_can_stop_it(tmp_path: Path) -> None:
    path, rows = tmp_path / "desk.birch.jsonl", lines(4)
    write(path, b"".join(rows[:2]))
    follower = Follower(path)
    follower.step()
    stop_upload(Upload.objects.get())
    write(path, b"".join(rows[2:]))
    follower.step()
    assert (follower.stopped, follower.step(), Attempt.objects.count()) == (True, 0, 2)


def test_the_metadata_that_the_harness_writes_at_its_end_names_the_model(tmp_path: Path) -> None:
    path = tmp_path / "desk.guess.jsonl"
    write(path, b"".join(lines(3)))
    follower = Follower(path)
    follower.step()
    (tmp_path / "desk.guess_run_metadata.yaml").write_bytes(COMPANION)
    follower.finish()
    run = Run.objects.get()
    assert (run.model, run.model_inferred, run.settings) == ("birch-2", False, {"temperature": 1.0})


def test_rows_of_thinkingbox_eval_name_their_run_themselves(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    write(path, json.dumps(make_result()).encode() + b"\n")
    Follower(path, Wishes()).step()
    run = Run.objects.get()
    live = run_live(run)
    assert live is not None
    assert (run.model, live.expected, live.expected_said) == ("birch-2", 4, False)


@pytest.mark.parametrize("seed", range(5))
def test_whatever_the_pieces_the_numbers_are_the_same(seed: int, tmp_path: Path) -> None:
    """Written in random pieces, with pauses, one cut, and now and then a new watch."""
    source = random.Random(seed)
    whole = b"".join(lines(30))
    path = tmp_path / "desk.birch.jsonl"
    path.touch()
    follower = Follower(path)
    at, cut_at = 0, source.randrange(len(whole) // 2)
    cut = False
    while at < len(whole):
        size = source.choice([10, 3000, 9000])
        write(path, whole[at : at + size])
        at += size
        if source.random() < 0.6:
            follower.step()
        if source.random() < 0.1:
            follower.close()
            follower = Follower(path)
        if not cut and at > cut_at:
            at, cut = source.randrange(cut_at + 1), True
            write(path, whole[:at], "wb")
    follower.finish()
    assert state(Run.objects.get()) == plain(path)


# --- The folder -------------------------------------------------------------------------------------------------------


def test_a_folder_takes_in_what_is_put_there(tmp_path: Path) -> None:
    folder = tmp_path / "inbox"
    (folder / "deep").mkdir(parents=True)
    hints: list[int] = []
    inbox = Inbox(folder, lambda: hints.append(1), settle=0, idle=0)
    rows = lines(6)
    write(folder / "desk.birch.jsonl", b"".join(rows[:3]))
    write(folder / "deep" / "desk.cedar.jsonl.gz", gzip.compress(b"".join(rows)))
    write(folder / "deep" / "desk.cedar_run_metadata.yaml", COMPANION)
    write(folder / "all.zip", zip_of({"desk.birch-2_run_metadata.yaml": COMPANION, "desk.birch-2.jsonl": rows[0]}))
    write(folder / "notes.txt", b"hello\n")
    write(folder / ".DS_Store", b"junk")
    (folder / "link.jsonl").symlink_to("/etc/passwd")
    for _ in range(4):
        inbox.step()
    work_all()
    assert sorted((upload.file_name, upload.state, upload.read) for upload in Upload.objects.all()) == [
        ("all.zip", "done", 0),
        ("desk.birch-2.jsonl", "done", 1),
        ("desk.birch.jsonl", "done", 3),
        ("desk.cedar.jsonl.gz", "done", 6),
        ("notes.txt", "failed", 0),
    ]
    assert len(hints) == 2
    write(folder / "desk.birch.jsonl", rows[3])
    for _ in range(3):
        inbox.step()
    assert Upload.objects.get(file_name="desk.birch.jsonl").read == 4
    before = Upload.objects.count()
    again = Inbox(folder, lambda: hints.append(1), settle=0, idle=0)
    for _ in range(4):
        again.step()
    assert (Upload.objects.count(), Attempt.objects.count()) == (before, 11)


def test_a_name_as_long_as_a_file_may_have_is_taken_in(tmp_path: Path) -> None:
    folder = tmp_path / "inbox"
    folder.mkdir()
    write(folder / f"{'x' * 249}.jsonl", b"".join(lines(3)))
    inbox = Inbox(folder, lambda: None, settle=0, idle=0)
    for _ in range(4):
        inbox.step()
    work_all()
    assert [(upload.state, upload.read) for upload in Upload.objects.all()] == [("done", 3)]


def test_a_file_that_cannot_be_read_is_listed_once_and_read_when_it_can_be(tmp_path: Path) -> None:
    folder = tmp_path / "inbox"
    folder.mkdir()
    path = folder / "desk.birch.jsonl"
    write(path, b"hello\n")
    for _ in range(2):
        inbox = Inbox(folder, lambda: None, settle=0, idle=0)
        for number in range(3):
            inbox.step()
            path.write_bytes(path.read_bytes() + b"hello\n" * number)
    (refused,) = Upload.objects.all()
    assert (refused.file_name, refused.state, refused.path) == ("desk.birch.jsonl", "failed", "")
    assert "no known format" in refused.error
    path.write_bytes(b"".join(lines(6)))
    for _ in range(3):
        inbox.step()
    assert [(upload.state, upload.read) for upload in Upload.objects.all()] == [("done", 6)]


def test_an_empty_file_is_listed_once_nothing_came_and_read_when_something_has(tmp_path: Path) -> None:
    path = tmp_path / "desk.birch.jsonl"
    path.touch()
    patient = Inbox(tmp_path, lambda: None, settle=0)
    for _ in range(3):
        patient.step()
    assert not Upload.objects.exists()
    inbox = Inbox(tmp_path, lambda: None, settle=0, idle=0)
    for _ in range(3):
        inbox.step()
    (empty,) = Upload.objects.all()
    assert (empty.file_name, empty.state, empty.error) == (
        "desk.birch.jsonl",
        "failed",
        "The file is empty: no row came. It is read once something is in it.",
    )
    write(path, b"".join(lines(6)))
    for _ in range(3):
        inbox.step()
    assert [(upload.state, upload.read) for upload in Upload.objects.all()] == [("done", 6)]


class Clock:
    """Time that passes by hand."""

    now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The inbox's."""
    clock = Clock()
    monkeypatch.setattr("runs.inbox.time", clock)
    return clock


def test_a_file_that_was_empty_has_all_its_time_once_something_came(tmp_path: Path, clock: Clock) -> None:
    path = tmp_path / "desk.birch.jsonl"
    path.touch()
    inbox = Inbox(tmp_path, lambda: None, idle=600)
    inbox.step()
    clock.now += 599
    data = b"".join(lines(1))
    write(path, data[:3000])
    inbox.step()
    clock.now += 2
    inbox.step()
    write(path, data[3000:])
    assert inbox.step() == 1
    assert [(upload.state, upload.read, upload.rejected) for upload in Upload.objects.all()] == [("reading", 1, 0)]


@pytest.mark.parametrize("content", [b"", lines(1)[0][:3000]])
def test_another_file_of_the_name_of_an_empty_one_that_went_has_its_own_time(
    tmp_path: Path, clock: Clock, content: bytes
) -> None:
    path = tmp_path / "desk.birch.jsonl"
    path.touch()
    inbox = Inbox(tmp_path, lambda: None, idle=600)
    inbox.step()
    path.unlink()
    inbox.step()
    clock.now += 3600
    write(path, content)
    inbox.step()
    inbox.step()
    assert not Upload.objects.exists()


def test_an_empty_file_in_a_folder_that_was_named_briefly_is_listed_no_longer_once_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "inbox" / "desk.birch.jsonl"
    path.parent.mkdir()
    path.touch()
    monkeypatch.chdir(tmp_path)
    inbox = Inbox(Path("inbox"), lambda: None, idle=0)
    inbox.step()
    inbox.step()
    assert [(upload.state, upload.followed_path) for upload in Upload.objects.all()] == [("failed", str(path))]
    write(path, b"".join(lines(6)))
    inbox.step()
    assert [(upload.state, upload.read) for upload in Upload.objects.all()] == [("reading", 6)]


def test_an_archive_that_was_empty_at_first_is_listed_once(tmp_path: Path) -> None:
    path = tmp_path / "desk.birch.jsonl.gz"
    path.touch()
    inbox = Inbox(tmp_path, lambda: None, settle=0, idle=0)
    inbox.step()
    inbox.step()
    assert [upload.state for upload in Upload.objects.all()] == ["failed"]
    write(path, gzip.compress(b"".join(lines(6))))
    inbox.step()
    inbox.step()
    assert [(upload.file_name, upload.state) for upload in Upload.objects.all()] == [(path.name, "asking")]


def test_a_file_that_was_moved_out_of_the_folder_is_stopped_and_gone_on_with_when_it_is_back(tmp_path: Path) -> None:
    folder = tmp_path / "inbox"
    folder.mkdir()
    path, elsewhere = folder / "desk.birch.jsonl", tmp_path / "desk.birch.jsonl"
    write(path, b"".join(lines(3)))
    inbox = Inbox(folder, lambda: None, settle=0)
    inbox.step()
    path.rename(elsewhere)
    inbox.step()
    upload = Upload.objects.get()
    assert (upload.state, upload.read, upload.error) == (
        "stopped",
        3,
        "The file has gone from the inbox. What was read of it is stored; put it back to have the rest.",
    )
    write(elsewhere, b"".join(lines(6)[3:]))
    elsewhere.rename(path)
    inbox.step()
    inbox.step()
    assert [(upload.state, upload.read, upload.error) for upload in Upload.objects.all()] == [("reading", 6, "")]


def test_a_followed_file_that_is_cut_to_nothing_and_stays_so_is_listed_as_empty(tmp_path: Path, clock: Clock) -> None:
    path = tmp_path / "desk.birch.jsonl"
    write(path, b"".join(lines(3)))
    inbox = Inbox(tmp_path, lambda: None, settle=0)
    inbox.step()
    os.truncate(path, 0)
    inbox.step()
    clock.now += 601
    inbox.step()
    inbox.step()
    assert sorted((upload.state, upload.read, upload.error[:18]) for upload in Upload.objects.all()) == [
        ("failed", 0, "The file is empty:"),
        ("stopped", 3, "The file was cut o"),
    ]


def test_a_file_that_goes_while_it_is_set_aside_holds_up_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "a.jsonl", b"no result\n")
    write(tmp_path / "desk.birch.jsonl", b"".join(lines(6)))

    def go(path: Path, *_: object) -> None:
        path.unlink()

    monkeypatch.setattr(Inbox, "_warn", lambda _, path, text: go(path))
    inbox = Inbox(tmp_path, lambda: None)
    assert [inbox.step(), inbox.step()] == [6, 0]


def test_one_file_that_breaks_the_reading_holds_up_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "inbox"
    folder.mkdir()
    odd = Path(os.fsdecode(os.fsencode(folder) + b"/a\xff.jsonl"))
    for path in (odd, folder / "b.jsonl", folder / "c.jsonl"):
        write(path, b"".join(lines(3)))

    class Broken(Follower):
        def step(self) -> int:
            if self.path.name == "b.jsonl":
                raise LookupError
            return super().step()

    monkeypatch.setattr("runs.inbox.Follower", Broken)
    inbox = Inbox(folder, lambda: None, settle=0, idle=0)
    for _ in range(4):
        inbox.step()
    again = Inbox(folder, lambda: None, settle=0, idle=0)
    for _ in range(4):
        again.step()
    assert sorted((upload.file_name, upload.state, upload.read) for upload in Upload.objects.all()) == [
        ("a?.jsonl", "done", 3),
        ("b.jsonl", "failed", 0),
        ("c.jsonl", "done", 3),
    ]
    assert "a fault of this program" in Upload.objects.get(file_name="b.jsonl").error


def test_a_file_that_may_not_be_read_is_listed_and_warned_of_once_and_read_when_it_may(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "inbox"
    folder.mkdir()
    path = folder / "desk.birch.jsonl"
    write(path, b"".join(lines(3)))
    opened = Path.open

    def closed(self: Path, *arguments: Any, **named: Any) -> Any:
        if self == path and self.stat().st_mode & 0o777 == 0:
            raise PermissionError(13, "Permission denied")
        return opened(self, *arguments, **named)

    # The tests may be run by root, who may read everything.
    monkeypatch.setattr(Path, "open", closed)
    path.chmod(0)
    inbox = Inbox(folder, lambda: None, settle=0, idle=0)
    for _ in range(4):
        inbox.step()
    (refused,) = Upload.objects.all()
    assert (refused.state, refused.error.split(":")[0]) == ("failed", "The file cannot be read")
    assert len([record for record in caplog.records if "permission denied" in record.getMessage()]) == 1
    path.chmod(0o600)
    for _ in range(3):
        inbox.step()
    assert [(upload.state, upload.read) for upload in Upload.objects.all()] == [("done", 3)]


def test_what_the_inbox_left_says_that_it_is_read_once_the_inbox_is_back(tmp_path: Path) -> None:
    folder = tmp_path / "inbox"
    folder.mkdir()
    write(folder / "desk.birch.jsonl", b"".join(lines(3)))
    inbox = Inbox(folder, lambda: None, settle=0)
    inbox.step()
    inbox.close()
    assert Upload.objects.get().state == "stopped"
    again = Inbox(folder, lambda: None, settle=0)
    again.step()
    upload = Upload.objects.get()
    assert (upload.state, upload.error, upload.finished_at, upload.read) == ("reading", "", None, 3)


def test_an_archive_waits_where_the_disk_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "inbox"
    folder.mkdir()
    write(folder / "desk.cedar.jsonl.gz", gzip.compress(b"".join(lines(6))))
    inbox = Inbox(folder, lambda: None, settle=0, idle=0)

    def full(*_: object, **__: object) -> None:
        raise DiskFull

    with monkeypatch.context() as patch:
        patch.setattr("runs.inbox.accept_upload", full)
        for _ in range(4):
            inbox.step()
    assert not Upload.objects.exists()
    for _ in range(2):
        inbox.step()
    work_all()
    assert [(upload.state, upload.read) for upload in Upload.objects.all()] == [("asking", 0)]


# --- The command ------------------------------------------------------------------------------------------------------


def test_the_command_ends_when_all_that_is_expected_is_there(tmp_path: Path) -> None:
    path = tmp_path / "desk.birch.jsonl"
    write(path, b"".join(lines(6)))
    out, err = io.StringIO(), io.StringIO()
    call_command("watch", str(path), "--expect", "6", stdout=out, stderr=err)
    read = f"{path} → run desk-birch: 6 rows of 6; 3 passed, 2 failed, 1 error, 0 lines not stored\n"
    assert out.getvalue() == read
    assert err.getvalue() == f"Following {path}. End with Ctrl+C.\n{read.removeprefix(f'{path} → ')}"


@pytest.mark.parametrize("first", [("--expect", "3"), ("--idle", "0.01")])
def test_half_a_line_at_the_end_of_a_watch_is_read_again_by_the_next(first: tuple[str, str], tmp_path: Path) -> None:
    def watch(*options: str) -> str:
        out = io.StringIO()
        call_command("watch", str(path), *options, stdout=out, stderr=io.StringIO())
        return out.getvalue().removeprefix(f"{path} → run desk-birch: ").strip()

    path = tmp_path / "desk.birch.jsonl"
    rows = lines(6)
    write(path, b"".join(rows[:3]) + rows[3][:500])
    # All that was expected is there: the line behind it is still being written.
    rest, of = ("0 lines", " of 3") if first[0] == "--expect" else ("1 line", "")
    assert watch(*first) == f"3 rows{of}; 1 passed, 1 failed, 1 error, {rest} not stored"
    write(path, rows[3][500:] + b"".join(rows[4:]))
    assert watch("--idle", "0.01") == f"6 rows{of}; 3 passed, 2 failed, 1 error, 0 lines not stored"
    assert not Upload.objects.get().problems.exists()


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_shows_how_far_it_is_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "desk.birch.jsonl"
    write(path, b"".join(lines(6)))
    err = Terminal()
    monkeypatch.setenv("COLUMNS", "120")
    call_command("watch", str(path), "--expect", "6", stdout=io.StringIO(), stderr=err)
    _, first, last = err.getvalue().split("\r\x1b[K")
    assert first == "run desk-birch: 6 rows of 6; 3 passed, 2 failed, 1 error, 0 lines not stored"
    assert last == ""


def test_a_narrow_terminal_keeps_to_its_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    path = tmp_path / "desk.birch.jsonl"
    write(path, b"".join(lines(6)))
    err = Terminal()
    call_command("watch", str(path), "--expect", "6", stdout=io.StringIO(), stderr=err)
    assert err.getvalue().split("\r\x1b[K")[1] == "run desk-birch: 6 r"


def test_the_last_rows_are_told_of_although_they_came_soon_after_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "desk.birch.jsonl"
    write(path, b"".join(lines(6)))
    clock = Clock()
    more = iter(lines(9)[6:])

    def sleep(seconds: float) -> None:
        clock.now += seconds / 10
        write(path, next(more, b""))

    monkeypatch.setattr(clock, "sleep", sleep, raising=False)
    monkeypatch.setattr("runs.management.commands.watch.time", clock)
    err = Terminal()
    call_command("watch", str(path), "--idle", "2", stdout=io.StringIO(), stderr=err)
    _, first, last, _ = err.getvalue().split("\r\x1b[K")
    assert ("6 rows; " in first, "9 rows; " in last) == (True, True)


def full(*_: object) -> int:
    raise OperationalError("database or disk is full")


def test_the_command_says_what_it_cannot_do(
    tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.INBOX = ""
    with pytest.raises(CommandError, match="set TWENTYFOLD_INBOX"):
        call_command("watch", stderr=io.StringIO())
    write(tmp_path / "x.jsonl", b"hello\n")
    with pytest.raises(CommandError, match="no known format"):
        call_command("watch", str(tmp_path / "x.jsonl"), stderr=io.StringIO())
    write(tmp_path / "y.jsonl", b"".join(lines(3)))
    with monkeypatch.context() as patch:
        patch.setattr(Follower, "step", full)
        with pytest.raises(CommandError, match=r"did not take the rows \(database or disk is full\)\. Look after"):
            call_command("watch", str(tmp_path / "y.jsonl"), stderr=io.StringIO())
    write(tmp_path / "z.zip", zip_of({"desk.birch.jsonl": b"".join(lines(3))}))
    with pytest.raises(
        CommandError, match=r"z\.zip is compressed or an archive: .* Ingest it, or put it into a folder"
    ):
        call_command("watch", str(tmp_path / "z.zip"), stderr=io.StringIO())
    with pytest.raises(CommandError, match="'x' is no number of seconds"):
        call_command("watch", str(tmp_path / "y.jsonl"), "--idle", "x", stderr=io.StringIO())
    with pytest.raises(CommandError, match="'many' is no whole number"):
        call_command("watch", str(tmp_path / "y.jsonl"), "--expect", "many", stderr=io.StringIO())
    with pytest.raises(CommandError, match="no row came"):
        call_command("watch", str(tmp_path / "none.jsonl"), "--idle", "0.1", stderr=io.StringIO())
