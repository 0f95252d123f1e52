"""Compression, byte order marks and archives: from the bytes of an upload to lines."""

from __future__ import annotations

import gzip
import io
import lzma
import os
import random
import tarfile
import tracemalloc
from collections import deque
from collections.abc import Callable
from functools import partial

import pytest
import zstandard

from runs.bundles.limits import Limits
from runs.bundles.lines import Line, split_lines
from runs.bundles.opening import BrokenCompression, archive_kind, open_bundle, open_stream
from runs.errors import UnsupportedBundle
from tests.bundles import FOLDER, read_bytes, read_sample

GOOD = (FOLDER / "good.jsonl").read_bytes()


class Pipe:
    """Standard input: not seekable, and it gives what is there, which may be less than asked for."""

    def __init__(self, content: bytes, piece: int) -> None:
        self.stream = io.BytesIO(content)
        self.piece = piece

    def read(self, size: int = -1, /) -> bytes:
        return self.stream.read(self.piece if size < 0 else min(size, self.piece))


@pytest.mark.parametrize("name", ["good.jsonl", "good.jsonl.gz", "good.jsonl.zst"])
@pytest.mark.parametrize("piece", [1, 7, 1000, 1 << 20])
def test_the_content_is_the_same_however_compressed_and_in_whatever_pieces(name: str, piece: int) -> None:
    assert open_bundle(Pipe((FOLDER / name).read_bytes(), piece)).read() == GOOD


def test_gzip_members_and_zstd_frames_that_follow_each_other_are_one_file() -> None:
    half = len(GOOD) // 2
    members = gzip.compress(GOOD[:half]) + gzip.compress(GOOD[half:]) + b"\0" * 600
    skippable = b"\x50\x2a\x4d\x18\x03\x00\x00\x00abc"
    frames = skippable + zstandard.compress(GOOD[:half]) + skippable + zstandard.compress(GOOD[half:])
    assert open_bundle(io.BytesIO(members)).read() == GOOD
    assert open_bundle(io.BytesIO(frames)).read() == GOOD


def test_a_long_zstd_window_is_read() -> None:
    parameters = zstandard.ZstdCompressionParameters.from_level(3, window_log=27, enable_ldm=True)
    packed = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    content = packed.compress(GOOD) + packed.flush()
    assert open_bundle(io.BytesIO(content)).read() == GOOD


def test_looking_at_the_head_takes_nothing_away() -> None:
    stream = open_bundle(io.BytesIO(gzip.compress(GOOD)))
    assert (stream.head(10), stream.head(len(GOOD) + 5), stream.read()) == (GOOD[:10], GOOD, GOOD)


@pytest.mark.parametrize("name", ["cut.jsonl.gz", "cut.jsonl.zst"])
def test_the_rows_before_a_cut_are_read_and_the_line_of_the_cut_is_listed(name: str) -> None:
    reading = read_sample(name)
    kind = name.rpartition(".")[2].replace("gz", "gzip").replace("zst", "zstd").replace("gzipip", "gzip")
    assert [line for line, _ in reading.rows] == [1, 2]
    assert [(problem.line, problem.kind.value, problem.reason) for problem in reading.problems] == [
        (
            3,
            "rejected",
            f"The {kind} data ends early, so the file is probably cut off. Copy it again, and give the whole file. "
            "The rows before this line were read.",
        )
    ]


@pytest.mark.parametrize("packed", [gzip.compress(GOOD, mtime=0), zstandard.compress(GOOD)], ids=["gzip", "zstd"])
def test_a_cut_anywhere_gives_a_beginning_of_the_content_and_then_the_error(packed: bytes) -> None:
    for length in random.Random(1).sample(range(4, len(packed)), 40):
        got: list[bytes] = []
        with pytest.raises(BrokenCompression, match="ends early"):
            got.extend(iter(partial(open_bundle(io.BytesIO(packed[:length])).read, 1000), b""))
        assert GOOD.startswith(b"".join(got))


def test_damage_in_the_middle_is_named() -> None:
    packed = bytearray(gzip.compress(os.urandom(50_000)))
    packed[20_000:20_004] = b"\xff\xff\xff\xff"
    with pytest.raises(BrokenCompression, match=r"gzip data (is damaged|ends early)"):
        open_bundle(io.BytesIO(bytes(packed))).read()


def test_a_byte_order_mark_is_left_out_at_the_start_only() -> None:
    assert open_bundle(io.BytesIO(b"\xef\xbb\xbf{}\n\xef\xbb\xbf")).read() == b"{}\n\xef\xbb\xbf"
    assert open_bundle(io.BytesIO(gzip.compress(b"\xef\xbb\xbf{}"))).read() == b"{}"
    assert [line for line, _ in read_sample("bom.jsonl").rows] == [1]


