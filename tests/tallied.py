"""Runs in the database as their tallies alone, and runs as counts alone: enough for figures, boards and prices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runs.boards import RunInput, TaskCounts
from runs.models import Benchmark, Run, Task, TaskTally

__all__ = ["counts_of", "run_of", "tallied_run"]


def counts_of(uid: str, verdicts: str, domain: str = "", tokens: tuple[int, int, int] | None = None) -> TaskCounts:
    """One task from letters (p, f, e). `tokens`: input, cached and output of each attempt."""
    n = len(verdicts)
    each = tokens or (0, 0, 0)
    return TaskCounts(
        uid, domain, n, verdicts.count("p"), verdicts.count("e"), n if tokens else 0, *(n * count for count in each)
    )


def run_of(model: str, tasks: Mapping[str, str], *, k: int = 2, **facts: Any) -> RunInput:
    """A run as a board takes it: task → letters."""
    tokens = facts.pop("tokens", None)
    domain = facts.pop("domain", "")
    made = tuple(counts_of(uid, letters, domain, tokens) for uid, letters in sorted(tasks.items()))
    return RunInput(**{"slug": f"desk-{model}", "benchmark": "desk", **facts}, model=model, k=k, tasks=made)


def tallied_run(model: str, tasks: Mapping[str, str], *, k: int = 2, benchmark: str = "desk", **facts: Any) -> Run:
    """A stored run without attempts: task → letters."""
    tokens = facts.pop("tokens", None)
    domain = facts.pop("domain", "")
    named, _ = Benchmark.objects.get_or_create(name=benchmark)
    run = Run.objects.create(
        **{"slug": f"{benchmark}-{model}", **facts}, benchmark=named, model=model, repetitions=k, tallied=1
    )
    for uid, letters in tasks.items():
        task, _ = Task.objects.get_or_create(benchmark=named, uid=uid, defaults={"domain": domain})
        counts = counts_of(uid, letters, domain, tokens)
        TaskTally.objects.create(
            run=run,
            task=task,
            recorded=counts.recorded,
            passed=counts.passed,
            failed=letters.count("f"),
            errors=counts.errors,
            verdicts=letters,
            with_usage=counts.with_usage,
            input_tokens=counts.input_tokens,
            cached_tokens=counts.cached_tokens,
            output_tokens=counts.output_tokens,
        )
    return run
