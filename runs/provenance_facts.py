"""What the rows of a run say of where they came from, flattened and counted. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

__all__ = [
    "BY_SHARD",
    "Fact",
    "FactValue",
    "Flat",
    "SaidBy",
    "by_path",
    "fact_groups",
    "flattened",
    "most_first",
    "text_of",
]

BY_SHARD = frozenset({"run.shard_index", "run.selected_uids_sha256"})
"""What differs between the shards of one run, as it should."""


class SaidBy(msgspec.Struct, frozen=True, kw_only=True):
    """What some rows say of where they came from (None: nothing), and which rows those are."""

    said: dict[str, Any] | None
    rows: int
    errors: int = 0
    """Of these, tries that broke."""
    uids: frozenset[str] = frozenset()
    files: tuple[str, ...] = ()


class FactValue(msgspec.Struct, frozen=True):
    text: str
    rows: int


class Fact(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that rows say, with each value there is of it."""

    label: str
    values: list[FactValue]
    by_shard: bool = False
    """It differs between shards of one run, as it should."""

    @property
    def differs(self) -> bool:
        return len(self.values) > 1 and not self.by_shard


_FACTS: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = (
    (
        "Data",
        (
            ("Data release", "data_release"),
            ("Data revision", "data_revision"),
            ("Bundle SHA-256", "data_bundle_sha256"),
            ("Manifest", "manifest_path"),
            ("Manifest SHA-256", "manifest_sha256"),
            ("Tasks in the manifest", "task_count"),
            ("Manifest's tasks SHA-256", "manifest_uids_sha256"),
            ("Requested list SHA-256", "requested_test_list_sha256"),
        ),
    ),
    (
        "Software",
        (
            ("ThinkingBox revision", "thinkingbox_revision"),
            ("ThinkingBox source SHA-256", "thinkingbox_source_sha256"),
            ("ThinkingBox source", "thinkingbox_source_type"),
            ("OpenEnv revision", "framework.revision"),
            ("OpenEnv SHA-256", "framework.sha256"),
            ("Python", "python"),
        ),
    ),
    (
        "Configuration",
        (
            ("Configuration SHA-256", "config.sha256"),
            ("Judge type", "config.judge_type"),
            ("User can end the conversation", "config.user_can_end_conversation"),
            ("Agent", "run.agent"),
            ("Endpoint SHA-256", "run.base_url_sha256"),
            ("Message time-out, seconds", "run.message_timeout_s"),
        ),
    ),
    (
        "Plan",
        (
            ("Repetitions", "run.repeat"),
            ("First repetition", "run.repetition_start"),
            ("Limit of tasks", "run.limit"),
            ("Shards", "run.shard_count"),
            ("Shard", "run.shard_index"),
            ("Selected tasks SHA-256", "run.selected_uids_sha256"),
        ),
    ),
)
_MODELS = (
    ("Agent model", "config.agent_model."),
    ("Simulated user", "config.user_model."),
    ("Judge", "config.judge_model."),
)


Flat = list[tuple[SaidBy, dict[str, Any]]]
"""What rows say, as dotted path → plain value."""


def flattened(said: Iterable[SaidBy]) -> Flat:
    return [(row, by_path((row.said or {}).get("provenance"))) for row in said]


def by_path(value: Any, path: str = "") -> dict[str, Any]:
    """Dotted path → plain value. A list is one value."""
    if not isinstance(value, dict) or not value:
        return {path: value} if path else {}
    found: dict[str, Any] = {}
    for name, inner in value.items():
        found |= by_path(inner, f"{path}.{name}" if path else str(name))
    return found


def fact_groups(flat: Flat) -> list[tuple[str, list[Fact]]]:
    telling = [(row, values) for row, values in flat if values]
    groups = [(title, _facts(telling, facts)) for title, facts in _FACTS]
    for title, prefix in _MODELS:
        names = sorted({path for _, values in telling for path in values if path.startswith(prefix)})
        groups.append((title, _facts(telling, [(path.removeprefix(prefix).replace("_", " "), path) for path in names])))
    return [(title, facts) for title, facts in groups if facts]


def _facts(flat: Flat, facts: Iterable[tuple[str, str]]) -> list[Fact]:
    found = []
    for label, path in facts:
        counted: dict[str, int] = defaultdict(int)
        for row, values in flat:
            if path in values:
                counted[text_of(values[path])] += row.rows
        if counted:
            shown = [FactValue(text, rows) for text, rows in most_first(counted)]
            found.append(Fact(label=label, values=shown, by_shard=path in BY_SHARD))
    return found


def most_first(counted: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(counted.items(), key=lambda pair: (-pair[1], pair[0]))


def text_of(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return text if len(text) <= 200 else f"{text[:200]}…"
