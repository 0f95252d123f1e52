"""The app as a person starts it, on a new data folder and a new database, for tests that need a real server."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from urllib.error import URLError
from urllib.parse import urlsplit, urlunsplit
from urllib.request import urlopen

import psycopg

__all__ = ["new_database", "served"]

PROJECT = Path(__file__).resolve().parent.parent
PATIENCE = 120.0


@contextlib.contextmanager
def served(folder: Path, *, first: str = "", **variables: str) -> Iterator[str]:
    """`up` with its workers; gives the address without a slash at its end.

    `first`: Python that is run once the database is there, such as what makes an account, with Django set up.
    """
    kept = {name: value for name, value in os.environ.items() if name not in {"DATABASE_URL", "CELERY_BROKER_URL"}}
    with new_database() as database, socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        environment = {**kept, **database, "TWENTYFOLD_DATA_DIR": str(folder), "TWENTYFOLD_WORKERS": "1", **variables}
        command = [sys.executable, str(PROJECT / "manage.py"), "up", "--no-demo", "--no-browser", "--port", str(port)]
        log = folder / "served.log"
        with log.open("wb") as output:
            process = subprocess.Popen(command, env=environment, stdout=output, stderr=output, cwd="/")
            try:
                _wait(process, f"http://127.0.0.1:{port}", log)
                if first:
                    shell = [sys.executable, str(PROJECT / "manage.py"), "shell", "--command", first]
                    subprocess.run(shell, env=environment, check=True, timeout=PATIENCE)
                yield f"http://127.0.0.1:{port}"
            finally:
                process.send_signal(signal.SIGINT)
                process.wait(60)


def _wait(process: subprocess.Popen[bytes], url: str, log: Path) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        assert process.poll() is None, log.read_text()
        with contextlib.suppress(URLError, ConnectionError, TimeoutError), urlopen(f"{url}/healthz", timeout=5):
            return
        time.sleep(0.1)
    raise AssertionError(log.read_text())


@contextlib.contextmanager
def new_database() -> Iterator[dict[str, str]]:
    """A new PostgreSQL database beside the one that the tests use; nothing where they use SQLite."""
    url = os.environ.get("DATABASE_URL", "")
    if not url.startswith("postgres"):
        yield {}
        return
    name = f"twentyfold_served_{uuid.uuid4().hex[:12]}"
    parts = urlsplit(url)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"'.encode())
        try:
            yield {"DATABASE_URL": urlunsplit(parts._replace(path=f"/{name}"))}
        finally:
            connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)'.encode())
