"""A data folder of its own with a few runs in it, and clients that reach it as agents do: by processes and sockets."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.factories import UID, write_jsonl
from tests.stored import outcomes

PROJECT = Path(__file__).resolve().parents[3]
Result = TypeVar("Result")
Session = Callable[[Client], Awaitable[Result]]


def environment(folder: Path, **more: str) -> dict[str, str]:
    """Of a process that knows nothing of the tests' database."""
    own = {
        name: value for name, value in os.environ.items() if name not in {"DATABASE_URL", "DJANGO_ALLOW_ASYNC_UNSAFE"}
    }
    return {**own, "TWENTYFOLD_DATA_DIR": str(folder), **more}


def manage(folder: Path, *arguments: str) -> None:
    command = [sys.executable, "manage.py", *arguments]
    subprocess.run(command, cwd=PROJECT, env=environment(folder), check=True, capture_output=True)


@pytest.fixture(scope="session")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with a run of two tasks."""
    folder = tmp_path_factory.mktemp("mcp")
    rows = [*outcomes(UID, "ffp"), *outcomes("rental_desk_group1.py:test_return_002", "fep")]
    for name in ("birch", "oak"):
        write_jsonl(folder / f"desk.{name}.jsonl", rows if name == "birch" else rows[1:])
    manage(folder, "migrate", "--verbosity", "0")
    manage(folder, "ingest", str(folder / "desk.birch.jsonl"), str(folder / "desk.oak.jsonl"))
    return folder


def apart(session: Session[Result], make: Callable[[], Any]) -> Result:
    """In a thread of its own: in this one a browser test may have left its loop running."""

    async def run() -> Result:
        async with make() as client:
            return await session(client)

    with ThreadPoolExecutor(max_workers=1) as threads:
        return threads.submit(asyncio.run, run()).result(timeout=120)


@pytest.fixture
def over_stdio(stored: Path) -> Callable[[Session[Result]], Result]:
    """Runs a session with a fresh `manage.py mcp`."""
    parameters = StdioServerParameters(
        command=sys.executable, args=["manage.py", "mcp"], env=environment(stored), cwd=PROJECT
    )
    return lambda session: apart(session, lambda: Client(stdio_client(parameters)))


@pytest.fixture(scope="session")
def server(stored: Path) -> Iterator[str]:
    """The address of a web server, as in production, where nobody has to log in."""
    yield from serve(stored)


@pytest.fixture(scope="session")
def closed_server(stored: Path) -> Iterator[str]:
    """The same in server mode."""
    yield from serve(stored, TWENTYFOLD_AUTH="required")


def serve(folder: Path, **settings: str) -> Iterator[str]:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    command = [
        sys.executable,
        "-m",
        "uvicorn",
        "inspector.asgi:application",
        "--port",
        str(port),
        "--log-level",
        "warning",
    ]
    process = subprocess.Popen(command, cwd=PROJECT, env=environment(folder, **settings))
    address = f"http://127.0.0.1:{port}"
    try:
        wait_for(f"{address}/healthz")
        yield address
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(timeout=20)


def wait_for(address: str) -> None:
    for _ in range(1200):
        try:
            urllib.request.urlopen(address, timeout=30).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise AssertionError(f"{address} does not answer.")


@pytest.fixture
def over_http(server: str) -> Callable[[Session[Result]], Result]:
    return lambda session: apart(session, lambda: Client(f"{server}/mcp"))


@pytest.fixture
def over_http_as_before(server: str) -> Callable[[Session[Result]], Result]:
    """As clients of the protocol's earlier versions, which shake hands first."""
    return lambda session: apart(session, lambda: Client(f"{server}/mcp", mode="legacy"))
