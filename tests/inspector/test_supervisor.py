"""The parts that `up` is made of."""

from __future__ import annotations

import os
import signal
import socket
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from django.core.management import call_command

from inspector.management.commands.up import DemoNote, has_desktop, remove_old_files
from inspector.supervisor import run
from inspector.supervisor.address import FIRST_PORT, AddressError, listen, local_address, names_of, url_of
from inspector.supervisor.lock import AlreadyRunning, FolderLock
from inspector.supervisor.process import LOG_BYTES, LONGEST_PAUSE, STEADY_SECONDS, Process, how, last_lines


def process(folder: Path, code: str) -> Process:
    return Process("The job", ("-c", code), folder / "job.log", dict(os.environ))


def wait(job: Process, now: float) -> int:
    end = time.monotonic() + 20
    while (status := job.ended(now)) is None:
        assert time.monotonic() < end
        time.sleep(0.01)
    return status


def test_pauses_grow_while_a_process_keeps_dying(tmp_path: Path) -> None:
    job, now, pauses = process(tmp_path, "raise SystemExit(3)"), 100.0, []
    for _ in range(6):
        job.start(now)
        assert (wait(job, now), job.ended(now)) == (3, None)
        assert job.restart_at is not None
        pauses.append(round(job.restart_at - now, 3))
        assert (job.due(job.restart_at - 0.01), job.due(job.restart_at)) == (False, True)
    assert pauses == [0.2, 0.8, 3.2, 12.8, LONGEST_PAUSE, LONGEST_PAUSE]
    job.start(now)
    wait(job, now + STEADY_SECONDS)
    assert (job.failures, job.restart_at) == (1, now + STEADY_SECONDS + 0.2)


def test_killing_takes_what_it_started_along(tmp_path: Path) -> None:
    code = "import subprocess, sys; print(subprocess.Popen(['sleep', '60']).pid, flush=True); sys.stdin.read()"
    job = process(tmp_path, code)
    job.start(0)
    end = time.monotonic() + 20
    while not (text := (tmp_path / "job.log").read_text(encoding="utf-8").strip()):
        assert time.monotonic() < end
        time.sleep(0.01)
    job.kill()
    assert (job.is_running(), job.pid) == (False, None)
    end = time.monotonic() + 20
    status = Path(f"/proc/{text}/stat")
    # Whoever adopts the orphan may take a moment to read its end.
    while status.exists() and status.read_text(encoding="ascii").split()[2] != "Z":
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_large_log_is_set_aside_at_the_next_start(tmp_path: Path) -> None:
    (tmp_path / "job.log").write_bytes(b"x" * (LOG_BYTES + 1))
    job = process(tmp_path, "print('new')")
    job.start(0)
    wait(job, 0)
    assert (tmp_path / "job.log").read_text(encoding="utf-8") == "new\n"
    assert (tmp_path / "job.log.1").stat().st_size == LOG_BYTES + 1


def test_an_end_in_words() -> None:
    assert [how(0), how(3), how(-9), how(-200)] == ["exit status 0", "exit status 3", "signal SIGKILL", "signal 200"]


def test_the_last_lines_of_a_log(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(b"".join(b"line %d \xff\n" % number for number in range(5000)))
    assert last_lines(tmp_path / "log", 2) == "line 4998 �\nline 4999 �"
    assert last_lines(tmp_path / "none") == ""


def test_a_web_server_that_keeps_dying_ends_it_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "CHILD", ("-c", "raise SystemExit('no luck')"))
    monkeypatch.setattr("inspector.supervisor.process.FIRST_PAUSE", 0.001)
    said: list[str] = []
    with listen("127.0.0.1", None) as listening:
        status = run.Supervisor(listening, 1, "here", tmp_path, dict(os.environ), said.append).run(
            lambda: said.append("ready")
        )
    ended = f"The web server ended unexpectedly (exit status 1). It is started again; its log is {tmp_path}/web.log."
    assert (status, said) == (
        1,
        [
            *[ended] * run.WEB_FAILURES,
            f"The web server ended {run.WEB_FAILURES} times. The last lines of its log {tmp_path}/web.log:",
            "\n".join(["no luck"] * run.WEB_FAILURES),
        ],
    )


