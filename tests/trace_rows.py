"""Rows that a trace page finds hard: thousands of steps, megabytes in one response, text that wants to act."""

from __future__ import annotations

import copy
import json
from typing import Any

from tests.factories import SERVER, make_row, make_states, state_hash

__all__ = ["HOSTILE", "hostile_row", "huge_row", "long_row", "row_with", "text", "tool", "writing_row"]

HOSTILE = (
    "<script>window.ran=1</script><img src=x onerror=window.ran=1>"
    '"><svg onload=window.ran=1>{{ 7|add:7 }}{% now "Y" %}</pre></details></table>'
    "javascript:window.ran=1 \x1b[31mred\x1b[0m \u202eneila\u202c \u2066x\u2069 \x07"
)


def text(role: str, content: str, **metadata: Any) -> dict[str, Any]:
    return {"T": "Text", "metadata": metadata, "role": role, "content": content}


def tool(number: int, name: str, arguments: Any, response: str | None) -> list[dict[str, Any]]:
    """A call with its response; None leaves the response out."""
    call_id = f"call_{number}"
    call = {"T": "ToolCall", "metadata": {"error": None}, "name": name, "arguments": arguments, "id": call_id}
    calls = [{"T": "ParallelToolCall", "metadata": {}, "tool_calls": [call]}]
    if response is not None:
        calls.append({"T": "ToolResponse", "metadata": {}, "name": name, "content": response, "id": call_id})
    return calls


def row_with(messages: list[dict[str, Any]], **changes: Any) -> dict[str, Any]:
    """A failed attempt with these messages after the two instructions."""
    row = make_row(**changes)
    instructions = [text("system", "You are an agent at a desk."), text("system", "# Rental desk")]
    row["messages"] = [*instructions, *messages]
    return row


def long_row(steps: int, **changes: Any) -> dict[str, Any]:
    """An attempt of so many steps: a question, then thought and call in turn, the last message. Every 25th call writes
    rental 7, every 40th fails.
    """
    messages = [text("user", "I brought the mixer back. " * 12)]
    number = 0
    while len(messages) < 2 * steps:
        number += 1
        messages.append(
            text("assistant", f"Thought {number}: compare the record with the policy, then decide.", tag="think")
        )
        if number % 25 == 0:
            arguments = {"id": 7, "item": {"status": ("held", "closed")[number % 2]}}
            response = {"id": 7, "item": "Concrete mixer", "status": arguments["item"]["status"]}  # type: ignore[index]
            messages += tool(number, "update_rental", arguments, json.dumps(response))
        elif number % 40 == 0:
            messages += tool(number, "find_notes", {"rental": number}, json.dumps({"error": f"No notes for {number}"}))
        else:
            found = {"rentals": [{"id": 7, "item": "Concrete mixer", "status": "out"}] * 3}
            messages += tool(number, "find_rentals", {"customer": "ada@example.com", "page": number}, json.dumps(found))
        if 1 + 2 * number >= steps - 1:
            break
    messages.append(text("assistant", "The mixer is booked in. <DONE>", tag="text"))
    return row_with(messages, **changes)


def writing_row(writes: int, **changes: Any) -> dict[str, Any]:
    """An attempt that writes two fields of so many records, one call each, and each record wrongly."""
    messages = [text("user", "Close them all.")]
    before: list[dict[str, Any]] = [
        {"id": number, "item": "Mixer", "status": "out", "note": ""} for number in range(writes)
    ]
    after = [record | {"status": "closed", "note": f"note {record['id']}"} for record in before]
    for record in after:
        item = {"status": record["status"], "note": record["note"]}
        messages += tool(record["id"], "update_rental", {"id": record["id"], "item": item}, json.dumps(record))
    messages.append(text("assistant", "All are closed. <DONE>", tag="text"))
    row = row_with(messages, **changes)
    states = make_states()
    states["before"]["rentals"], states["after"]["rentals"] = before, after
    states["required"]["rentals"] = [record | {"status": "returned"} for record in after]
    row["test_context"]["effects"][SERVER] |= {
        "initial_db_state": states["before"],
        "result_db_state": states["after"],
        "golden_db_state": states["required"],
        "result_db_hash": state_hash(states["after"]),
        "golden_db_hash": state_hash(states["required"]),
        "diff": None,
    }
    return row


def huge_row(size: int, **changes: Any) -> dict[str, Any]:
    """An attempt with a response of about `size` characters, and a last message of a fifth of that."""
    line = "2025-05-02T09:00:10Z the mixer left the yard, was cleaned, checked and came back again\n"
    log = json.dumps({"log": line * (size // len(line))})
    messages = [
        text("user", "I brought the mixer back."),
        *tool(1, "read_log", {"machine": "mixer"}, log),
        *tool(2, "update_rental", {"id": 7, "item": {"status": "closed"}}, json.dumps({"id": 7, "status": "closed"})),
        text("assistant", "All is done. " * (size // 65), tag="text"),
    ]
    return row_with(messages, **changes)


def hostile_row(**changes: Any) -> dict[str, Any]:
    """An attempt whose every text wants to run, to close an element, or to turn the line around."""
    record = {"id": HOSTILE, HOSTILE: HOSTILE, "status": "out", "tags": [HOSTILE]}
    states = make_states()
    for state in states.values():
        state[HOSTILE] = [copy.deepcopy(record)]
    states["after"][HOSTILE][0] |= {"status": HOSTILE, "tags": [HOSTILE, "x"]}
    states["required"][HOSTILE][0] |= {"status": f"required {HOSTILE}", "tags": ["y"]}
    states["required"][HOSTILE].append({"id": f"new {HOSTILE}", HOSTILE: HOSTILE})
    row = row_with(
        [
            text("user", HOSTILE),
            text("assistant", HOSTILE, tag="think"),
            *tool(1, HOSTILE, {HOSTILE: HOSTILE, "id": HOSTILE, "status": HOSTILE}, json.dumps({HOSTILE: HOSTILE})),
            *tool(2, HOSTILE, HOSTILE, f"Error: {HOSTILE}"),
            *tool(3, HOSTILE, {}, None),
            text("assistant", HOSTILE, tag="text"),
        ],
        **changes,
    )
    row["test_context"]["effects"][SERVER] |= {
        "initial_db_state": states["before"],
        "result_db_state": states["after"],
        "golden_db_state": states["required"],
        "result_db_hash": state_hash(states["after"]),
        "golden_db_hash": state_hash(states["required"]),
        "diff": None,
        "rubrics": [HOSTILE],
    }
    row["test_result"] |= {"tb": f"AssertionError: {HOSTILE}", "prints": HOSTILE, "line_content": HOSTILE}
    row["tools"][0] |= {"name": HOSTILE, "description": HOSTILE}
    row["user_llm_history"] = [[{"role": "user", "content": HOSTILE}]]
    row["metadata"] |= {"agent": HOSTILE, HOSTILE: HOSTILE}
    row["finish_reason"] = HOSTILE[:50]
    return row
