"""Members of archives, and what an archive may try."""

from __future__ import annotations

import gzip
import io
import os
import random
import struct
import tarfile
import tracemalloc
import zipfile
from collections.abc import Iterator

import pytest
import zstandard

from runs.bundles.archives import BrokenArchive, BrokenMember, Member, is_junk, safe_label
from runs.bundles.limits import Limits, TooLarge
from runs.bundles.opening import open_stream
from runs.bundles.tarring import tar_members
from runs.bundles.zipping import zip_members
from tests.archives import packed_zip_of, patched, tar_of, zip_of

FILES = {"a/one.jsonl": b"1" * 100_000, "two.jsonl": os.urandom(70_000), "empty.txt": b"", "ünï/\u4e2d.jsonl": b"3"}


def read(members: Iterator[Member], found: dict[str, bytes | str] | None = None) -> dict[str, bytes | str]:
    """Name → content, or what is wrong with it."""
    found = {} if found is None else found
    for member in members:
        try:
            found[member.name] = member.problem or b"".join(member.content)
        except BrokenMember as error:
            found[member.name] = str(error)
    return found


def exhaust(members: Iterator[Member]) -> None:
    """Reads everything and keeps nothing."""
    for member in members:
        for _ in member.content:
            pass


def read_zip(archive: bytes, limits: Limits | None = None) -> dict[str, bytes | str]:
    return read(zip_members(io.BytesIO(archive), limits or Limits()))


def read_tar(archive: bytes, limits: Limits | None = None) -> dict[str, bytes | str]:
    return read(tar_members(open_stream(io.BytesIO(archive), limits), limits or Limits()))


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_the_members_of_a_zip_archive(method: int) -> None:
    archive = zip_of({"a/": b"", **FILES}, method=method)
    assert read_zip(archive) == FILES
    assert read_zip(b"#!/bin/sh\nprogram" + archive) == FILES


def test_members_packed_by_zstandard_in_any_number_of_frames() -> None:
    frame = zstandard.ZstdCompressor().compress
    plain = bytes(range(256)) * 2000
    flushed = zstandard.ZstdCompressor().compressobj()
    streamed = b"".join(flushed.compress(plain[at : at + 1000]) + flushed.flush(1) for at in range(0, len(plain), 1000))
    packed = {
        "one": (plain, frame(plain)),
        "two": (plain, frame(plain[:1000]) + frame(plain[1000:])),
        "many": (plain, b"".join(frame(plain[at : at + 97]) for at in range(0, len(plain), 97))),
        "streamed": (plain, streamed + flushed.flush()),
        "empty first": (plain, frame(b"") + frame(plain)),
        "passed over first": (plain, struct.pack("<LL", 0x184D2A50, 5) + b"hello" + frame(plain)),
        "small": (b"x", frame(b"x")),
        "nothing": (b"", frame(b"")),
    }
    assert read_zip(packed_zip_of(packed, method=93)) == {name: content for name, (content, _) in packed.items()}
    cut = packed_zip_of({"a": (plain, frame(plain)[:-4]), "b": (b"x", frame(b"x"))}, method=93)
    found = read_zip(cut)
    assert "It is damaged" in str(found["a"])
    assert found["b"] == b"x"


