"""Rows that hold a secret of their own in each text: what is masked, and what must occur nowhere."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from tests.factories import SERVER, make_row, state_hash
from tests.trace_rows import text, tool

__all__ = ["SHAPES", "secret", "secret_row"]

SHAPES = (
    "sk-ant-api03-{}", "sk-proj-{}", "ghp_{}", "github_pat_{}", "glpat-{}", "xoxb-{}", "sk_live_{}", "hf_{}", "AIza{}",
    "sk-{}",
)  # fmt: skip


def secret(name: str) -> str:
    """Another one for each name, always the same."""
    digest = hashlib.sha256(name.encode()).hexdigest()
    return SHAPES[int(digest[:4], 16) % len(SHAPES)].format(digest[:36])


def secret_row(secrets: dict[str, str], *, repetition: int = 0, **changes: Any) -> dict[str, Any]:
    """A failed attempt with a secret in each text; `secrets` takes up their names (where each stands) and values."""

    def hidden(name: str) -> str:
        secrets[f"{name} {repetition}"] = made = secret(f"{name} {repetition}")
        return made

    def password(name: str) -> str:
        secrets[f"{name} {repetition}"] = made = (
            f"pw-{hashlib.sha256(f'{name} {repetition}'.encode()).hexdigest()[:14]}"
        )
        return made

    login = {"user": "ada", "password": password("argument by name"), "url": f"https://u:{password('address')}@host/x"}
    answer = {"status": f"x\n{hidden('response')}\n", "inner": json.dumps({"api_key": f"k1{password('inner JSON')}"})}
    row = make_row(repetition=repetition, **changes)
    row["messages"] = [
        text("system", f"You are an agent. Key: {hidden('instructions')}"),
        text("system", f"# Policy\n{hidden('policy')}"),
        text("user", f"Mixer please, my key is {hidden('query')}"),
        text("assistant", f"I think of\n{hidden('thought')}", tag="think"),
        *tool(1, "log_in", {**login, "note": hidden("argument")}, json.dumps(answer)),
        *tool(
            2, "update_rental", {"id": 7, "item": {"status": hidden("written")}}, f"Bearer {password('plain response')}"
        ),
        *tool(3, "read_log", {"x": 1}, json.dumps({"error": f"refused {hidden('tool error')}"})),
        *tool(4, f"tool_{hidden('tool name')}"[:60], "{broken " + hidden("broken arguments"), "ok"),
        text("assistant", f"All done with mixer {hidden('claim')} <DONE>", tag="text"),
    ]
    effects = row["test_context"]["effects"][SERVER]
    before, after, required = (effects[f"{side}_db_state"] for side in ("initial", "result", "golden"))
    for state in (before, after, required):
        state["customers"][0]["password"] = password("unchanged password")
        state["notes"] = [{"id": 1, "text": hidden("unchanged table")}]
    before["rentals"][0]["status"] = hidden("before")
    after["rentals"][0]["status"] = secrets[f"written {repetition}"]
    required["rentals"][0]["status"] = hidden("required")
    after["customers"][1]["password"] = password("new password")
    required["customers"][1]["password"] = password("required password")
    after["rentals"].append({"id": 9, "customer_id": hidden("created row"), "item": "x", "status": "x"})
    effects |= {"result_db_hash": state_hash(after), "golden_db_hash": state_hash(required)}
    effects["diff"] = [{"path": "rentals[0].status", "type": "value mismatch", "result": hidden("diff"), "golden": "x"}]
    effects["rubrics"] = [f"Did it say {hidden('rubric')}?"]
    row["test_result"] |= {
        "tb": f"AssertionError: no {hidden('traceback')}",
        "prints": hidden("prints"),
        "line_content": f"assert {hidden('line')}",
        "metadata": {
            "judge_motivation": [{"question": "Was it?", "answer": False, "motivation": hidden("motivation")}]
        },
    }
    row["metadata"] |= {"note": hidden("metadata"), "db_password": password("metadata by name")}
    row["test_tags"]["labels"] = [hidden("tag")]
    row["tools"][0]["description"] = f"Use {hidden('tool description')}"
    row["user_llm_history"] = [[{"role": "user", "content": f"You are Ada, {hidden('private context')}"}]]
    row["raw_messages"] = [{"content": hidden("raw message")}]
    row["finish_reason"] = hidden("finish")
    return row
