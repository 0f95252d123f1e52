"""From messages to steps."""

from __future__ import annotations

from typing import Any

import pytest

from runs.bundles.thinkingbox_messages import Transcript, read_messages
from runs.errors import BadRecord
from runs.records import UNSET, Step, StepKind
from tests.factories import make_messages


def text(role: str, content: str, **metadata: Any) -> dict[str, Any]:
    return {"T": "Text", "role": role, "content": content, "metadata": metadata}


def call(name: str, call_id: str | None, error: Any = None, **arguments: Any) -> dict[str, Any]:
    return {"T": "ToolCall", "metadata": {"error": error}, "name": name, "arguments": arguments, "id": call_id}


def calls(*made: dict[str, Any]) -> dict[str, Any]:
    return {"T": "ParallelToolCall", "metadata": {}, "tool_calls": list(made)}


def response(name: str | None, call_id: str | None, content: str, **fields: Any) -> dict[str, Any]:
    return {"T": "ToolResponse", "metadata": {}, "name": name, "content": content, "id": call_id} | fields


def pairs(*messages: dict[str, Any]) -> list[tuple[str, str | None, Any]]:
    """Kind, name and content of each step."""
    return [(step.kind.value, step.name, step.content) for step in read_messages(list(messages)).steps]


def error_of(content: str, **fields: Any) -> str | None:
    (step,) = read_messages([call("tool", "c"), response("tool", "c", content, **fields)]).steps
    return step.error


def test_a_conversation_whole() -> None:
    messages = make_messages()
    arguments = messages[6]["tool_calls"][0]["arguments"]
    found = messages[5]["content"]
    assert read_messages(messages) == Transcript(
        instructions="You are an agent at a desk. End with <DONE>.",
        policy="# Rental desk\nA returned item is set to `returned`.",
        query="I brought the concrete mixer back. Please book it in.",
        notes=[],
        steps=[
            Step(index=1, kind=StepKind.MESSAGE, role="user", content=messages[2]["content"], message=2),
            Step(
                index=2,
                kind=StepKind.THOUGHT,
                role="assistant",
                content="Find the rental first.",
                tag="think",
                message=3,
            ),
            Step(
                index=3,
                kind=StepKind.CALL,
                role="assistant",
                name="find_rentals",
                arguments={"customer": "ada@example.com"},
                content=found,
                call_id="call_1",
                message=4,
            ),
            Step(
                index=4,
                kind=StepKind.CALL,
                role="assistant",
                name="update_rental",
                arguments=arguments,
                content='{"id": 7, "status": "closed"}',
                call_id="call_2",
                batch=1,
                message=6,
            ),
            Step(
                index=5,
                kind=StepKind.CALL,
                role="assistant",
                name="find_notes",
                arguments={"rental": 7},
                content='{"error": "No notes for rental 7"}',
                error="No notes for rental 7",
                call_id="call_3",
                batch=1,
                message=6,
            ),
            Step(
                index=6,
                kind=StepKind.MESSAGE,
                role="assistant",
                content="The mixer is booked in. <DONE>",
                tag="text",
                message=9,
            ),
        ],
    )


def test_no_messages() -> None:
    assert read_messages([]) == Transcript(instructions=None, policy=None, query=None, steps=[], notes=[])


def test_only_the_first_two_leading_system_messages_are_no_steps() -> None:
    spoken = read_messages([text("system", name) for name in "abc"] + [text("user", "u"), text("system", "d")])
    assert (spoken.instructions, spoken.policy, spoken.query) == ("a", "b", "u")
    assert [(step.index, step.role, step.content) for step in spoken.steps] == [
        (1, "system", "c"),
        (2, "user", "u"),
        (3, "system", "d"),
    ]


def test_dummies_are_marked_and_are_never_the_query() -> None:
    spoken = read_messages([text("user", "go on", is_dummy=True), text("user", "real")])
    assert (spoken.query, [step.dummy for step in spoken.steps]) == ("real", [True, False])


def test_the_tag_direct_is_kept() -> None:
    (step,) = read_messages([text("assistant", "From the tool.", tag="direct")]).steps
    assert (step.kind, step.tag) == (StepKind.MESSAGE, "direct")


def test_a_call_without_a_response_and_a_response_without_a_call() -> None:
    assert pairs(call("a", "1"), response("b", "2", "lost"), call("a", "3"), response("a", "3", "found")) == [
        ("call", "a", None),
        ("response", "b", "lost"),
        ("call", "a", "found"),
    ]
    stray = read_messages([response("b", "2", "lost")]).steps
    assert stray == [
        Step(
            index=1,
            kind=StepKind.RESPONSE,
            role="tool",
            name="b",
            content="lost",
            call_id="2",
            arguments=UNSET,
            message=0,
        )
    ]


def test_responses_in_another_order_find_their_calls_by_id() -> None:
    made = calls(call("a", "1"), call("a", "2"), call("b", "3"))
    answered = [response("b", "3", "three"), response("a", "2", "two"), response("a", "1", "one")]
    assert pairs(made, *answered) == [("call", "a", "one"), ("call", "a", "two"), ("call", "b", "three")]


