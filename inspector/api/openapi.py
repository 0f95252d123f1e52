"""The schema of the API: what ninja knows of paths and parameters, and what the structs say of the answers."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from ninja.openapi.schema import OpenAPISchema

from inspector.api.errors import MEDIA_TYPE, ProblemBody
from inspector.api.plain import described, field_types

__all__ = ["describe"]

_TEMPLATE = "#/components/schemas/{name}"


def describe(schema: OpenAPISchema, *, required: bool) -> OpenAPISchema:
    """Puts the structs' own schemas where operations name structs, and adds what all have in common.

    `required`: nobody is answered without a login.
    """
    kinds: dict[Any, None] = {ProblemBody: None}
    _collect(schema["paths"], kinds)
    for operation in _operations(schema["paths"]):
        _say_fields(operation)
        for parameter in operation["parameters"]:
            _say_no_nul(parameter["schema"])
        operation["security"] = _SECURITY if required else [*_SECURITY, {}]
    for component in schema["components"]["schemas"].values():
        for field in component.get("properties", {}).values():
            _say_no_nul(field)
    schemas, components = described(list(kinds), _TEMPLATE)
    made = dict(zip(kinds, schemas, strict=True))
    schema["paths"] = _resolved(schema["paths"], made)
    schema["components"]["schemas"] = dict(sorted({**schema["components"]["schemas"], **components}.items()))
    schema["components"]["securitySchemes"] = _SCHEMES
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


def _operations(paths: dict[str, Any]) -> list[dict[str, Any]]:
    found = {id(operation): operation for methods in paths.values() for operation in methods.values()}
    return list(found.values())


def _say_fields(operation: dict[str, Any]) -> None:
    """Which names the parameter `fields` takes: those of what the operation gives."""
    kind = operation.pop("x-fields-of", None)
    if kind is None:
        return
    for parameter in operation["parameters"]:
        if parameter["name"] == "fields":
            names = sorted(field_types(kind))
            parameter["schema"] = {"type": "array", "items": {"type": "string", "enum": names}, "minItems": 1}
            parameter["style"], parameter["explode"] = "form", False


def _say_no_nul(schema: dict[str, Any]) -> None:
    """No text that is asked for or sent holds U+0000, which one of the databases could not even compare."""
    within = [found for name in ("items", "additionalProperties") if isinstance(found := schema.get(name), dict)]
    for inner in (schema, *within, *schema.get("anyOf", ())):
        if inner.get("type") == "string" and not {"enum", "pattern", "const"} & inner.keys():
            inner["pattern"] = r"^[^\x00]*$"


_SECURITY: list[dict[str, list[str]]] = [{"token": []}, {"session": []}]
_SCHEMES = {
    "token": {"type": "http", "scheme": "bearer", "description": "An API token."},
    "session": {
        "type": "apiKey",
        "in": "cookie",
        "name": settings.SESSION_COOKIE_NAME,
        "description": "A browser that is logged in; it sends the header X-CSRFToken with what changes something.",
    },
}
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
