"""Structs of the queries as JSON: the same values as on the pages, with what follows from them beside them.

A field keeps its name (`pk` is called `id`). What a struct computes, such as `pass_at_1`, is a field like the others.
What was not recorded (UNSET) is left out.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from functools import cache
from typing import Any, get_args, get_type_hints

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from runs.boards import Board
from runs.queries.compare_structs import ComparePage

__all__ = ["described", "encoded", "field_types", "plain", "structs_in"]

Hidden = Mapping[type[Struct], Collection[str]]
_NAMES = {"pk": "id"}
_REPEATED: Hidden = {Board: {"rows"}, ComparePage: {"sides"}}
"""What a struct computes and has in other fields already."""


def plain(value: Any, hidden: Hidden | None = None) -> Any:
    """Objects, lists and plain values, ready for `encoded`. Of a struct in `hidden` the named fields are left out."""
    if isinstance(value, Struct):
        names = _names_of(type(value))
        left_out = () if hidden is None else hidden.get(type(value), ())
        found = ((key, name, getattr(value, name)) for name, key in names.items() if name not in left_out)
        return {key: plain(item, hidden) for key, _, item in found if item is not UNSET}
    if isinstance(value, dict):
        return {key: plain(item, hidden) for key, item in value.items() if item is not UNSET}
    if isinstance(value, (list, tuple)):
        return [plain(item, hidden) for item in value]
    if isinstance(value, (set, frozenset)):
        # In an order of its own, so that equal answers are equal texts.
        return sorted(plain(item, hidden) for item in value)
    return value


def encoded(value: Any) -> bytes:
    """JSON. Half of a surrogate pair, which no UTF-8 can hold, is written as its escape."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return json.dumps(msgspec.to_builtins(value, builtin_types=(Raw,)), default=_decoded).encode()


def _decoded(value: Any) -> Any:
    return json.loads(bytes(value))


@cache
def _names_of(kind: type[Struct]) -> dict[str, str]:
    """Attribute → name in JSON: fields first, then what the struct computes."""
    computed = [
        name
        for name in dir(kind)
        if not name.startswith("_")
        and isinstance(getattr(kind, name), property)
        and name not in _REPEATED.get(kind, ())
    ]
    return {name: _NAMES.get(name, name) for name in (*kind.__struct_fields__, *computed)}


@cache
def field_types(kind: type[Struct]) -> dict[str, Any]:
    """Name in JSON → type, of all that `plain` makes of a struct."""
    hints = get_type_hints(kind)
    types = {}
    for name, key in _names_of(kind).items():
        made = getattr(kind, name)
        types[key] = get_type_hints(made.fget)["return"] if isinstance(made, property) else hints[name]
    return types


def structs_in(types: Collection[Any]) -> list[type[Struct]]:
    """All structs that values of these types hold, each once."""
    found: dict[type[Struct], None] = {}
    waiting = list(types)
    while waiting:
        kind = waiting.pop()
        waiting.extend(get_args(kind))
        origin = getattr(kind, "__origin__", kind)
        if isinstance(origin, type) and issubclass(origin, Struct) and origin not in found:
            found[origin] = None
            waiting.extend(field_types(origin).values())
    return list(found)


def described(types: Collection[Any], template: str) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """JSON Schemas of what `plain` makes of values of these types, and the components that they refer to.

    No field is required, since a reader may ask for some of them only.
    """
    structs = structs_in(types)
    computed = [(kind, key, hint) for kind in structs for key, hint in field_types(kind).items()]
    schemas, components = msgspec.json.schema_components(
        [*types, *structs, *(_without_unset(hint) for _, _, hint in computed)], ref_template=template
    )
    first, rest = list(schemas[: len(types)]), schemas[len(types) :]
    names = {kind: schema["$ref"].rpartition("/")[2] for kind, schema in zip(structs, rest, strict=False)}
    for kind, name in names.items():
        components[name] = {
            "title": kind.__name__,
            "type": "object",
            **({"description": text} if (text := _first_line(kind)) else {}),
            "properties": {},
        }
    for (kind, key, _), schema in zip(computed, rest[len(structs) :], strict=True):
        components[names[kind]]["properties"][key] = schema
    return first, components


def _without_unset(hint: Any) -> Any:
    args = [part for part in get_args(hint) if part is not UnsetType]
    if len(args) == len(get_args(hint)) or not args:
        return hint
    made = args[0]
    for part in args[1:]:
        made = made | part
    return made


def _first_line(kind: type[Struct]) -> str:
    text = kind.__doc__ or ""
    return "" if text.startswith(f"{kind.__name__}(") else " ".join(text.split())
