"""What a step holds beyond its row: arguments, response, long texts. Large ones in windows."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
from msgspec import UNSET, Raw

from runs.queries.attempt_state_structs import Wrote
from runs.queries.attempt_structs import Pair, PayloadPart, StepDetail
from runs.queries.values import Shown, ValueKind, json_line, json_pretty, shown
from runs.records import Step, StepKind

__all__ = ["PARTS", "part_text", "step_detail"]

PARTS = ("arguments", "response", "text")
WINDOW = 64 * 1024
"""Characters of a payload that are shown at once, and at most shown as pairs."""
NEXT_WINDOW = 4 * WINDOW
_FLAT = 40
"""Fields of an object inside a payload that are shown one by one."""
_FOLD = 6
"""So many fields that a step did not write are shown beside those that it wrote; more are folded."""


def part_text(step: Step, name: str) -> str | None:
    """The text of a part exactly as the record has it (arguments: as JSON); None where the step has no such part."""
    if name == "arguments":
        if step.arguments is UNSET:
            return None
        return step.arguments if isinstance(step.arguments, str) else json_pretty(step.arguments)
    is_response = step.kind in {StepKind.CALL, StepKind.RESPONSE}
    return step.content if is_response == (name == "response") else None


def step_detail(pk: int, step: Step, wrote: Sequence[Wrote], *, only: str = "", start: int = 0) -> StepDetail:
    """The parts of a step. `only` and `start`: one part's window from that character on."""
    names = {item.field for item in wrote if item.field is not None}
    parts = []
    if step.kind is StepKind.CALL:
        parts.append(_arguments(step.arguments, names))
    if step.kind in {StepKind.CALL, StepKind.RESPONSE}:
        title = "Response" if step.error is None else "Response: error"
        parts.append(_content("response", title, step.content, names))
    else:
        parts.append(_content("text", "Text", step.content, set()))
    if only:
        parts = [_window(step, part, start) for part in parts if part.name == only]
    facts = [(name, text) for name, text in (("call id", step.call_id or ""), ("tag", step.tag or "")) if text]
    return StepDetail(pk=pk, index=step.index, title=step.name or step.role, parts=parts, facts=facts)


def _arguments(arguments: Any, names: set[str]) -> PayloadPart:
    if arguments is UNSET or arguments == {}:
        return PayloadPart(name="arguments", title="Arguments", size=0, empty="no arguments")
    text = arguments if isinstance(arguments, str) else json_line(arguments)
    size = len(text.encode(errors="surrogatepass"))
    if isinstance(arguments, dict) and len(text) <= WINDOW:
        pairs = []
        for name, value in arguments.items():
            if isinstance(value, dict) and 0 < len(value) <= _FLAT:
                pairs += [
                    Pair(name=inner, inside=name, value=_nested(item), hit=inner in names)
                    for inner, item in value.items()
                ]
            else:
                pairs.append(Pair(name=name, value=_nested(value), hit=name in names))
        said = [pair for pair in pairs if pair.value.kind is not ValueKind.NULL or pair.hit]
        nulls = [pair for pair in pairs if pair not in said] if said else []
        return PayloadPart(name="arguments", title="Arguments", size=size, pairs=said or pairs, nulls=nulls)
    if isinstance(arguments, str):
        return _text_part("arguments", "Arguments, not readable as JSON", arguments, size)
    return _text_part("arguments", "Arguments", json_pretty(arguments), size)


def _content(name: str, title: str, content: str | None, names: set[str]) -> PayloadPart:
    if content is None:
        empty = "no response recorded" if name == "response" else "no text"
        return PayloadPart(name=name, title=title, size=0, empty=empty)
    if not content:
        return PayloadPart(name=name, title=title, size=0, empty="empty text")
    size = len(content.encode(errors="surrogatepass"))
    if name == "response" and len(content) <= WINDOW:
        pairs = _pairs(content, names)
        if pairs is not None:
            hits = [pair for pair in pairs if pair.hit]
            others = [pair for pair in pairs if not pair.hit]
            if hits and len(others) > _FOLD:
                return PayloadPart(name=name, title=title, size=size, pairs=hits, rest=others)
            return PayloadPart(name=name, title=title, size=size, pairs=pairs)
    return _text_part(name, title, _readable(content) if name == "response" else content, size)


def _text_part(name: str, title: str, text: str, size: int) -> PayloadPart:
    end = min(len(text), WINDOW)
    return PayloadPart(name=name, title=title, size=size, text=text[:end], start=0, end=end, length=len(text))


def _window(step: Step, part: PayloadPart, start: int) -> PayloadPart:
    """The part from `start` on, as text, of the size that is asked for next."""
    if part.text is None:
        return part
    whole = part_text(step, part.name) or ""
    text = _readable(whole) if part.name == "response" else whole
    start = max(0, min(start, len(text)))
    end = min(len(text), start + NEXT_WINDOW)
    return msgspec.structs.replace(part, text=text[start:end], start=start, end=end, length=len(text))


def _readable(text: str) -> str:
    """JSON with indents, each value as it is written; any other text as it is."""
    if text.lstrip()[:1] not in {"{", "["}:
        return text
    try:
        return msgspec.json.format(text, indent=2)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return text


def _pairs(content: str, names: set[str]) -> list[Pair] | None:
    """The fields of a JSON object, each value as it is written; None for anything else, or where one occurs twice."""
    if content.lstrip()[:1] != "{":
        return None
    try:
        json.loads(content, object_pairs_hook=_once)
        fields = msgspec.json.decode(content, type=dict[str, Raw])
    except (ValueError, msgspec.DecodeError, RecursionError):
        return None
    pairs = []
    for name, raw in fields.items():
        inner = _fields(raw)
        if inner is None:
            pairs.append(Pair(name=name, value=_raw(bytes(raw)), hit=name in names))
        else:
            pairs += [
                Pair(name=key, inside=name, value=_raw(bytes(item)), hit=key in names) for key, item in inner.items()
            ]
    return pairs or None


def _fields(raw: Raw) -> dict[str, Raw] | None:
    """The fields of a small object inside a payload, which is shown field by field; None for anything else."""
    if bytes(raw)[:1] != b"{":
        return None
    fields = msgspec.json.decode(raw, type=dict[str, Raw])
    return fields if 0 < len(fields) <= _FLAT else None


def _once(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(name)
        found[name] = value
    return found


def _raw(raw: bytes) -> Shown:
    if raw[:1] in {b'"', b"t", b"f", b"n"}:
        return shown(msgspec.json.decode(raw), limit=WINDOW)
    if raw[:1] in {b"{", b"["}:
        return _nested(msgspec.json.decode(raw), raw)
    return Shown(kind=ValueKind.NUMBER, text=raw.decode())


def _nested(value: Any, raw: bytes | None = None) -> Shown:
    """A value inside a payload: plain ones as they are, others as JSON, on several lines when it is long."""
    if not isinstance(value, dict | list) or not value:
        return shown(value, limit=WINDOW)
    line = msgspec.json.format(raw, indent=0).decode() if raw is not None else json_line(value)
    if len(line) <= 90:
        return Shown(kind=ValueKind.JSON, text=line)
    text = msgspec.json.format(raw, indent=2).decode() if raw is not None else json_pretty(value)
    return Shown(kind=ValueKind.JSON, text=text)
