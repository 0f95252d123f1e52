"""A `tb infer` row in two: the large parts that many rows share, and the skeleton that is left.

The skeleton is an envelope `{"row": …, "same": …, "notes": …}`. `row` is the row with null where a part was taken out;
with `same`, `test_context.messages` is null too, as it was equal byte for byte to `messages`; `notes` says what reading
changed. All other values are kept as the text they came in, so numbers keep their digits.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec
from msgspec import UNSET, Raw, UnsetType

from runs.bundles.base import Detached, Part
from runs.bundles.fields import wrong
from runs.bundles.thinkingbox_parts import shared_text
from runs.canonical import canonical_json

__all__ = [
    "STATES",
    "DetachedRow",
    "OpenedRow",
    "SplitRow",
    "attach_row",
    "detach_row",
    "fields_of",
    "open_skeleton",
    "split_row",
]

STATES = ("initial_db_state", "result_db_state", "golden_db_state")
_EFFECTS = ("test_context", "effects")
_STATE_PATH = (*_EFFECTS, "server", "field")
_NULL = Raw(b"null")


class _Server(msgspec.Struct, forbid_unknown_fields=True):
    initial_db_state: Raw | UnsetType = UNSET
    result_db_state: Raw | UnsetType = UNSET
    result_db_hash: Raw | UnsetType = UNSET
    golden_db_state: Raw | UnsetType = UNSET
    golden_db_hash: Raw | UnsetType = UNSET
    diff: Raw | UnsetType = UNSET
    rubrics: Raw | UnsetType = UNSET
    rubrics_yesno: Raw | UnsetType = UNSET


class _Context(msgspec.Struct, forbid_unknown_fields=True):
    response: Raw | UnsetType = UNSET
    tool_direct_responses: Raw | UnsetType = UNSET
    effects: dict[str, _Server] | UnsetType | None = UNSET
    tool_calls: Raw | UnsetType = UNSET
    messages: Raw | UnsetType = UNSET
    init_result: Raw | UnsetType = UNSET
    session_id: Raw | UnsetType = UNSET
    metadata: Raw | UnsetType = UNSET


class _Row(msgspec.Struct, forbid_unknown_fields=True):
    """Exactly what the harness writes, so that one pass over the text finds everything. Others are split by level."""

    uid: Raw | UnsetType = UNSET
    messages: Raw | UnsetType = UNSET
    test_result: Raw | UnsetType = UNSET
    test_context: _Context | UnsetType | None = UNSET
    test_tags: Raw | UnsetType = UNSET
    tools: Raw | UnsetType = UNSET
    raw_messages: Raw | UnsetType = UNSET
    user_llm_history: Raw | UnsetType = UNSET
    usage: Raw | UnsetType = UNSET
    metadata: Raw | UnsetType = UNSET
    is_system_error: Raw | UnsetType = UNSET
    finish_reason: Raw | UnsetType = UNSET


class _Envelope(msgspec.Struct, omit_defaults=True):
    row: Raw
    same: bool = False
    notes: list[str] = []


class SplitRow(msgspec.Struct, kw_only=True):
    """The fields of a row by level, undecoded. A level that the row does not have, or has as null, is None."""

    row: dict[str, Any]
    context: dict[str, Any] | None = None
    servers: dict[str, dict[str, Any] | Raw] | None = None
    """Server → the fields of its effects, or their text where they are no object."""
    decoded: dict[int, Any] = {}
    """What was decoded so far, by the text's own number. Nobody changes it."""

    def value(self, text: Any) -> Any:
        """A field's value; None where it is null. Raises `msgspec.DecodeError`."""
        if not isinstance(text, Raw):
            return None
        number = id(text)
        if number not in self.decoded:
            self.decoded[number] = _any.decode(text)
        return self.decoded[number]

    def repeats_messages(self) -> bool:
        """Whether the messages in the test context are the row's own, byte for byte."""
        if self.context is None or "messages" not in self.context:
            return False
        return bool(self.context["messages"] == self.row.get("messages"))


class DetachedRow(NamedTuple):
    detached: Detached
    size: int
    """Bytes of the row written without spaces: as long as what came in, unless that had spaces or a key twice."""


class OpenedRow(NamedTuple):
    split: SplitRow
    notes: list[str]


_exact = msgspec.json.Decoder(_Row)
_level = msgspec.json.Decoder(dict[str, Raw])
_any = msgspec.json.Decoder()
_envelope = msgspec.json.Decoder(_Envelope)
_encode = msgspec.json.Encoder().encode


