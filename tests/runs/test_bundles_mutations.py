"""Valid rows with something changed at random: each is read whole, or refused with the field that is wrong."""

from __future__ import annotations

import copy
import json
from typing import Any

import msgspec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runs.bundles import reader_named
from runs.bundles.base import ReadRecord
from runs.errors import BadRecord
from runs.records import AttemptRecord
from tests.bundles import put_together
from tests.bundles.make import line
from tests.factories import Outcome, make_row

READER = reader_named("thinkingbox")
OUTCOMES: tuple[Outcome, ...] = ("passed", "failed", "system", "grader", "not_graded")
ODD: list[Any] = [
    None, True, False, 0, -1, 1.5, 1e300, 2**70, -(2**31), "", "0", "null", "NaN", "<script>alert(1)</script>",
    "\0", "\u202e\x1b[31m", "x" * 500, [], {}, [None], [[]], {"": None}, {"T": "Text"}, {"id": 1},
]  # fmt: skip
Path = tuple[str | int, ...]


def places(value: Any, path: Path = ()) -> list[Path]:
    """The paths of all values below this one."""
    items: list[tuple[str | int, Any]] = []
    if isinstance(value, dict):
        items = list(value.items())
    elif isinstance(value, list):
        items = list(enumerate(value))
    return [deeper for key, item in items for deeper in ((*path, key), *places(item, (*path, key)))]


def at(row: Any, path: Path) -> Any:
    for key in path:
        row = row[key]
    return row


@st.composite
def mutated(draw: st.DrawFn) -> dict[str, Any]:
    row = make_row(outcome=draw(st.sampled_from(OUTCOMES)), states=draw(st.booleans()))
    for _ in range(draw(st.integers(1, 3))):
        by_depth: dict[int, list[Path]] = {}
        for place in places(row):
            by_depth.setdefault(len(place), []).append(place)
        if not by_depth:
            break
        # The depth first: most values lie deep in the states, and the upper levels matter as much.
        *above, key = draw(st.sampled_from(by_depth[draw(st.sampled_from(sorted(by_depth)))]))
        holder = at(row, tuple(above))
        odd = copy.deepcopy(draw(st.sampled_from(ODD)))
        match draw(st.sampled_from(["drop", "set", "set", "add", "rename", "swap"])):
            case "drop":
                del holder[key]
            case "set":
                holder[key] = odd
            case "add" if isinstance(holder, dict):
                holder[draw(st.sampled_from(["later", "", "id", "error", "isError", "name"]))] = odd
            case "add":
                holder.append(odd)
            case "rename" if isinstance(holder, dict):
                holder[f"{key}_"] = holder.pop(key)
            case _ if isinstance(holder, list):
                other = draw(st.integers(0, len(holder) - 1))
                holder[int(key)], holder[other] = holder[other], holder[int(key)]
    return row


def without_parts(record: AttemptRecord) -> AttemptRecord:
    servers = {
        name: msgspec.structs.replace(server, before=None, after=None, required=None)
        for name, server in record.servers.items()
    }
    return msgspec.structs.replace(record, servers=servers, tools=[])


def outcome_of(text: bytes) -> ReadRecord | BadRecord:
    try:
        return READER.read(text)
    except BadRecord as error:
        return error


@settings(max_examples=1000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(mutated())
def test_a_changed_row_is_read_whole_or_refused_with_its_field(row: dict[str, Any]) -> None:
    text = line(row).rstrip()
    read = outcome_of(text)
    if isinstance(read, BadRecord):
        assert read.field != ""
        assert read.reason.endswith(".")
        return
    assert json.dumps(put_together(READER, read), sort_keys=True) == json.dumps(row, sort_keys=True)
    assert READER.normalise(read.detached.skeleton) == without_parts(read.record)
    assert [step.index for step in read.record.steps] == list(range(1, len(read.record.steps) + 1))


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=60), st.integers(0, 5000), st.integers(0, 40))
def test_a_row_with_foreign_bytes_in_it_is_read_or_refused(foreign: bytes, start: int, length: int) -> None:
    text = line(make_row()).rstrip()
    start = min(start, len(text))
    damaged = text[:start] + foreign.replace(b"\n", b"") + text[start + length :]
    read = outcome_of(damaged)
    if isinstance(read, BadRecord):
        assert read.reason.endswith(".")
        return
    msgspec.json.decode(read.detached.skeleton)
    assert READER.normalise(read.detached.skeleton) == without_parts(read.record)
