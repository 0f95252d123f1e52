"""What a run costs: per attempt, per task list, per success, per dependable task."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from enum import StrEnum

import msgspec

from runs.costs.prices import Price, attempt_cost
from runs.costs.tokens import Tokens, UsageStyle, detect_style
from runs.wording import counted

__all__ = ["CostSource", "RunCost", "StatedCost", "TaskUsage", "run_cost", "stated_cost", "task_costs"]

NO_SUCCESS = "no success"
NO_DEPENDABLE_TASK = "no dependable task"


class CostSource(StrEnum):
    PRICED = "priced"
    """Tokens times a price list."""
    STATED = "stated"
    """A total that somebody said."""
    UNKNOWN = "unknown"


class TaskUsage(msgspec.Struct, frozen=True, kw_only=True):
    """The tokens of a task's recorded attempts: `tokens` is the sum over those `with_usage`."""

    uid: str
    attempts: int
    with_usage: int
    tokens: Tokens


class StatedCost(msgspec.Struct, frozen=True, kw_only=True):
    """The cost of all recorded attempts of a run, as somebody stated it."""

    total: Decimal
    currency: str = "USD"
    source: str = ""


class RunCost(msgspec.Struct, frozen=True, kw_only=True):
    """Amounts in `currency`, unrounded. None is unknown or not defined, never 0; `reasons` says why."""

    source: CostSource
    currency: str | None
    price_list: str | None
    """The name of the price list; None where it is not priced by one."""
    style: UsageStyle | None
    attempts: int
    """Recorded attempts."""
    with_usage: int
    """Attempts whose tokens are known; a stated cost covers all."""
    campaign: Decimal | None
    """All recorded attempts. With attempts whose tokens are unknown it is a lower bound, as is what follows from it."""
    per_attempt: Decimal | None
    per_run: Decimal | None
    """All tasks once: the mean cost of an attempt of each task, added up."""
    per_success: Decimal | None
    per_dependable_task: Decimal | None
    reasons: dict[str, str]
    """Figure → why it is None, in words that can stand in its place."""
    notes: list[str]

    @property
    def lower_bound(self) -> bool:
        return self.campaign is not None and self.with_usage < self.attempts


_FIGURES = ("campaign", "per_attempt", "per_run", "per_success", "per_dependable_task")


def run_cost(
    tasks: Sequence[TaskUsage],
    price: Price | None,
    *,
    successes: int,
    dependable: int,
    price_list: str = "",
    style: UsageStyle | None = None,
    reason: str = "No price is known for this model.",
) -> RunCost:
    """The cost of a run by a price. `successes` and `dependable` are of the same run.

    `style` says how cached tokens are counted, where that is known; else it is detected from the sums by task.
    `reason` is what to say where there is no price.
    """
    attempts = sum(task.attempts for task in tasks)
    known = [task for task in tasks if task.with_usage]
    with_usage = sum(task.with_usage for task in known)
    read = style or (detect_style(task.tokens for task in known) if known else None)
    if price is None or not known:
        why = reason if price is None else "No attempt has its tokens recorded."
        return _unknown(attempts, with_usage, read, why)
    priced = _priced(known, price, read)
    if len(priced) < len(known):
        lacking = " and ".join(name for name in ("input", "output") if getattr(price, name) is None)
        return _unknown(attempts, with_usage, read, f"The price list has no {lacking} price of {price.model}.")
    campaign = sum((cost for _, cost in priced), Decimal(0))
    per_run = sum((cost / task.with_usage for task, cost in priced), Decimal(0))
    return _figures(
        source=CostSource.PRICED,
        currency=price.currency,
        price_list=price_list or None,
        style=read,
        attempts=attempts,
        with_usage=with_usage,
        campaign=campaign,
        per_attempt=campaign / with_usage,
        per_run=per_run,
        successes=successes,
        dependable=dependable,
        notes=_notes(known, price, attempts - with_usage, len(tasks) - len(known)),
    )