@pytest.mark.parametrize("free", [run._LEAST_ROOM, run._LEAST_ROOM - 1])
def test_a_process_that_ends_on_a_full_disk_is_told_with_the_reason(
    free: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "CHILD", ("-c", "raise SystemExit(1)"))
    monkeypatch.setattr("inspector.supervisor.process.FIRST_PAUSE", 0.001)
    monkeypatch.setattr("shutil.disk_usage", lambda path: SimpleNamespace(free=free))
    said: list[str] = []
    with listen("127.0.0.1", None) as listening:
        run.Supervisor(listening, 1, "here", tmp_path, dict(os.environ), said.append).run(lambda: None)
    reason = "The disk of the data folder is full. Make space there; then all goes on by itself."
    assert (reason in said) == (free < run._LEAST_ROOM)


def test_the_first_job_is_told_of_and_the_page_does_not_wait_for_it_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "FIRST_SECONDS", 0.3)
    monkeypatch.setattr(run, "CHILD", ("-c", "import sys; sys.stdin.read()"))
    monkeypatch.setattr(run.Supervisor, "_answers", lambda self: True)
    events: list[str] = []

    def done(status: int) -> None:
        events.append(f"first {status}")
        os.kill(os.getpid(), signal.SIGTERM)

    code = ("-c", "import time; time.sleep(1); raise SystemExit(5)")
    with listen("127.0.0.1", None) as listening:
        supervisor = run.Supervisor(listening, 1, "here", tmp_path, dict(os.environ), events.append, code)
        status = supervisor.run(lambda: events.append(f"ready, {supervisor.first_job_runs}"), done)
    assert (status, events) == (0, ["ready, True", "first 5"])


def test_the_workers_of_a_folder_have_the_same_places_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = tmp_path / "started"
    code = f"import sys; open({str(started)!r}, 'a').write(' '.join(sys.argv[1:]) + chr(10)); sys.stdin.read()"
    monkeypatch.setattr(run, "CHILD", ("-c", code))
    monkeypatch.setattr(run.Supervisor, "_answers", lambda self: True)

    def end_when_all_run() -> None:
        while not started.exists() or len(started.read_text().splitlines()) < 3:
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGTERM)

    seen = []
    for _ in range(2):
        with FolderLock(tmp_path) as lock, listen("127.0.0.1", None) as listening:
            place = lock.place()
            run.Supervisor(listening, 2, place, tmp_path, dict(os.environ), print).run(end_when_all_run)
        seen.append(sorted(line for line in started.read_text().splitlines() if line.startswith("worker")))
        started.unlink()
    assert seen == [[f"worker 1 {place}-1", f"worker 2 {place}-2"]] * 2


def test_a_folder_s_place_is_its_own_and_made_anew_where_it_cannot_be_read(tmp_path: Path) -> None:
    places = []
    for folder, damage in (("one", None), ("one", None), ("two", None), ("one", b"\xff"), ("one", None)):
        (tmp_path / folder).mkdir(exist_ok=True)
        if damage is not None:
            (tmp_path / folder / "place").write_bytes(damage)
        with FolderLock(tmp_path / folder) as lock:
            places.append(lock.place())
    assert places[0] == places[1]
    assert places[3] == places[4]
    assert len(set(places)) == 3
    assert all(len(f"{place}-1000") <= 15 and "." not in place for place in places)


def test_an_address_on_this_machine() -> None:
    with listen("127.0.0.1", None) as first, listen("localhost", None) as second, listen("::1", None) as third:
        ports = [listening.getsockname()[1] for listening in (first, second, third)]
        assert ports[0] >= FIRST_PORT
        assert ports[1] > ports[0]
        assert [url_of(first), url_of(third)] == [f"http://127.0.0.1:{ports[0]}/", f"http://[::1]:{ports[2]}/"]
        with pytest.raises(AddressError, match=f"Port {ports[0]} on localhost cannot be used"):
            listen("localhost", ports[0])


def test_without_a_login_only_this_machine_is_listened_for() -> None:
    for host in ("0.0.0.0", "::", "192.0.2.1", "example.com", ""):
        with pytest.raises(AddressError, match="nobody has to log in"):
            listen(host, None)
    with listen("127.0.0.1", None) as listening:
        assert names_of(listening) == []


def test_with_a_login_all_addresses_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [(socket.AF_INET, 0, 0, "", (address, 0)) for address in ("127.0.1.1", "192.0.2.7")]
    with listen("0.0.0.0", None, login=True) as listening:
        port = listening.getsockname()[1]
        assert url_of(listening) == f"http://127.0.0.1:{port}/"
        assert local_address(listening) == ("127.0.0.1", port)
        monkeypatch.setattr("socket.gethostname", lambda: "depot")
        monkeypatch.setattr("socket.getaddrinfo", lambda *arguments: found)
        monkeypatch.setattr("inspector.supervisor.address._outward", lambda family: ["192.0.2.6"])
        assert names_of(listening) == ["192.0.2.6", "192.0.2.7", "depot"]


