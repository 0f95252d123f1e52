"""What a model's work costs, in exact decimal amounts. An unknown price is None, never 0.

Start with `run_cost(tasks, price, …)` or `stated_cost(total, …)`, and `frontier(points)`.
"""

from __future__ import annotations

from runs.costs.campaign import (
    NO_DEPENDABLE_TASK,
    NO_SUCCESS,
    CostSource,
    RunCost,
    StatedCost,
    TaskUsage,
    run_cost,
    stated_cost,
    task_costs,
)
from runs.costs.frontier import Placed, Point, Step, frontier, steps
from runs.costs.prices import FoundPrice, Price, PriceList, attempt_cost, find_price, same_model
from runs.costs.tokens import Tokens, UsageStyle, detect_style, read_usage, style_of_keys

__all__ = [
    "NO_DEPENDABLE_TASK", "NO_SUCCESS", "CostSource", "FoundPrice", "Placed", "Point", "Price", "PriceList", "RunCost",
    "StatedCost", "Step", "TaskUsage", "Tokens", "UsageStyle", "attempt_cost", "detect_style", "find_price", "frontier",
    "read_usage", "run_cost", "same_model", "stated_cost", "steps", "style_of_keys",
    "task_costs",
]  # fmt: skip
