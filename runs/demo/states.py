"""States as the harness compares them: the stable part, its hash, and the list of differences by position.

A database is table → list of records. What the benchmark does not grade is left out of the hash and of the differences.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

Record = dict[str, Any]
Database = dict[str, list[Record]]
Databases = dict[str, Database]

UNGRADED: dict[str, dict[str, frozenset[str]]] = {
    "depot": {
        "customers": frozenset({"notes"}),
        "sites": frozenset({"access_notes"}),
        "contracts": frozenset({"terms_note"}),
        "workshop_jobs": frozenset({"symptom", "resolution"}),
        "invoices": frozenset({"memo"}),
        "deposits": frozenset({"reason"}),
    },
    "desk": {
        "cases": frozenset({"summary"}),
        "notices": frozenset({"body"}),
    },
}
"""Free text that the agent words in its own way: server → table → fields."""

MOST_SHOWN = 500
"""Characters of a value that the check's message shows."""


def _plain_lists_sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain_lists_sorted(item) for key, item in value.items()}
    if isinstance(value, list):
        if value and all(isinstance(item, str | int | float) for item in value):
            return sorted(value)
        return [_plain_lists_sorted(item) for item in value]
    return value


def stable(server: str, database: Database) -> Database:
    """The graded part: records by the text of their `id`, in tables without one in the order of insertion."""
    left_out = UNGRADED[server]
    result: Database = {}
    for table, records in database.items():
        kept = [
            {
                field: _plain_lists_sorted(value)
                for field, value in record.items()
                if field not in left_out.get(table, ())
            }
            for record in records
        ]
        result[table] = sorted(kept, key=lambda record: str(record.get("id", "")))
    return result


def state_hash(server: str, database: Database) -> str:
    """SHA-256 of the stable state as JSON: keys sorted, no spaces, ASCII only."""
    text = json.dumps(stable(server, database), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def positional_diff(result: Any, golden: Any, path: str = "") -> list[dict[str, Any]]:
    """The harness's own comparison of two stable states. Lists are compared index by index."""
    if result is None and golden is None:
        return []
    if result is None:
        return [_entry(path, "result is None, golden is not", None, type(golden).__name__)]
    if golden is None:
        return [_entry(path, "result is not None, golden is None", type(result).__name__, None)]
    if type(result) is not type(golden):
        return [_entry(path, "type mismatch", type(result).__name__, type(golden).__name__)]
    if isinstance(result, dict):
        found: list[dict[str, Any]] = []
        for key in sorted(result.keys() | golden.keys()):
            place = f"{path}.{key}" if path else key
            if key not in result:
                found.append({"path": place, "type": "missing in result (present in golden)"})
            elif key not in golden:
                found.append({"path": place, "type": "present in result (missing in golden)"})
            else:
                found += positional_diff(result[key], golden[key], place)
        return found
    if isinstance(result, list):
        found = [] if len(result) == len(golden) else [_entry(path, "length mismatch", len(result), len(golden))]
        for index in range(max(len(result), len(golden))):
            place = f"{path}[{index}]"
            if index >= len(result):
                found.append({"path": place, "type": "missing in result (present in golden)"})
            elif index >= len(golden):
                found.append({"path": place, "type": "present in result (missing in golden)"})
            else:
                found += positional_diff(result[index], golden[index], place)
        return found
    return [] if result == golden else [_entry(path, "value mismatch", result, golden)]


def _entry(path: str, kind: str, result: Any, golden: Any) -> dict[str, Any]:
    return {"path": path, "type": kind, "result": result, "golden": golden}


def difference_report(result_hash: str, golden_hash: str, differences: list[dict[str, Any]]) -> str:
    """The text of the failing assertion."""
    lines = [
        "Database hash after test execution does not match expected golden hash",
        f"Result hash: {result_hash}",
        f"Golden hash: {golden_hash}",
        "",
        f"Found {len(differences)} difference(s):",
        "",
    ]
    for number, entry in enumerate(differences, start=1):
        lines += [
            f"{number}. Path: {entry['path']}",
            f"   Type: {entry['type']}",
            f"   Result:  {json.dumps(entry.get('result'))[:MOST_SHOWN]}",
            f"   Golden:  {json.dumps(entry.get('golden'))[:MOST_SHOWN]}",
            "",
        ]
    return "\n".join(lines)
