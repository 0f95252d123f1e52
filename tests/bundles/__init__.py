"""Small sample files, one per trouble, and the ways in which tests read them."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from msgspec import Raw

from runs.bundles import read_rows
from runs.bundles.base import RawRecord, Reader, ReadRecord
from runs.errors import BadRecord
from runs.records import AttemptRecord, Problem

MAX_LINE = 32 << 20
FOLDER = Path(__file__).parent


class Reading(NamedTuple):
    """What became of a file's lines."""

    reader: Reader
    rows: list[tuple[int, ReadRecord]]
    """Line and row."""
    problems: list[Problem]
    refused: list[tuple[int, BadRecord]]
    """Line and error."""

    @property
    def records(self) -> list[AttemptRecord]:
        return [read.record for _, read in self.rows]


def read_sample(name: str, *, max_line: int = MAX_LINE) -> Reading:
    return read_bytes((FOLDER / name).read_bytes(), name=name, max_line=max_line)


def read_bytes(content: bytes, *, name: str = "results.jsonl", max_line: int = MAX_LINE) -> Reading:
    reader, rows = read_rows(io.BytesIO(content), name=name, max_line=max_line)
    reading = Reading(reader, [], [], [])
    for row in rows:
        if isinstance(row, Problem):
            reading.problems.append(row)
            continue
        try:
            reading.rows.append((row.line, reader.read(row.text)))
        except BadRecord as error:
            reading.refused.append((row.line, error))
    return reading


def row_texts(name: str) -> list[bytes]:
    """The texts of a sample's rows, as its reader finds them."""
    _, rows = read_rows(io.BytesIO((FOLDER / name).read_bytes()), name=name, max_line=MAX_LINE)
    return [row.text for row in rows if isinstance(row, RawRecord)]


def put_together(reader: Reader, read: ReadRecord) -> Any:
    """The row again, decoded by the standard library."""
    parts = {
        part.path: part.value if part.value is not None else Raw(msgspec.json.encode(part.tables))
        for part in read.detached.parts
    }
    return json.loads(reader.attach(read.detached.skeleton, parts))
