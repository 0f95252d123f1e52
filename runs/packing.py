"""A run's part of the failures as bytes to keep, and back. Plain Python and numpy.

MessagePack, compressed: texts as they are, numbers as little-endian arrays, so that unpacking costs no loop over
attempts.
"""

from __future__ import annotations

import msgspec
import numpy as np
import zstandard

from runs.facets import Relation, RunPart

__all__ = ["pack", "unpack"]


class _Column(msgspec.Struct, array_like=True, frozen=True):
    values: list[str]
    codes: bytes


class _Rows(msgspec.Struct, array_like=True, frozen=True):
    attempts: bytes
    columns: dict[str, _Column]
    once: bool


class _Part(msgspec.Struct, array_like=True, frozen=True):
    ids: bytes
    marks: bytes
    numbers: dict[str, bytes]
    relations: list[_Rows]


def pack(part: RunPart) -> bytes:
    """Positions and codes are kept in 32 bits: a run has not two thousand million of them."""
    packed = _Part(
        ids=part.ids.astype("<i8").tobytes(),
        marks=part.marks.astype("<i8").tobytes(),
        numbers={name: column.astype("<f8").tobytes() for name, column in part.numbers.items()},
        relations=[
            _Rows(
                relation.attempts.astype("<i4").tobytes(),
                {
                    facet: _Column(list(relation.values[facet]), codes.astype("<i4").tobytes())
                    for facet, codes in relation.codes.items()
                },
                relation.once,
            )
            for relation in part.relations
        ],
    )
    return zstandard.ZstdCompressor(level=3).compress(msgspec.msgpack.encode(packed))


def unpack(data: bytes) -> RunPart:
    """Raises `msgspec.DecodeError` or `zstandard.ZstdError` for what `pack` did not make."""
    packed = msgspec.msgpack.decode(zstandard.ZstdDecompressor().decompress(data), type=_Part)
    return RunPart(
        ids=np.frombuffer(packed.ids, dtype="<i8").astype(np.int64),
        marks=np.frombuffer(packed.marks, dtype="<i8").astype(np.int64),
        numbers={
            name: np.frombuffer(column, dtype="<f8").astype(np.float64) for name, column in packed.numbers.items()
        },
        relations=tuple(
            Relation(
                attempts=np.frombuffer(rows.attempts, dtype="<i4").astype(np.int64),
                values={facet: column.values for facet, column in rows.columns.items()},
                codes={
                    facet: np.frombuffer(column.codes, dtype="<i4").astype(np.int64)
                    for facet, column in rows.columns.items()
                },
                once=rows.once,
            )
            for rows in packed.relations
        ),
    )
