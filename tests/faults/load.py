"""Twenty files at once while ten people browse: `uv run python -m tests.faults.load [--uploads N] [--postgres]`.

Everything goes through a running `up`. It is right when no request fails, every row is stored, and `verify` finds
nothing; the times of the reads are reported, with the slowest ones, what they asked for and when.
"""

from __future__ import annotations

import argparse
import http.client
import json
import random
import re
import signal
import sys
import threading
import time
import uuid
from contextlib import ExitStack
from pathlib import Path
from statistics import quantiles
from typing import NamedTuple

from runs.demo import bundles
from tests.faults.site import Cluster, Site, free_port, serves, temporary, until

SLOWEST = 5
"""Reads that are told one by one."""
PAGES = ("/", "/uploads/", "/failures/", "/leaderboards/", "/failures/errors/")


class Read(NamedTuple):
    """A page that was read: seconds it took, its address, and when it was asked for (monotonic)."""

    seconds: float
    path: str
    at: float


class Visitor:
    """One browser: a connection, a cookie, and what came of its requests."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.errors: list[str] = []
        self.reads: list[Read] = []
        self.links: list[str] = []

    def ask(self, method: str, path: str, body: bytes = b"", **headers: str) -> tuple[int, bytes, str]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            return answer.status, answer.read(), answer.headers.get("Set-Cookie", "")
        finally:
            connection.close()

    def read(self, path: str) -> None:
        began = time.monotonic()
        try:
            status, body, _ = self.ask("GET", path)
        except OSError as error:
            self.errors.append(f"GET {path}: {error}")
            return
        self.reads.append(Read(time.monotonic() - began, path, began))
        if status != 200:
            self.errors.append(f"GET {path}: {status}")
        self.links = re.findall(r'href="(/(?:runs|attempts)/[^"#?]+/)"', body.decode()) or self.links

    def sees_all_stored(self) -> bool:
        """Asked of the server: a process of its own, each time, would take a core from what is measured."""
        status, body, _ = self.ask("GET", "/api/v1/uploads?limit=200&fields=state")
        return status == 200 and {upload["state"] for upload in json.loads(body)["items"]} == {"done"}

    def browse(self, ended: threading.Event, chance: random.Random) -> None:
        while not ended.is_set():
            self.read(chance.choice([*PAGES, *self.links[:20]]))
            ended.wait(chance.uniform(0.05, 0.3))

    def upload(self, path: Path, model: str) -> None:
        _, page, cookie = self.ask("GET", "/uploads/")
        token = re.findall(rb'name="csrfmiddlewaretoken" value="([^"]+)"', page)[0].decode()
        boundary = uuid.uuid4().hex
        fields = {"csrfmiddlewaretoken": token, "model": model, "benchmark": "load"}
        parts = [
            f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
            for name, value in fields.items()
        ]
        head = f'--{boundary}\r\nContent-Disposition: form-data; name="files"; filename="{model}.jsonl.zst"\r\n\r\n'
        body = b"".join([*parts, head.encode(), path.read_bytes(), f"\r\n--{boundary}--\r\n".encode()])
        kind = f"multipart/form-data; boundary={boundary}"
        try:
            status, _, _ = self.ask("POST", "/uploads/", body, Cookie=cookie.split(";")[0], **{"Content-Type": kind})
        except OSError as error:
            self.errors.append(f"upload {model}: {error}")
            return
        if status not in {200, 303}:
            self.errors.append(f"upload {model}: {status}")


def main() -> int:
    parser = argparse.ArgumentParser(description="Twenty files at once while ten people browse.")
    parser.add_argument("--uploads", type=int, default=20)
    parser.add_argument("--readers", type=int, default=10)
    parser.add_argument("--postgres", action="store_true", help="on a PostgreSQL cluster of its own")
    options = parser.parse_args()
    # Told to end, it ends what it started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    paths = [bundle.path for bundle in bundles()]
    with ExitStack() as stack:
        folder = stack.enter_context(temporary())
        variables = {"TWENTYFOLD_LEASE": "90"}
        if options.postgres:
            cluster = Cluster(folder / "cluster")
            stack.callback(cluster.end)
            variables["DATABASE_URL"] = cluster.url
        site = Site(folder, **variables)
        stack.callback(site.end)
        port = free_port()
        site.start_up(port)
        until(lambda: serves(port), "the pages are there")
        ended = threading.Event()
        readers = [Visitor(port) for _ in range(options.readers)]
        writers = [Visitor(port) for _ in range(options.uploads)]
        reading = [
            threading.Thread(target=reader.browse, args=(ended, random.Random(number)))
            for number, reader in enumerate(readers)
        ]
        writing = [
            threading.Thread(target=writer.upload, args=(paths[number % len(paths)], f"model-{number}"))
            for number, writer in enumerate(writers)
        ]
        began = time.monotonic()
        for thread in [*reading, *writing]:
            thread.start()
        for thread in writing:
            thread.join()
        sent = time.monotonic() - began
        asking = Visitor(port)
        until(asking.sees_all_stored, "all is stored", 600, every=1.0)
        stored = time.monotonic() - began
        ended.set()
        for thread in reading:
            thread.join()
        numbers = site.numbers()
        locked = (site.folder / "faults.log").read_text(encoding="utf-8", errors="replace").count("is locked")
        logs = sum(
            path.read_text(encoding="utf-8", errors="replace").count("is locked")
            for path in (site.folder / "logs").glob("*")
        )
    errors = [error for visitor in [*readers, *writers] for error in visitor.errors]
    reads = sorted(read for reader in readers for read in reader.reads)
    rows = sum(row[1] for row in numbers["uploads"])
    cuts = quantiles([read.seconds for read in reads], n=100)
    sys.stdout.write(
        f"{options.uploads} uploads sent in {sent:.0f} s, {rows:,} rows stored after {stored:.0f} s; "
        f"{len(reads):,} reads: p50 {cuts[49] * 1e3:.0f} ms, p95 {cuts[94] * 1e3:.0f} ms, "
        f"p99 {cuts[98] * 1e3:.0f} ms\n"
        f"errors: {len(errors)}, locked: {locked + logs}, found wrong: {len(numbers['wrong'])}\n"
    )
    slowest = [f"{read.seconds:.2f} s at {read.at - began:.0f} s: {read.path}" for read in reversed(reads[-SLOWEST:])]
    for text in [*slowest, *errors[:20], *numbers["wrong"][:20]]:
        sys.stdout.write(f"{text}\n")
    whole = rows == len(numbers["attempts"]) == 240 * options.uploads
    return 0 if whole and not errors and not locked + logs and not numbers["wrong"] else 1


if __name__ == "__main__":
    sys.exit(main())
