"""Which steps wrote what: inferred by matching keys and values, since a transcript does not say it.

A call wrote a field when it is a state-changing call that did not fail, its arguments or its response carry the
record's key, and one of them carries a value for the field. Keys such as 20 occur in many tables, so a short key
counts only where a name beside it says which table is meant.
"""

from __future__ import annotations

import contextlib
from collections import Counter, deque
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
from msgspec import UNSET

from runs.records import Effect, EffectKind, Step, StepKind, Write
from runs.statediff.tables import same

__all__ = ["attribute", "observed_tools"]

_KEY_NAMES = ("id", "key", "number", "code", "reference", "sku", "email", "name", "uuid", "slug")
"""Endings of the names under which a record's key is given."""
_NEW = "new_"
"""Prefix of arguments that give a field its new value: `new_due_date` for `due_date`."""
_DEEPEST = 8
_MOST_NODES = 400
"""Objects of one response that are looked at; a response with more is a listing, which writes nothing."""
_LEAST_NAME = 4
"""Letters of a field's name from which a longer name that ends with it may mean it."""
_MOST_ALIKE = 50
"""Calls in which a value may occur to be a sign of one of them."""
_LEAST_ALIKE = 2
"""Equal fields by which a call is taken to have made a record whose key no call shows."""


class _Node(NamedTuple):
    """An object in arguments or a response, with the name under which it stands there."""

    name: str
    values: dict[str, Any]


class _Call(NamedTuple):
    """A successful state-changing call."""

    step: int
    tool: str
    table: str | None
    arguments: list[_Node]
    response: list[_Node]
    creates: bool
    """The response shows a generated id that no argument has: the arguments describe the new record."""
    given: frozenset[str]
    """All texts and numbers in the arguments, as texts."""
    values: frozenset[str]
    """Those of the response too."""


class _Carried(NamedTuple):
    """How a call carries a record."""

    response: list[_Node]
    """The objects of the response that are about the record."""
    arguments: bool
    """Whether the arguments are about the record."""


def attribute(effects: Sequence[Effect], steps: Sequence[Step], *, write_steps: Collection[int]) -> list[Effect]:
    """The effects with the steps that wrote their fields, last first, also where a later write put the old value back.

    `write_steps` are the indexes of the state-changing steps. The value of a write is the one that the step shows;
    for a whole record an object of its fields; UNSET where the step carries the record, its field did change, and
    nothing shows the value.
    """
    calls = [
        _call(step) for step in steps if step.index in write_steps and step.error is None and step.kind is StepKind.CALL
    ]
    if not calls:
        return list(effects)
    index = _by_value(calls)
    carried: dict[tuple[str, str], list[tuple[_Call, _Carried]]] = {}
    result = []
    for effect in effects:
        if effect.kind is EffectKind.REPORTED:
            result.append(effect)
            continue
        key = effect.after_key or effect.key
        if (effect.table, key) not in carried:
            found = [(call, _carries(call, effect.table, key)) for call in _candidates(index, key)]
            carried[effect.table, key] = [(call, how) for call, how in found if how is not None]
        writes = _writes(effect, carried[effect.table, key], index)
        if not writes and effect.created and effect.field is not None:
            writes = _by_named_value(effect.field, effect.after, calls)
        if writes:
            writes.reverse()
            effect = msgspec.structs.replace(
                effect, writes=writes, touched=effect.touched or effect.kind is EffectKind.MISSING
            )
        result.append(effect)
    return result


def observed_tools(effects: Sequence[Effect], steps: Sequence[Step]) -> frozenset[str]:
    """The tools seen to write in this attempt.

    A call's arguments carry a changed record and its new value, or the first call that shows a created record carries
    values of it.
    """
    changed = [effect for effect in effects if effect.after is not UNSET and not same(effect.before, effect.after)]
    if not changed:
        return frozenset()
    calls = [_call(step) for step in steps if step.kind is StepKind.CALL and step.error is None]
    index = _by_value(calls)
    tools: set[str] = set()
    for effect in changed:
        record = effect.after if effect.field is None else {effect.field: effect.after}
        if not isinstance(record, dict):
            continue
        key = effect.after_key or effect.key
        carrying = [call for call in _candidates(index, key) if _carries(call, effect.table, key) is not None]
        if effect.before is UNSET and carrying:
            made, *carrying = carrying  # only the first call that shows a new record can have made it
            if not made.given.isdisjoint(_telling(record, key)):
                tools.add(made.tool)
        tools.update(call.tool for call in carrying if key in call.given and _gives(call, record))
    return frozenset(tools)