def task_costs(
    tasks: Sequence[TaskUsage], price: Price | None, *, style: UsageStyle | None = None
) -> dict[str, Decimal]:
    """Task (uid) → the mean cost of one of its attempts whose tokens are known, in the price's currency.

    Without tasks of which no tokens are known; empty where a price that is needed is not. `style` as for `run_cost`,
    whose `per_run` is the sum of these.
    """
    known = [task for task in tasks if task.with_usage]
    if price is None or not known:
        return {}
    read = style or detect_style(task.tokens for task in known)
    priced = _priced(known, price, read)
    return {task.uid: cost / task.with_usage for task, cost in priced} if len(priced) == len(known) else {}


def _priced(known: Sequence[TaskUsage], price: Price, style: UsageStyle | None) -> list[tuple[TaskUsage, Decimal]]:
    """Each task with what its tokens cost, left out where a price that is needed is not known."""
    costs = ((task, attempt_cost(task.tokens, price, style)) for task in known)
    return [(task, cost) for task, cost in costs if cost is not None]


def stated_cost(stated: StatedCost, *, tasks: int, attempts: int, successes: int, dependable: int) -> RunCost:
    """The cost of a run from a stated total: nothing but quotients, for a run of `tasks` with `attempts` recorded."""
    known = tasks > 0 and attempts > 0
    note = "The total cost is stated, not computed from tokens."
    return _figures(
        source=CostSource.STATED,
        currency=stated.currency,
        price_list=None,
        style=None,
        attempts=attempts,
        with_usage=attempts,
        campaign=stated.total,
        per_attempt=stated.total / attempts if known else None,
        per_run=stated.total * tasks / attempts if known else None,
        successes=successes,
        dependable=dependable,
        notes=[f"{note} Source: {stated.source}." if stated.source else note],
    )


def _figures(
    *,
    source: CostSource,
    currency: str,
    price_list: str | None,
    style: UsageStyle | None,
    attempts: int,
    with_usage: int,
    campaign: Decimal,
    per_attempt: Decimal | None,
    per_run: Decimal | None,
    successes: int,
    dependable: int,
    notes: list[str],
) -> RunCost:
    reasons: dict[str, str] = {}
    if per_attempt is None:
        reasons |= {"per_attempt": "no attempt", "per_run": "no attempt"}
    if not successes:
        reasons["per_success"] = NO_SUCCESS
    if not dependable:
        reasons["per_dependable_task"] = NO_DEPENDABLE_TASK
    return RunCost(
        source=source,
        currency=currency,
        price_list=price_list,
        style=style,
        attempts=attempts,
        with_usage=with_usage,
        campaign=campaign,
        per_attempt=per_attempt,
        per_run=per_run,
        per_success=campaign / successes if successes else None,
        per_dependable_task=campaign / dependable if dependable else None,
        reasons=reasons,
        notes=notes,
    )


def _unknown(attempts: int, with_usage: int, style: UsageStyle | None, reason: str) -> RunCost:
    return RunCost(
        source=CostSource.UNKNOWN,
        currency=None,
        price_list=None,
        style=style,
        attempts=attempts,
        with_usage=with_usage,
        campaign=None,
        per_attempt=None,
        per_run=None,
        per_success=None,
        per_dependable_task=None,
        reasons=dict.fromkeys(_FIGURES, reason),
        notes=[],
    )


def _notes(known: Sequence[TaskUsage], price: Price, without_usage: int, tasks_without: int) -> list[str]:
    notes: list[str] = []
    if without_usage:
        notes.append(f"Without the tokens of {counted(without_usage, 'attempt')}: the cost is a lower bound.")
    if tasks_without:
        notes.append(f"All tasks once is without {counted(tasks_without, 'task')} of which no tokens are recorded.")
    for name, label in (("cached", "cached"), ("cache_write", "written to a cache")):
        if getattr(price, name) is None and any(getattr(task.tokens, name) for task in known):
            notes.append(f"No price of tokens {label} is listed: they are billed as input.")
    if price.quantised:
        notes.append("The price is for a quantised model.")
    return notes
