"""What a page's address asks for. An unknown value is as good as none: an old link shows the list, not an error."""

from __future__ import annotations

from django.http import QueryDict

from inspector.board_charts import THRESHOLDS
from runs.boards import BoardView, Order
from runs.metrics import ErrorRule
from runs.queries.numbers import TaskClass
from runs.queries.run_tasks import TASK_SORTS, TaskFilters
from runs.queries.runs import RUN_SORTS, RunFilters

__all__ = [
    "board_view", "chart_threshold", "error_rule", "listed_members", "page_number", "run_filters", "task_filters",
]  # fmt: skip

_LONGEST = 200


def run_filters(query: QueryDict) -> RunFilters:
    sort, descending = _sort(query, RUN_SORTS, "-created")
    return RunFilters(
        benchmark=query.get("benchmark", "")[:_LONGEST],
        text=_text(query),
        sort=sort,
        descending=descending,
        rule=error_rule(query) or ErrorRule.AS_FAILED,
        page=page_number(query),
    )


def task_filters(query: QueryDict) -> TaskFilters:
    sort, descending = _sort(query, TASK_SORTS, "name")
    shown = query.get("show", "")
    return TaskFilters(
        show=TaskClass(shown) if shown in set(TaskClass) else None,
        domain=query.get("domain", "")[:_LONGEST],
        text=_text(query),
        sort=sort,
        descending=descending,
        rule=error_rule(query) or ErrorRule.AS_FAILED,
        page=page_number(query),
    )


_ORDERS = {"pass": Order.PASS_AT_1, "all": Order.ALL_K, "solved": Order.SOLVED, "cost": Order.COST}


def error_rule(query: QueryDict) -> ErrorRule | None:
    """`?errors=excluded` leaves system errors out of pass@1."""
    rule = query.get("errors", "")
    return ErrorRule(rule) if rule in set(ErrorRule) else None


def board_view(query: QueryDict) -> BoardView:
    """`?by=all&errors=excluded&weights=open&published=no`: how a reader looks at a leaderboard."""
    weights = query.get("weights", "")
    return BoardView(
        order=_ORDERS.get(query.get("by", "")),
        error_rule=error_rule(query),
        weights=weights if weights in {"proprietary", "open"} else "",
        with_published=query.get("published") != "no",
    )


def chart_threshold(query: QueryDict) -> int:
    """`?charts=25`: the pass@1 in percent under which the charts of a leaderboard leave models out; 0: none."""
    text = query.get("charts", "")
    return int(text) if text in {str(percent) for percent in THRESHOLDS} else 0


def page_number(query: QueryDict) -> int:
    """The number of the page asked for, at least 1 and never absurd."""
    return _number(query, "page") or 1


def listed_members(query: QueryDict) -> int | None:
    """`?listed=3`: how many members of an archive the list of uploads that asks has. None where no list asks."""
    return _number(query, "listed")


def _number(query: QueryDict, name: str) -> int | None:
    text = query.get(name, "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 8 else None


def _text(query: QueryDict) -> str:
    return query.get("q", "").strip()[:_LONGEST]


def _sort(query: QueryDict, known: frozenset[str], default: str) -> tuple[str, bool]:
    """`name` goes up, `-name` goes down."""
    text = query.get("sort", "")
    if text.removeprefix("-") not in known:
        text = default
    return text.removeprefix("-"), text.startswith("-")