def tar_file() -> bytes:
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w") as packed:
        member = tarfile.TarInfo("good.jsonl")
        member.size = len(GOOD)
        packed.addfile(member, io.BytesIO(GOOD))
    return target.getvalue()


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"7z\xbc\xaf\x27\x1c" + bytes(40), "a 7z archive"),
        (b"BZh91AY&SY" + bytes(40), "a bzip2 file"),
        (gzip.compress(b"BZh91AY&SY" + bytes(40), mtime=0), "a bzip2 file"),
    ],
)
def test_other_archives_and_compressions_are_named(content: bytes, what: str) -> None:
    with pytest.raises(UnsupportedBundle) as caught:
        open_bundle(io.BytesIO(content))
    assert str(caught.value) == f"This is {what}, which is not read: unpack it and give the .jsonl file in it."


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        ((FOLDER / "archive.zip").read_bytes(), "zip"),
        (tar_file(), "tar"),
        (gzip.compress(tar_file(), mtime=0), "tar"),
        (zstandard.compress(tar_file()), "tar"),
        (lzma.compress(tar_file()), "tar"),
    ],
)
def test_an_archive_is_no_bundle_by_itself(content: bytes, kind: str) -> None:
    with pytest.raises(UnsupportedBundle, match=f"a {kind} archive within another file"):
        open_bundle(io.BytesIO(content))
    assert archive_kind(open_stream(io.BytesIO(content)).head(512)) == kind


def test_xz_streams_are_read_and_a_cut_one_gives_its_beginning() -> None:
    packed = lzma.compress(GOOD)
    assert open_bundle(io.BytesIO(packed + packed + bytes(8))).read() == GOOD * 2
    got: list[bytes] = []
    with pytest.raises(BrokenCompression, match="xz data ends early"):
        got.extend(iter(partial(open_bundle(io.BytesIO(packed[: len(packed) - 20])).read, 1000), b""))
    assert GOOD.startswith(b"".join(got))


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress, lzma.compress], ids=["gzip", "zstd", "xz"])
def test_what_unpacks_to_too_much_ends_with_a_clear_message(pack: Callable[[bytes], bytes]) -> None:
    bomb = pack(GOOD + bytes(300 << 20))
    for limits, name in ((Limits(unpacked=100 << 20), "MAX_UNPACKED"), (Limits(ratio=900), "MAX_RATIO")):
        stream = open_bundle(io.BytesIO(bomb), limits)
        assert stream.head(len(GOOD)) == GOOD
        with pytest.raises(BrokenCompression, match=rf"It unpacks to more than .* \(TWENTYFOLD_{name}\)"):
            deque(iter(partial(stream.read, 1 << 20), b""), maxlen=0)


def test_lines_are_split_whatever_the_size_of_the_pieces() -> None:
    content = b"ab\n\ncd\r\n" + b"x" * 11 + b"\nlast"
    expected = [
        Line(number=1, length=2, data=b"ab"),
        Line(number=2, length=0),
        Line(number=3, length=3, data=b"cd\r"),
        Line(number=4, length=11, too_long=True),
        Line(number=5, length=4, data=b"last", ended=False),
    ]
    for piece in (1, 2, 3, 5, 100):
        assert list(split_lines(Pipe(content, piece), max_line=10)) == expected


def test_a_line_over_the_limit_is_listed_with_its_length_and_the_others_are_read() -> None:
    first, second = GOOD.splitlines(keepends=True)[:2]
    huge = b'{"uid":"' + b"x" * 50_000 + b'"}\n'
    reading = read_bytes(first + huge + second + huge.rstrip(), max_line=20_000)
    assert [line for line, _ in reading.rows] == [1, 3]
    assert [(problem.line, problem.reason) for problem in reading.problems] == [
        (
            line,
            "The line has 50,010 bytes, more than the limit of 20,000 (TWENTYFOLD_MAX_LINE), so it was passed over.",
        )
        for line in (2, 4)
    ]


def test_a_line_over_the_limit_is_not_held_in_memory() -> None:
    first = GOOD.splitlines(keepends=True)[0]
    packed = zstandard.compress(first + b'{"uid":"' + b"x" * (80 << 20) + b'"}\n' + first)
    tracemalloc.start()
    try:
        reading = read_bytes(packed, max_line=1 << 20)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert ([line for line, _ in reading.rows], len(reading.problems)) == ([1, 3], 1)
    assert peak < 48 << 20
