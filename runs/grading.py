"""What the evidence says about an attempt: one pure call from record to effects, checks and writing steps."""

from __future__ import annotations

from collections.abc import Mapping

from runs.attribution import attribute, observed_tools
from runs.benchmarks import THINKINGBOX_BENCH
from runs.checks import build_checks
from runs.records import AttemptRecord, Effect, GradedAttempt, ServerGrading, StateSource, Tool
from runs.reported import reported_effects
from runs.shared_objects import ByObject
from runs.statediff import compare_server, effect_order
from runs.writing_tools import ListedTools, changes_state

__all__ = ["grade"]


def grade(record: AttemptRecord, *, overrides: Mapping[str, bool] = {}) -> GradedAttempt:
    """Compare the states of each server, find the steps that wrote each field, list the checks.

    `overrides` says of a tool, by hand, whether it changes state. Without recorded states the effects are those that
    the check's message reports.
    """
    effects, servers = _compare(record)
    source = StateSource.RECORDED if any(states.recorded for states in record.servers.values()) else StateSource.NONE
    if source is StateSource.NONE and record.test is not None and not record.test.passed:
        effects = reported_effects(record.test.traceback, _only_server(record))
        source = StateSource.REPORTED if effects else StateSource.NONE
    writes = _write_steps(record, effects, overrides)
    effects = attribute(effects, record.steps, write_steps=frozenset(writes))
    checks = build_checks(record, effects)
    return GradedAttempt(effects=effects, checks=checks, state_source=source, servers=servers, write_steps=writes)


def _compare(record: AttemptRecord) -> tuple[list[Effect], list[ServerGrading]]:
    effects: list[Effect] = []
    servers: list[ServerGrading] = []
    for name, states in record.servers.items():
        found, how = compare_server(name, states)
        effects += found
        servers.append(how)
    return (effect_order(effects) if len(servers) > 1 else effects), servers


def _only_server(record: AttemptRecord) -> str:
    """The server that a check's message is about: the only one there is, else the scenario's."""
    return next(iter(record.servers)) if len(record.servers) == 1 else record.scenario


def _write_steps(record: AttemptRecord, effects: list[Effect], overrides: Mapping[str, bool]) -> list[int]:
    listed = _listed_tools(record.scenario)
    annotations = _hints(record.tools)
    observed: frozenset[str] = frozenset()
    if listed is None and any(annotations.get(step.name) is None for step in record.steps if step.name is not None):
        observed = observed_tools(effects, record.steps)
    return [
        step.index
        for step in record.steps
        if changes_state(step, listed=listed, annotations=annotations, observed=observed, overrides=overrides)
    ]


def _read_only(tools: list[Tool]) -> dict[str, bool | None]:
    """The tools' own hints."""
    return {tool.name: tool.read_only for tool in tools}


_hints = ByObject(_read_only, most=32)


def _listed_tools(scenario: str) -> ListedTools | None:
    tools = THINKINGBOX_BENCH.write_tools.get(scenario)
    if tools is None:
        return None
    actions = THINKINGBOX_BENCH.write_actions[scenario]
    return {tool: actions.get(tool) for tool in tools}
