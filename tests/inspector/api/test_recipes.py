"""The recipes of the documentation, run as they are written against a server as it is started."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest

from tests.archives import zip_of
from tests.factories import write_jsonl
from tests.served import served
from tests.stored import outcomes

RECIPES = Path(__file__).resolve().parents[3] / "docs" / "recipes"
BASE = [*outcomes("desk.py:test_1", "pppp"), *outcomes("desk.py:test_2", "pppf"), *outcomes("desk.py:test_3", "pfff")]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served(tmp_path_factory.mktemp("served")) as url:
        yield url


def blocks(name: str, language: str) -> list[str]:
    text = (RECIPES / f"{name}.md").read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def run(command: list[str], folder: Path, server: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "TWENTYFOLD": server, **variables}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False
    )


def test_curl(server: str, tmp_path: Path) -> None:
    write_jsonl(tmp_path / "results.jsonl", BASE)
    script = "\n".join(["set -euo pipefail", *blocks("curl", "sh")])
    done = run(["bash", "-c", script], tmp_path, server)
    assert done.returncode == 0, done.stdout + done.stderr
    assert '{"state":"done","stored":12,"rejected":0,"error":""}' in done.stdout
    again = [json.loads(line) for line in (tmp_path / "again.jsonl").read_text().splitlines()]
    assert sorted(again, key=lambda row: (row["uid"], row["metadata"]["repetition"])) == BASE


def test_python(server: str, tmp_path: Path) -> None:
    write_jsonl(tmp_path / "results.jsonl", BASE)
    done = run([sys.executable, "-c", "\n".join(blocks("python", "python"))], tmp_path, server)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == f"pass@1 {8 / 12} all k of k {{'count': 1, 'of': 3, 'share': {1 / 3}}}"
    assert lines[-1].split()[1] == "update_rental"
    assert sum(" wrong rentals status" in line for line in lines) == 4


def test_the_job_fails_on_a_regression_and_passes_without(server: str, tmp_path: Path) -> None:
    (tmp_path / "regression.py").write_text(blocks("ci", "python")[0])
    job = blocks("ci", "sh")[0]

    def results(rows: list[dict[str, object]], model: str, base: str) -> subprocess.CompletedProcess[str]:
        write_jsonl(tmp_path / "results.jsonl", rows)
        return run(["bash", "-ec", job], tmp_path, server, BASE=base, MODEL=model, BENCHMARK="ci")

    first = results(BASE, "base", "none")
    # There was nothing to compare with yet: no regression.
    assert (first.returncode, " answered 404: " in first.stderr) == (2, True)
    with urlopen(f"{server}/api/v1/runs?benchmark=ci&fields=slug") as answer:
        base = json.load(answer)["items"][0]["slug"]
    same = results([*BASE[:11], *outcomes("desk.py:test_3", "pffp")[3:]], "same", base)
    assert (same.returncode, same.stderr) == (0, "")
    worse = results([*outcomes("desk.py:test_1", "ppff"), *BASE[4:]], "worse", base)
    assert (worse.returncode, "no longer dependable: ['desk.py:test_1']" in worse.stdout) == (1, True)
    two = [write_jsonl(tmp_path / "part.jsonl", rows).read_bytes() for rows in (BASE[:4], BASE[4:8])]
    parts = dict(zip(("oak.jsonl", "elm.jsonl"), two, strict=True))
    (tmp_path / "several.zip").write_bytes(zip_of(parts))
    several = run(
        [sys.executable, "regression.py", "several.zip"], tmp_path, server, BASE=base, MODEL="several", BENCHMARK="ci"
    )
    assert (several.returncode, several.stderr) == (2, "")
    assert several.stdout.startswith("One run is compared with the base; several.zip is of several or none: ")
