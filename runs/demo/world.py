"""The records of the rental desk before anybody does anything: invented people, companies, machines and invoices."""

from __future__ import annotations

import copy
import functools
import json
from pathlib import Path

from runs.demo.states import Databases

CONTENT = Path(__file__).parent / "content"

NOW = "2026-03-17T09:00:00Z"
"""The clock of the tools stands still: a new record is made at this time."""
LATER = "2026-03-17T09:05:00Z"
"""And a changed record was changed at this one."""


@functools.cache
def _initial() -> Databases:
    databases: Databases = json.loads((CONTENT / "world.json").read_text(encoding="utf-8"))
    return databases


def fresh() -> Databases:
    """The databases of both servers at the start of an attempt, as the caller's own copy."""
    return copy.deepcopy(_initial())


@functools.cache
def policy(domain: str) -> str:
    """The rules of one domain, as the agent gets them."""
    return (CONTENT / f"policy_{domain.lower()}.md").read_text(encoding="utf-8")


@functools.cache
def instructions() -> str:
    """What the harness tells every agent."""
    return (CONTENT / "instructions.md").read_text(encoding="utf-8")
