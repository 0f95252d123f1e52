"""Result files of all harnesses that are read. Adding one is a module with a reader, and a line in `READERS`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import BinaryIO

from runs.bundles import sniffing
from runs.bundles.base import RawRecord, Reader
from runs.bundles.cutting import Extent, cut_lines
from runs.bundles.limits import Limits
from runs.bundles.lines import Blanks
from runs.bundles.opening import BOM, HEAD_BYTES, BundleStream, Readable, is_compressed, open_bundle
from runs.bundles.thinkingbox import ThinkingBox, ThinkingBoxYaml
from runs.bundles.thinkingbox_openenv import ThinkingBoxOpenEnv
from runs.errors import BundleError, UnknownFormat, UnsupportedBundle
from runs.records import Problem

__all__ = ["ARCHIVE", "READERS", "cut_rows", "detect", "open_bundle", "read_rows", "reader_named"]

READERS: tuple[Reader, ...] = (ThinkingBox(), ThinkingBoxYaml(), ThinkingBoxOpenEnv())
"""In the order in which they are asked."""

ARCHIVE = "archive"
"""What stands in the reader's place for an archive: its members have readers."""

_MARKS = {
    b"\xff\xfe\x00\x00": "UTF-32",
    b"\x00\x00\xfe\xff": "UTF-32",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
}
_SHOWN = 12


def read_rows(
    source: Readable,
    *,
    name: str,
    max_line: int,
    limits: Limits | None = None,
    beat: Callable[[], None] = lambda: None,
) -> tuple[Reader, Iterator[RawRecord | Problem]]:
    """The reader of a result file, and its rows, lazily. `source` need not be seekable; `name` is only for messages.
    `beat` is called for each block of its content, also where no row comes for long; what it raises ends the reading.

    Raises `BundleError` (`UnknownFormat`, `UnsupportedBundle`) when the file as a whole cannot be read.
    """
    stream = open_bundle(source, limits, beat)
    reader = detect(stream.head(HEAD_BYTES), name)
    return reader, _rows(reader, stream, max_line)


def _rows(reader: Reader, stream: BundleStream, max_line: int) -> Iterator[RawRecord | Problem]:
    yield from reader.rows(stream, max_line=max_line)


def cut_rows(
    source: BinaryIO,
    blanks: Blanks,
    *,
    name: str,
    max_line: int,
    most_rows: int,
    most_bytes: int,
    beat: Callable[[], None] = lambda: None,
) -> tuple[Reader, Iterator[Extent]] | None:
    """The reader of a result file on disk, and where it can be cut, lazily; None where it has to be read from front to
    back: then the source stands at its beginning again. `beat` is called as `read_rows` does.

    Raises `BundleError` as `read_rows` does.
    """
    head = source.read(HEAD_BYTES)
    source.seek(0)
    if is_compressed(head):
        return None
    reader = detect(open_bundle(source).head(), name)
    source.seek(len(BOM) if reader.by_line and head.startswith(BOM) else 0)
    if not reader.by_line:
        return None
    cuts = cut_lines(source, blanks, max_line=max_line, most_rows=most_rows, most_bytes=most_bytes, beat=beat)
    return reader, cuts


def detect(head: bytes, name: str) -> Reader:
    """The reader of a file that starts with these bytes. `name` is only for messages: a file is what it holds.

    Raises `UnknownFormat` when no reader knows it, `UnsupportedBundle` when it is known and not read.
    """
    if not head.strip(b" \t\r\n\x00"):
        if len(head) >= HEAD_BYTES:
            raise UnknownFormat(f"{name} begins with {HEAD_BYTES:,} bytes of blanks or zeros. Remove them.")
        raise UnknownFormat(f"{name} is empty: there is no result in it.")
    for mark, encoding in _MARKS.items():
        if head.startswith(mark):
            raise UnknownFormat(f"{name} is {encoding} text. Save it as UTF-8.")
    for reader in READERS:
        if reader.matches(head):
            return reader
    raise _refusal(head, name)


def reader_named(name: str) -> Reader:
    """The reader that stored a row. Raises `BundleError` when this version has no reader of that name."""
    for reader in READERS:
        if reader.name == name:
            return reader
    raise BundleError(f"This version has no reader named {name}; it reads {_known()}.")


def _refusal(head: bytes, name: str) -> BundleError:
    if sniffing.is_companion(head):
        return UnsupportedBundle(
            f"{name} is the run metadata that goes with a result file, and holds no results. "
            "Give it together with the result file."
        )
    if sniffing.is_list_on_one_line(head):
        return UnsupportedBundle(
            f"{name} holds tb infer results as one JSON list on one line, which is not read. "
            "Write one result a line, for example with jq -c '.[]'."
        )
    if sniffing.is_spread_json(head):
        return UnsupportedBundle(
            f"{name} holds tb infer results as JSON over several lines, which is not read. "
            "Write one result a line, for example with jq -c."
        )
    return UnknownFormat(
        f"{name} is of no known format: it starts with {_first_bytes(head)}. Known are {_known()}, "
        "plain or compressed with gzip, zstd or xz, alone or in a zip or tar archive."
    )


def _first_bytes(head: bytes) -> str:
    """The first bytes as a person can read them: `\\x89PNG`."""
    return repr(head[:_SHOWN])[2:-1]


def _known() -> str:
    names = [f"{reader.title} ({reader.name})" for reader in READERS]
    return f"{', '.join(names[:-1])} and {names[-1]}"
