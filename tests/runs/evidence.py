"""Small states and steps for the tests of comparison and attribution."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import UNSET, Raw

from runs.bundles import read_rows
from runs.records import AttemptRecord, Effect, Problem, ServerStates, Step, StepKind

MAX_LINE = 64 * 2**20


def table(*records: Mapping[str, Any]) -> Raw:
    return Raw(json.dumps(records).encode())


def state(**tables: list[dict[str, Any]]) -> dict[str, Raw]:
    return {name: table(*records) for name, records in tables.items()}


def states(before: Any, after: Any, required: Any, **facts: Any) -> ServerStates:
    return ServerStates(before=before, after=after, required=required, **facts)


def call(index: int, name: str, arguments: Any, response: Any = None, *, error: str | None = None) -> Step:
    content = response if isinstance(response, str) or response is None else json.dumps(response)
    return Step(
        index=index, kind=StepKind.CALL, role="assistant", name=name, arguments=arguments, content=content, error=error
    )


def shown(effect: Effect) -> tuple[Any, ...]:
    """An effect without its writes, short enough to write down."""
    return (effect.kind.value, effect.table, effect.key, effect.field, effect.before, effect.after, effect.required)


def read_bundle(path: Path) -> Iterator[AttemptRecord]:
    """The records of a reference bundle, all of which can be read."""
    with path.open("rb") as file:
        reader, rows = read_rows(file, name=path.name, max_line=MAX_LINE)
        for row in rows:
            assert not isinstance(row, Problem)
            yield reader.read(row.text).record


def plain(value: Any) -> Any:
    """A value of an effect as the reference writes it: null for absent."""
    return None if value is UNSET else value
