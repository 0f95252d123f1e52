"""Whole lines of a file that grows, is cut, and is replaced."""

from __future__ import annotations

from pathlib import Path

from runs.bundles.tailing import Piece, Tail

LINES = [f"line {number} {'x' * number}\n".encode() for number in range(2000)]


def collect(tail: Tail) -> tuple[bytes, list[str]]:
    """All that is whole now, and what happened on the way."""
    data, events = b"", []
    while True:
        piece = tail.poll(1000)
        events += [name for name in ("restarted", "final") if getattr(piece, name)]
        data += piece.data
        if not piece.data and not piece.restarted:
            return data, events


def write(path: Path, data: bytes, mode: str = "ab") -> None:
    with path.open(mode) as file:
        file.write(data)


def test_whole_lines_come_as_they_are_written_and_a_torn_one_waits(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    tail = Tail(path, max_line=1 << 20)
    assert tail.poll() == Piece()
    write(path, LINES[0] + LINES[1][:4])
    assert tail.poll() == Piece(data=LINES[0], size=len(LINES[0]) + 4)
    assert tail.poll().data == b""
    write(path, LINES[1][4:] + LINES[2])
    assert tail.poll() == Piece(data=LINES[1] + LINES[2], lines_before=1, size=sum(map(len, LINES[:3])))
    write(path, b"no end")
    assert (tail.poll().data, tail.rest()) == (b"", b"no end")


def test_a_file_that_was_cut_begins_again(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    tail = Tail(path, max_line=1 << 20)
    write(path, b"".join(LINES[:50]))
    assert collect(tail) == (b"".join(LINES[:50]), [])
    write(path, b"".join(LINES[:3]), "wb")
    assert collect(tail) == (b"".join(LINES[:3]), ["restarted"])


def test_a_file_that_was_rewritten_longer_begins_again(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    tail = Tail(path, max_line=1 << 20)
    write(path, b"".join(LINES[:50]))
    collect(tail)
    write(path, b"".join(LINES[10:200]), "wb")
    assert collect(tail) == (b"".join(LINES[10:200]), ["restarted"])


def test_a_file_that_was_moved_away_is_read_to_its_end_first(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    tail = Tail(path, max_line=1 << 20)
    write(path, b"".join(LINES[:5]))
    collect(tail)
    write(path, LINES[5] + b"torn")
    path.rename(tmp_path / "rows.jsonl.1")
    write(path, b"".join(LINES[:2]))
    assert (tail.poll().data, tail.poll(), tail.poll()) == (
        LINES[5],
        Piece(data=b"torn", lines_before=6, final=True),
        Piece(data=b"".join(LINES[:2]), size=len(LINES[0] + LINES[1])),
    )


def test_another_process_goes_on_where_one_was(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    write(path, b"".join(LINES[:50]))
    first = Tail(path, max_line=1 << 20)
    first.poll(300)
    place = first.place
    first.close()
    second = Tail(path, place, max_line=1 << 20)
    assert second.fits()
    assert collect(second)[0] == b"".join(LINES[place.lines : 50])
    write(path, b"another\n" * 500, "wb")
    assert not Tail(path, place, max_line=1 << 20).fits()


def test_a_line_longer_than_one_reading_and_one_longer_than_allowed(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    long, longer = b"a" * 5000 + b"\n", b"b" * 3_000_000 + b"\n"
    write(path, LINES[0] + long + longer + LINES[1] + b"c" * 3_000_000)
    tail = Tail(path, max_line=1 << 20)
    assert tail.poll(1000).data == LINES[0]
    assert tail.poll(1000) == Piece(data=long, lines_before=1, size=path.stat().st_size)
    assert tail.poll(1000) == Piece(lines_before=2, size=path.stat().st_size, too_long=3_000_000)
    assert tail.poll(1000).data == LINES[1]
    assert tail.poll(1000).data == b""
