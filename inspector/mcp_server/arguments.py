"""What a tool says of arguments that it cannot take: which one, what was given, what is allowed, and the call to make
instead. The SDK would pass on what its validation library says, which is written for programmers."""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping
from typing import Any, Self

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools.base import Tool
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from inspector.mcp_server.quoting import quote
from runs.naming import UNSTORABLE, storable

__all__ = ["StrictTool", "argument_words"]

_SHOWN = 80
"""Characters of a value that was given."""
_MOST = 4
"""Mistakes that are told at once."""
_KINDS = {"integer": "a whole number", "string": "a text", "boolean": "true or false", "null": "null"}


class StrictTool(Tool):
    """A tool that takes nothing but its own arguments, and says in sentences what is wrong with others."""

    @classmethod
    def of(cls, function: Any, **about: Any) -> Self:
        """An argument that a tool does not have is a mistake: a filter misspelt would quietly show everything. The SDK
        passes such over."""
        tool = cls.from_function(function, **about)
        assert isinstance(tool, cls)
        model = tool.fn_metadata.arg_model
        model.model_config["extra"] = "forbid"
        model.model_rebuild(force=True)
        tool.parameters["additionalProperties"] = False
        return tool

    async def run(self, arguments: dict[str, Any], context: Context[Any, Any], convert_result: bool = False) -> Any:
        try:
            self.fn_metadata.validate_arguments(arguments)
        except ValidationError as error:
            raise ToolError(argument_words(self, arguments, error)) from error
        for name, value in arguments.items():
            if isinstance(value, str) and not storable(value):
                raise ToolError(f"`{name}` {UNSTORABLE}")
        return await super().run(arguments, context, convert_result=convert_result)


def argument_words(tool: Tool, given: Mapping[str, Any], error: ValidationError) -> str:
    """The mistakes, each a sentence, and the same call without them."""
    properties: dict[str, Any] = tool.parameters["properties"]
    wrong: dict[str, str] = {}
    """Argument → what stands in its place in the call to make instead; empty: leave it out."""
    sentences: dict[str, str] = {}
    for detail in error.errors(include_url=False):
        name = str(detail["loc"][0]) if detail["loc"] else ""
        if name in sentences:
            continue
        if detail["type"] == "extra_forbidden":
            sentences[name], instead = _unknown(name, given, properties)
            wrong |= {name: "", **instead}
        else:
            schema = _resolved(properties[name], tool.parameters)
            sentences[name], wrong[name] = _misfit(name, detail, schema, given)
    told = list(sentences.values())
    if len(told) > _MOST:
        told = [*told[:_MOST], f"{len(told) - _MOST} more arguments are wrong."]
    return " ".join([*told, f"Call {_call(tool, given, wrong)} instead."])


def _unknown(name: str, given: Mapping[str, Any], properties: Mapping[str, Any]) -> tuple[str, dict[str, str]]:
    near = difflib.get_close_matches(name[:60], [known for known in properties if known not in given], n=1, cutoff=0.6)
    meant = f" Did you mean `{near[0]}`?" if near else ""
    there = ", ".join(f"`{known}`" for known in properties)
    sentence = f"There is no argument {quote(name[:60])}.{meant} There are: {there}."
    return sentence, {near[0]: _value(given[name])} if near else {}


def _misfit(name: str, detail: ErrorDetails, schema: Mapping[str, Any], given: Mapping[str, Any]) -> tuple[str, str]:
    """The sentence, and what could stand there instead."""
    about = schema.get("description", "")
    if name not in given:
        return f"The argument `{name}` is missing. {about}".strip(), "…"
    value = _value(given[name])
    kind = detail["type"]
    if kind == "less_than_equal":
        return f"`{name}` is {value}, and {schema['maximum']:,} is the most.", str(schema["maximum"])
    if kind == "greater_than_equal":
        return f"`{name}` is {value}, and {schema['minimum']:,} is the least.", str(schema["minimum"])
    allowed = _allowed(schema)
    return f"`{name}` is {value}, and must be {' or '.join(allowed)}. {about}".strip(), "…"


def _allowed(schema: Mapping[str, Any]) -> list[str]:
    """What the argument may be, in words: `a whole number`, or each of the texts that it takes."""
    if "anyOf" in schema:
        return [words for each in schema["anyOf"] for words in _allowed(each)]
    if "enum" in schema:
        return [quote(str(value)) for value in schema["enum"]]
    return [_KINDS.get(str(schema.get("type")), "another kind of value")]


def _resolved(schema: Mapping[str, Any], whole: Mapping[str, Any]) -> dict[str, Any]:
    """With what it refers to in its place."""
    found = dict(schema)
    if "$ref" in found:
        found = {**whole["$defs"][found.pop("$ref").rpartition("/")[2]], **found}
    if "anyOf" in found:
        found["anyOf"] = [_resolved(each, whole) for each in found["anyOf"]]
    return found


def _value(value: Any) -> str:
    text = quote(value) if isinstance(value, str) else json.dumps(value, default=str)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _call(tool: Tool, given: Mapping[str, Any], wrong: Mapping[str, str]) -> str:
    """The call with what was right in it, in the order of the arguments."""
    parts = []
    for name in tool.parameters["properties"]:
        if wrong.get(name):
            parts.append(f"{name}={wrong[name]}")
        elif name in given and name not in wrong:
            parts.append(f"{name}={_value(given[name])}")
    return f"{tool.name}({', '.join(parts)})"
