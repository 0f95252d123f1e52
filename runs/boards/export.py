"""A leaderboard as rows for CSV and as a document for JSON: the same values, unrounded."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import msgspec

from runs.boards.board import Board
from runs.boards.inputs import Column
from runs.boards.method import ordered_by, settings_summary
from runs.boards.rows import Figure, Row
from runs.metrics import ErrorRule
from runs.published import NOT_MEASURED_HERE

__all__ = ["as_csv", "as_document", "as_json"]

_COST_COLUMNS = {
    Column.CAMPAIGN: ("cost_campaign", "cost_per_run"),
    Column.COST_PER_SUCCESS: ("cost_per_success",),
    Column.COST_PER_DEPENDABLE: ("cost_per_dependable_task",),
}
_CELL_OF = {
    "errors": Column.ERRORS,
    "solved_at_least_once": Column.SOLVED,
    "observed_all_k": Column.ALL_K,
    "retention": Column.RETENTION,
    "pass_hat_k_plug_in": Column.ALL_K,
    "by_domain": Column.DOMAINS,
}
"""Cells that are not there where the column is hidden."""
_ALWAYS = ("currency", "cost_is", "price_list", "cost_is_lower_bound")
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def as_document(board: Board, *, title: str, text: str, frozen_at: str | None) -> dict[str, Any]:
    """What the board shows; what is not known is null, and amounts are decimal texts."""
    return {
        "title": title,
        "text": text,
        "benchmarks": list(board.benchmarks),
        "k": board.k,
        "tasks": board.tasks,
        "ranked_by": ordered_by(board),
        "system_errors": board.error_rule.value,
        "price_list": board.price_list or None,
        "metric_version": board.metric_version,
        "frozen_at": frozen_at,
        "method": [{"about": heading, "text": sentences} for heading, sentences in settings_summary(board)],
        "rows": [_cells(board, row) for row in board.rows],
    }


def as_json(board: Board, *, title: str, text: str, frozen_at: str | None) -> bytes:
    document = as_document(board, title=title, text=text, frozen_at=frozen_at)
    return msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n"


def as_csv(board: Board) -> str:
    """One line a row. A text that a spreadsheet would run as a formula has an apostrophe before it."""
    lines = [_flat(_cells(board, row)) for row in board.rows]
    out = io.StringIO()
    writer = csv.DictWriter(out, list(dict.fromkeys(name for line in lines for name in line)), lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    return out.getvalue()


def _cells(board: Board, row: Row) -> dict[str, Any]:
    cells: dict[str, Any] = {
        "rank": row.position,
        "rank_best": row.best,
        "rank_worst": row.worst,
        "tie_group": row.group,
        "model": row.model,
        "origin": NOT_MEASURED_HERE if row.is_published else "measured here",
        "weights": row.weights or None,
        "provider": row.provider or None,
        "benchmark": row.benchmark or None,
        "k": row.k,
        "tasks": row.tasks,
        "attempts": row.attempts,
        "errors": row.errors,
        "incomplete_tasks": row.incomplete,
        "pass_at_1": _figure(board, row.pass_at_1),
        "solved_at_least_once": _figure(board, row.solved),
        "observed_all_k": _figure(board, row.all_k),
        "retention": row.retention,
        "pass_hat_k_plug_in": row.plug_in,
        "by_domain": {name: row.domains.get(name) for name in board.domains},
    }
    hidden = {name for name, column in _CELL_OF.items() if column not in board.columns}
    if Column.ERRORS not in board.columns and board.error_rule is ErrorRule.LEFT_OUT:
        # Of how many attempts pass@1 is would tell the hidden number of errors; so would all digits of what follows.
        cells["pass_at_1"] |= {"count": None, "of": None, "share": _rounded(row.pass_at_1.value, 3)}
        cells["retention"] = _rounded(row.retention, 2)
        cells["by_domain"] = {name: _rounded(row.domains.get(name), 3) for name in board.domains}
    cells = {name: value for name, value in cells.items() if name not in hidden} | _costs(board, row)
    if row.sources:
        cells["sources"] = row.sources
    return cells


def _rounded(share: float | None, places: int) -> float | None:
    """As the page prints it."""
    return None if share is None else round(share, places)


def _costs(board: Board, row: Row) -> dict[str, Any]:
    """Only the costs that the board shows, so that a file tells nothing more than its page."""
    if not board.columns_with_costs:
        return {}
    money = row.money
    amounts = {
        "cost_campaign": money.campaign,
        "cost_per_run": money.per_run,
        "cost_per_success": money.per_success,
        "cost_per_dependable_task": money.per_dependable,
    }
    shown = [name for column, names in _COST_COLUMNS.items() if column in board.columns for name in names]
    said = (money.currency or None, money.source.value, money.price_list or None, money.lower_bound)
    return dict(zip(_ALWAYS, said, strict=True)) | {name: _amount(amounts[name]) for name in shown}


def _amount(amount: Decimal | None) -> str | None:
    return None if amount is None else f"{amount:f}"


def _figure(board: Board, figure: Figure) -> dict[str, Any]:
    interval = figure.interval
    cells = {
        "count": figure.count,
        "of": figure.of,
        "share": figure.value,
        "low": None if interval is None else interval.low,
        "high": None if interval is None else interval.high,
        "interval": None if interval is None else interval.method.value,
        "least": None if figure.bounds is None else figure.bounds[0],
        "most": None if figure.bounds is None else figure.bounds[1],
    }
    hidden = set() if Column.INTERVAL in board.columns else {"low", "high", "interval"}
    return {name: value for name, value in cells.items() if name not in hidden}


def _flat(cells: Mapping[str, Any]) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in cells.items():
        if isinstance(value, dict):
            flat |= {f"{name}.{inner}": _safe(each) for inner, each in value.items() if name != "sources"}
        else:
            flat[name] = _safe(value)
    return flat


def _safe(value: Any) -> Any:
    """None is an empty cell."""
    if isinstance(value, str) and value.startswith(_FORMULA):
        return f"'{value}"
    return value
