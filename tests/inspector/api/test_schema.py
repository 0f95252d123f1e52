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


TOKEN = f"tf_{'a' * 43}"
"""Of an admin, with all scopes: as `inspector.tokens` makes one, with a text that is known here."""
ADMIN = f"""
import hashlib
from django.contrib.auth.models import User
from inspector.models import Account, ApiToken
from runs.access import Role, Scope

ada = User.objects.create_user("ada")
Account.objects.create(user=ada, role=Role.ADMIN)
digest = hashlib.sha256({TOKEN!r}.encode()).hexdigest()
ApiToken.objects.create(owner=ada, name="ci", digest=digest, scopes=[scope.value for scope in Scope])
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served(tmp_path_factory.mktemp("served")) as url:
        fill(url)
        yield url


@pytest.fixture(scope="module")
def closed_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """In server mode, with the account of an admin."""
    folder = tmp_path_factory.mktemp("closed")
    with served(folder, first=ADMIN, TWENTYFOLD_AUTH="required", TWENTYFOLD_API_RATE="0") as url:
        fill(url, Authorization=f"Bearer {TOKEN}")
        yield url


def fill(url: str, **headers: str) -> None:
    """Two runs, whose names are such as a machine makes up."""
    for slug, letters in (("0", "ppf"), ("1", "pfe")):
        about = json.dumps({"model": f"m{slug}", "benchmark": "desk", "slug": slug}).encode()
        send(f"{url}/api/v1/runs", about, "application/json", headers)
        rows = [*outcomes("desk.py:test_1", letters), *outcomes("desk.py:test_2", "fff")]
        lines = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
        send(f"{url}/api/v1/runs/{slug}/attempts", lines, "application/x-ndjson", headers)


def send(url: str, body: bytes, kind: str, headers: dict[str, str]) -> None:
    with urlopen(Request(url, data=body, headers={"Content-Type": kind, **headers}), timeout=60) as answer:
        answer.read()


@pytest.mark.schema
@pytest.mark.parametrize("mode", ["all", "positive"])
def test_the_server_does_what_its_schema_says(server: str, tmp_path: Path, mode: str) -> None:
    """All that the schema allows and forbids; then what it allows, of things that are there."""
    done = checked(server, tmp_path, mode)
    assert done.returncode == 0, told(done)


@pytest.mark.schema
@pytest.mark.parametrize("mode", ["all", "positive"] if EXAMPLES else ["positive"])
def test_and_in_server_mode_to_an_admins_token(closed_server: str, tmp_path: Path, mode: str) -> None:
    done = checked(closed_server, tmp_path, mode, "--header", f"Authorization: Bearer {TOKEN}")
    assert done.returncode == 0, told(done)


def checked(server: str, tmp_path: Path, mode: str, *more: str) -> subprocess.CompletedProcess[str]:
    """What Schemathesis ends with."""
    config = tmp_path / "schemathesis.toml"
    config.write_text(KNOWN if mode == "positive" else "")
    phases = ["examples", *(["coverage"] if EXAMPLES else []), "fuzzing", *(["stateful"] if mode == "all" else [])]
    command = [
        str(Path(sys.executable).with_name("st")), "--config-file", str(config), "run",
        f"{server}/api/v1/openapi.json", "--checks", "all", "--mode", mode, "--phases", ",".join(phases),
        "--max-examples", str(EXAMPLES or 3), "--no-color", "--generation-deterministic", *more,
    ]  # fmt: skip
    return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=3600, check=False)


def told(done: subprocess.CompletedProcess[str]) -> str:
    return done.stdout[-8000:] + done.stderr[-2000:]
