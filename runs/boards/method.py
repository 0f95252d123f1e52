"""How a board's figures and ranks are made, in sentences that stand on its page and in its files."""

from __future__ import annotations

from runs.boards.board import Board
from runs.boards.inputs import Column, Order
from runs.costs import CostSource
from runs.metrics import METRIC_VERSION, ErrorRule
from runs.published import NOT_MEASURED_HERE
from runs.wording import counted

__all__ = ["has_ends_in_doubt", "ordered_by", "settings_summary", "tasks_of"]


_NAMED = 8
_CHANGED = {
    1: "By version 1 a published share of exactly 0% or 100% without an interval was in no doubt, so its rank may be "
    "given more narrowly than it is known."
}
"""Metric version → what is different since."""
_COUNTS_OF_TASKS = frozenset({Column.SOLVED, Column.ALL_K, Column.RETENTION, Column.COST_PER_DEPENDABLE})


def ordered_by(board: Board) -> str:
    """What the rows are ranked by, for people."""
    return {
        Order.PASS_AT_1: "pass@1",
        Order.ALL_K: f"tasks passed {board.k} of {board.k}",
        Order.SOLVED: "tasks solved at least once",
        Order.COST: "cost per dependable task",
    }[board.order]


def tasks_of(board: Board) -> str:
    """`507 tasks`: what the rows are of, for people; no number where that would be said of other rows as well."""
    return "rows of different tasks" if board.mixes_tasks else counted(board.tasks, "task")


def _all_of(k: int) -> str:
    return "their one attempt" if k == 1 else f"all of their {k:,} attempts"


def settings_summary(board: Board) -> list[tuple[str, str]]:
    """Heading and text of each paragraph; only what the board's rows and columns need."""
    k = board.k
    parts = [
        ("Ranks", _ranks(board)),
        ("pass@1", f"is successes over attempts, all tasks together. {_errors(board)}"),
    ]
    if _COUNTS_OF_TASKS & set(board.columns) or board.order is not Order.PASS_AT_1:
        parts.append(
            (
                f"{k} of {k}",
                f"is the number of tasks that passed {_all_of(k)}: a literal count, never an estimate. A "
                "task with fewer attempts recorded makes it not computable. At least once counts tasks with a success.",
            )
        )
    if Column.RETENTION in board.columns:
        parts.append(("Retention", f"is the {k} of {k} share over pass@1."))
    if board.columns_with_costs:
        parts.append(("Costs", _costs(board)))
    if board.mixes_tasks:
        parts.append(("Different tasks", _different(board)))
    if board.published:
        parts.append(("Published rows", _published(board)))
    if board.metric_version != METRIC_VERSION:
        parts.append(("Older rules", _older(board)))
    return parts


def has_ends_in_doubt(board: Board) -> bool:
    """Whether a share of exactly 0% or 100% without a published interval is in doubt; by the first rules it was not."""
    return board.metric_version > 1


def _older(board: Board) -> str:
    return (
        f"made these figures: they are frozen by metric version {board.metric_version}, and this server computes by "
        f"version {METRIC_VERSION}. {_CHANGED.get(board.metric_version, '')}"
    ).rstrip()


def _ranks(board: Board) -> str:
    if board.order is Order.COST:
        return (
            "go by cost per dependable task, the lowest first. No interval is made of a cost, so no range of ranks and "
            "no ties are shown; rows without a cost have no rank."
        )
    text = (
        f"go by {ordered_by(board)}. A model's rank lies between 1 + the number of models significantly better "
        "and the number of all models − those significantly worse. "
    )
    if board.measured > 1:
        text += (
            "Two runs of this server on the same tasks are compared by a paired bootstrap over tasks (95%); all others "
            "by whether their 95% intervals overlap, which separates less. "
        )
    else:
        text += "Models are told apart where their 95% intervals do not overlap. "
    if board.published:
        text += (
            f"Without a published interval the widest possible one is taken, 1.96·√(p(1−p)/{board.tasks:,}), drawn "
            "dotted"
        )
        if has_ends_in_doubt(board):
            text += "; at exactly 0% and 100%, where that has no width, the Jeffreys interval over the tasks"
        text += ". "
    return text + "A bar on the left joins the first row of a group with those that cannot be told from it."


def _errors(board: Board) -> str:
    if board.error_rule is ErrorRule.LEFT_OUT:
        return "System errors are left out of it here, and count as not passed everywhere else."
    return "System errors count as attempts that did not pass."


def _costs(board: Board) -> str:
    text = (
        f"are of all recorded attempts. Cost per dependable task is divided by the tasks that passed {board.k} of "
        f"{board.k}. Cached tokens are priced once. "
    )
    priced = {row.money.price_list for row in board.rows if row.money.price_list and not row.is_published}
    if priced:
        text += f"Priced by {', '.join(sorted(priced))}. "
    if any(row.money.source is CostSource.STATED and not row.is_published for row in board.rows):
        text += "A cost marked stated is a total that somebody gave. "
    if any(row.money.lower_bound for row in board.rows):
        text += "At least: some attempts have no tokens recorded, so the cost is a lower bound. "
    return text + "Not priced is not 0."


def _different(board: Board) -> str:
    fewer = [row for row in board.rows if row.tasks != board.tasks]
    named = [f"{row.name}: {row.tasks:,}" for row in fewer[:_NAMED]]
    if len(fewer) > _NAMED:
        named.append(f"and {len(fewer) - _NAMED} more")
    if not named:
        named = list(board.benchmarks)
    return (
        "are set side by side here: not all rows are of the same "
        f"{counted(board.tasks, 'task')}, so their figures are not of the same thing ({'; '.join(named)})."
    )


def _published(board: Board) -> str:
    sources = sorted({source for row in board.rows for source in row.sources.values()})
    return f"are {NOT_MEASURED_HERE}. A dash is a value that was not published. Sources: {'; '.join(sources)}."