def test_without_ids_the_name_and_the_order_decide() -> None:
    made = calls(call("a", None), call("b", None), call("a", None))
    answered = [response("b", None, "b1"), response("a", None, "a1"), response("a", None, "a2")]
    assert pairs(made, *answered) == [("call", "a", "a1"), ("call", "b", "b1"), ("call", "a", "a2")]


def test_an_id_that_is_used_again_means_the_latest_call_that_waits() -> None:
    assert pairs(call("a", "1"), call("a", "1"), response("a", "1", "second"), response("a", "1", "first")) == [
        ("call", "a", "first"),
        ("call", "a", "second"),
    ]
    same = calls(call("a", "1"), call("b", "1"))
    assert pairs(same, response("b", "1", "b1"), response("a", "1", "a1")) == [("call", "a", "a1"), ("call", "b", "b1")]


def test_batches_are_numbered_where_several_calls_were_made_at_once() -> None:
    steps = read_messages(
        [
            calls(call("a", "1")),
            calls(call("a", "2"), call("a", "3")),
            call("a", "4"),
            calls(call("a", "5"), call("a", "6")),
        ]
    ).steps
    assert [step.batch for step in steps] == [None, 1, 1, None, 2, 2]
    assert [step.message for step in steps] == [0, 1, 1, 2, 3, 3]
    assert pairs(calls()) == []


def test_arguments_of_any_kind_are_kept() -> None:
    broken = call("a", "1") | {"arguments": '{"id": 7'}
    listed = call("a", "2") | {"arguments": [1]}
    assert [step.arguments for step in read_messages([broken, listed]).steps] == ['{"id": 7', [1]]


@pytest.mark.parametrize(
    ("content", "error"),
    [
        ('{"error": "Not found", "status": "ok"}', "Not found"),
        ('  {"error": {"code": 404}}', '{"code": 404}'),
        ('{"error": false}', "false"),
        ("Error: no such tool", "Error: no such tool"),
        ('{"isError": true, "content": []}', '{"isError": true, "content": []}'),
        ('{"error": null, "status": "failed"}', None),
        ('{"status": "error", "success": false}', None),
        ('[{"error": "in a list"}]', None),
        ('{"item": {"error": "deeper"}}', None),
        ('{"error": "broken JSON"', None),
        ('The log says "error": 7', None),
        ("error: lower case", None),
        (" Error: not at the start", None),
        ('{"isError": "true"}', None),
    ],
)
def test_exactly_the_published_signs_are_tool_errors(content: str, error: str | None) -> None:
    assert error_of(content) == error


def test_errors_beside_the_body() -> None:
    assert error_of("Refused", isError=True) == "Refused"
    assert error_of("Refused", metadata={"isError": True}) == "Refused"
    assert error_of("Refused", metadata={"error": "not the call's"}) is None
    unanswered = read_messages([call("a", "1", error="Error: Expecting ',' delimiter")]).steps
    assert [step.error for step in unanswered] == ["Error: Expecting ',' delimiter"]
    answered = read_messages([call("a", "1", error="Error: a"), response("a", "1", "fine")]).steps
    assert [step.error for step in answered] == ["Error: a"]


def test_endless_nesting_in_a_body_is_no_error() -> None:
    assert error_of('{"error":' + "[" * 100_000) is None


def test_messages_and_roles_nobody_knows_are_shown_with_a_note() -> None:
    spoken = read_messages([{"T": "Image", "url": "javascript:alert(1)"}, text("developer", "d")])
    assert spoken.notes == [
        "Message 1 is of a kind that is not known ('Image'): shown as it is.",
        "Message 2 has a role that is not known: 'developer'.",
    ]
    assert [(step.role, step.content) for step in spoken.steps] == [
        ("assistant", '{"T": "Image", "url": "javascript:alert(1)"}'),
        ("developer", "d"),
    ]


@pytest.mark.parametrize(
    ("message", "field"),
    [
        ("hello", "messages.1"),
        ({"role": "user"}, "messages.1.T"),
        ({"T": 5}, "messages.1.T"),
        ({"T": "Text", "role": "user"}, "messages.1.content"),
        ({"T": "Text", "role": None, "content": ""}, "messages.1.role"),
        (text("user", "x") | {"metadata": []}, "messages.1.metadata"),
        (text("user", "x", tag=1), "messages.1.metadata.tag"),
        (text("user", "x", is_dummy="no"), "messages.1.metadata.is_dummy"),
        ({"T": "ParallelToolCall"}, "messages.1.tool_calls"),
        (calls(call("a", "1")) | {"tool_calls": {}}, "messages.1.tool_calls"),
        ({"T": "ParallelToolCall", "tool_calls": [call("a", "1"), None]}, "messages.1.tool_calls.1"),
        (calls(call("a", "1") | {"name": None}), "messages.1.tool_calls.0.name"),
        (call("a", "1") | {"id": 7}, "messages.1.id"),
        (response("a", "1", "x") | {"content": ["x"]}, "messages.1.content"),
    ],
)
def test_malformed_messages_are_refused_with_their_field(message: Any, field: str) -> None:
    with pytest.raises(BadRecord) as caught:
        read_messages([text("user", "fine"), message])
    assert caught.value.field == field
