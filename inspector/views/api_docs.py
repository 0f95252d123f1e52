"""`/api/v1/docs`: the API described operation by operation, with a form to try each."""

from __future__ import annotations

from typing import Any

import msgspec
from django.http import HttpResponse
from django.views.decorators.http import require_safe

from inspector.access import viewers_too
from inspector.http import HtmxHttpRequest, render_page

__all__ = ["Reference", "reference", "reference_of"]


class Parameter(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    place: str
    """`path`, `query`, `header` or `body`."""
    kind: str
    """In words."""
    several: bool
    required: bool
    description: str
    choices: list[str]
    default: str


class Operation(msgspec.Struct, frozen=True, kw_only=True):
    key: str
    method: str
    path: str
    summary: str
    description: str
    parameters: list[Parameter]
    bodies: list[str]
    """Media types that it takes."""
    fields: list[Parameter]
    """Of the object that it takes as JSON."""
    status: str
    media: str
    """Empty where nothing is given."""
    gives: str
    """What that is of; empty where it is no struct."""
    example: str

    @property
    def reads(self) -> bool:
        return self.method == "GET"


class Group(msgspec.Struct, frozen=True):
    name: str
    description: str
    operations: list[Operation]


class Reference(msgspec.Struct, frozen=True, kw_only=True):
    version: str
    description: str
    groups: list[Group]
    count: int


@viewers_too
@require_safe
def reference(request: HtmxHttpRequest) -> HttpResponse:
    # The operations know of views' helpers; the page is of them all.
    from inspector.api.app import api  # noqa: PLC0415

    return render_page(request, "api/reference.html", {"page": reference_of(api.get_openapi_schema())})


def reference_of(schema: dict[str, Any]) -> Reference:
    """The page of a schema, in the order of its groups."""
    components = schema["components"]["schemas"]
    groups: dict[str, list[Operation]] = {tag["name"]: [] for tag in schema["tags"]}
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            groups[operation["tags"][0]].append(_operation(path, method, operation, components))
    texts = {tag["name"]: tag["description"] for tag in schema["tags"]}
    return Reference(
        version=schema["info"]["version"],
        description=schema["info"]["description"],
        groups=[Group(name, texts[name], operations) for name, operations in groups.items() if operations],
        count=sum(map(len, groups.values())),
    )


def _operation(path: str, method: str, operation: dict[str, Any], components: dict[str, Any]) -> Operation:
    status, answer = next((code, each) for code, each in operation["responses"].items() if code.startswith("2"))
    contents: dict[str, Any] = answer.get("content", {})
    media = next(iter(contents), "")
    content: dict[str, Any] = contents.get(media, {})
    examples = content.get("examples", {})
    bodies: dict[str, Any] = operation.get("requestBody", {}).get("content", {})
    return Operation(
        key=f"{operation['operationId']}-{method}",
        method=method.upper(),
        path=path,
        summary=operation["summary"],
        description=operation.get("description", ""),
        parameters=[_parameter(each, components) for each in operation["parameters"]],
        bodies=list(bodies),
        fields=_fields(bodies.get("application/json", {}).get("schema", {}), components),
        status=status,
        media=media,
        gives=_named(content.get("schema", {})),
        example=_pretty(examples["usual"]["value"]) if examples else "",
    )


def _pretty(value: Any) -> str:
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()


def _fields(schema: dict[str, Any], components: dict[str, Any]) -> list[Parameter]:
    known = _component(schema, components)
    required = known.get("required", ())
    return [
        _parameter({"name": name, "in": "body", "required": name in required, "schema": field}, components)
        for name, field in known.get("properties", {}).items()
    ]


def _component(schema: dict[str, Any], components: dict[str, Any]) -> dict[str, Any]:
    if "$ref" not in schema:
        return schema
    found: dict[str, Any] = components[schema["$ref"].rpartition("/")[2]]
    return found


_KINDS = {"string": "text", "integer": "whole number", "boolean": "true or false"}


def _parameter(parameter: dict[str, Any], components: dict[str, Any]) -> Parameter:
    schema = parameter["schema"]
    inner = schema.get("items") or next(
        (each for each in schema.get("anyOf", ()) if each.get("type") != "null"), schema
    )
    for each in (inner, *inner.get("allOf", ())):
        if "$ref" in each:
            inner = _component(each, components)
    kind = str(inner.get("type", "text"))
    default = schema.get("default")
    return Parameter(
        name=parameter["name"],
        place=parameter["in"],
        kind=_KINDS.get(kind, kind),
        several="items" in schema,
        required=parameter["required"],
        description=parameter.get("description", "") or schema.get("description", ""),
        choices=[str(choice) for choice in inner.get("enum", ())],
        default="" if default in (None, [], "", {}) else str(default),
    )


def _named(schema: dict[str, Any]) -> str:
    """What a schema is of: a component's name, or a list of such."""
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2].rpartition(".")[2]
    items = schema.get("properties", {}).get("items", {}).get("items", {})
    return f"list of {_named(items)}" if "$ref" in items else ""
