"""From the messages of a `tb infer` row to steps: a call and its response become one, instructions are set apart."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from runs.bundles.fields import Fields, wrong
from runs.records import UNSET, Step, StepKind

__all__ = ["Transcript", "read_messages"]

_SPEAKERS = ("system", "user", "assistant")
_KINDS = "one of Text, ToolCall, ParallelToolCall, ToolResponse"


class Transcript(msgspec.Struct, frozen=True, kw_only=True):
    """The messages of an attempt, sorted out."""

    instructions: str | None
    policy: str | None
    query: str | None
    steps: list[Step]
    notes: list[str]


class _Draft(msgspec.Struct, kw_only=True):
    """A step that may still get its response."""

    kind: StepKind
    role: str
    message: int
    content: str | None = None
    name: str | None = None
    arguments: Any = UNSET
    call_id: str | None = None
    error: str | None = None
    batch: int | None = None
    tag: str | None = None
    dummy: bool = False
    answered: bool = False


def read_messages(messages: list[Any]) -> Transcript:
    """Raises `BadRecord` for a message that is malformed. One of an unknown kind is shown as it is, with a note."""
    reading = _Reading()
    for position, message in enumerate(messages):
        reading.add(position, Fields(message, f"messages.{position}"))
    return reading.transcript()


class _Reading:
    def __init__(self) -> None:
        self.leading: list[str] = []
        self.query: str | None = None
        self.drafts: list[_Draft] = []
        self.rounds: list[list[_Draft]] = []
        """The calls of each message that made some, oldest first."""
        self.batches = 0
        self.notes: list[str] = []

    def add(self, position: int, message: Fields) -> None:
        kind = message.text("T")
        if kind == "Text":
            self._text(position, message)
        elif kind == "ToolCall":
            self._calls(position, [message])
        elif kind == "ParallelToolCall":
            calls = message.maybe_list("tool_calls")
            if calls is None:
                raise wrong(message.at("tool_calls"), message.values.get("tool_calls"), "a list of tool calls")
            self._calls(
                position, [Fields(call, f"{message.path}.tool_calls.{number}") for number, call in enumerate(calls)]
            )
        elif kind == "ToolResponse":
            self._response(position, message)
        else:
            self.notes.append(f"Message {position + 1} is of a kind that is not known ({kind[:40]!r}): shown as it is.")
            content = json.dumps(message.values, ensure_ascii=False)
            self.drafts.append(_Draft(kind=StepKind.MESSAGE, role="assistant", message=position, content=content))

    def _text(self, position: int, message: Fields) -> None:
        role, content = message.text("role"), message.text("content")
        metadata = message.fields_or_empty("metadata")
        tag, dummy = metadata.maybe_text("tag"), metadata.flag("is_dummy")
        if role == "system" and not self.drafts and len(self.leading) < 2:
            self.leading.append(content)
            return
        if role not in _SPEAKERS:
            self.notes.append(f"Message {position + 1} has a role that is not known: {role[:40]!r}.")
        if role == "user" and self.query is None and not dummy:
            self.query = content
        kind = StepKind.THOUGHT if tag == "think" else StepKind.MESSAGE
        self.drafts.append(_Draft(kind=kind, role=role, message=position, content=content, tag=tag, dummy=dummy))

    def _calls(self, position: int, calls: list[Fields]) -> None:
        batch = None
        if len(calls) > 1:
            self.batches += 1
            batch = self.batches
        made = [_call(position, call, batch) for call in calls]
        self.drafts.extend(made)
        self.rounds.append(made)

    def _response(self, position: int, response: Fields) -> None:
        name, call_id, content = response.maybe_text("name"), response.maybe_text("id"), response.text("content")
        error = _response_error(content, response)
        call = self._unanswered(name, call_id)
        if call is None:
            self.drafts.append(
                _Draft(
                    kind=StepKind.RESPONSE,
                    role="tool",
                    message=position,
                    content=content,
                    name=name,
                    call_id=call_id,
                    error=error,
                )
            )
            return
        call.answered, call.content = True, content
        if error is not None:
            call.error = error

    def _unanswered(self, name: str | None, call_id: str | None) -> _Draft | None:
        """The call that a response answers: the latest round that waits for it, and in a round the first such call."""
        # Rounds without a waiting call are dropped: else each response of a long transcript would look through all.
        self.rounds = [calls for calls in self.rounds if not all(call.answered for call in calls)]
        waiting = [[call for call in calls if not call.answered] for calls in reversed(self.rounds)]
        if call_id is not None:
            by_id = [[call for call in calls if call.call_id == call_id] for calls in waiting]
            for calls in by_id:
                if calls:
                    return next((call for call in calls if call.name == name), calls[0])
        for calls in waiting:
            for call in calls:
                # Where both sides have an id, only the id decides.
                if (call_id is None or call.call_id is None) and (name is None or call.name == name):
                    return call
        return None

    def transcript(self) -> Transcript:
        return Transcript(
            instructions=self.leading[0] if self.leading else None,
            policy=self.leading[1] if len(self.leading) > 1 else None,
            query=self.query,
            steps=[_step(index, draft) for index, draft in enumerate(self.drafts, start=1)],
            notes=self.notes,
        )


def _step(index: int, draft: _Draft) -> Step:
    return Step(
        index=index,
        kind=draft.kind,
        role=draft.role,
        content=draft.content,
        name=draft.name,
        arguments=draft.arguments,
        call_id=draft.call_id,
        error=draft.error,
        batch=draft.batch,
        tag=draft.tag,
        dummy=draft.dummy,
        message=draft.message,
    )


def _call(position: int, call: Fields, batch: int | None) -> _Draft:
    error = call.fields_or_empty("metadata").values.get("error")
    return _Draft(
        kind=StepKind.CALL,
        role="assistant",
        message=position,
        name=call.text("name"),
        arguments=call.values.get("arguments"),
        call_id=call.maybe_text("id"),
        error=None if error is None else _readable(error),
        batch=batch,
    )


def _response_error(content: str, response: Fields) -> str | None:
    """The text of a tool error, by the published signs. Nothing else is an error, whatever a body's `status` says."""
    metadata = response.fields_or_empty("metadata").values
    is_error = response.values.get("isError") is True or metadata.get("isError") is True
    if content.startswith("Error:"):
        return content
    if ('"error"' in content or '"isError"' in content) and content.lstrip().startswith("{"):
        body = _json_object(content)
        if body.get("error") is not None:
            return _readable(body["error"])
        is_error = is_error or body.get("isError") is True
    return content if is_error else None


def _json_object(content: str) -> dict[str, Any]:
    try:
        body = json.loads(content)
    except (ValueError, RecursionError):  # then it is a text, which is no sign of an error
        return {}
    return body if isinstance(body, dict) else {}


def _readable(error: Any) -> str:
    return error if isinstance(error, str) and error else json.dumps(error, ensure_ascii=False)
