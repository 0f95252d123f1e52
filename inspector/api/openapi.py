"""The schema of the API: what ninja knows of paths and parameters, and what the structs say of the answers."""

from __future__ import annotations

from typing import Any

from ninja import NinjaAPI
from ninja.openapi.schema import OpenAPISchema

from inspector.api.errors import MEDIA_TYPE, ProblemBody
from inspector.api.plain import described

__all__ = ["describe"]

_TEMPLATE = "#/components/schemas/{name}"


def describe(api: NinjaAPI, schema: OpenAPISchema) -> OpenAPISchema:
    """Puts the structs' own schemas where operations name structs, and what all operations have in common."""
    kinds: dict[Any, None] = {ProblemBody: None}
    _collect(schema["paths"], kinds)
    schemas, components = described(list(kinds), _TEMPLATE)
    made = dict(zip(kinds, schemas, strict=True))
    schema["paths"] = _resolved(schema["paths"], made)
    schema["components"]["schemas"] = dict(sorted({**schema["components"]["schemas"], **components}.items()))
    schema["components"]["responses"] = {
        "Problem": {
            "description": "The request was refused; the content says why, and names the fields that are wrong.",
            "content": {
                MEDIA_TYPE: {
                    "schema": made[ProblemBody],
                    "examples": {"wrong_field": {"value": _PROBLEM}},
                }
            },
        }
    }
    schema["tags"] = [{"name": name, "description": text} for name, text in _TAGS.items()]
    return schema


_TAGS = {
    "runs": "Runs, their figures, tasks, failures and grids, and the runs to push attempts to.",
    "compare": "Two runs, or two attempts at one task.",
    "tasks": "Benchmarks and tasks, across runs.",
    "attempts": "Attempts: outline, steps, effects, checks, states and the row as it came.",
    "failures": "Failed attempts with all facets and the search, and attempts that broke.",
    "leaderboards": "Boards and the published rows.",
    "prices": "Price lists, version by version.",
    "uploads": "Bundles on their way in, and what became of each.",
    "notes": "What people wrote on attempts.",
    "metrics": "What the figures mean.",
    "about": "Who asks.",
}
_PROBLEM = {
    "type": "about:blank",
    "title": "Unprocessable Entity",
    "status": 422,
    "detail": "limit: Input should be less than or equal to 500.",
    "errors": [{"field": "limit", "place": "query", "message": "Input should be less than or equal to 500."}],
}


def _collect(value: Any, kinds: dict[Any, None]) -> None:
    if isinstance(value, dict):
        if "$struct" in value:
            kinds.setdefault(value["$struct"])
        for item in value.values():
            _collect(item, kinds)
    elif isinstance(value, list):
        for item in value:
            _collect(item, kinds)


def _resolved(value: Any, made: dict[Any, Any]) -> Any:
    if isinstance(value, dict):
        if "$struct" in value:
            return made[value["$struct"]]
        return {str(key): _resolved(item, made) for key, item in value.items()}
    if isinstance(value, list):
        return [_resolved(item, made) for item in value]
    return value
