"""The benchmarks that are stored, and their tasks, whichever runs tried them."""

from __future__ import annotations

import msgspec
from django.db.models import Count, Q, QuerySet

from runs.models import Run, Task

__all__ = ["BenchmarkFacts", "TaskFacts", "benchmark_facts", "task_facts", "tasks_of"]


class BenchmarkFacts(msgspec.Struct, frozen=True):
    name: str
    tasks: int
    runs: int


class TaskFacts(msgspec.Struct, frozen=True):
    pk: int
    uid: str
    domain: str
    benchmark: str
    runs: int


def benchmark_facts(seen: Q | None = None) -> list[BenchmarkFacts]:
    """By name; `seen` is a condition on runs. Two queries. A benchmark without a run is none that anybody sees."""
    runs = Run.objects.filter(seen or Q())
    counts: dict[str, int] = dict(
        runs.order_by().values_list("benchmark__name").annotate(n=Count("pk")).values_list("benchmark__name", "n")
    )
    tasks: dict[str, int] = dict(
        Task.objects.filter(tallies__run__in=runs)
        .order_by()
        .values_list("benchmark__name")
        .annotate(n=Count("pk", distinct=True))
        .values_list("benchmark__name", "n")
    )
    return [BenchmarkFacts(name, tasks.get(name, 0), counts[name]) for name in sorted(counts)]


def tasks_of(benchmark: str = "", text: str = "", domain: str = "", seen: Q | None = None) -> QuerySet[Task]:
    """The tasks that some run tried, by benchmark and uid."""
    runs = Run.objects.filter(seen or Q())
    tasks = Task.objects.filter(tallies__run__in=runs)
    if benchmark:
        tasks = tasks.filter(benchmark__name=benchmark)
    if domain:
        tasks = tasks.filter(domain=domain)
    if text:
        tasks = tasks.filter(uid__icontains=text)
    counted = tasks.annotate(runs=Count("tallies", filter=Q(tallies__run__in=runs), distinct=True))
    return counted.select_related("benchmark").order_by("benchmark__name", "uid", "pk")


def task_facts(tasks: QuerySet[Task], start: int, count: int) -> list[TaskFacts]:
    """A part of the list. One query."""
    return [
        TaskFacts(task.pk, task.uid, task.domain, task.benchmark.name, task.runs)  # type: ignore[attr-defined]
        for task in tasks[start : start + count]
    ]
