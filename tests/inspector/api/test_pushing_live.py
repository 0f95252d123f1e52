"""Attempts that two processes push one by one, twice, give the numbers of one upload. On a server as it is started."""

from __future__ import annotations

import hashlib
import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import pytest

from tests.factories import Outcome, make_row, write_jsonl
from tests.served import served

PUSHER = """
import json, sys, urllib.request
url, path, turn, turns = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
lines = open(path, "rb").read().splitlines()
# Everybody sends all rows twice, from another place on, so that the same rows are on their way at once.
order = [*lines[turn * len(lines) // turns:], *lines[: turn * len(lines) // turns]]
for line in [*order, *order]:
    request = urllib.request.Request(url, data=line, headers={"Content-Type": "application/x-ndjson"})
    with urllib.request.urlopen(request, timeout=120) as answer:
        print(json.load(answer)["lines"][0]["outcome"])
"""
WORDS: dict[str, Outcome] = {"p": "passed", "f": "failed", "e": "system", "n": "not_graded"}
VERDICTS = {
    "desk_a.py:test_1": "pppppppppppppppppppp",
    "desk_a.py:test_2": "pfpfpfpfpfpfpfpfpfpf",
    "desk_a.py:test_3": "ffffffffffffffffffff",
    "desk_a.py:test_4": "pppppppppppppppppppf",
    "desk_b.py:test_1": "efpefpefpefpefpefpef",
    "desk_b.py:test_2": "npppppppppppppppppnp",
    "desk_b.py:test_3": "ppppppppppfffffffffe",
    "desk_b.py:test_4": "pfffffffffffffffffff",
    "desk_c.py:test_1": "pppppppppppppppppppp",
    "desk_c.py:test_2": "eeeeeeeeeeeeeeeeeeee",
    "desk_c.py:test_3": "fpfpfpfpfpfpfpfpfpfp",
    "desk_c.py:test_4": "ppfppfppfppfppfppfpp",
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served(tmp_path_factory.mktemp("served")) as url:
        yield f"{url}/api/v1"


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows = [
        make_row(uid=uid, repetition=number, outcome=WORDS[letter], test_tags={"domain": uid[:6], "labels": []})
        for uid, letters in VERDICTS.items()
        for number, letter in enumerate(letters)
    ]
    assert len(rows) == 240
    return write_jsonl(tmp_path_factory.mktemp("bundle") / "desk.birch.jsonl", rows)


def call(url: str, method: str = "GET", data: bytes | None = None, kind: str = "application/json") -> Any:
    request = Request(url, data=data, method=method, headers={"Content-Type": kind} if data is not None else {})
    with urlopen(request, timeout=120) as answer:
        return json.load(answer)


def figures(url: str, slug: str) -> dict[str, Any]:
    """All that is told about a run, without its name and without ids."""
    report = call(f"{url}/runs/{slug}/report")
    detail = call(f"{url}/runs/{slug}")
    tasks = call(f"{url}/runs/{slug}/tasks?limit=500")["items"]
    failures = call(f"{url}/runs/{slug}/failures")
    if failures["quote"] is not None:
        failures["quote"]["id"] = 0
    with urlopen(f"{url}/runs/{slug}/attempts.ndjson", timeout=120) as answer:
        attempts = [json.loads(line) for line in answer]
    gone = ("id", "run")
    return {
        "report": {name: value for name, value in report.items() if name != "run"},
        "numbers": detail["numbers"],
        "worth": detail["worth"],
        "domains": detail["domains"],
        "tasks": tasks,
        "failures": failures,
        "attempts": sorted(
            ({name: value for name, value in row.items() if name not in gone} for row in attempts),
            key=lambda row: (row["task"], row["repetition"]),
        ),
    }


def test_two_processes_that_push_240_attempts_one_by_one_and_twice_give_the_numbers_of_one_upload(
    server: str, bundle: Path
) -> None:
    data = bundle.read_bytes()
    digest = hashlib.sha256(data).hexdigest()
    sent = call(
        f"{server}/uploads/{digest}?name=desk.birch.jsonl&model=birch&benchmark=desk",
        "PUT", data, "application/octet-stream",
    )  # fmt: skip
    end = time.monotonic() + 120
    while (upload := call(f"{server}/uploads/{sent['id']}"))["state"] != "done":
        assert time.monotonic() < end, upload
        time.sleep(0.2)
    made = call(
        f"{server}/runs", "POST", json.dumps({"model": "birch", "benchmark": "desk", "slug": "pushed"}).encode()
    )
    assert (made["slug"], made["created"]) == ("pushed", True)

    address = f"{server}/runs/pushed/attempts"
    pushers = [
        subprocess.Popen(
            [sys.executable, "-c", PUSHER, address, str(bundle), str(turn), "2"], stdout=subprocess.PIPE, text=True
        )
        for turn in range(2)
    ]
    outcomes: list[str] = []
    for pusher in pushers:
        output, _ = pusher.communicate(timeout=600)
        assert pusher.returncode == 0
        outcomes += output.split()

    assert (len(outcomes), outcomes.count("stored"), outcomes.count("same")) == (960, 240, 720)
    assert figures(server, "pushed") == figures(server, upload["run"]["slug"])
    history = call(f"{server}/uploads")["items"]
    pushed = [entry for entry in history if entry["file_name"] == "pushed attempts"]
    assert [(entry["read"], entry["stored"], entry["same"]) for entry in pushed] == [(960, 240, 720)]


def test_a_connection_that_breaks_is_gone_on_with(server: str, bundle: Path) -> None:
    data = bundle.read_bytes()[:200_000]
    digest = hashlib.sha256(data).hexdigest()
    host = urlsplit(server)
    head = (
        f"PUT {host.path}/uploads/{digest} HTTP/1.1\r\nHost: {host.netloc}\r\nContent-Length: {len(data)}\r\n"
        "Content-Type: application/octet-stream\r\n\r\n"
    )
    with socket.create_connection((host.hostname or "", host.port or 0)) as connection:
        connection.sendall(head.encode() + data[:120_000])

    def offset() -> int:
        with urlopen(Request(f"{server}/uploads/{digest}", method="HEAD"), timeout=60) as answer:
            return int(answer.headers["Upload-Offset"])

    end = time.monotonic() + 60
    while offset() < 120_000:
        assert time.monotonic() < end, offset()
        time.sleep(0.1)
    address = f"{server}/uploads/{digest}?model=cedar&benchmark=desk"
    request = Request(address, data=data[120_000:], method="PUT", headers={"Upload-Offset": "120000"})
    with urlopen(request, timeout=60) as answer:
        assert (answer.status, json.load(answer)["size"]) == (201, 200_000)
