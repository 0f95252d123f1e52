"""Rows in the shape of `thinkingbox-eval`, made from rows of `tb infer`."""

from __future__ import annotations

import copy
from collections import Counter
from typing import Any

from tests.factories import UID, Outcome, make_row

__all__ = ["make_error", "make_provenance", "make_result"]

_KEPT = ("uid", "messages", "test_tags", "usage", "is_system_error", "finish_reason")


def make_provenance(**run: Any) -> dict[str, Any]:
    """`run` replaces what is said of the run: `shard_index`, `repeat`."""
    execution = {
        "data_bundle_sha256": "b" * 64,
        "data_release": "rental-bench-v2",
        "data_revision": "d" * 40,
        "manifest_path": "testlist.yaml",
        "manifest_sha256": "e" * 64,
        "manifest_uids_sha256": "f" * 64,
        "task_count": 3,
        "thinkingbox_revision": "1" * 40,
    }
    planned = {
        "agent": "think",
        "limit": None,
        "repeat": 4,
        "repetition_start": 0,
        "selected_uids_sha256": "2" * 64,
        "shard_count": 1,
        "shard_index": 0,
    }
    model = {"type": "aoai", "temperature": 1.0, "max_completion_tokens": 4096}
    config = {
        "sha256": "c" * 64,
        "agent_model": {"deployment": "birch-2", **model},
        "judge_model": {"deployment": "sim-judge", **model},
        "user_model": {"deployment": "sim-user", **model},
        "judge_type": "legacy",
    }
    return {**execution, "schema_version": 3, "python": "3.12.1", "config": config, "run": planned | run}


def make_result(
    *,
    uid: str = UID,
    repetition: int = 0,
    outcome: Outcome = "passed",
    tried: int = 1,
    provenance: dict[str, Any] | None = None,
    **changes: Any,
) -> dict[str, Any]:
    """A result row: keys sorted, no evaluator's parts. `changes` replace fields of the row."""
    native = make_row(uid=uid, repetition=repetition, outcome=outcome)
    provenance = provenance or make_provenance()
    kinds = Counter(message["T"] for message in native["messages"])
    execution = {
        name: value for name, value in provenance.items() if name not in {"config", "run", "python", "schema_version"}
    }
    row = {name: native[name] for name in _KEPT}
    row["test_result"] = {"is_system_error": False, "result": outcome == "passed", "reward": float(outcome == "passed")}
    row["metadata"] = {
        "attempt": tried,
        "execution_provenance": execution | {"config_sha256": provenance["config"]["sha256"]},
        "provenance": copy.deepcopy(provenance),
        "repetition": repetition,
        "repetition_id": f"{uid}::repeat::{repetition}",
        "schema_version": 3,
        "step_counts": {
            "native_messages": len(native["messages"]),
            "tool_batches": kinds["ParallelToolCall"],
            "tool_responses": kinds["ToolResponse"],
        },
    }
    row |= changes
    return {name: row[name] for name in sorted(row)}


def make_error(
    *, uid: str = UID, repetition: int = 0, tried: int = 1, provenance: dict[str, Any] | None = None
) -> dict[str, Any]:
    """A row of the file of errors."""
    return {
        "attempt": tried,
        "classification": "operational_system_error",
        "error": {
            "chain": [],
            "message": "The endpoint answered 500.",
            "traceback": "Traceback: 500",
            "type": "RuntimeError",
        },
        "observation_audit": None,
        "provenance": provenance or make_provenance(),
        "quarantined": True,
        "repetition": repetition,
        "repetition_id": f"{uid}::repeat::{repetition}",
        "retryable": True,
        "schema_version": 3,
        "timestamp_utc": "2026-11-29T10:08:04+00:00",
        "trace_audit": {"native_message_count": 3, "steps_taken": 1, "usage_entries": 1},
        "uid": uid,
    }
