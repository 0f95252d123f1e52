"""Schemathesis against a server with data: all its checks, no failure. A few examples of each operation here; more with

TWENTYFOLD_EXAMPLES=200 uv run pytest -n 0 -m schema
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from tests.served import served
from tests.stored import outcomes

EXAMPLES = int(os.environ.get("TWENTYFOLD_EXAMPLES", "0"))
# Known names, for operations that would otherwise answer "not found" to all that is made up.
KNOWN = """
[parameters]
slug = "0"
base = "0"
candidate = "1"
uid = "desk.py:test_1"
attempt_id = 3
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Two runs, whose names are such as a machine makes up."""
    with served(tmp_path_factory.mktemp("served")) as url:
        for slug, letters in (("0", "ppf"), ("1", "pfe")):
            send(f"{url}/api/v1/runs", json.dumps({"model": f"m{slug}", "benchmark": "desk", "slug": slug}).encode())
            rows = [*outcomes("desk.py:test_1", letters), *outcomes("desk.py:test_2", "fff")]
            send(
                f"{url}/api/v1/runs/{slug}/attempts",
                b"".join(json.dumps(row).encode() + b"\n" for row in rows),
                "application/x-ndjson",
            )
        yield url


def send(url: str, body: bytes, kind: str = "application/json") -> None:
    with urlopen(Request(url, data=body, headers={"Content-Type": kind}), timeout=60) as answer:
        answer.read()


@pytest.mark.schema
@pytest.mark.parametrize("mode", ["all", "positive"])
def test_the_server_does_what_its_schema_says(server: str, tmp_path: Path, mode: str) -> None:
    """All that the schema allows and forbids; then what it allows, of things that are there."""
    config = tmp_path / "schemathesis.toml"
    config.write_text(KNOWN if mode == "positive" else "")
    phases = ["examples", *(["coverage"] if EXAMPLES else []), "fuzzing", *(["stateful"] if mode == "all" else [])]
    command = [
        str(Path(sys.executable).with_name("st")), "--config-file", str(config), "run",
        f"{server}/api/v1/openapi.json", "--checks", "all", "--mode", mode, "--phases", ",".join(phases),
        "--max-examples", str(EXAMPLES or 3), "--no-color", "--generation-deterministic",
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=3600, check=False)
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
