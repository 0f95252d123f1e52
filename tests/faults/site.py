"""An installation of its own, to break: a data folder, a database, a broker, and the processes that belong to it.

Everything is started here, on free ports of this machine, and ended here, each process by its own number.
"""

from __future__ import annotations

import http.client
import json
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
import psycopg

from runs.bundles import open_bundle
from runs.demo import bundles

__all__ = ["LEASE", "Cluster", "Given", "Numbers", "Redis", "Site", "program_of", "until"]

ROOT = Path(__file__).resolve().parents[2]
_REAL = ROOT.parent / "shared" / "bundles" / "retail-20x" / "retail-20x.cedar-8b.jsonl.zst"
LEASE = 2
PATIENCE = 600.0
Numbers = dict[str, Any]

_NUMBERS = """
import hashlib, json
from runs.models import Attempt, AttemptEffect, TaskTally, ToolUse, Trace, Upload, UploadProblem
from runs.payloads import KnownTexts, restore_row
from runs.verifying import verify
def rows(found, *columns):
    return sorted(map(list, found.values_list(*columns)))
digest = hashlib.sha256()
known = KnownTexts(32 << 20)
order = ("run__model", "task__uid", "repetition", "digest")
for attempt in Attempt.objects.select_related("trace__dictionary").order_by(*order):
    digest.update(restore_row(attempt, known))
counts = ("read", "stored", "same", "replaced", "passed", "failed", "errors", "conflicts", "rejected")
tally = ("recorded", "passed", "failed", "errors", "verdicts", "differences", "tool_calls", "input_tokens")
print(json.dumps({
    "states": rows(Upload.objects.all(), "model", "state", "error"),
    "uploads": rows(Upload.objects.all(), "model", *counts),
    "attempts": rows(Attempt.objects.all(), "run__model", "task__uid", "repetition", "verdict", "digest", "current"),
    "tallies": rows(TaskTally.objects.all(), "run__model", "task__uid", *tally),
    "effects": AttemptEffect.objects.count(), "tools": ToolUse.objects.count(), "traces": Trace.objects.count(),
    "rows": digest.hexdigest(),
    "wrong": [finding.text for finding in verify() if "transcript" not in finding.text],
}))
"""
_STATES = "SELECT model, state, read, error FROM runs_upload ORDER BY model"


class Site:
    """A data folder with its database and broker."""

    def __init__(self, folder: Path, **variables: str) -> None:
        self.folder = folder
        kept = {name: value for name, value in os.environ.items() if name not in {"DATABASE_URL", "CELERY_BROKER_URL"}}
        self.environment = kept | {
            "TWENTYFOLD_DATA_DIR": str(folder),
            "TWENTYFOLD_LEASE": str(LEASE),
            "DJANGO_SETTINGS_MODULE": "inspector.settings",
            **variables,
        }
        self.processes: list[subprocess.Popen[bytes]] = []

    def django(self, code: str) -> str:
        """Runs code in a process of its own and returns what it printed."""
        done = subprocess.run(
            [sys.executable, "-c", f"import django; django.setup()\n{code}"],
            cwd=ROOT, env=self.environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            raise RuntimeError(done.stderr.strip().splitlines()[-1])
        return done.stdout

    def accept(self, files: list[Path]) -> None:
        """Makes the database, and takes in files as the page does; each is a model of its own."""
        names = [str(path) for path in files]
        self.django(
            "from pathlib import Path\nfrom django.core.management import call_command\n"
            "from runs.access import EVERYTHING\nfrom runs.upload_files import blocks_of\n"
            "from runs.uploads import Wishes, accept_upload\n"
            "call_command('migrate', verbosity=0)\n"
            f"for number, name in enumerate({names!r}):\n"
            "    with Path(name).open('rb') as file:\n"
            "        wishes = Wishes(model=f'model-{number}', benchmark='b')\n"
            "        accept_upload(name, blocks_of(file), wishes=wishes, access=EVERYTHING)\n"
        )

    def numbers(self) -> Numbers:
        found: Numbers = json.loads(self.django(_NUMBERS))
        return found

    def states(self) -> list[tuple[Any, ...]]:
        """(model, state, rows read, error) of each upload; empty while nobody can be asked."""
        with suppress(sqlite3.Error, psycopg.Error):
            if url := self.environment.get("DATABASE_URL"):
                with psycopg.connect(url) as connection:
                    return connection.execute(_STATES).fetchall()
            with closing(sqlite3.connect(f"file:{self.folder / 'twentyfold.sqlite3'}?mode=ro", uri=True)) as database:
                return database.execute(_STATES).fetchall()
        return []

    def is_done(self) -> bool:
        states = self.states()
        return bool(states) and {state for _, state, *_ in states} == {"done"}

    def start(self, *command: str) -> subprocess.Popen[bytes]:
        with (self.folder / "faults.log").open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, *command], cwd=ROOT, env=self.environment, stdout=log, stderr=subprocess.STDOUT
            )
        self.processes.append(process)
        return process

    def start_worker(self) -> subprocess.Popen[bytes]:
        return self.start("-m", "tests.faults.worker")

    def replace_ended(self) -> None:
        """Starts a worker for each process that has ended, as the supervisor of `up` does."""
        for process in [process for process in self.processes if process.poll() is not None]:
            self.processes.remove(process)
            self.start_worker()

    def start_up(self, port: int) -> subprocess.Popen[bytes]:
        return self.start("manage.py", "up", "--no-demo", "--no-browser", "--workers", "2", "--port", str(port))

    def kill(self, process: subprocess.Popen[bytes]) -> None:
        process.kill()
        process.wait()
        self.processes.remove(process)

    def child(self, process: subprocess.Popen[bytes], kind: str) -> psutil.Process | None:
        """A process that `up` has started: `web` or `worker`."""
        for child in psutil.Process(process.pid).children(recursive=True):
            with suppress(psutil.NoSuchProcess):
                if "inspector.supervisor.child" in child.cmdline() and kind in child.cmdline():
                    return child
        return None

    def end(self) -> None:
        for process in self.processes:
            family = psutil.Process(process.pid).children(recursive=True) if process.poll() is None else []
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            for child in family:
                with suppress(psutil.NoSuchProcess):
                    child.kill()
        self.processes.clear()


