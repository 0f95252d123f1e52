"""`up`, as a person starts and ends it. Each test has its own data folder, and looks for processes that were left."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import psutil
import pytest

from tests.factories import write_jsonl
from tests.stored import outcomes

PROJECT = Path(__file__).resolve().parents[2]
PATIENCE = 40.0
COMPANION = b"setup_config: {orchestrator: {agent_model: {deployment: cedar-2}}}\n"


def command(*options: str) -> list[str]:
    return [sys.executable, str(PROJECT / "manage.py"), "up", "--no-demo", "--no-browser", *options]


def environment(folder: Path, **variables: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in {"DATABASE_URL", "CELERY_BROKER_URL"}}
    return kept | {"TWENTYFOLD_DATA_DIR": str(folder)} | variables


def until(true: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end, f"Not within {PATIENCE:.0f} seconds: {what}."
        time.sleep(0.05)


class Up:
    """A running `up`."""

    def __init__(self, folder: Path, *options: str, **variables: str) -> None:
        self.folder = folder
        self.lines: list[str] = []
        # From another folder, so that nothing hangs on where it is started.
        self.process = subprocess.Popen(
            command(*options),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=environment(folder, **variables),
            cwd="/",
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self.known: dict[int, psutil.Process] = {}

    def _read(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as output:
            self.lines.extend(iter(output.readline, ""))

    @property
    def output(self) -> str:
        return "".join(self.lines)

    @property
    def url(self) -> str:
        return next(line.split(" at ")[1].strip() for line in self.lines if "is running at" in line)

    def wait_until_ready(self) -> None:
        until(lambda: "Ctrl-C ends it" in self.output or self.process.poll() is not None, "the address is printed")
        assert self.process.poll() is None, self.output
        until(lambda: len(self.children("worker")) == 2, "two workers run")

    def children(self, kind: str) -> list[int]:
        """The processes of a kind, remembered to be looked for at the end."""
        found = []
        for child in psutil.Process(self.process.pid).children(recursive=True):
            try:
                arguments = child.cmdline()
            except psutil.NoSuchProcess:
                continue
            if "inspector.supervisor.child" in arguments:
                self.known[child.pid] = child
                if kind in arguments:
                    found.append(child.pid)
        return found

    def left(self) -> list[int]:
        return [pid for pid, process in self.known.items() if process.is_running() and process.status() != "zombie"]

    def get(self, path: str) -> tuple[int, str]:
        with urllib.request.urlopen(self.url + path, timeout=10) as answer:
            return answer.status, answer.read().decode()

    def ended(self) -> int:
        self.process.wait(PATIENCE)
        self._reader.join(PATIENCE)
        return self.process.returncode


@contextmanager
def running(folder: Path, *options: str, **variables: str) -> Iterator[Up]:
    up = Up(folder, "--workers", "2", *options, **variables)
    try:
        up.wait_until_ready()
        yield up
    finally:
        if up.process.poll() is None:
            up.process.terminate()
        up.ended()
        for process in up.known.values():
            if process.is_running():
                process.kill()


def test_the_first_page_a_second_up_and_an_orderly_end(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "data"
    with running(folder) as up:
        assert up.get("healthz") == (200, "ok\n")
        assert up.get("static/css/base.css?v=1")[0] == 200
        note = json.loads((folder / "up.lock").read_text(encoding="utf-8"))
        assert note == {"pid": up.process.pid, "address": up.url}
        second = subprocess.run(command(), capture_output=True, text=True, env=environment(folder), check=False)
        assert (second.returncode, second.stderr.strip()) == (
            1,
            f"CommandError: Twentyfold is already running on the data folder {folder}, at {up.url} "
            f"(process {up.process.pid}).",
        )
        assert up.get("healthz") == (200, "ok\n")
        up.process.send_signal(signal.SIGTERM)
        assert (up.ended(), up.left()) == (0, [])
        assert up.lines[-1] == "Twentyfold has ended.\n"
        assert "unexpectedly" not in up.output


def test_a_dropped_file_becomes_a_run_by_the_workers(tmp_path: Path) -> None:
    bundle = next((PROJECT / "runs" / "data" / "demo").glob("*.jsonl.zst"))
    with running(tmp_path) as up:
        visitor = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        page = visitor.open(f"{up.url}uploads/", timeout=10).read().decode()
        token = re.findall(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)[0]
        form = b"".join(
            [
                b'--edge\r\nContent-Disposition: form-data; name="csrfmiddlewaretoken"\r\n\r\n',
                token.encode(),
                b'\r\n--edge\r\nContent-Disposition: form-data; name="model"\r\n\r\nheron-test-model',
                b'\r\n--edge\r\nContent-Disposition: form-data; name="files"; filename="result.jsonl.zst"\r\n\r\n',
                bundle.read_bytes(),
                b"\r\n--edge--\r\n",
            ]
        )
        headers = {"Content-Type": "multipart/form-data; boundary=edge"}
        with visitor.open(urllib.request.Request(f"{up.url}uploads/", form, headers), timeout=10) as answer:
            assert answer.status == 200
        until(lambda: "heron-test-model" in up.get("")[1], "the run is on the first page")
        # A worker that is told to end finishes its chunk, so nothing has to wait for a lease.
        up.process.send_signal(signal.SIGINT)
        assert (up.ended(), up.left()) == (0, [])


def test_files_in_the_inbox_become_runs(tmp_path: Path) -> None:
    """One that is being written is followed, a compressed one goes to the workers."""
    inbox, waiting = tmp_path / "inbox", tmp_path / "waiting"
    inbox.mkdir()
    waiting.mkdir()
    rows = outcomes("a.py:one", "pfe")
    packed = write_jsonl(waiting / "rows.jsonl", outcomes("a.py:one", "pp")).read_bytes()

    def stored(up: Up) -> dict[str, list[int]]:
        runs = json.loads(up.get("api/v1/runs")[1])["items"]
        counts = ("recorded", "passed", "failed", "errors")
        return {run["model"]: [run["numbers"][name] for name in counts] for run in runs}

    with running(tmp_path / "data", TWENTYFOLD_INBOX=str(inbox)) as up:
        until(lambda: len(up.children("inbox")) == 1, "the inbox is followed")
        path = write_jsonl(inbox / "desk.birch.jsonl", rows[:2])
        until(lambda: stored(up) == {"birch": [2, 1, 1, 0]}, "two attempts are stored")
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(rows[2]) + "\n")
        (waiting / "desk.cedar.jsonl.gz").write_bytes(gzip.compress(packed))
        (waiting / "desk.cedar_run_metadata.yaml").write_bytes(COMPANION)
        for name in ("desk.cedar_run_metadata.yaml", "desk.cedar.jsonl.gz"):
            (waiting / name).rename(inbox / name)
        until(lambda: stored(up) == {"birch": [3, 1, 1, 1], "cedar-2": [2, 2, 0, 0]}, "all attempts are stored")
        up.process.send_signal(signal.SIGINT)
        assert (up.ended(), up.left()) == (0, [])
        assert "unexpectedly" not in up.output
    assert sorted(file.name for file in inbox.iterdir()) == [
        "desk.birch.jsonl", "desk.cedar.jsonl.gz", "desk.cedar_run_metadata.yaml",
    ]  # fmt: skip


def test_what_dies_is_started_again_at_the_same_address(tmp_path: Path) -> None:
    with running(tmp_path) as up:
        victims = [*up.children("worker")[:1], *up.children("web")]
        for pid in victims:
            os.kill(pid, signal.SIGKILL)
        until(lambda: up.output.count("ended unexpectedly (signal SIGKILL)") == 2, "both deaths are told")
        until(lambda: len(up.children("worker")) == 2 and len(up.children("web")) == 1, "both run again")
        assert not set(victims) & {*up.children("worker"), *up.children("web")}
        assert up.get("healthz") == (200, "ok\n")
        up.process.send_signal(signal.SIGINT)
        assert (up.ended(), up.left()) == (0, [])


def test_what_a_killed_worker_had_claimed_does_not_wait_for_its_lease(tmp_path: Path) -> None:
    rows = [row for number in range(20) for row in outcomes(f"a.py:{number}", "pfe" * 20)]
    data = write_jsonl(tmp_path / "rows.jsonl", rows).read_bytes()
    with running(tmp_path, TWENTYFOLD_LEASE="3600") as up:
        path = f"api/v1/uploads/{hashlib.sha256(data).hexdigest()}"
        query = "?name=desk.birch.jsonl&model=birch&benchmark=desk"
        with urllib.request.urlopen(urllib.request.Request(up.url + path + query, data, method="PUT"), timeout=10):
            until(lambda: kill_at_work(up), "a worker has claimed a chunk")

        def upload() -> dict[str, object]:
            found: dict[str, object] = json.loads(up.get("api/v1/uploads")[1])["items"][0]
            return {name: found[name] for name in ("state", "read", "stored", "passed", "failed", "errors")}

        until(lambda: upload()["state"] == "done", "the upload is done")
        counts = {"read": 1200, "stored": 1200, "passed": 400, "failed": 400, "errors": 400}
        assert upload() == {"state": "done", **counts}
        assert up.output.count("ended unexpectedly (signal SIGKILL)") == 1
        up.process.send_signal(signal.SIGINT)
        assert (up.ended(), up.left()) == (0, [])


def kill_at_work(up: Up) -> bool:
    """Kills a worker in the middle of a chunk; False while none is."""
    for pid in up.children("worker"):
        worker = psutil.Process(pid)
        # It stands still, so that what it has claimed stays as it is seen.
        worker.suspend()
        with closing(sqlite3.connect(up.folder / "twentyfold.sqlite3")) as database:
            claims = database.execute("SELECT claim FROM runs_chunk WHERE state = 'running' AND number > 0").fetchall()
        if any(claim.startswith(f"{worker.cmdline()[-1]}.") for (claim,) in claims):
            worker.kill()
            return True
        worker.resume()
    return False


def test_no_process_outlives_a_killed_up_and_the_folder_is_free_again(tmp_path: Path) -> None:
    with running(tmp_path) as up:
        assert len(up.children("web")) == 1
        up.process.kill()
        up.ended()
        until(lambda: up.left() == [], "its processes have ended")
    assert (tmp_path / "up.lock").read_text(encoding="utf-8") != ""
    with running(tmp_path) as again:
        assert again.get("healthz") == (200, "ok\n")
        again.process.send_signal(signal.SIGHUP)
        assert (again.ended(), again.left()) == (0, [])


def test_ctrl_c_during_the_start_ends_it_too(tmp_path: Path) -> None:
    up = Up(tmp_path)
    until(lambda: (tmp_path / "logs" / "web.log").exists(), "the web server is started")
    up.children("web")
    up.process.send_signal(signal.SIGINT)
    assert (up.ended(), up.left()) == (0, [])


def test_a_taken_port_is_an_error_when_it_was_asked_for(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = subprocess.run(
            command("--port", str(port)), capture_output=True, text=True, env=environment(tmp_path), check=False
        )
    assert (done.returncode, done.stderr.strip()) == (
        2,
        f"CommandError: Port {port} on 127.0.0.1 cannot be used: Address already in use. "
        "Choose another --port, or leave it out.",
    )


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.1", "example.com", ""])
def test_another_address_is_refused_without_a_login(tmp_path: Path, host: str) -> None:
    done = subprocess.run(
        command("--host", host), capture_output=True, text=True, env=environment(tmp_path), check=False
    )
    assert (done.returncode, done.stderr.startswith("CommandError: Twentyfold does not listen on")) == (2, True)
    assert "nobody has to log in" in done.stderr


def test_in_server_mode_all_addresses_are_listened_on_and_pages_ask_for_an_account(tmp_path: Path) -> None:
    with running(tmp_path, "--host", "0.0.0.0", TWENTYFOLD_AUTH="required") as up:
        assert "Nobody has an account yet. Make one: uv run manage.py createowner" in up.output
        assert up.get("healthz") == (200, "ok\n")
        status, page = up.get("")
        assert (status, "<h1>Log in</h1>" in page, "createowner" in page) == (200, True, True)
        others = [line for line in up.lines if line.startswith("Others reach it at ")]
        if others:
            # Under the machine's own name or address as well.
            with urllib.request.urlopen(others[0].split()[4].rstrip(",") + "healthz", timeout=10) as answer:
                assert answer.read() == b"ok\n"
