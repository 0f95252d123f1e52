"""Which calls change state, by what is known of their tools."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from runs.records import Step, StepKind

__all__ = ["ListedTools", "changes_state"]

ListedTools = Mapping[str, Collection[str] | None]
"""The state-changing tools of a scenario → the values of its argument `action` that write; None: each call writes."""


def changes_state(
    step: Step,
    *,
    listed: ListedTools | None = None,
    annotations: Mapping[str, bool | None] | None = None,
    observed: Collection[str] = (),
    overrides: Mapping[str, bool] | None = None,
) -> bool:
    """Whether a step called a tool that changes state, failed calls included.

    What a person decided goes first (tool → answer), then the benchmark's list, which is complete for its scenario
    (None: no such list), then the tool's own `readOnlyHint`, then what was observed in this attempt.
    """
    if step.kind is not StepKind.CALL or step.name is None:
        return False
    if overrides and step.name in overrides:
        return overrides[step.name]
    if listed is not None:
        if step.name not in listed:
            return False
        actions = listed[step.name]
        return actions is None or (isinstance(step.arguments, dict) and step.arguments.get("action") in list(actions))
    read_only = annotations.get(step.name) if annotations else None
    if read_only is not None:
        return not read_only
    return step.name in observed