def _gives(call: _Call, record: Mapping[str, Any]) -> bool:
    """Whether the arguments give a field its new value. In a whole record ids do not count: look-ups give them too."""
    for name, after in record.items():
        if len(record) > 1 and name.endswith("id"):
            continue
        value = _named_value(call.arguments, name)
        if value is not UNSET and value is not None and _alike(value, after):
            return True
    return False


def _call(step: Step) -> _Call:
    arguments = _nodes(step.arguments)
    response: list[_Node] = []
    if step.content and step.content.lstrip()[:1] in {"{", "["}:
        with contextlib.suppress(msgspec.DecodeError, RecursionError, UnicodeEncodeError):
            response = _nodes(msgspec.json.decode(step.content))
    table = step.arguments.get("table") if isinstance(step.arguments, dict) else None
    given = _plain_values(arguments)
    own = next((_own_id(node) for node in response if _own_id(node) is not None), None)
    return _Call(
        step=step.index,
        tool=step.name or "",
        table=table if isinstance(table, str) else None,
        arguments=arguments,
        response=response,
        creates=own is not None and own not in given,
        given=given,
        values=given | _plain_values(response),
    )


def _text(value: str | int | float) -> str:
    """A plain value as a text: 20 and "20" are one key."""
    return hex(value) if isinstance(value, int) and value.bit_length() > 1024 else str(value)


def _plain_values(nodes: Sequence[_Node]) -> frozenset[str]:
    values = [value for node in nodes for value in node.values.values()]
    return frozenset(v if type(v) is str else _text(v) for v in values if isinstance(v, str | int | float))


def _by_value(calls: Sequence[_Call]) -> dict[str, list[_Call]]:
    """Value → the calls that it occurs in, in order: most calls have nothing to do with a record."""
    index: dict[str, list[_Call]] = {}
    for call in calls:
        for value in call.values:
            index.setdefault(value, []).append(call)
    return index


def _candidates(index: Mapping[str, list[_Call]], key: str) -> list[_Call]:
    """The calls that may carry a key: it occurs in them, or both parts of it do."""
    whole = index.get(key, [])
    first, colon, second = key.partition(":")
    if whole or not colon or ":" in second:
        return whole
    return [call for call in index.get(first, []) if second in call.values]


def _own_id(node: _Node) -> str | None:
    """The id of the record that an object of a response is about: its `id`, else its first field that ends with it."""
    value = node.values.get("id")
    if value is None:
        value = next((value for name, value in node.values.items() if name.endswith("_id") and value is not None), None)
    return _text(value) if isinstance(value, str | int) else None


def _nodes(value: Any) -> list[_Node]:
    """All objects inside a decoded JSON value, outer ones first."""
    nodes: list[_Node] = []
    waiting: deque[tuple[str, Any, int]] = deque([("", value, 0)])
    while waiting and len(nodes) < _MOST_NODES:
        name, item, depth = waiting.popleft()
        if depth > _DEEPEST:
            continue
        if isinstance(item, dict):
            nodes.append(_Node(name, item))
            waiting += [(inner, one, depth + 1) for inner, one in item.items() if isinstance(one, dict | list)]
        elif isinstance(item, list):
            waiting += [(name, one, depth + 1) for one in item[:_MOST_NODES] if isinstance(one, dict | list)]
    return nodes


def _carries(call: _Call, table: str, key: str) -> _Carried | None:
    """How a call carries the record of a table; None when it does not."""
    if call.table is not None and not _ends_with_name(table, call.table):
        return None
    parts = key.split(":") if key.count(":") == 1 else [key]
    wanted = (
        [key]
        if _in_nodes(call, call.arguments, table, [key]) or _in_nodes(call, call.response, table, [key])
        else parts
    )
    response = [node for node in call.response if _in_nodes(call, [node], table, wanted)]
    arguments = _in_nodes(call, call.arguments, table, wanted)
    if not response and not arguments:
        return None
    # The arguments of a call that made another record describe that one, and name this one only as a reference.
    return _Carried(response, bool(response) or not call.creates)


def _in_nodes(call: _Call, nodes: Sequence[_Node], table: str, parts: Sequence[str]) -> bool:
    return all(any(_names_key(call, node, table, part) for node in nodes) for part in parts)


def _names_key(call: _Call, node: _Node, table: str, key: str) -> bool:
    for name, value in node.values.items():
        if type(value) is str:
            if value != key:
                continue
        elif type(value) is not int:
            continue
        lower = name.lower()
        if not lower.endswith(_KEY_NAMES) or _text(value) != key:
            continue
        if _distinctive(key):
            return True
        if lower == "id":
            if call.table is not None or any(
                _ends_with_name(table, word) for word in (node.name, *call.tool.split("_"))
            ):
                return True
        elif _ends_with_name(table, lower.removesuffix("_id")):
            return True
    return False