@pytest.mark.parametrize("layout", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_the_members_of_a_tar_archive(layout: int) -> None:
    files = FILES | {"/".join(["folder" * 3] * 10) + "/long.jsonl": b"4" * 5000}
    archive = tar_of(files, layout=layout)
    assert read_tar(archive) == files
    assert read_tar(gzip.compress(archive)) == files
    assert read_tar(archive[: archive.rindex(b"4") + 1].ljust(-(-len(archive) // 512) * 512, b"\0")) == files


def test_members_that_nobody_reads_are_passed_over() -> None:
    archive = tar_of(FILES)
    names = [member.name for member in tar_members(io.BytesIO(archive), Limits())]
    assert names == list(FILES)


def test_links_devices_and_pipes_are_named_and_not_followed() -> None:
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w") as packed:
        for name, kind in (
            ("s", tarfile.SYMTYPE),
            ("h", tarfile.LNKTYPE),
            ("d", tarfile.CHRTYPE),
            ("p", tarfile.FIFOTYPE),
        ):
            member = tarfile.TarInfo(name)
            member.type, member.linkname = kind, "/etc/passwd"
            packed.addfile(member)
    link = zipfile.ZipInfo("s")
    link.external_attr = 0o120777 << 16
    zipped = io.BytesIO()
    with zipfile.ZipFile(zipped, "w") as archive:
        archive.writestr(link, "/etc/passwd")
    assert read_tar(target.getvalue()) == {
        "s": "It is a link, which is not followed.",
        "h": "It is a link, which is not followed.",
        "d": "It is a device, and no file.",
        "p": "It is a pipe, and no file.",
    }
    assert read_zip(zipped.getvalue()) == {"s": "It is a link, which is not followed."}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"flags": 1}, "It is encrypted."),
        ({"method": 14}, "It is packed by method 14, which is not read."),
        ({"crc": 7}, "It is damaged: its checksum is wrong."),
        ({"size": 99}, "It is damaged: it holds more than the 99 bytes that it names."),
        ({"size": 200_000}, "It is damaged: it holds 100,000 bytes, and names 200,000."),
        ({"packed": 20}, "It is damaged: it holds"),
    ],
)
def test_a_member_that_is_wrong_is_named_and_the_others_are_read(changes: dict[str, int], message: str) -> None:
    found = read_zip(patched(zip_of(FILES), 1, **changes))
    wrong = found.pop("a/one.jsonl")
    assert isinstance(wrong, str)
    assert wrong.startswith(message)
    assert found == {name: content for name, content in FILES.items() if name != "a/one.jsonl"}


def test_entries_that_lie_over_each_other_are_not_read() -> None:
    archive = zip_of({"a": b"1" * 9000, "b": b"2" * 9000, "c": b"3"})
    found = read_zip(patched(archive, 2, place=0))
    overlap = "It lies over another member of the archive, as no packer writes it."
    assert found == {"a": overlap, "b": overlap, "c": b"3"}
    assert read_zip(patched(archive, 3, packed=5000))["c"] == overlap


def test_a_member_that_is_not_where_the_directory_says_is_named() -> None:
    archive = zip_of({"a.jsonl": b"1", "b.jsonl": b"2"}).replace(b"PK\x03\x04", b"PK\x03\x05", 1)
    assert read_zip(archive) == {
        "a.jsonl": "It is damaged: there is no member where the directory says. Copy the archive again.",
        "b.jsonl": b"2",
    }


def test_a_member_that_names_itself_otherwise_is_not_read() -> None:
    archive = zip_of({"a.jsonl": b"1", "b.jsonl": b"2"}).replace(b"a.jsonl", b"x.jsonl", 1)
    assert read_zip(archive) == {
        "a.jsonl": "It is damaged: the directory names it otherwise than it names itself.",
        "b.jsonl": b"2",
    }


def test_a_million_empty_members_are_refused_in_little_memory() -> None:
    entry = zip_of({"a": b""})
    at, end = entry.index(b"PK\x01\x02"), entry.index(b"PK\x05\x06")
    directory = entry[at:end] * 1_000_000
    tail = bytearray(entry[end:])
    struct.pack_into("<2L", tail, 12, len(directory), at)
    zipped = entry[:at] + directory + bytes(tail)
    tarred = tar_of({"a": b""})[:512] * 1_000_000
    packed = zstandard.compress(tarred)
    del tarred
    tracemalloc.start()
    for reader, archive in ((read_zip, zipped), (read_tar, packed)):
        with pytest.raises(TooLarge, match=r"It has more than 20,000 members \(TWENTYFOLD_MAX_MEMBERS\)"):
            reader(archive)
    assert tracemalloc.get_traced_memory()[1] < 150 << 20  # 47 MB of it are the archive itself
    tracemalloc.stop()


