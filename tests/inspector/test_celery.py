"""From a message to a real worker, over each broker."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import redis
from celery import Celery
from kombu import Connection, Exchange, Queue

from inspector import transport
from inspector.celery import SWEEP_TASK

PROJECT = Path(__file__).resolve().parents[2]
PATIENCE = 30.0
SERVICES = {
    "Redis": ("127.0.0.1", 6379, "redis://127.0.0.1:6379/15"),
    "RabbitMQ": ("127.0.0.1", 5672, "amqp://guest:guest@127.0.0.1:5672//"),
}


@contextmanager
def worker(folder: Path, queue: str, broker: str = "", default_queue: str = "") -> Iterator[subprocess.Popen[bytes]]:
    kept = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"}
    with (folder / "worker.log").open("wb") as log:
        process = subprocess.Popen(
            [
                sys.executable, "-m", "celery", "--app", "tests.inspector.worker_app", "worker",
                "--pool", "solo", "--queues", queue, "--without-gossip", "--without-mingle", "--without-heartbeat",
                "--hostname", f"{queue}@%h",
            ],
            cwd=PROJECT,
            env=kept
            | {
                "TWENTYFOLD_DATA_DIR": str(folder),
                "CELERY_BROKER_URL": broker,
                "TWENTYFOLD_TEST_QUEUE": default_queue or queue,
            },
            stdout=log,
            stderr=log,
        )  # fmt: skip
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def arrives(path: Path) -> str:
    """The text that the task wrote; empty when it did not."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if path.exists() and (text := path.read_text(encoding="utf-8")):
            return text
        time.sleep(0.05)
    return ""


def send(url: str, options: dict[str, Any], queue: str, path: Path) -> None:
    client = Celery("client", broker=url, set_as_current=False)
    client.conf.update(broker_transport_options=options, task_ignore_result=True)
    with client.connection_for_write() as connection:
        client.send_task("tests.write", (str(path), "done"), queue=queue, connection=connection)


@pytest.fixture
def queue() -> str:
    return f"twentyfold-test-{uuid.uuid4().hex}"


def test_a_task_over_the_embedded_broker_and_an_orderly_end(tmp_path: Path, queue: str) -> None:
    transport.register()
    with worker(tmp_path, queue) as process:
        options = transport.broker_options(tmp_path / "broker")
        send(f"{transport.SCHEME}://localhost/", options, queue, tmp_path / "written")
        assert arrives(tmp_path / "written") == "done", (tmp_path / "worker.log").read_text(encoding="utf-8")
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0


def test_a_worker_asks_for_a_sweep_when_it_starts(tmp_path: Path, queue: str) -> None:
    folder = tmp_path / "broker" / "queue"
    with worker(tmp_path, queue, default_queue="sweeps"):
        end = time.monotonic() + PATIENCE
        # The worker takes from another queue, so the message stays where it was put.
        while not (sweeps := swept(folder)) and time.monotonic() < end:
            time.sleep(0.05)
    assert ['"expires": "' in sweep for sweep in sweeps] == [True]


def swept(folder: Path) -> list[str]:
    """The messages that ask for a sweep; a worker that starts asks for other things too."""
    messages = [path.read_text(encoding="utf-8") for path in folder.glob("*.sweeps.msg")]
    return [text for text in messages if SWEEP_TASK in text]


@pytest.mark.service
@pytest.mark.parametrize("name", SERVICES)
def test_a_task_over_a_service(tmp_path: Path, queue: str, name: str) -> None:
    host, port, url = SERVICES[name]
    try:
        socket.create_connection((host, port), timeout=2).close()
    except OSError as error:
        pytest.skip(f"{name} does not answer on {host}:{port}: {error}.")
    try:
        with worker(tmp_path, queue, url):
            send(url, {}, queue, tmp_path / "written")
            assert arrives(tmp_path / "written") == "done", (tmp_path / "worker.log").read_text(encoding="utf-8")
    finally:
        forget(url, queue)


def forget(url: str, queue: str) -> None:
    """Leaves nothing of a test in a service that others use too."""
    with Connection(url) as connection:
        channel = connection.channel()
        Queue(queue).bind(channel).delete()
        Exchange(queue).bind(channel).delete()
    if url.startswith("redis:"):
        with redis.Redis.from_url(url) as client:
            for key in client.scan_iter(f"*{queue}*"):
                client.delete(key)