def _distinctive(key: str) -> bool:
    """Whether a key is unlikely to occur in another table: longer than a counter, or with letters and digits."""
    return len(key) >= 8 or (len(key) >= 5 and not key.isdigit())


def _ends_with_name(table: str, name: str) -> bool:
    """Whether a table's name ends with a name, in the singular or the plural."""
    if not name:
        return False
    table, name = table.lower(), name.lower()
    plurals = {name, name + "s", name + "es", name.removesuffix("y") + "ies"}
    if name.startswith(("updated_", "created_", _NEW)):
        return _ends_with_name(table, name.partition("_")[2])
    return any(table == plural or table.endswith("_" + plural) for plural in plurals)


def _named_value(nodes: Sequence[_Node], field: str) -> Any:
    """The value that the objects give a field by its name; UNSET when they name it nowhere."""
    for node in nodes:
        if field in node.values:
            return node.values[field]
    for node in nodes:
        for name, value in node.values.items():
            if name.startswith(_NEW) and (name[len(_NEW) :] == field or field.endswith("_" + name[len(_NEW) :])):
                return value
    if len(field) >= _LEAST_NAME:
        longer = [value for node in nodes for name, value in node.values.items() if name.endswith("_" + field)]
        if len(longer) == 1:  # `charge_amount` for `amount`
            return longer[0]
    return UNSET


def _alike(one: Any, other: Any) -> bool:
    """Whether two values say the same, a number written as a text included."""
    if isinstance(one, str | int | float) and isinstance(other, str | int | float) and not isinstance(one, bool):
        return _text(one) == _text(other)
    return same(one, other)


def _writes(effect: Effect, carried: list[tuple[_Call, _Carried]], index: Mapping[str, list[_Call]]) -> list[Write]:
    """The writes of an effect's field in the order of the steps."""
    if effect.field is None:
        record = next(
            (value for value in (effect.after, effect.required, effect.before) if isinstance(value, dict)), {}
        )
        writes = [_record_write(call, how, record) for call, how in carried if how.arguments or how.response]
        if not writes and effect.after is not UNSET and effect.before is UNSET:
            writes = _by_content(index, record)
        return writes
    current = effect.before
    found = []
    for call, how in carried:
        value = _field_value(call, how, effect.field, current)
        if value is not UNSET:
            found.append(Write(step=call.step, value=value))
            current = value
    if not found and effect.after is not UNSET and not same(effect.before, effect.after):
        found = [Write(step=call.step) for call, _ in carried]
    return found


def _field_value(call: _Call, how: _Carried, field: str, current: Any) -> Any:
    """The value that a call gave the field; UNSET when it gave none."""
    named = _named_value(call.arguments, field) if how.arguments else UNSET
    shown = _named_value(how.response, field)
    if shown is UNSET and not how.response and how.arguments:
        # A response without any id is about the record that the arguments name.
        shown = _named_value([node for node in call.response if _own_id(node) is None], field)
    if named is UNSET or named is None:  # tools take null for "leave it as it is"
        value = shown if shown is not UNSET else named
        return UNSET if value is UNSET or same(value, current) else value
    return named if shown is UNSET else shown


def _record_write(call: _Call, how: _Carried, record: Mapping[str, Any]) -> Write:
    value = {}
    for name in record:
        found = _named_value(how.response, name)
        if found is UNSET and how.arguments:
            found = _named_value(call.arguments, name)
        if found is not UNSET:
            value[name] = found
    return Write(step=call.step, value=value or UNSET)


def _telling(record: Mapping[str, Any], key: str = "") -> list[str]:
    """The values of a record that could tell it from another, as texts: no key, no empty value, no yes or no."""
    return [
        _text(value)
        for value in record.values()
        if isinstance(value, str | int | float) and not isinstance(value, bool) and value not in ("", 0, key)
    ]


def _by_content(index: Mapping[str, list[_Call]], record: Mapping[str, Any]) -> list[Write]:
    """The call that fits a created record best whose key no call shows; of equal ones the first: others repeat it."""
    scores: Counter[int] = Counter()
    for value in _telling(record):
        calls = index.get(value, [])
        if len(calls) <= _MOST_ALIKE:
            scores.update(call.step for call in calls)
    best = max(scores.values(), default=0)
    return [Write(step=min(step for step, score in scores.items() if score == best))] if best >= _LEAST_ALIKE else []


def _by_named_value(field: str, after: Any, calls: Sequence[_Call]) -> list[Write]:
    """The call that gives a field of a created record its value, whose key no call shows; none where several do."""
    if after is UNSET or after is None:
        return []
    found = [
        Write(step=call.step, value=value)
        for call in calls
        if (value := _named_value(call.arguments, field)) is not UNSET and _alike(value, after)
    ]
    return found if len(found) == 1 else []
