"""Rows in the shape of `tb infer`, of an invented equipment-rental desk. Each call makes new values."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

__all__ = ["SERVER", "UID", "Outcome", "make_messages", "make_row", "make_states", "state_hash", "write_jsonl"]

SERVER = "rental_desk"
UID = "rental_desk_group1.py:test_return_001"

Outcome = Literal["passed", "failed", "system", "grader", "not_graded"]


def make_states() -> dict[str, dict[str, list[dict[str, Any]]]]:
    """Before, after and required of a failed attempt: rental 7 ends as `closed` where `returned` is required."""
    before: dict[str, list[dict[str, Any]]] = {
        "customers": [
            {"id": "1", "name": "Ada Winter", "email": "ada@example.com", "tags": ["regular"]},
            {"id": "2", "name": "Bo Lind", "email": "bo@example.com", "tags": []},
        ],
        "rentals": [
            {
                "id": 7,
                "customer_id": "1",
                "item": "Concrete mixer",
                "status": "out",
                "deposit": 120.5,
                "returned_at": None,
            },
            {"id": 8, "customer_id": "2", "item": "Ladder 6 m", "status": "out", "deposit": 40.0, "returned_at": None},
        ],
        "notes": [],
    }
    required = copy.deepcopy(before)
    required["rentals"][0] |= {"status": "returned", "returned_at": "2025-05-02T09:00:10Z"}
    after = copy.deepcopy(required)
    after["rentals"][0]["status"] = "closed"
    return {"before": before, "after": after, "required": required}


def make_messages(*, status: str = "closed") -> list[dict[str, Any]]:
    """Two instructions, the query, a thought, one call, two calls at once and the final answer."""
    arguments = {"id": 7, "item": {"status": status, "returned_at": "2025-05-02T09:00:10Z"}}
    return [
        _text("system", "You are an agent at a desk. End with <DONE>."),
        _text("system", "# Rental desk\nA returned item is set to `returned`."),
        _text("user", "I brought the concrete mixer back. Please book it in."),
        _text("assistant", "Find the rental first.", tag="think"),
        _calls(("call_1", "find_rentals", {"customer": "ada@example.com"})),
        _response("call_1", "find_rentals", {"rentals": [{"id": 7, "item": "Concrete mixer", "status": "out"}]}),
        _calls(("call_2", "update_rental", arguments), ("call_3", "find_notes", {"rental": 7})),
        _response("call_2", "update_rental", {"id": 7, "status": status}),
        _response("call_3", "find_notes", {"error": "No notes for rental 7"}),
        _text("assistant", "The mixer is booked in. <DONE>", tag="text", is_done=True),
    ]


def make_row(
    *, uid: str = UID, repetition: int = 0, outcome: Outcome = "failed", states: bool = True, **changes: Any
) -> dict[str, Any]:
    """One result. `states=False` is a row of a run that did not record them; `changes` replace fields of the row."""
    messages = make_messages(status="returned" if outcome == "passed" else "closed")
    made = make_states()
    if outcome == "passed":
        made["after"] = copy.deepcopy(made["required"])
    is_system = outcome == "system"
    metadata: dict[str, Any] = {
        "scenario": SERVER,
        "agent": "think",
        "test_case_file": "/srv/eval/rental_desk_group1.py",
        "test_case_name": uid.rpartition(":")[2],
        "repetition": repetition,
        "time_tool": 0.25,
        "time_agent": 1.5,
        "execution_time": 3.25,
    }
    if is_system:
        metadata["error"] = {"type": "RuntimeError", "message": "The endpoint answered 500.", "tb": "Traceback: 500"}
    row: dict[str, Any] = {
        "uid": uid,
        "messages": messages,
        "test_result": None if outcome in {"system", "not_graded"} else _test_result(outcome),
        "test_context": _context(made, messages) if states and not is_system else None,
        "test_tags": {"labels": [], "category": [], "domain": None, "eval_type": None, "skip": False},
        "tools": _tools() if states and not is_system else None,
        "raw_messages": None,
        "user_llm_history": None,
        "usage": [
            {
                "input_tokens": 1200,
                "input_tokens_details": {"cached_tokens": 1000},
                "output_tokens": 80,
                "output_tokens_details": {"reasoning_tokens": 60},
                "total_tokens": 1280,
            }
        ],
        "metadata": metadata,
        "is_system_error": is_system,
        "finish_reason": "done",
    }
    return row | changes


def write_jsonl(path: Path, rows: Iterable[dict[str, Any]]) -> Path:
    """The rows as the harness writes them: one a line, no spaces, UTF-8 unescaped."""
    lines = [json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n" for row in rows]
    path.write_text("".join(lines), encoding="utf-8")
    return path


def state_hash(state: dict[str, list[dict[str, Any]]]) -> str:
    """The harness's hash of a state all of whose fields are graded."""
    return hashlib.sha256(json.dumps(state, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def _text(role: str, content: str, **metadata: Any) -> dict[str, Any]:
    return {"T": "Text", "metadata": metadata, "role": role, "content": content}


def _calls(*calls: tuple[str, str, dict[str, Any]]) -> dict[str, Any]:
    made = [
        {"T": "ToolCall", "metadata": {"error": None}, "name": name, "arguments": arguments, "id": call_id}
        for call_id, name, arguments in calls
    ]
    return {"T": "ParallelToolCall", "metadata": {}, "tool_calls": made}


def _response(call_id: str, name: str, body: dict[str, Any]) -> dict[str, Any]:
    return {"T": "ToolResponse", "metadata": {}, "name": name, "content": json.dumps(body), "id": call_id}


def _test_result(outcome: str) -> dict[str, Any]:
    passed, broke = outcome == "passed", outcome == "grader"
    return {
        "result": passed,
        "reward": 1.0 if passed else 0.0,
        "is_system_error": broke,
        "tb": "" if passed else "KeyError: 'x'" if broke else "AssertionError: the states differ",
        "prints": "",
        "lineno": -1 if passed else 12,
        "line_content": "" if passed else "assert_states_equal(effects)",
        "metadata": {"judge_motivation": None},
    }


def _context(states: dict[str, dict[str, list[dict[str, Any]]]], messages: list[dict[str, Any]]) -> dict[str, Any]:
    after, required = states["after"], states["required"]
    ours, golden = after["rentals"][0]["status"], required["rentals"][0]["status"]
    mismatch = {"path": "rentals[0].status", "type": "value mismatch", "result": ours, "golden": golden}
    return {
        "response": messages[-1]["content"],
        "tool_direct_responses": [],
        "effects": {
            SERVER: {
                "initial_db_state": states["before"],
                "result_db_state": after,
                "result_db_hash": state_hash(after),
                "golden_db_state": required,
                "golden_db_hash": state_hash(required),
                "diff": [] if ours == golden else [mismatch],
                "rubrics": None,
            }
        },
        "tool_calls": [],
        "messages": copy.deepcopy(messages),
        "init_result": {SERVER: {}},
        "session_id": "00000000-0000-0000-0000-000000000001",
        "metadata": {},
    }


def _tools() -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "description": description,
            "input_schema": {"type": "object", "properties": {}},
            "annotations": {"readOnlyHint": read_only},
            "direct_response": None,
            "is_end_turn": False,
        }
        for name, description, read_only in (
            ("find_rentals", "Rentals of a customer.", True),
            ("find_notes", "Notes on a rental.", True),
            ("update_rental", "Change a rental.", False),
        )
    ]