class Redis:
    """A Redis server that remembers nothing: after a restart its messages are gone."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self.process = self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        command = [
            "redis-server",
            "--port",
            str(self.port),
            "--bind",
            "127.0.0.1",
            "--save",
            "",
            "--dir",
            str(self.folder),
        ]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until(lambda: answers(self.port), "Redis answers")
        return process

    def restart(self) -> None:
        self.end()
        self.process = self._start()

    def end(self) -> None:
        self.process.kill()
        self.process.wait()


class Cluster:
    """A PostgreSQL cluster of its own. Where this is run by root, it belongs to the user `postgres`."""

    def __init__(self, folder: Path, like: Path | None = None) -> None:
        """`like`: the folder of another one, which was ended in peace, to begin as its copy."""
        self.folder = folder
        self.port = free_port()
        self.url = f"postgres://postgres@127.0.0.1:{self.port}/postgres"
        self.user = "postgres" if os.geteuid() == 0 else None
        folder.mkdir()
        if self.user:
            shutil.chown(folder, self.user)
        if like is None:
            self._run("initdb", "-D", str(folder / "data"), "-U", "postgres", "-A", "trust", "--no-sync")
        else:
            _copy(like / "data", folder / "data")
        self._control("start")

    def _control(self, *words: str) -> None:
        options = f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={self.folder}"
        self._run(
            "pg_ctl", "-D", str(self.folder / "data"), "-l", str(self.folder / "log"), "-o", options, "-w", *words
        )

    def _run(self, program: str, *arguments: str) -> None:
        subprocess.run(
            [program_of(program) or program, *arguments],
            user=self.user, cwd=self.folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip

    def restart(self) -> None:
        """As after a crash: nobody is waited for."""
        self._control("restart", "-m", "immediate")

    def end(self, how: str = "immediate") -> None:
        self._control("stop", "-m", how)


def program_of(name: str) -> str | None:
    """One of PostgreSQL's programs: Debian keeps them off the path."""
    found = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return str(found[-1]) if found else shutil.which(name)


def free_port() -> int:
    while True:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port: int = probe.getsockname()[1]
            if port > 20000:
                return port


def answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def serves(port: int) -> bool:
    """Whether pages are answered. `up` listens before that: who comes early waits while it starts."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    with suppress(OSError, http.client.HTTPException):
        connection.request("GET", "/healthz")
        return connection.getresponse().status == 200
    return False


def until(true: Any, what: str, patience: float = PATIENCE, *, every: float = 0.2) -> None:
    end = time.monotonic() + patience
    while not true():
        if time.monotonic() > end:
            raise TimeoutError(f"Not within {patience:.0f} seconds: {what}.")
        time.sleep(every)


class Given:
    """The files that are stored while things break, taken in once for each database; a round begins with a copy.

    They are the reference data's own rows with states, where these lie beside the project, and the demo's, of which one
    is not compressed.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        first, *others = [bundle.path for bundle in bundles()]
        plain = folder / first.stem
        with first.open("rb") as packed, plain.open("wb") as file:
            shutil.copyfileobj(open_bundle(packed), file)
        self.files = [*([_REAL] if _REAL.is_file() else []), plain, *others]

    def on_sqlite(self, folder: Path) -> Site:
        """A site in `folder`, which is there."""
        taken_in = self._folder / "sqlite"
        if not taken_in.exists():
            taken_in.mkdir()
            Site(taken_in).accept(self.files)
        for path in taken_in.iterdir():
            _copy(path, folder / path.name)
        return Site(folder)

    def on_postgres(self, folder: Path) -> tuple[Site, Cluster]:
        """A site in `folder`, for which there is no broker yet, and its cluster, which runs."""
        taken_in = self._folder / "taken-in"
        if not taken_in.exists():
            taken_in.mkdir()
            first = Cluster(self._folder / "postgres")
            Site(taken_in, DATABASE_URL=first.url).accept(self.files)
            first.end("fast")
        cluster = Cluster(folder / "postgres", like=self._folder / "postgres")
        _copy(taken_in, folder / "data")
        return Site(folder / "data", DATABASE_URL=cluster.url), cluster

    def numbers(self) -> Numbers:
        """What an ingest gives that nothing disturbs."""
        with temporary() as folder:
            site = self.on_sqlite(folder)
            site.django(
                "from runs.chunks import claim_next\nfrom runs.tasks import do_chunk\n"
                "while (chunk := claim_next()) is not None:\n    do_chunk(chunk, hint=lambda: None)\n"
            )
            return site.numbers()


def _copy(source: Path, target: Path) -> None:
    """With owners and rights, which PostgreSQL looks at."""
    subprocess.run(["cp", "-a", str(source), str(target)], check=True)


@contextmanager
def temporary() -> Iterator[Path]:
    # The database's user has to reach its part of it, and a folder of the tests is closed to others.
    folder = Path(tempfile.mkdtemp(prefix="twentyfold-faults-", dir="/tmp"))
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def kill_process(process: psutil.Process) -> None:
    with suppress(psutil.NoSuchProcess):
        process.send_signal(signal.SIGKILL)
        process.wait(10)
