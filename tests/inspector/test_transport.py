"""The embedded broker: whole messages, each to one consumer, and no file that ends a worker."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Empty
from typing import Any

import pytest
from kombu import Connection

from inspector import transport

transport.register()

CONSUMER = """
import sys, time
from pathlib import Path
from queue import Empty
from kombu import Connection
from inspector import transport

transport.register()
folder, until = Path(sys.argv[1]), time.monotonic() + 20
options = transport.broker_options(folder) | {"polling_interval": 0.001}
with Connection(f"{transport.SCHEME}://localhost/", transport_options=options) as connection:
    queue = connection.SimpleQueue("numbers")
    print("ready", flush=True)
    while time.monotonic() < until:
        try:
            message = queue.get(timeout=0.2)
        except Empty:
            continue
        message.ack()
        if message.payload == "end":
            break
        print(message.payload, flush=True)
"""


@contextmanager
def connected(folder: Path) -> Iterator[Any]:
    with Connection(f"{transport.SCHEME}://localhost/", transport_options=transport.broker_options(folder)) as broker:
        yield broker


def test_two_consumers_get_each_of_500_messages_once(tmp_path: Path) -> None:
    consumers = [
        subprocess.Popen(
            [sys.executable, "-c", CONSUMER, str(tmp_path)],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.getcwd()},  # noqa: PTH109  # the project, as for pytest
        )
        for _ in range(2)
    ]
    try:
        for consumer in consumers:
            assert consumer.stdout is not None
            assert consumer.stdout.readline() == "ready\n"
        with connected(tmp_path) as broker:
            queue = broker.SimpleQueue("numbers")
            for number in range(500):
                queue.put(number)
            for _ in consumers:
                queue.put("end")
        got = [consumer.communicate(timeout=30)[0].split() for consumer in consumers]
    finally:
        for consumer in consumers:
            consumer.kill()
            consumer.wait()
    assert Counter(got[0] + got[1]) == Counter(str(number) for number in range(500))
    assert all(got), "Both consumers took part."
    left = {folder.name: [path.name for path in folder.iterdir()] for folder in tmp_path.iterdir()}
    assert (left["queue"], left["taken"], left["unreadable"]) == ([], [], [])


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b'{"body": "half',
        b"\x89PNG\r\n\x1a\n\xff\xfe",
        b"[]",
        b"{}",
        b'{"body": "e30=", "properties": {"delivery_tag": "1"}}',
        b'{"body": 5, "properties": {"delivery_tag": "1", "delivery_info": {}}}',
        b"[" * 20_000,
    ],
)
def test_a_file_that_is_no_message_is_set_aside_and_the_next_one_read(tmp_path: Path, content: bytes) -> None:
    with connected(tmp_path) as broker:
        queue = broker.SimpleQueue("numbers")
        name = "00000000000000000000_first.numbers.msg"
        (tmp_path / "queue" / name).write_bytes(content)
        queue.put("good")
        assert queue.get(timeout=5).payload == "good"
        with pytest.raises(Empty):
            queue.get(timeout=0.1)
    assert [(path.name, path.read_bytes()) for path in (tmp_path / "unreadable").iterdir()] == [(name, content)]


def test_messages_come_in_the_order_they_were_sent(tmp_path: Path) -> None:
    with connected(tmp_path) as broker:
        queue = broker.SimpleQueue("numbers")
        for number in range(20):
            queue.put(number)
        assert [queue.get(timeout=5).payload for _ in range(20)] == list(range(20))


def test_a_message_appears_in_one_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_space(self: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device")

    with connected(tmp_path) as broker:
        queue = broker.SimpleQueue("numbers")
        monkeypatch.setattr(Path, "replace", no_space)
        with pytest.raises(Exception, match="No space left on device"):
            queue.put("lost")
        with pytest.raises(Empty):
            queue.get(timeout=0.1)


def test_an_unreadable_table_of_queues_is_written_anew(tmp_path: Path) -> None:
    transport.broker_options(tmp_path)
    (tmp_path / "control" / "numbers.exchange").touch()
    with connected(tmp_path) as broker:
        queue = broker.SimpleQueue("numbers")
        queue.put("good")
        assert queue.get(timeout=5).payload == "good"


def test_many_bind_at_once_and_none_is_forgotten(tmp_path: Path) -> None:
    options = transport.broker_options(tmp_path)

    def bind(number: int) -> Callable[[], None]:
        def run() -> None:
            with Connection(f"{transport.SCHEME}://localhost/", transport_options=options) as broker:
                broker.channel()._queue_bind("all", f"key-{number}", "", f"queue-{number}")

        return run

    threads = [threading.Thread(target=bind(number)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with connected(tmp_path) as broker:
        assert sorted(row[2] for row in broker.channel().get_table("all")) == sorted(f"queue-{n}" for n in range(12))


def test_a_worker_that_waits_looks_up_often(tmp_path: Path) -> None:
    with connected(tmp_path) as broker:
        broker.SimpleQueue("numbers").consumer.consume()
        begun = time.monotonic()
        with pytest.raises(TimeoutError):
            broker.drain_events(timeout=10)
        assert time.monotonic() - begun < 2


def test_what_killed_processes_left_is_swept(tmp_path: Path) -> None:
    transport.broker_options(tmp_path)
    old, young = tmp_path / "taken" / "old.numbers.msg", tmp_path / "taken" / "young.numbers.msg"
    half = tmp_path / "queue" / "old.numbers.msg.tmp"
    waiting = tmp_path / "queue" / "old.numbers.msg"
    for path in (old, young, half, waiting):
        path.touch()
    long_ago = time.time() - 2 * transport.TAKEN_SECONDS
    for path in (old, half, waiting):
        os.utime(path, (long_ago, long_ago))
    for number in range(transport.UNREADABLE_KEPT + 5):
        (tmp_path / "unreadable" / f"{number}.numbers.msg").touch()
    assert transport.sweep_folder(tmp_path) == 7
    assert [path.exists() for path in (old, young, half, waiting)] == [False, True, False, True]
    assert len(list((tmp_path / "unreadable").iterdir())) == transport.UNREADABLE_KEPT