def test_a_bomb_ends_early_in_little_memory() -> None:
    zeros = bytes(300 << 20)
    zipped = zip_of({"a.jsonl": zeros})
    tarred = zstandard.compress(tar_of({"a.jsonl": zeros}))
    del zeros
    tracemalloc.start()
    for limits, name in ((Limits(unpacked=9 << 20), "UNPACKED"), (Limits(ratio=500), "RATIO")):
        with pytest.raises(TooLarge, match=f"TWENTYFOLD_MAX_{name}"):
            exhaust(zip_members(io.BytesIO(zipped), limits))
        with pytest.raises(TooLarge, match=f"TWENTYFOLD_MAX_{name}"):
            exhaust(tar_members(open_stream(io.BytesIO(tarred), limits), limits))
    assert tracemalloc.get_traced_memory()[1] < 40 << 20
    tracemalloc.stop()


def test_many_members_together_are_a_bomb_too() -> None:
    archive = zip_of({f"{number}.jsonl": bytes(1 << 20) for number in range(20)})
    with pytest.raises(TooLarge, match="more than 8,388,608 bytes"):
        read_zip(archive, Limits(unpacked=8 << 20))


def test_a_name_that_would_fill_the_memory_is_refused() -> None:
    header = bytearray(tar_of({"a": b""})[:512])
    header[156:157], header[124:136] = b"L", b"77777777777\0"
    header[148:156] = b" " * 8
    header[148:156] = f"{sum(header):06o}\0 ".encode()
    with pytest.raises(BrokenArchive, match="a member's name would have 8,589,934,591 bytes"):
        read_tar(bytes(header) + bytes(5000))


@pytest.mark.parametrize("whole", [zip_of(FILES), tar_of(FILES), tar_of(FILES, layout=tarfile.PAX_FORMAT)])
def test_damage_anywhere_gives_true_members_or_an_error(whole: bytes) -> None:
    """Never another content under a name, never an exception that nobody expects."""
    source = random.Random(3)
    reader = read_zip if whole.startswith(b"PK") else read_tar
    for _ in range(300):
        damaged = bytearray(whole[: source.choice([len(whole), source.randrange(len(whole))])])
        for _ in range(source.randrange(4)):
            if damaged:
                damaged[source.randrange(len(damaged))] = source.randrange(256)
        try:
            found = reader(bytes(damaged))
        except (BrokenArchive, TooLarge):
            continue
        if reader is read_zip:  # only zip has sums of the content
            assert all(isinstance(found.get(name, ""), str) or found[name] == FILES[name] for name in FILES)


def test_a_cut_archive_says_so() -> None:
    with pytest.raises(BrokenArchive, match="has no directory at its end"):
        read_zip(zip_of(FILES)[:-30])
    found: dict[str, bytes | str] = {}
    with pytest.raises(BrokenArchive, match="ends early"):
        read(tar_members(io.BytesIO(tar_of(FILES)[:120_000]), Limits()), found)
    cut = "The archive ends early, so it is probably cut off. Copy it again, and give the whole file."
    assert found == {"a/one.jsonl": FILES["a/one.jsonl"], "two.jsonl": cut}


@pytest.mark.parametrize(
    "name",
    ["__MACOSX/a/._x.jsonl", "._x", "a/.DS_Store", "Thumbs.db", "x.jsonl~", ".x.jsonl.swp", "a/#x#", "", "/", "x.bak"],
)  # fmt: skip
def test_junk_is_known(name: str) -> None:
    assert is_junk(name)


@pytest.mark.parametrize("name", ["x.jsonl", "a/MACOSX/x.jsonl", ".x.jsonl", "a~b.jsonl", "results_run_metadata.yaml"])
def test_what_may_be_a_result_is_no_junk(name: str) -> None:
    assert not is_junk(name)


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("../../etc/cron.d/x.jsonl", "etc/cron.d/x.jsonl"),
        ("/abs/x.jsonl", "abs/x.jsonl"),
        ("C:\\Users\\x.jsonl", "Users/x.jsonl"),
        ("a/\x1b[2Jx\0.jsonl", "a/\ufffd[2Jx\ufffd.jsonl"),
        ("..", "without a name"),
    ],
)
def test_a_label_is_a_plain_relative_path(name: str, label: str) -> None:
    assert safe_label(name) == label
