"""Runs in the database, brought there as any file is."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable
from typing import Any

from runs.access import EVERYTHING, Access
from runs.ingest import ingest_file
from runs.models import Run, Upload
from runs.upload_files import KeptFile
from runs.uploads import Wishes, new_upload
from tests.factories import Outcome, make_row

__all__ = ["outcomes", "store", "upload_of"]


def outcomes(uid: str, letters: str, **changes: Any) -> list[dict[str, Any]]:
    """A row a letter, as in a tally: p, f, e (system), n (not graded), and `.` for none."""
    words: dict[str, Outcome] = {"p": "passed", "f": "failed", "e": "system", "n": "not_graded"}
    return [
        make_row(uid=uid, repetition=number, outcome=words[letter], **changes)
        for number, letter in enumerate(letters)
        if letter != "."
    ]


def upload_of(
    rows: Iterable[dict[str, Any]], *, file_name: str = "desk.birch.jsonl", access: Access = EVERYTHING, **wishes: Any
) -> Upload:
    """Reads rows in the foreground, as a file of this name that somebody sends."""
    data = "".join(json.dumps(row) + "\n" for row in rows).encode()
    kept = KeptFile("", f"{hash(data) & (2**64 - 1):064x}", len(data))
    wanted = Wishes(**{"model": "birch", "benchmark": "desk", **wishes})
    return ingest_file(new_upload(file_name, kept, wishes=wanted, access=access), io.BytesIO(data))


def store(rows: Iterable[dict[str, Any]], **wishes: Any) -> Run:
    """The run that rows go to. Say `model`, `benchmark`, `repetitions` or `run` (a slug)."""
    run = upload_of(rows, **wishes).run
    assert run is not None
    return run
