"""Benchmarks and tasks, across runs."""

from __future__ import annotations

from django.http import HttpRequest
from ninja import Field, Query, Router

from inspector.api.auth import access
from inspector.api.operations import Listing, Sparse, reads, reads_list
from inspector.api.pagination import Items, Slice, cut
from inspector.api.structs import BenchmarkRow, NamedTask
from inspector.api.visibility import visible_runs
from inspector.paths import UidConverter  # noqa: F401  # makes the converter of uids known
from runs.queries.benchmarks import benchmark_facts, task_facts, tasks_of
from runs.queries.task_runs import TaskAcross, task_across

router = Router()


class TasksQuery(Listing):
    benchmark: str = Field("", description="The benchmark's name.", max_length=200)
    domain: str = Field("", max_length=200)
    q: str = Field("", description="Text in the uid.", max_length=1000)


class AcrossQuery(Sparse):
    benchmark: str = Field(
        "", description="Where several have a task of this uid; else the first by name.", max_length=200
    )


class _Tasks:
    """The tasks that fit, read from the database part by part."""

    def __init__(self, query: TasksQuery, request: HttpRequest) -> None:
        self._found = tasks_of(query.benchmark, query.q, query.domain, visible_runs(access(request)))
        self.total = self._found.order_by().count()

    def some(self, start: int, count: int) -> list[NamedTask]:
        return [
            NamedTask(
                uid=task.uid,
                name=task.uid.rpartition(":")[2] or task.uid,
                domain=task.domain,
                benchmark=task.benchmark,
                runs=task.runs,
            )
            for task in task_facts(self._found, start, count)
        ]


@reads_list(router, "/benchmarks", BenchmarkRow, example={"name": "rental-desk", "tasks": 12, "runs": 3})
def benchmarks(request: HttpRequest, query: Query[Listing]) -> Slice[BenchmarkRow]:
    """The benchmarks that a stored run is of."""
    facts = benchmark_facts(visible_runs(access(request)))
    rows = [BenchmarkRow(name=each.name, tasks=each.tasks, runs=each.runs) for each in facts]
    return cut(request, Items(rows), lambda row: row.name, cursor=query.cursor, limit=query.limit)


@reads_list(router, "/tasks", NamedTask)
def index(request: HttpRequest, query: Query[TasksQuery]) -> Slice[NamedTask]:
    """The tasks that some run tried."""
    rows = _Tasks(query, request)
    return cut(request, rows, lambda row: (row.benchmark, row.uid), cursor=query.cursor, limit=query.limit)


@reads(router, "/tasks/{uid:uid}", TaskAcross)
def across(request: HttpRequest, uid: str, query: Query[AcrossQuery]) -> TaskAcross:
    """A task across runs: who solves it, how often, and with which mistakes."""
    return task_across(uid, query.benchmark, access=access(request))
