"""Attempts of any verdict as a list, cut by id or in an order, and as a stream of all that fit."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from django.db.models import Count, F, Q, QuerySet
from django.db.models.expressions import Expression, OrderBy

from runs.access import Access
from runs.models import Attempt
from runs.querysets import visible_attempts

__all__ = [
    "SORTS", "VALUES", "AttemptFilters", "AttemptListing", "attempt_listing", "attempts_behind", "attempts_fitting",
    "count_of", "stream", "values_among",
]  # fmt: skip

SORTS: dict[str, F | Expression] = {
    "task": F("task__uid"), "steps": F("steps"), "tool_errors": F("tool_errors"), "duration": F("duration"),
    "tokens": F("input_tokens") + F("output_tokens"),
}  # fmt: skip
"""What a listing can be put in order by. All of it is told by the trace, nothing by the required state."""
VALUES = {
    "run": "run__slug", "domain": "task__domain", "task": "task__uid", "model": "run__model",
    "finish": "finish_reason", "tool": "tools__name", "erred": "tools__name",
}  # fmt: skip
"""Of what the values can be counted → where they are."""

_READ_AT_ONCE = 50
"""Traces in memory while rows are streamed: each may be large."""


class AttemptFilters(msgspec.Struct, frozen=True, kw_only=True):
    """Several values of one field mean "one of them"; all fields must fit. Empty: no condition."""

    runs: tuple[str, ...] = ()
    """Slugs."""
    benchmark: str = ""
    tasks: tuple[str, ...] = ()
    """Uids."""
    domains: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    verdicts: tuple[str, ...] = ()
    signatures: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    """Called at least once."""
    erring: tuple[str, ...] = ()
    """Tools that erred at least once."""
    error_classes: tuple[str, ...] = ()
    finish_reasons: tuple[str, ...] = ()
    repetition: int | None = None
    replaced: bool = False
    """Errors that a later row replaced are listed as well."""


def attempts_fitting(filters: AttemptFilters, seen: Q | None = None) -> QuerySet[Attempt]:
    """The attempts that fit, by id. `seen` is a condition on the attempt: whose runs may be known."""
    found = Attempt.objects.filter(seen or Q(), trace__isnull=False)
    conditions = {
        "run__slug__in": filters.runs,
        "task__uid__in": filters.tasks,
        "task__domain__in": filters.domains,
        "run__model__in": filters.models,
        "verdict__in": filters.verdicts,
        "signature__in": filters.signatures,
        "error_class__in": filters.error_classes,
        "finish_reason__in": filters.finish_reasons,
    }
    found = found.filter(**{name: values for name, values in conditions.items() if values})
    if filters.labels:
        found = found.filter(labels__label__in=filters.labels).distinct()
    if filters.tools:
        found = found.filter(tools__name__in=filters.tools).distinct()
    if filters.erring:
        found = found.filter(tools__name__in=filters.erring, tools__errors__gt=0).distinct()
    if filters.benchmark:
        found = found.filter(run__benchmark__name=filters.benchmark)
    if filters.repetition is not None:
        found = found.filter(repetition=filters.repetition)
    if not filters.replaced:
        found = found.filter(current=True)
    return found.select_related("run__benchmark", "task").order_by("pk")


class AttemptListing(msgspec.Struct, frozen=True, kw_only=True):
    attempts: list[Attempt]
    """With run and task."""
    total: int
    tasks: int
    """That all which fit are at."""


def attempt_listing(
    filters: AttemptFilters, *, sort: str, descending: bool, offset: int, limit: int, access: Access
) -> AttemptListing:
    """Attempts that fit, in an order of `SORTS`: what is not known comes last, then repetition and id decide. Two
    queries."""
    found = attempts_fitting(filters, visible_attempts(access))
    order = OrderBy(SORTS[sort], descending=descending, nulls_last=True)
    counts = found.order_by().aggregate(total=Count("pk", distinct=True), tasks=Count("task", distinct=True))
    rows = list(found.order_by(order, "repetition", "pk")[offset : offset + limit]) if offset < counts["total"] else []
    return AttemptListing(attempts=rows, **counts)


def values_among(filters: AttemptFilters, of: str, *, most: int, access: Access) -> list[tuple[str, int]]:
    """Values of one of `VALUES` with the attempts that have each, the most first; at most `most`. One query."""
    found = attempts_fitting(filters, visible_attempts(access)).order_by()
    if of == "erred":
        found = found.filter(tools__errors__gt=0)
    counted = found.values_list(VALUES[of]).annotate(n=Count("pk", distinct=True)).order_by("-n", VALUES[of])
    return [(value, count) for value, count in counted[:most] if value is not None]


def attempts_behind(found: QuerySet[Attempt], after: int, limit: int) -> list[Attempt]:
    """The next attempts behind an id. One query."""
    return list(found.filter(pk__gt=after)[:limit])


def count_of(found: QuerySet[Attempt]) -> int:
    return found.order_by().count()


def stream(found: QuerySet[Attempt], *, traces: bool) -> Iterator[Attempt]:
    """All of them, a few at a time, however many there are; each slice is a query of its own, so that no transaction
    and no cursor stays open while the reader is slow."""
    size = _READ_AT_ONCE if traces else 10 * _READ_AT_ONCE
    wanted = found.select_related("run__benchmark", "task", "trace") if traces else found
    after = 0
    while part := attempts_behind(wanted, after, size):
        yield from part
        after = part[-1].pk
