"""What a row of the OpenEnv adapter says of itself: which try it was, where it came from, and what must not be in it.

The adapter calls its rows canonical: they are the harness's rows, cut to what may be published.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from runs.bundles.fields import Fields, as_number
from runs.canonical import canonical_json

__all__ = ["EVALUATOR_FIELDS", "claims_canonical", "is_error_row", "read_said", "read_try", "row_notes"]

EVALUATOR_FIELDS = frozenset(
    {
        # the state and what is required of it
        "effects", "expected_state", "golden_state", "golden_state_model", "world_state", "init_result",
        "initial_db_state", "result_db_state", "result_db_hash", "golden_db_state", "golden_db_hash", "rubrics_yesno",
        # the test
        "test_code", "test_source", "test_context", "assertion", "assertion_source", "assertions", "prints", "tb",
        "traceback", "line_content",
        # what only the simulated user knows
        "private_user_context", "user_context",
        # secrets
        "api_key", "authorization", "credential", "credentials", "headers", "secret", "session_id", "token",
        # left out by the adapter as well: the harness's own rows have them
        "raw_messages", "tools", "user_llm_history",
    }
)  # fmt: skip
"""Names that a canonical row may not hold anywhere but in the arguments of a tool call."""

_MOST_BYTES = 64 << 10
_ERROR = "operational_system_error"
_HIGHEST_TRY = 1_000_000
_DEEPEST = 100


def claims_canonical(row: Mapping[str, Any]) -> bool:
    """Whether a decoded result row says that it is of the adapter's format."""
    metadata = row.get("metadata")
    return isinstance(metadata, dict) and "schema_version" in metadata and "repetition_id" in metadata


def is_error_row(row: Mapping[str, Any]) -> bool:
    """Whether a decoded row is of the file of errors."""
    return row.get("classification") == _ERROR and "repetition_id" in row


def read_try(fields: Fields) -> int | None:
    """Which try at its repetition a row was, from 1; None where it does not say."""
    number = fields.values.get("attempt")
    if isinstance(number, int) and not isinstance(number, bool) and 1 <= number <= _HIGHEST_TRY:
        return number
    return None


def read_said(row: Mapping[str, Any], fields: Fields) -> dict[str, Any] | None:
    """What a row says of where it came from: `schema_version`, `provenance`, `execution`, `forbidden` (names found).

    `fields` is the level that holds it. None where the row says nothing, or more than such a row ever does.
    """
    said = {
        "schema_version": fields.values.get("schema_version"),
        "provenance": _object(fields.values.get("provenance")),
        "execution": _object(fields.values.get("execution_provenance")),
        "forbidden": _forbidden(row),
    }
    return said if len(canonical_json(said)) <= _MOST_BYTES else None


def row_notes(row: Mapping[str, Any], fields: Fields, repetition: int) -> list[str]:
    """Where the row contradicts itself, in sentences."""
    notes = []
    expected = f"{row.get('uid')}::repeat::{repetition}"
    named = fields.values.get("repetition_id")
    if named != expected:
        notes.append(
            f"{fields.at('repetition_id')} is not {expected!r}; task and repetition were taken from their fields."
        )
    counts = fields.values.get("step_counts")
    messages = row.get("messages")
    if isinstance(counts, dict) and isinstance(messages, list):
        kinds = Counter(message.get("T") for message in messages if isinstance(message, dict))
        found = {
            "native_messages": len(messages),
            "tool_batches": kinds["ParallelToolCall"] + kinds["ToolCall"],
            "tool_responses": kinds["ToolResponse"],
        }
        for name, count in found.items():
            said = as_number(counts.get(name))
            if said is not None and said != count:
                notes.append(f"{fields.at('step_counts')}.{name} is {said:g}, and the row has {count}.")
    return notes


def _object(value: Any) -> dict[str, Any] | None:
    return value if isinstance(value, dict) else None


def _forbidden(row: Mapping[str, Any]) -> list[str]:
    """The forbidden names in a row, sorted. A null, as the harness writes for what it does not have, tells nothing."""
    return sorted(set(_names(dict(row), 0)) & EVALUATOR_FIELDS)


def _names(value: Any, depth: int) -> Iterator[str]:
    if depth > _DEEPEST:
        return
    if isinstance(value, dict):
        for name, inner in value.items():
            if inner is None:
                continue
            yield name
            if name != "arguments":
                yield from _names(inner, depth + 1)
    elif isinstance(value, list):
        for inner in value:
            yield from _names(inner, depth + 1)
