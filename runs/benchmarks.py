"""Facts of the benchmark that this product knows: ThinkingBox-Bench v1.0."""

from __future__ import annotations

from pathlib import Path

import msgspec

__all__ = ["THINKINGBOX_BENCH", "Benchmark", "domain_label", "is_bench_uid"]


class _Domain(msgspec.Struct, frozen=True, kw_only=True):
    label: str
    scenario: str
    write_tools: list[str]
    write_actions: dict[str, list[str]]
    uids: list[str]


class _File(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    repetitions: int
    domains: dict[str, _Domain]


class Benchmark(msgspec.Struct, frozen=True, kw_only=True):
    """A named, versioned set of tasks. `scenario` is what the harness calls the world that a task plays in."""

    name: str
    repetitions: int
    uids: frozenset[str]
    scenarios: dict[str, str]
    """Task → its scenario, for rows that do not name it."""
    labels: dict[str, str]
    """Scenario → the domain's label for people."""
    write_tools: dict[str, frozenset[str]]
    """Scenario → tools whose code stores something."""
    write_actions: dict[str, dict[str, frozenset[str]]]
    """Scenario → tool → values of its `action` argument that store something; the tool's other actions only read."""


def _load(path: Path) -> Benchmark:
    data = msgspec.json.decode(path.read_bytes(), type=_File)
    domains = data.domains.values()
    return Benchmark(
        name=data.name,
        repetitions=data.repetitions,
        uids=frozenset(uid for domain in domains for uid in domain.uids),
        scenarios={uid: domain.scenario for domain in domains for uid in domain.uids},
        labels={domain.scenario: domain.label for domain in domains},
        write_tools={domain.scenario: frozenset(domain.write_tools) for domain in domains},
        write_actions={
            domain.scenario: {tool: frozenset(actions) for tool, actions in domain.write_actions.items()}
            for domain in domains
        },
    )


THINKINGBOX_BENCH = _load(Path(__file__).parent / "data" / "thinkingbox_bench_v1.json")


def domain_label(scenario: str) -> str:
    """The label of a scenario's domain (`Retail`); the scenario itself where the benchmark does not know it."""
    return THINKINGBOX_BENCH.labels.get(scenario, scenario)


def is_bench_uid(uid: str) -> bool:
    """Whether the uid is one of the benchmark's tasks."""
    return uid in THINKINGBOX_BENCH.uids
