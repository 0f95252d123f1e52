"""Differences read out of the harness's assertion message, for attempts whose states nobody recorded.

The message compares by position and cuts each value at 500 characters, so what it says is `reported`, never wrong,
missing or extra.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec
from msgspec import UNSET

from runs.records import Effect, EffectKind

__all__ = ["Hashes", "Parsed", "parse_differences", "recorded_hashes", "reported_effects"]

CUT = 500
"""Characters after which the harness cuts the JSON text of a value."""

_START = re.compile(r"^Found \d+ difference\(s\):\s*$")
_PATH = re.compile(r"^(\d+)\. Path: (.*)$")
_PART = re.compile(r"^   (Type|Result|Golden): ?(.*)$")
_PLACE = re.compile(r"^(?P<table>[^\[]*)(?P<position>\[\d+\])?(?:\.?(?P<field>.+))?$", re.DOTALL)
_HASH = re.compile(r"^(Result|Golden) hash: ([0-9a-f]{64})\s*$", re.MULTILINE)

_LENGTH = "length mismatch"
_ONE_SIDED = frozenset({"missing in result (present in golden)", "present in result (missing in golden)"})
"""Differences of which the message shows no value: it prints null for both."""


class Hashes(NamedTuple):
    after: str | None
    required: str | None


class Parsed(msgspec.Struct, frozen=True, kw_only=True):
    """One entry of the list. A value is UNSET where the harness gives none; a cut one is its text with an ellipsis."""

    path: str
    type: str
    result: Any = UNSET
    golden: Any = UNSET
    cut: bool = False

    def entry(self) -> dict[str, Any]:
        """The entry as the harness records it in its own list of differences."""
        values = {"path": self.path, "type": self.type}
        return values if self.type in _ONE_SIDED else {**values, "result": self.result, "golden": self.golden}


def recorded_hashes(traceback: str) -> Hashes:
    """The two state hashes that a failed comparison prints; None where it prints none."""
    found = dict(_HASH.findall(traceback))
    return Hashes(found.get("Result"), found.get("Golden"))


def parse_differences(traceback: str) -> list[Parsed]:
    """The list of differences in an assertion message, in its order; empty when it has none. Never raises."""
    lines = traceback.splitlines() if "\r" in traceback else traceback.split("\n")
    start = next((number for number, line in enumerate(lines) if _START.match(line)), None)
    if start is None:
        return []
    entries: list[dict[str, list[str]]] = []
    current: list[str] = []
    for line in lines[start + 1 :]:
        head = _PATH.match(line)
        if head is not None and int(head[1][:18]) == len(entries) + 1:
            current = [head[2]]
            entries.append({"Path": current})
            continue
        part = _PART.match(line)
        if part is not None and entries and part[1] not in entries[-1]:
            current = [part[2].removeprefix(" ") if part[1] != "Type" else part[2]]
            entries[-1][part[1]] = current
        else:
            current.append(line)
    return [_parsed({name: "\n".join(text).rstrip() for name, text in entry.items()}) for entry in entries]


def _parsed(entry: dict[str, str]) -> Parsed:
    kind = entry.get("Type", "")
    if kind in _ONE_SIDED:
        return Parsed(path=entry["Path"], type=kind)
    result, result_cut = _value(entry.get("Result"))
    golden, golden_cut = _value(entry.get("Golden"))
    return Parsed(path=entry["Path"], type=kind, result=result, golden=golden, cut=result_cut or golden_cut)


def _value(text: str | None) -> tuple[Any, bool]:
    """A printed value, and whether it was cut."""
    if text is None:
        return UNSET, False
    try:
        return msgspec.json.decode(text.encode("utf-8", "surrogatepass")), False
    except (msgspec.DecodeError, RecursionError):
        return text + "…", True


def reported_effects(traceback: str, server: str) -> list[Effect]:
    """The differences that the message of a failed state comparison lists, those that count first.

    The key is the record's position among the sorted records, such as `[2]`; before is unknown. In a table (or list)
    with a length mismatch only that mismatch counts; all else in it may follow from the shift and is `positional`.
    """
    parsed = parse_differences(traceback)
    shifted = {entry.path for entry in parsed if entry.type == _LENGTH}
    effects = [_effect(entry, server, _follows(entry.path, shifted)) for entry in parsed]
    return sorted(effects, key=lambda effect: effect.positional)


def _follows(path: str, shifted: set[str]) -> bool:
    """Whether a path lies inside a list whose length differs."""
    return bool(shifted) and any(path[: match.start()] in shifted for match in re.finditer(r"\[\d+\]", path))


def _effect(entry: Parsed, server: str, positional: bool) -> Effect:
    place = _PLACE.match(entry.path)
    table, position, field = (place["table"], place["position"], place["field"]) if place else (entry.path, None, None)
    if position is None and field is not None:
        table, field = entry.path, None
    notes = [entry.type]
    after, required = entry.result, entry.golden
    if entry.type == "result is None, golden is not":
        required = UNSET
        notes.append(f"the required value is of type {_word(entry.golden)}")
    elif entry.type == "result is not None, golden is None":
        after = UNSET
        notes.append(f"the value after is of type {_word(entry.result)}")
    elif entry.type == "type mismatch":
        after = required = UNSET
        notes.append(
            f"the value after is of type {_word(entry.result)}, the required one of type {_word(entry.golden)}"
        )
    if entry.cut:
        notes.append(f"cut at {CUT} characters")
    return Effect(
        kind=EffectKind.REPORTED,
        server=server,
        table=table,
        key=position or "",
        field=field,
        after=after,
        required=required,
        note="; ".join(notes),
        positional=positional,
    )


def _word(value: Any) -> str:
    return value if isinstance(value, str) else "unknown"


def differences_start(lines: Sequence[str]) -> int | None:
    """The line of a message at which its list of differences begins; None when it has none."""
    return next((number for number, line in enumerate(lines) if _START.match(line)), None)
