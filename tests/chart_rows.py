"""Rows of a leaderboard for tests: the published ones, and runs of this server that were made up."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

import msgspec

from inspector.charts.data import BoardRow, Kind, Standing, Weights
from runs.costs import Point, frontier
from runs.metrics import Interval, Method
from runs.published import THINKINGBOX_BENCH_RESULTS, PublishedModel, PublishedResults

__all__ = ["K", "measured_row", "published_rows", "with_standings"]

K = 20


def published_rows() -> list[BoardRow]:
    results = THINKINGBOX_BENCH_RESULTS
    return [_published_row(results, model) for model in results.models]


def _published_row(results: PublishedResults, model: PublishedModel) -> BoardRow:
    cost, solved, all_k = results.cost(model), results.solved(model), results.all_k(model)
    bounds = model.solved_bounds
    tasks = results.tasks.value
    return BoardRow(
        name=model.name,
        kind=Kind.PUBLISHED,
        weights=Weights(model.weights.value),
        k=results.repetitions.value,
        tasks=tasks,
        pass_at_1=results.pass_at_1(model).value,
        pass_at_1_interval=results.contender(model).interval,
        solved=solved.value if solved else None,
        solved_between=(bounds.value[0] / tasks, bounds.value[1] / tasks) if bounds else None,
        all_k=all_k.value if all_k else None,
        currency=results.currency,
        cost_per_run=cost.per_run if cost else None,
        cost_per_success=cost.per_success if cost else None,
        cost_per_dependable_task=cost.per_dependable_task if cost else None,
        by_domain={domain.label: results.pass_at_1(model, domain.key).value for domain in results.domains},
    )


def measured_row(**changes: object) -> BoardRow:
    row = BoardRow(
        name="aster-large",
        kind=Kind.MEASURED,
        weights=Weights.PROPRIETARY,
        url="/runs/bench-v1-aster-large/",
        k=K,
        tasks=507,
        pass_at_1=0.638,
        pass_at_1_interval=Interval(low=0.607, high=0.669, method=Method.BOOTSTRAP),
        solved=469 / 507,
        solved_interval=Interval(low=0.901, high=0.946, method=Method.BOOTSTRAP),
        all_k=123 / 507,
        all_k_interval=Interval(low=0.206, high=0.280, method=Method.BOOTSTRAP),
        cost_per_run=Decimal("37.11"),
        cost_per_success=Decimal("0.115"),
        cost_per_dependable_task=Decimal("6.03"),
        by_domain={
            "Retail": 0.743,
            "Auto insurance": 0.621,
            "Travel": 0.645,
            "Neobank": 0.642,
            "Consulting": 0.540,
        },
    )
    return msgspec.structs.replace(row, **changes)


def with_standings(rows: Sequence[BoardRow]) -> list[BoardRow]:
    """The rows with their places on both frontiers."""
    success = _standings([(row.name, row.cost_per_success, row.pass_at_1) for row in rows])
    dependable = _standings([(row.name, row.cost_per_dependable_task, row.all_k) for row in rows])
    return [
        msgspec.structs.replace(row, by_success=success[row.name], by_dependable_task=dependable[row.name])
        for row in rows
    ]


def _standings(values: Sequence[tuple[str, Decimal | None, float | None]]) -> dict[str, Standing | None]:
    placed = frontier(
        [Point(name=name, cost=cost, worth=None if worth is None else Decimal(worth)) for name, cost, worth in values]
    )
    return {each.name: Standing(each.on_frontier, tuple(each.dominated_by)) if each.placed else None for each in placed}