def split_row(text: bytes | Raw) -> SplitRow:
    """The levels of a row. Raises `BadRecord` when a level is no object, `msgspec.DecodeError` when it is no JSON."""
    try:
        row = _exact.decode(text)
    except msgspec.ValidationError:  # a field or a type that the harness does not write
        return _split_by_level(text)
    fields = _given(row)
    if not isinstance(row.test_context, _Context):
        return SplitRow(row=fields)
    context = _given(row.test_context)
    effects = row.test_context.effects
    if not isinstance(effects, dict):
        return SplitRow(row=fields, context=context)
    return SplitRow(row=fields, context=context, servers={name: _given(server) for name, server in effects.items()})


def _given(struct: msgspec.Struct) -> dict[str, Any]:
    pairs = ((name, getattr(struct, name)) for name in struct.__struct_fields__)
    return {name: value for name, value in pairs if value is not UNSET}


def _split_by_level(text: bytes | Raw) -> SplitRow:
    row = _object(text, "")
    context = _object_or_none(row, "test_context", "test_context")
    effects = None if context is None else _object_or_none(context, "effects", "test_context.effects")
    servers = None if effects is None else {name: _object_or_text(server) for name, server in effects.items()}
    return SplitRow(row=row, context=context, servers=servers)


def _object(text: bytes | Raw, path: str) -> dict[str, Any]:
    try:
        return dict(_level.decode(text))
    except msgspec.ValidationError:
        raise wrong(path, _any.decode(text), "an object") from None


def _object_or_none(level: dict[str, Any], name: str, path: str) -> dict[str, Any] | None:
    text = level.get(name)
    return None if text is None or text == _NULL else _object(text, path)


def _object_or_text(text: Raw) -> dict[str, Any] | Raw:
    return dict(_level.decode(text)) if bytes(memoryview(text)[:1]) == b"{" else text


def detach_row(split: SplitRow, states: Mapping[tuple[str, str], dict[str, Raw]], notes: list[str]) -> DetachedRow:
    """The row in two. `states`: the tables of each state by server and field; what is not in it stays where it is."""
    parts = [
        Part(path=("test_context", "effects", server, field), tables=tables)
        for (server, field), tables in states.items()
    ]
    row = dict(split.row)
    whole = 0
    tools = row.get("tools")
    if isinstance(tools, Raw) and tools != _NULL:
        parts.append(Part(path=("tools",), value=shared_text(tools)))
        row["tools"] = None
        whole += len(tools) - len(_NULL)
    same = split.repeats_messages()
    if split.context is not None:
        context = dict(split.context)
        if same:
            whole += len(context["messages"]) - len(_NULL)
            context["messages"] = None
        if split.servers is not None:
            effects: dict[str, Any] = {}
            for name, server in split.servers.items():
                taken = [field for field in STATES if (name, field) in states]
                whole += sum(len(fields_of(server)[field]) - len(_NULL) for field in taken)
                effects[name] = server if isinstance(server, Raw) else {**server, **dict.fromkeys(taken)}
            context["effects"] = effects
        row["test_context"] = context
    skeleton = _encode(row)
    envelope = _Envelope(row=Raw(skeleton), same=same, notes=notes)
    detached = Detached(skeleton=_encode(envelope), parts=parts, content=canonical_json(_content(split, row, envelope)))
    return DetachedRow(detached=detached, size=len(skeleton) + whole)


def _content(split: SplitRow, row: dict[str, Any], envelope: _Envelope) -> dict[str, Any]:
    """The envelope decoded, from what of the row was decoded before."""

    def value(level: Any) -> Any:
        if isinstance(level, dict):
            return {name: value(inner) for name, inner in level.items()}
        return split.value(level)

    content: dict[str, Any] = {"row": value(row)}
    if envelope.same:
        content["same"] = True
    if envelope.notes:
        content["notes"] = envelope.notes
    return content


def open_skeleton(skeleton: bytes) -> OpenedRow:
    """The levels of a stored row, and the notes on how it was read."""
    envelope = _envelope.decode(skeleton)
    return OpenedRow(split=split_row(envelope.row), notes=envelope.notes)


def attach_row(skeleton: bytes, parts: Mapping[tuple[str, ...], Raw]) -> bytes:
    """The row again. A part that is not given stays null."""
    envelope = _envelope.decode(skeleton)
    split = split_row(envelope.row)
    row = dict(split.row)
    if ("tools",) in parts:
        row["tools"] = parts[("tools",)]
    if split.context is not None:
        context = dict(split.context)
        if envelope.same:
            context["messages"] = row["messages"]
        if split.servers is not None:
            effects = dict(split.servers)
            for path, part in parts.items():
                if len(path) == len(_STATE_PATH) and path[: len(_EFFECTS)] == _EFFECTS:
                    server, field = path[len(_EFFECTS) :]
                    effects[server] = {**fields_of(effects.get(server)), field: part}
            context["effects"] = effects
        row["test_context"] = context
    return _encode(row)


def fields_of(server: dict[str, Any] | Raw | None) -> dict[str, Any]:
    """The fields of a server's effects; none where the effects are no object."""
    return server if isinstance(server, dict) else {}