def test_a_machine_that_knows_no_name_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*arguments: object) -> None:
        raise socket.gaierror("not known")

    with listen("0.0.0.0", None, login=True) as listening:
        monkeypatch.setattr("socket.gethostname", lambda: "depot")
        monkeypatch.setattr("socket.getaddrinfo", unknown)
        monkeypatch.setattr("socket.socket.connect", unknown)
        assert names_of(listening) == ["depot"]


def test_an_address_of_another_machine_cannot_be_listened_on() -> None:
    with pytest.raises(AddressError, match=r"192\.0\.2\.1 cannot be listened on"):
        listen("192.0.2.1", None, login=True)
    with pytest.raises(AddressError, match=r"Port 80 on 192\.0\.2\.1 cannot be used"):
        listen("192.0.2.1", 80, login=True)
    with pytest.raises(AddressError, match="is no address of this machine"):
        listen("no-such-name.invalid", None, login=True)


def test_a_full_range_of_ports_gives_any_free_one(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        monkeypatch.setattr("inspector.supervisor.address.FIRST_PORT", taken.getsockname()[1])
        monkeypatch.setattr("inspector.supervisor.address.TRIED", 1)
        with listen("127.0.0.1", None) as free:
            assert free.getsockname()[1] not in {0, taken.getsockname()[1]}


def test_one_holder_of_a_folder(tmp_path: Path) -> None:
    with FolderLock(tmp_path) as lock:
        with pytest.raises(AlreadyRunning, match=rf"and is just starting \(process {os.getpid()}\)"):
            FolderLock(tmp_path).__enter__()
        lock.announce("http://127.0.0.1:8000/")
        with pytest.raises(AlreadyRunning, match=r"at http://127\.0\.0\.1:8000/ \(process"):
            FolderLock(tmp_path).__enter__()
    with FolderLock(tmp_path):
        pass


def test_a_note_that_cannot_be_read_locks_nobody_out(tmp_path: Path) -> None:
    (tmp_path / "up.lock").write_bytes(b"\xff{")
    with FolderLock(tmp_path):
        (tmp_path / "up.lock").write_bytes(b"\xff{")
        with pytest.raises(AlreadyRunning, match=rf"on the data folder {tmp_path}\.$"):
            FolderLock(tmp_path).__enter__()


@pytest.mark.django_db
def test_the_demo_is_loaded_once_and_again_when_it_was_cut_off(tmp_path: Path) -> None:
    note = DemoNote(tmp_path / "demo")
    wanted = [note.is_wanted()]
    for state in ("loading", "loaded"):
        note.write(state)
        wanted.append(note.is_wanted())
    assert wanted == [True, True, False]


@pytest.mark.django_db
def test_no_demo_beside_runs_that_are_there(tmp_path: Path) -> None:
    call_command("demo", verbosity=0)
    assert DemoNote(tmp_path / "demo").is_wanted() is False


def test_only_old_temporary_files_are_removed(tmp_path: Path) -> None:
    for name in ("old", "young"):
        (tmp_path / name).touch()
    (tmp_path / "folder").mkdir()
    long_ago = time.time() - 2 * 24 * 3600
    os.utime(tmp_path / "old", (long_ago, long_ago))
    os.utime(tmp_path / "folder", (long_ago, long_ago))
    remove_old_files(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "young"]


@pytest.mark.parametrize(
    ("variables", "terminal", "expected"),
    [
        ({"DISPLAY": ":0"}, True, True),
        ({"WAYLAND_DISPLAY": "wayland-0"}, True, True),
        ({"DISPLAY": ":0"}, False, False),
        ({"DISPLAY": ":0", "CI": "true"}, True, False),
        ({"DISPLAY": ":10", "SSH_CONNECTION": "192.0.2.1 1 192.0.2.2 22"}, True, False),
        ({}, True, False),
    ],
)
def test_whether_somebody_sits_before_a_screen(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], terminal: bool, expected: bool
) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "CI", "SSH_CONNECTION"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setattr("sys.stdout.isatty", lambda: terminal, raising=False)
    assert has_desktop() is expected
