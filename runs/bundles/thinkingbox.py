"""Result files of `tb infer`: one row a line, and the one-result YAML document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import BinaryIO

import msgspec
from msgspec import Raw

from runs.bundles.base import RawRecord, ReadRecord
from runs.bundles.lines import Blanks, Line, split_lines
from runs.bundles.opening import Readable
from runs.bundles.repairing import diagnose, repair, repeated_keys, too_deep
from runs.bundles.sniffing import is_thinkingbox_lines, is_thinkingbox_yaml
from runs.bundles.thinkingbox_parts import read_tables, read_tools
from runs.bundles.thinkingbox_record import make_record
from runs.bundles.thinkingbox_row import STATES, SplitRow, attach_row, detach_row, fields_of, open_skeleton, split_row
from runs.bundles.thinkingbox_yaml import yaml_rows
from runs.errors import BadRecord
from runs.records import AttemptRecord, BundleHeader, Problem, ProblemKind

__all__ = ["ThinkingBox", "ThinkingBoxYaml"]

_NULL = Raw(b"null")


class ThinkingBox:
    """JSON lines.

    A line is decoded once, by a decoder that is fast and strict. Where it refuses a line, or where the line is not as
    long as what was understood of it (a key occurs twice, or there are spaces), the standard library looks at it again.
    A key that occurs twice deep inside a value, in an otherwise sound line, is kept so and reads as its last value.
    """

    name = "thinkingbox"
    title = "ThinkingBox tb infer"
    by_line = True

    def matches(self, head: bytes) -> bool:
        return is_thinkingbox_lines(head)

    def rows(self, stream: BinaryIO, *, max_line: int) -> Iterator[RawRecord | Problem]:
        blanks = Blanks()
        yield from self.rows_of_lines(stream, blanks, max_line=max_line)
        yield from blanks.notes()

    def rows_of_lines(
        self, stream: Readable, blanks: Blanks, *, max_line: int, first: int = 1
    ) -> Iterator[RawRecord | Problem]:
        for line in split_lines(stream, max_line=max_line, first=first):
            if line.blank:
                blanks.add(line.number, line.count)
            else:
                yield _row(line, max_line)

    def header(self, text: bytes) -> BundleHeader | None:
        return None  # a row names neither the model nor the benchmark

    def read(self, text: bytes) -> ReadRecord:
        try:
            if (read := _read(text, [])) is not None:
                return read
            repaired, notes = repair(text)
            if (read := _read(repaired, notes)) is not None:
                return read
        except RecursionError as error:
            raise too_deep() from error
        raise BadRecord("The line holds a value that cannot be read.")

    def normalise(self, skeleton: bytes) -> AttemptRecord:
        split, notes = open_skeleton(skeleton)
        return make_record(split, {}, [], notes)

    def attach(self, skeleton: bytes, parts: Mapping[tuple[str, ...], Raw]) -> bytes:
        return attach_row(skeleton, parts)


class ThinkingBoxYaml(ThinkingBox):
    """One result as one YAML document: the same row, so only finding its rows differs."""

    name = "thinkingbox-yaml"
    title = "ThinkingBox tb infer, one result as YAML"
    by_line = False

    def matches(self, head: bytes) -> bool:
        return is_thinkingbox_yaml(head)

    def rows(self, stream: BinaryIO, *, max_line: int) -> Iterator[RawRecord | Problem]:
        return yaml_rows(stream, max_document=max_line)


def _row(line: Line, max_line: int) -> RawRecord | Problem:
    """The cheap checks; whether the text is sound JSON in between is found by reading it."""
    if line.broken:
        return _rejected(line, f"{line.broken} The rows before this line were read.")
    if line.too_long:
        return _rejected(
            line,
            f"The line has {line.length:,} bytes, more than the limit of {max_line:,} (TWENTYFOLD_MAX_LINE), "
            "so it was passed over.",
        )
    text = line.data.strip()
    whole = text.startswith(b"{") and text.endswith(b"}")
    if (not whole or not line.ended) and (problem := diagnose(text, ended=line.ended)) is not None:
        return _rejected(line, problem.reason)
    return RawRecord(line=line.number, text=text)


def _rejected(line: Line, reason: str) -> Problem:
    return Problem(line=line.number, kind=ProblemKind.REJECTED, reason=reason)


def _read(text: bytes, notes: list[str]) -> ReadRecord | None:
    """The row, or None when the text has to be looked at by `repair`. With notes, it has been."""
    try:
        split = split_row(text)
        states = _states(split)
        tools = read_tools(split.row.get("tools") or _NULL)
        record = make_record(split, states, tools, notes)
        _check_rest(split)
    except msgspec.DecodeError:
        return None
    detached, size = detach_row(split, states, notes)
    if not notes and size != len(text) and repeated_keys(text):
        return None
    return ReadRecord(record=record, detached=detached)


def _states(split: SplitRow) -> dict[tuple[str, str], dict[str, Raw]]:
    states = {}
    for name, server in (split.servers or {}).items():
        fields = fields_of(server)
        for field in STATES:
            if field in fields:
                tables = read_tables(fields[field], f"test_context.effects.{name}.{field}")
                if tables is not None:
                    states[name, field] = tables
    return states


def _check_rest(split: SplitRow) -> None:
    """Decodes what the record does not need, since an undecoded text may hold bytes that are no UTF-8.

    Everything stored has to be readable later, and by any decoder.
    """
    for server in (split.servers or {}).values():
        if isinstance(server, Raw):
            split.value(server)
    same = split.repeats_messages()
    for name, value in (split.context or {}).items():
        if isinstance(value, Raw) and name != "effects" and not (name == "messages" and same):
            split.value(value)
