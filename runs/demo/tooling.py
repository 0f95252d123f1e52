"""What a tool of the rental desk is, and how a call becomes the text that the agent reads.

Tools work on databases that the caller hands in; nothing else is read or changed.
"""

from __future__ import annotations

import copy
import datetime
import json
from collections.abc import Callable
from typing import Any, NamedTuple

from runs.demo.states import Database, Databases, Record

Arguments = dict[str, Any]


class ToolError(Exception):
    """The tool ran and refuses; the text is meant for the agent."""


class Param(NamedTuple):
    """One parameter. Kinds: string, date, number, integer, array (of texts)."""

    name: str
    kind: str
    text: str
    required: bool = True
    choices: tuple[str, ...] = ()


class DeskTool(NamedTuple):
    name: str
    text: str
    params: tuple[Param, ...]
    run: Callable[[Databases, Arguments], Any]
    writes: bool = False
    ends_turn: bool = False
    direct: str | None = None
    """Wording that the harness shows to the customer, filled from the response."""


def find(database: Database, table: str, key: str, what: str, field: str = "id") -> Record:
    """The one record with this key. Raises `ToolError` naming it when there is none."""
    for record in database[table]:
        if record[field] == key:
            return record
    raise ToolError(f"{what} '{key}' is not on file.")


def matching(database: Database, table: str, arguments: Arguments, *fields: str) -> list[Record]:
    """The records that equal all given arguments of these names."""
    wanted = {field: arguments[field] for field in fields if arguments.get(field) is not None}
    return [record for record in database[table] if all(record[field] == value for field, value in wanted.items())]


def next_id(database: Database, table: str, prefix: str) -> str:
    numbers = [int(record["id"].removeprefix(prefix)) for record in database[table]]
    return f"{prefix}{max(numbers) + 1}"


def definition(tool: DeskTool) -> dict[str, Any]:
    """The tool as the harness records it."""
    properties: dict[str, Any] = {}
    for param in tool.params:
        schema: dict[str, Any] = {"type": "string" if param.kind == "date" else param.kind, "description": param.text}
        if param.kind == "date":
            schema["format"] = "date"
        if param.kind == "array":
            schema["items"] = {"type": "string"}
        if param.choices:
            schema["enum"] = list(param.choices)
        properties[param.name] = schema
    return {
        "name": tool.name,
        "description": tool.text,
        "input_schema": {
            "type": "object",
            "properties": properties,
            "required": [param.name for param in tool.params if param.required],
        },
        "direct_response": tool.direct,
        "is_end_turn": tool.ends_turn,
        "annotations": {"readOnlyHint": not tool.writes},
    }


_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "date": (str,),
    "number": (int, float),
    "integer": (int,),
    "array": (list,),
}


def _invalid(tool: DeskTool, arguments: Arguments) -> str | None:
    """What is wrong with the arguments by the tool's schema, None when nothing is."""
    known = {param.name: param for param in tool.params}
    for name in arguments:
        if name not in known:
            return f"unexpected argument '{name}'"
    for param in tool.params:
        if param.name not in arguments:
            if param.required:
                return f"'{param.name}' is a required property"
            continue
        value = arguments[param.name]
        if not isinstance(value, _TYPES[param.kind]):
            return f"{value!r} is not of type '{param.kind}' ({param.name})"
        if param.choices and value not in param.choices:
            return f"{value!r} is not one of {list(param.choices)!r} ({param.name})"
        if param.kind == "date":
            try:
                datetime.date.fromisoformat(str(value))
            except ValueError:
                return f"{value!r} is not a 'date' ({param.name})"
    return None


class Answer(NamedTuple):
    content: str
    failed: bool
    rejected: bool = False
    """The server refused the call before the tool ran: an error of the protocol."""


def call(tools: dict[str, DeskTool], databases: Databases, name: str, arguments: Arguments) -> Answer:
    """Run a tool on these databases; what it refuses is in the answer, in the form that the harness records."""
    tool = tools.get(name)
    if tool is None:
        return Answer(f"Error: function '{name}' does not exist", failed=True)
    problem = _invalid(tool, arguments)
    if problem is not None:
        body = {"isError": True, "content": [{"type": "text", "text": f"Input validation error: {problem}"}]}
        return Answer(json.dumps(body, ensure_ascii=False), failed=True, rejected=True)
    try:
        result = tool.run(databases, copy.deepcopy(arguments))
    except ToolError as error:
        return Answer(json.dumps({"error": str(error), "tool": name}, ensure_ascii=False), failed=True)
    return Answer(json.dumps(result, ensure_ascii=False), failed=False)


def loads(content: str) -> dict[str, Any]:
    """The JSON object in a tool's response."""
    value = json.loads(content)
    if not isinstance(value, dict):
        raise TypeError(f"A tool of the rental desk answers with an object, not with {type(value).__name__}.")
    return value
