"""What a run is worth: its shares with their uncertainty, and what they cost. By the run's tallies, kept in memory."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal

import msgspec

from runs.boards.figures import RunFigures
from runs.boards.gather import figures_by_run, with_pricing
from runs.costs import CostSource, RunCost
from runs.metrics import CurvePoint, ErrorRule, GroupMetrics
from runs.models import Run

__all__ = ["RunWorth", "worth_by_run", "worth_of", "worth_with_tasks"]


class RunWorth(msgspec.Struct, frozen=True, kw_only=True):
    figures: GroupMetrics
    """Of the whole run."""
    cost: RunCost
    price_list: tuple[str, int] | None
    """Address and version of the list that the run is priced by, whether or not it has a price."""
    entry: str
    """The entry it is priced by, where that is not its own name."""

    @property
    def is_chosen(self) -> bool:
        """Whether somebody said how the run is priced."""
        return self.price_list is not None or self.cost.source is CostSource.STATED

    @property
    def at_k(self) -> CurvePoint | None:
        """pass@k and pass^k both ways at the run's k; None where no task has so many attempts."""
        return next((point for point in self.figures.curve if point.k == self.figures.k), None)


def worth_by_run(runs: Iterable[int], rule: ErrorRule = ErrorRule.AS_FAILED) -> dict[int, RunWorth]:
    """Run (id) → its worth. One query for runs that have not changed since the last time, else three."""
    return {pk: worth for pk, (worth, _) in _worth(runs, rule).items()}


def _worth(runs: Iterable[int], rule: ErrorRule) -> dict[int, tuple[RunWorth, dict[str, Decimal]]]:
    stored = list(with_pricing(Run.objects.filter(pk__in=list(runs))).order_by("pk"))
    figures = figures_by_run(stored, rule)
    return {run.pk: (_worth_of(run, figures[run.pk]), figures[run.pk].task_costs) for run in stored}


def _worth_of(run: Run, figures: RunFigures) -> RunWorth:
    return RunWorth(
        figures=figures.overall,
        cost=figures.cost,
        price_list=_list_of(run),
        entry=run.pricing.model if hasattr(run, "pricing") else "",
    )


def _list_of(run: Run) -> tuple[str, int] | None:
    used = run.pricing.price_list if hasattr(run, "pricing") else None
    return None if used is None else (used.slug, used.version)


def worth_of(run: int, rule: ErrorRule = ErrorRule.AS_FAILED) -> RunWorth | None:
    """None for a run that is gone."""
    return worth_by_run([run], rule).get(run)


def worth_with_tasks(run: int, rule: ErrorRule = ErrorRule.AS_FAILED) -> tuple[RunWorth, dict[str, Decimal]] | None:
    """A run's worth, and task (uid) → the mean cost of one of its attempts, without those of which it is not known.

    None for a run that is gone.
    """
    return _worth([run], rule).get(run)
