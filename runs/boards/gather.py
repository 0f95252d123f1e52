"""The inputs of figures and leaderboards, out of the database: tallies, never attempts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable

import msgspec
from django.db.models import QuerySet

from runs.access import Access
from runs.boards.board import Board, make_board
from runs.boards.figures import RunFigures, figures
from runs.boards.inputs import BoardInputs, BoardSettings, BoardView, Column, Order, RunInput, TaskCounts
from runs.boards.shown import as_shown
from runs.kept import Kept
from runs.metrics import ErrorRule
from runs.models import Leaderboard, PriceList, Run, TaskTally, Upload
from runs.prices import Pricing, pricing_of
from runs.published import THINKINGBOX_BENCH_RESULTS, PublishedResults
from runs.querysets import visible_runs

__all__ = [
    "board_inputs", "board_now", "board_runs", "figures_by_run", "inputs_by_run", "published_rows", "settings_of",
    "with_pricing",
]  # fmt: skip

_COLUMNS = (
    "run_id", "task__uid", "task__domain", "recorded", "passed", "errors", "with_usage", "input_tokens",
    "cached_tokens", "output_tokens", "cache_write_tokens", "usage_beside",
)  # fmt: skip

_inputs: Kept[RunInput] = Kept(512)
_figures: Kept[RunFigures] = Kept(512)
_boards: Kept[Board] = Kept(128)


def with_pricing(runs: QuerySet[Run]) -> QuerySet[Run]:
    """The runs with all that `figures_by_run` and `pricing_of` look at."""
    return runs.select_related("benchmark", "pricing__price_list")


def _version(run: Run, price_list: PriceList | None) -> Hashable:
    """All that a run's input hangs on, but for the tallies, which are by `tallied`. Versions of lists never change."""
    own = getattr(run, "pricing", None)
    return (
        run.pk,
        run.created_at,
        run.updated_at,
        run.tallied,
        None if own is None else own.updated_at,
        None if price_list is None else price_list.pk,
    )


def inputs_by_run(runs: Iterable[Run], price_list: PriceList | None = None) -> dict[int, RunInput]:
    """Run (id) → its input, in the order given. No query for runs that have not changed since the last time; else two.

    The runs come from `with_pricing`. `price_list` goes before their own.
    """
    wanted = list(runs)
    found = {run.pk: _inputs.get(_version(run, price_list)) for run in wanted}
    fresh = [run for run in wanted if found[run.pk] is None]
    if fresh:
        tasks = _tasks([run.pk for run in fresh])
        bundles = _bundles([run.pk for run in fresh])
        for run in fresh:
            made = _input(run, pricing_of(run, price_list), tasks.get(run.pk, ()), bundles.get(run.pk, ()))
            found[run.pk] = _inputs.put(_version(run, price_list), made)
    return {pk: made for pk, made in found.items() if made is not None}


def _tasks(runs: list[int]) -> dict[int, tuple[TaskCounts, ...]]:
    by_run: defaultdict[int, list[TaskCounts]] = defaultdict(list)
    for run, *counts in TaskTally.objects.filter(run__in=runs).order_by("run_id", "task__uid").values_list(*_COLUMNS):
        by_run[run].append(TaskCounts(*counts))
    return {run: tuple(counts) for run, counts in by_run.items()}


def _bundles(runs: list[int]) -> dict[int, tuple[str, ...]]:
    by_run: defaultdict[int, set[str]] = defaultdict(set)
    for run, digest in Upload.objects.filter(run__in=runs).values_list("run_id", "sha256"):
        by_run[run].add(digest)
    return {run: tuple(sorted(digests)) for run, digests in by_run.items()}


def _input(run: Run, pricing: Pricing, tasks: tuple[TaskCounts, ...], bundles: tuple[str, ...]) -> RunInput:
    return RunInput(
        slug=run.slug,
        model=run.model,
        provider=run.provider,
        weights=run.weights,
        benchmark=run.benchmark.name,
        k=run.repetitions,
        tasks=tasks,
        price=pricing.price,
        price_list=pricing.price_list,
        price_reason=pricing.reason,
        stated=pricing.stated,
        bundles=bundles,
    )


def figures_by_run(runs: Iterable[Run], error_rule: ErrorRule = ErrorRule.AS_FAILED) -> dict[int, RunFigures]:
    """Run (id) → its figures by its own k and price, in the order given. The runs come from `with_pricing`."""
    wanted = list(runs)
    keys = {run.pk: (_version(run, None), error_rule) for run in wanted}
    found = {run.pk: _figures.get(keys[run.pk]) for run in wanted}
    inputs = inputs_by_run(run for run in wanted if found[run.pk] is None)
    for pk, given in inputs.items():
        found[pk] = _figures.put(keys[pk], figures(given, error_rule=error_rule))
    return {pk: made for pk, made in found.items() if made is not None}


def settings_of(board: Leaderboard) -> BoardSettings:
    """What its owner set. A column or an order that is no longer known is left out."""
    known = set(board.columns)
    return BoardSettings(
        order=Order(board.order) if board.order in set(Order) else Order.PASS_AT_1,
        error_rule=ErrorRule(board.error_rule) if board.error_rule in set(ErrorRule) else ErrorRule.AS_FAILED,
        k=board.k,
        columns=tuple(column for column in Column if column.value in known),
        by_weights=board.by_weights,
        price_list="" if board.price_list is None else str(board.price_list),
    )


def published_rows(names: Iterable[str]) -> PublishedResults | None:
    """The published results with these rows only, in the order of publication; None without any."""
    wanted = set(names)
    models = [model for model in THINKINGBOX_BENCH_RESULTS.models if model.name in wanted]
    return msgspec.structs.replace(THINKINGBOX_BENCH_RESULTS, models=models) if models else None


def board_runs(board: Leaderboard, *, access: Access) -> list[Run]:
    """The runs on it that the asker sees, in the order in which they were chosen. One query."""
    return list(
        with_pricing(Run.objects.filter(visible_runs(access), entries__leaderboard=board)).order_by("entries__id")
    )


def board_inputs(board: Leaderboard, runs: Iterable[Run]) -> BoardInputs:
    """What a live board is computed from now."""
    return BoardInputs(
        settings=settings_of(board),
        runs=tuple(inputs_by_run(runs, board.price_list).values()),
        published=published_rows(board.published),
    )


def board_now(board: Leaderboard, view: BoardView | None = None, *, access: Access) -> Board:
    """The board as its runs are now, as far as its columns show it.

    One query where nothing has changed since it was last computed.
    """
    runs = board_runs(board, access=access)
    looked = view or BoardView()
    key = (board.pk, board.updated_at, tuple(_version(run, board.price_list) for run in runs), looked)
    return _boards.get_or_make(key, lambda: as_shown(make_board(board_inputs(board, runs), looked)))
