"""Cutting a plain file of lines: its parts hold the same rows as the whole, wherever it is cut."""

from __future__ import annotations

import io
import itertools
import json

import pytest

from runs.bundles import cut_rows, cutting, read_rows
from runs.bundles.cutting import Window
from runs.bundles.lines import Blanks
from tests.factories import make_row

ROW = json.dumps(make_row()).encode()
OTHER = json.dumps(make_row(repetition=1)).encode()
LIMIT = len(ROW) + 200
CONTENTS = {
    "lines": ROW + b"\n" + OTHER + b"\n",
    "no last line end": ROW + b"\n" + OTHER,
    "cut off": ROW + b"\n" + OTHER[:-9],
    "Windows": ROW + b"\r\n" + OTHER + b"\r\n",
    "byte order mark": b"\xef\xbb\xbf" + ROW + b"\n" + OTHER + b"\n",
    "blank lines": ROW + b"\n\n  \t\n" + OTHER + b"\n\r\n\n" + ROW + b"\n\n\n\n",
    "spaces round": b"  " + ROW + b"\n   " + OTHER + b"  \n ",
    "too long": ROW + b"\n" + b" " * (LIMIT + 1) + b"\n{" + b"x" * LIMIT + b"}\n\n" + OTHER,
    "no JSON": ROW + b"\nnothing\n[1]\n\xff\xfe\n" + OTHER + b"\n",
}


@pytest.mark.parametrize("block", [1, 7, 64, 1 << 20])
@pytest.mark.parametrize("most_rows", [1, 2, 100])
@pytest.mark.parametrize("name", list(CONTENTS))
def test_the_parts_of_a_file_hold_its_rows(
    name: str, most_rows: int, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = CONTENTS[name]
    monkeypatch.setattr(cutting, "_BLOCK", block)
    reader, rows = read_rows(io.BytesIO(content), name=name, max_line=LIMIT)
    blanks = Blanks()
    file = io.BytesIO(content)
    cut = cut_rows(file, blanks, name=name, max_line=LIMIT, most_rows=most_rows, most_bytes=1 << 20)
    assert cut is not None
    same, extents = cut
    assert same is reader
    found = []
    parts = list(extents)
    for extent in parts:
        window = Window(file, extent)
        part = list(reader.rows_of_lines(window, Blanks(), max_line=LIMIT, first=extent.first_line))
        assert 0 < len(part) <= most_rows
        found += part
    assert found + blanks.notes() == list(rows)
    assert all(before.end == after.start for before, after in itertools.pairwise(parts))


def test_a_part_ends_where_it_is_large() -> None:
    file = io.BytesIO((ROW + b"\n") * 9)
    cut = cut_rows(file, Blanks(), name="f", max_line=LIMIT, most_rows=100, most_bytes=3 * len(ROW) - 1)
    assert cut is not None
    assert [extent.first_line for extent in cut[1]] == [1, 4, 7]
