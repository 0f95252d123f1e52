"""The rows of a file, prepared for the store: chunk by chunk in this process, or by several processes side by side."""

from __future__ import annotations

import gc
import multiprocessing
import time
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from itertools import chain
from typing import Any

from runs.bundles import reader_named
from runs.bundles.base import RawRecord, Reader
from runs.dictionaries import Dictionaries
from runs.errors import PreparersEnded
from runs.models import Upload
from runs.prepare import PreparedRow, prepare
from runs.records import Problem
from runs.spawned import begin

__all__ = ["BYTES_A_CHUNK", "ROWS_A_CHUNK", "Prepared", "Row", "chunked", "prepare_chunks", "prepare_rows"]

ROWS_A_CHUNK = 100
BYTES_A_CHUNK = 48 << 20

Row = RawRecord | Problem
Prepared = list[PreparedRow | Problem]

_ALONE_SECONDS = 2.0
"""What is read in less is not worth the start of other processes."""
_BYTES_A_PIECE = 4 << 20
_PIECES_AHEAD = 2
"""For each process: what it works on, and what it takes up next."""

_Key = tuple[int, str, bool]
_dictionaries: dict[_Key, Dictionaries] = {}
"""Upload, its bytes and whether they are masked → its dictionaries.

One file's rows never lean on another's: a run can go with all that only it has.
"""


def chunked(rows: Iterator[Row]) -> Iterator[Iterator[Row]]:
    """Rows in chunks of a hundred, or of fewer where they are large. The cuts depend on the file alone.

    A chunk is read as it is gone through, to its end before the next one: so a row is worked on while it is still at
    hand, and need not be kept.
    """
    for first in rows:
        yield _chunk(first, rows)


def _chunk(first: Row, rows: Iterator[Row]) -> Iterator[Row]:
    size = 0
    for count, row in enumerate(chain([first], rows), start=1):
        yield row
        size += _size(row)
        if count == ROWS_A_CHUNK or size > BYTES_A_CHUNK:
            return


def _size(row: Row) -> int:
    return len(row.text) if isinstance(row, RawRecord) else 0


def prepare_rows(reader: Reader, rows: Iterable[Row], upload: Upload) -> Prepared:
    """Reads, grades and compresses some rows of a saved upload."""
    return _prepare(reader, rows, _overrides(upload), _key(upload))


def prepare_chunks(
    reader: Reader, chunks: Iterator[Iterator[Row]], upload: Upload, *, processes: int
) -> Generator[Prepared]:
    """The same for chunk after chunk, in the file's order; where that takes longer, by so many processes of their own.

    Close it when it is not gone through to its end. Raises `PreparersEnded` when one of the processes was killed.
    """
    began = time.monotonic()
    for chunk in chunks:
        yield prepare_rows(reader, chunk, upload)
        if processes > 1 and time.monotonic() - began > _ALONE_SECONDS:
            try:
                yield from _side_by_side(reader, chunks, upload, processes)
            except BrokenProcessPool as error:
                raise PreparersEnded from error


def _side_by_side(
    reader: Reader, chunks: Iterator[Iterator[Row]], upload: Upload, processes: int
) -> Iterator[Prepared]:
    overrides, key = _overrides(upload), _key(upload)
    waiting: deque[tuple[Future[Prepared], bool]] = deque()
    done: Prepared = []
    # Not forked: this process may have threads and a database.
    spawned = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(processes, mp_context=spawned, initializer=begin)
    try:
        for piece in chain(_pieces(chunks), [None]):
            if piece is not None:
                rows, last = piece
                waiting.append((pool.submit(_prepare_piece, reader.name, rows, overrides, key), last))
            while waiting and (piece is None or len(waiting) >= _PIECES_AHEAD * processes):
                future, last = waiting.popleft()
                done += future.result()
                if last:
                    yield done
                    done = []
    finally:
        pool.shutdown(cancel_futures=True)


def _pieces(chunks: Iterator[Iterator[Row]]) -> Iterator[tuple[list[Row], bool]]:
    """Chunks in pieces of a few megabytes, and whether a piece is a chunk's last."""
    for chunk in chunks:
        rows: list[Row] = []
        size = 0
        for row in chunk:
            if size > _BYTES_A_PIECE:
                yield rows, False
                rows, size = [], 0
            rows.append(row)
            size += _size(row)
        yield rows, True


def _prepare_piece(reader: str, rows: list[Row], overrides: dict[str, bool], key: _Key) -> Prepared:
    return _prepare(reader_named(reader), rows, overrides, key)


def _prepare(reader: Reader, rows: Iterable[Row], overrides: dict[str, bool], key: _Key) -> Prepared:
    if key not in _dictionaries:
        _dictionaries.clear()
    shared = _dictionaries.setdefault(key, Dictionaries())
    *_, mask = key
    with _fewer_collections():
        return [
            prepare(reader, row, overrides, shared, mask=mask) if isinstance(row, RawRecord) else row for row in rows
        ]


def _overrides(upload: Upload) -> dict[str, Any]:
    return upload.run.benchmark.tool_overrides if upload.run is not None else {}


def _key(upload: Upload) -> _Key:
    return upload.pk, upload.sha256, upload.mask


@contextmanager
def _fewer_collections() -> Iterator[None]:
    """Rows are trees without cycles, made and dropped by the thousand: looking for cycles in them finds nothing, and
    costs a twentieth of the time.
    """
    thresholds = gc.get_threshold()
    gc.set_threshold(20_000, 20, 50)
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
