"""The one-result YAML form of `tb infer`, as the JSON text of the same row.

Values come out as the harness had them: a plain word is null, true, false or a number only in the spellings that the
harness's own writer uses for those; everything else, dates included, is text. Numbers keep their digits.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple

import msgspec
import yaml
from msgspec import Raw

from runs.bundles.base import RawRecord
from runs.bundles.opening import BrokenCompression
from runs.errors import BadRecord
from runs.records import Problem, ProblemKind

__all__ = ["yaml_rows"]

_MOST_NODES = 2_000_000
"""Values in one document, aliases counted as often as they are used."""

_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_TRUE = frozenset({"true", "True", "TRUE"})
_FALSE = frozenset({"false", "False", "FALSE"})
_INT = re.compile(r"[-+]?(?:0|[1-9][0-9]*)")
_FLOAT = re.compile(r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][-+][0-9]+)?")
_NOT_FINITE = re.compile(r"([-+]?)\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_JSON_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
_TAG = "tag:yaml.org,2002:"
_PLAIN_TAGS = frozenset({_TAG + name for name in ("str", "int", "float", "bool", "null", "map", "seq")})
_LONGEST_NUMBER = 4000


class _TooLarge(Exception):
    """The document has more bytes than the limit."""


class _Counted:
    """Hands out the stream and stops when one document would take more than it may."""

    def __init__(self, stream: BinaryIO, most: int) -> None:
        self._stream = stream
        self._left = most

    def read(self, size: int = -1) -> bytes:
        data = self._stream.read(size)
        self._left -= len(data)
        if self._left < 0:
            raise _TooLarge
        return data


def yaml_rows(stream: BinaryIO, *, max_document: int) -> Iterator[RawRecord | Problem]:
    """The documents of a stream as rows. What is behind a broken document cannot be read, so it is the last Problem."""
    line = 1
    builder = _Builder(max_document)
    try:
        for event in yaml.parse(_Counted(stream, max_document), Loader=yaml.CSafeLoader):
            if isinstance(event, yaml.DocumentStartEvent):
                line, builder = _line_of(event, line), _Builder(max_document)
            elif isinstance(event, yaml.DocumentEndEvent):
                yield _row(builder, line)
            else:
                builder.take(event)
    except _TooLarge:
        yield _rejected(
            line,
            f"The document has more than the limit of {max_document:,} bytes (TWENTYFOLD_MAX_LINE), "
            "so it was passed over.",
        )
    except BadRecord as error:
        yield _rejected(line, error.reason)
    except BrokenCompression as error:
        yield _rejected(line, str(error))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        yield _rejected(line if mark is None else mark.line + 1, f"Not valid YAML: {error.problem or error.context}.")
    except yaml.YAMLError as error:
        yield _rejected(line, f"Not valid YAML: {str(error).splitlines()[0]}.")
    except UnicodeDecodeError as error:
        yield _rejected(line, f"Not valid UTF-8: {error.reason} at byte {error.start + 1}. Save the file as UTF-8.")


def _line_of(event: yaml.Event, otherwise: int) -> int:
    return otherwise if event.start_mark is None else event.start_mark.line + 1


def _rejected(line: int, reason: str) -> Problem:
    return Problem(line=line, kind=ProblemKind.REJECTED, reason=reason)


def _row(builder: _Builder, line: int) -> RawRecord | Problem:
    if not isinstance(builder.value, dict):
        return _rejected(line, "The document is no mapping, so it holds no result.")
    try:
        text = msgspec.json.encode(builder.value)
    except RecursionError:
        return _rejected(line, "The YAML is nested too deeply to be read.")
    return RawRecord(line=line, text=text, notes=builder.notes())


class _Weight(NamedTuple):
    """What a value costs once aliases are written out."""

    nodes: int
    characters: int


class _Open(msgspec.Struct):
    """A list or mapping that is being read."""

    value: Any
    anchor: str | None
    before: _Weight
    key: str | None = None
    awaits_key: bool = False


class _Builder:
    """Builds one document from its events, without recursion, counting what aliases would expand to."""

    def __init__(self, most_characters: int) -> None:
        self.value: Any = None
        self._most_characters = most_characters
        self._open: list[_Open] = []
        self._anchors: dict[str, tuple[Any, _Weight]] = {}
        self._weight = _Weight(0, 0)
        self._not_finite = 0
        self._repeated: set[str] = set()

    def take(self, event: yaml.Event) -> None:
        match event:
            case yaml.ScalarEvent():
                weight = _Weight(1, len(event.value))
                self._count(weight)
                opened = self._open[-1] if self._open else None
                is_key = opened is not None and opened.awaits_key
                value = event.value if is_key else self._scalar(event)
                self._anchor(event.anchor, value, weight)
                self._place(value)
            case yaml.MappingStartEvent() | yaml.SequenceStartEvent():
                self._check_tag(event.tag)
                before = self._weight
                self._count(_Weight(1, 0))
                if self._open and self._open[-1].awaits_key:
                    raise BadRecord("A key of the YAML document is a list or a mapping, which no JSON key can be.")
                is_mapping = isinstance(event, yaml.MappingStartEvent)
                self._open.append(_Open({} if is_mapping else [], event.anchor, before, awaits_key=is_mapping))
            case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                closed = self._open.pop()
                nodes, characters = self._weight
                weight = _Weight(nodes - closed.before.nodes, characters - closed.before.characters)
                self._anchor(closed.anchor, closed.value, weight)
                self._place(closed.value)
            case yaml.AliasEvent():
                name = event.anchor or ""
                if name not in self._anchors:
                    raise BadRecord(f"The YAML alias *{name[:40]} names nothing that is complete before it.")
                value, weight = self._anchors[name]
                self._count(weight)
                self._place(value)

    def _place(self, value: Any) -> None:
        if not self._open:
            self.value = value
            return
        opened = self._open[-1]
        if isinstance(opened.value, list):
            opened.value.append(value)
        elif opened.awaits_key:
            if not isinstance(value, str):
                raise BadRecord("A key of the YAML document is no text, which no JSON key can be.")
            if value in opened.value:
                self._repeated.add(value)
            opened.key, opened.awaits_key = value, False
        else:
            opened.value[opened.key] = value
            opened.key, opened.awaits_key = None, True

    def _anchor(self, name: str | None, value: Any, weight: _Weight) -> None:
        if name is not None:
            self._anchors[name] = (value, weight)

    def _count(self, weight: _Weight) -> None:
        self._weight = _Weight(self._weight.nodes + weight.nodes, self._weight.characters + weight.characters)
        if self._weight.nodes > _MOST_NODES or self._weight.characters > self._most_characters:
            raise BadRecord(
                f"The YAML document expands to more than {_MOST_NODES:,} values or "
                f"{self._most_characters:,} characters, so it is not read."
            )

    def _check_tag(self, tag: str | None) -> None:
        if tag is not None and tag != "!" and tag not in _PLAIN_TAGS:
            raise BadRecord(f"The YAML document asks for a value of type {tag[:80]}, which a result never holds.")

    def _scalar(self, event: yaml.ScalarEvent) -> Any:
        self._check_tag(event.tag)
        text: str = event.value
        is_plain = event.tag is None and event.implicit[0]
        if not is_plain and event.tag in {None, "!", _TAG + "str"}:
            return text
        if text in _NULLS:
            return None
        if text in _TRUE or text in _FALSE:
            return text in _TRUE
        if len(text) <= _LONGEST_NUMBER and (_INT.fullmatch(text) or _FLOAT.fullmatch(text)):
            return _number(text)
        if (found := _NOT_FINITE.fullmatch(text)) is not None:
            self._not_finite += 1
            if found.group(1) is None:
                return "NaN"
            return "-Infinity" if found.group(1) == "-" else "Infinity"
        return text

    def notes(self) -> list[str]:
        notes = []
        if self._not_finite:
            notes.append(f"JSON has no such number, so it is kept as a text: NaN or Infinity ({self._not_finite} ×).")
        if self._repeated:
            named = ", ".join(sorted(self._repeated)[:5])
            notes.append(f"Occurs more than once in one mapping, and the last value counts: {named}.")
        return notes


def _number(text: str) -> Raw:
    """The number as JSON text: its own digits where JSON writes it so, else the shortest that read as the same."""
    plain = text.removeprefix("+")
    if _JSON_NUMBER.fullmatch(plain) is None:
        plain = json.dumps(float(plain))
    return Raw(plain.encode())
