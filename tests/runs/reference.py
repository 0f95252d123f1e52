"""Reads the reference values beside the project, for the tests that compare with them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from runs.metrics import TaskOutcome

__all__ = ["consistent_runs", "read_reference"]


def read_reference(shared: Path, name: str) -> Any:
    return json.loads((shared / "reference" / name).read_text(encoding="utf-8"))


def consistent_runs(shared: Path) -> dict[str, list[TaskOutcome]]:
    """Model → the constructed outcome of each of the benchmark's tasks, 20 attempts each."""
    data = read_reference(shared, "consistent_counts.json")
    return {
        model["model"]: [
            TaskOutcome(uid=uid, domain=domain["key"], n=data["repetitions"], passed=passed)
            for domain in data["domains"]
            for uid, passed in zip(domain["uids"], model["counts"][domain["key"]], strict=True)
        ]
        for model in data["models"]
    }
