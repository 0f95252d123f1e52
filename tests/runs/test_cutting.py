"""Cutting a plain file of lines: its parts hold the same rows as the whole, wherever it is cut."""

from __future__ import annotations

import gzip
import io
import itertools
import json
import random

import pytest

from runs.bundles import cut_rows, cutting, lines, read_rows
from runs.bundles.cutting import Window
from runs.bundles.lines import Blanks, split_lines
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


BLANKS = (b"\n", b"\r\n", b" \t\n", b"\n\n\n", b" " * 64 + b"\n", b" " * 65 + b"\n", b"\x0b\n")


@pytest.mark.parametrize("block", [3, 50, 1 << 20])
def test_blank_lines_by_the_run_are_counted_as_one_by_one(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cutting, "_BLOCK", block)
    monkeypatch.setattr(lines, "_CHUNK", block)
    draw = random.Random(1)
    for _ in range(40):
        pieces = [draw.choice((ROW + b"\n", b"no\n", *BLANKS * 2)) for _ in range(draw.randrange(1, 30))]
        content = ROW + b"\n" + b"".join(pieces)
        told = [at for at, line in enumerate(content.split(b"\n"), start=1) if line.strip()]
        blank = [at for at, line in enumerate(content.split(b"\n")[:-1], start=1) if not line.strip()]
        *found, last = read_rows(io.BytesIO(content), name="f", max_line=LIMIT)[1]
        notes = [last] if blank else []
        found += [] if blank else [last]
        assert [row.line for row in found] == told
        file, blanks = io.BytesIO(content), Blanks()
        cut = cut_rows(file, blanks, name="f", max_line=LIMIT, most_rows=2, most_bytes=1 << 20)
        assert cut is not None
        extents = list(cut[1])
        assert blanks.notes() == notes
        assert [note.line for note in notes] == blank[:1]
        said = [note.reason.split(" line")[0] for note in blanks.notes()]
        assert said == ([f"{len(blank)} blank"] if blank else [])
        assert len(extents) == -(-len(told) // 2)


def test_a_million_blank_lines_are_few_steps() -> None:
    found = list(split_lines(io.BytesIO(ROW + b"\n" * 1_000_000 + ROW), max_line=1 << 20))
    assert len(found) < 20
    assert (sum(line.count for line in found), found[-1].number) == (1_000_001, 1_000_001)


@pytest.mark.parametrize("packed", [False, True])
def test_where_no_row_comes_for_long_the_beat_goes_on_and_can_end_it(packed: bool) -> None:
    content = ROW + b"\n" + b" " * 99 + b"\n" * (20 << 20)
    beats = 0

    def beat() -> None:
        nonlocal beats
        beats += 1
        if beats > 5:
            raise InterruptedError

    file = io.BytesIO(gzip.compress(content, 1) if packed else content)
    cut = cut_rows(file, Blanks(), name="f", max_line=LIMIT, most_rows=2, most_bytes=1 << 20, beat=beat)
    assert (cut is None) == packed
    rows = cut[1] if cut is not None else read_rows(file, name="f", max_line=LIMIT, beat=beat)[1]
    with pytest.raises(InterruptedError):
        list(rows)
