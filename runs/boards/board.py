"""A leaderboard: the rows ranked, with what cannot be told apart, and what is worth its money."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

import msgspec

from runs.boards.inputs import BoardInputs, BoardSettings, BoardView, Column, Order
from runs.boards.rows import Figure, Origin, Row, Unranked, domain_labels, unranked
from runs.costs import Placed, Point, Step, frontier, steps
from runs.metrics import METRIC_VERSION, Contender, ErrorRule, Measure, rank

__all__ = ["Board", "Change", "Section", "changes_between", "make_board"]

_MEASURES = {
    Order.PASS_AT_1: Measure.PASS_AT_1,
    Order.ALL_K: Measure.ALL_K,
    Order.SOLVED: Measure.SOLVED,
}
_KINDS = (("proprietary", "Proprietary"), ("open", "Open weights"), ("", "Weights not said"))


class Section(msgspec.Struct, frozen=True):
    """Rows that are ranked among themselves, best first."""

    title: str
    """Empty where the board has one section only."""
    rows: tuple[Row, ...]


class Board(msgspec.Struct, frozen=True, kw_only=True):
    k: int
    tasks: int
    """The most that a row has."""
    domains: tuple[str, ...]
    benchmarks: tuple[str, ...]
    order: Order
    error_rule: ErrorRule
    columns: tuple[Column, ...]
    price_list: str
    currency: str
    """Of the amounts that are set against each other; empty where nothing is priced."""
    sections: tuple[Section, ...]
    by_success: dict[str, Placed]
    """Row → how it stands in cost per success against pass@1; not in it: not placed."""
    by_dependable: dict[str, Placed]
    """Row → cost per dependable task against tasks that passed all k."""
    next_task: dict[str, Step]
    """Row → what one more dependable task costs against the next cheaper one."""
    level: dict[str, dict[str, tuple[str, ...]]] = {}
    """Order (but by cost) → each row with its highest value → the rows behind that cannot be told from it (95%). Empty
    in a board that was frozen before this was kept."""
    metric_version: int = METRIC_VERSION

    @property
    def rows(self) -> tuple[Row, ...]:
        return tuple(row for section in self.sections for row in section.rows)

    @property
    def columns_with_costs(self) -> bool:
        return bool({Column.COST_PER_SUCCESS, Column.COST_PER_DEPENDABLE, Column.CAMPAIGN} & set(self.columns))

    @property
    def mixes_tasks(self) -> bool:
        """Whether rows are of different tasks, so that their figures are not of the same thing."""
        return len({row.tasks for row in self.rows}) > 1 or len(self.benchmarks) > 1

    @property
    def measured(self) -> int:
        return sum(row.origin is Origin.MEASURED for row in self.rows)

    @property
    def published(self) -> int:
        return sum(row.origin is Origin.PUBLISHED for row in self.rows)


def make_board(inputs: BoardInputs, view: BoardView | None = None) -> Board:
    """Ranks the rows. The same inputs give the same board."""
    settings, seen = inputs.settings, view or BoardView()
    order = seen.order or settings.order
    rule = seen.error_rule or settings.error_rule
    k = settings.k or _most_asked(inputs)
    rows = unranked(inputs, k, rule, with_published=seen.with_published)
    if seen.weights:
        rows = [each for each in rows if each.row.weights == seen.weights]
    parts = _parts(rows, settings)
    currency = _currency(rows)
    shown = [each.row for each in rows]
    return Board(
        k=k,
        tasks=max((row.tasks for row in shown), default=0),
        domains=tuple(domain_labels(inputs)),
        benchmarks=tuple(sorted({row.benchmark for row in shown if row.benchmark})),
        order=order,
        error_rule=rule,
        columns=settings.columns,
        price_list=settings.price_list,
        currency=currency,
        sections=tuple(Section(title, tuple(_ranked(part, order, mark=settings.by_weights))) for title, part in parts),
        by_success=_placed([_by_success(row, currency) for row in shown]),
        by_dependable=_placed([_by_dependable(row, currency) for row in shown]),
        next_task={step.name: step for step in steps([_by_campaign(row, currency) for row in shown])},
        level={by.value: _level(rows, measure) for by, measure in _MEASURES.items()},
    )


def _most_asked(inputs: BoardInputs) -> int:
    asked = [run.k for run in inputs.runs]
    if inputs.published is not None:
        asked.append(inputs.published.repetitions.value)
    return max([1, *asked])


def _parts(rows: Sequence[Unranked], settings: BoardSettings) -> list[tuple[str, list[Unranked]]]:
    if not settings.by_weights:
        return [("", list(rows))]
    parts = [(title, [each for each in rows if each.row.weights == value]) for value, title in _KINDS]
    return [(title, part) for title, part in parts if part]


def _ranked(rows: Sequence[Unranked], order: Order, *, mark: bool) -> list[Row]:
    by_name = {each.row.name: each.row for each in rows}
    ranked = _by_cost(rows) if order is Order.COST else _by_measure(rows, _MEASURES[order], by_name)
    if not mark:
        return ranked
    places = iter(("leader", "runner-up"))
    return [msgspec.structs.replace(row, place=next(places, "")) if row.position is not None else row for row in ranked]


def _by_measure(rows: Sequence[Unranked], measure: Measure, by_name: dict[str, Row]) -> list[Row]:
    contenders: list[Contender] = [each.contenders[measure] for each in rows]
    ranked = rank(contenders)
    groups = [result.group for result in ranked]
    made = []
    for at, result in enumerate(ranked):
        in_group = result.group is not None
        made.append(
            msgspec.structs.replace(
                by_name[result.name],
                position=result.position,
                best=result.best,
                worst=result.worst,
                group=result.group,
                first_of_group=in_group and (at == 0 or groups[at - 1] != result.group),
                last_of_group=in_group and (at + 1 == len(groups) or groups[at + 1] != result.group),
            )
        )
    return made


def _level(rows: Sequence[Unranked], measure: Measure) -> dict[str, tuple[str, ...]]:
    """Over all rows, however they are ordered and grouped."""
    ranked = [result for result in rank([each.contenders[measure] for each in rows]) if result.position is not None]
    return {
        first.name: tuple(row.name for row in ranked if row.position != 1 and row.name not in first.worse)
        for first in ranked
        if first.position == 1
    }


def _by_cost(rows: Sequence[Unranked]) -> list[Row]:
    """The lowest first. No interval of a cost is made, so nothing is said about ranges and ties but equal amounts."""
    currency = _currency(rows)
    amounts = {each.row.name: _amount(each.row, currency) for each in rows}
    known = sorted(
        (each.row for each in rows if amounts[each.row.name] is not None),
        key=lambda row: (amounts[row.name] or Decimal(0), row.name),
    )
    unknown = sorted((each.row for each in rows if amounts[each.row.name] is None), key=lambda row: row.name)
    values = [amounts[row.name] for row in known]
    return [msgspec.structs.replace(row, position=1 + values.index(amounts[row.name])) for row in known] + unknown


def _amount(row: Row, currency: str) -> Decimal | None:
    return row.money.per_dependable if row.money.currency == currency else None


def _currency(rows: Sequence[Unranked]) -> str:
    """The one that most rows are priced in: amounts of different currencies are not set against each other."""
    used = [each.row.money.currency for each in rows if each.row.money.currency]
    return max(sorted(set(used)), key=used.count, default="")


def _placed(points: Sequence[Point]) -> dict[str, Placed]:
    return {placed.name: placed for placed in frontier(points) if placed.placed}


def _by_success(row: Row, currency: str) -> Point:
    rate = row.pass_at_1
    worth = Decimal(rate.count) / Decimal(rate.of) if rate.count is not None and rate.of else None
    return Point(name=row.name, cost=row.money.per_success if row.money.currency == currency else None, worth=worth)


def _by_dependable(row: Row, currency: str) -> Point:
    return Point(name=row.name, cost=_amount(row, currency), worth=_dependable(row))


def _by_campaign(row: Row, currency: str) -> Point:
    cost = row.money.campaign if row.money.currency == currency and not row.money.lower_bound else None
    return Point(name=row.name, cost=cost, worth=_dependable(row))


def _dependable(row: Row) -> Decimal | None:
    return None if row.all_k.count is None else Decimal(row.all_k.count)


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """A figure that is another one now. None: not there."""

    name: str
    figure: str
    then: str | None
    now: str | None


_COMPARED = ("pass@1", "at least once", "all k", "campaign cost", "rank")


def changes_between(then: Board, now: Board) -> list[Change]:
    """What is different, in the order of `then`; rows that are only in one of the two are named."""
    before = {row.name: row for row in then.rows}
    after = {row.name: row for row in now.rows}
    changes: list[Change] = []
    for name, row in before.items():
        other = after.get(name)
        if other is None:
            changes.append(Change(name=name, figure="row", then="on the board", now=None))
            continue
        pairs = zip(_COMPARED, _values(row), _values(other), strict=True)
        changes += [Change(name=name, figure=figure, then=a, now=b) for figure, a, b in pairs if a != b]
        changes += _doubts(row, other)
    changes += [Change(name=name, figure="row", then=None, now="on the board") for name in after if name not in before]
    return changes


def _doubts(then: Row, now: Row) -> list[Change]:
    """Intervals that are other ones although the count is the same: the rule changed, or what it is compared over."""
    figures = (("pass@1", then.pass_at_1, now.pass_at_1), ("at least once", then.solved, now.solved))
    changes = []
    for name, a, b in (*figures, ("all k", then.all_k, now.all_k)):
        before, after = _ends(a), _ends(b)
        if (a.count, a.of) == (b.count, b.of) and before != after:
            changes.append(Change(name=then.name, figure=f"95% interval of {name}", then=before, now=after))
    return changes


def _ends(figure: Figure) -> str | None:
    interval = figure.interval
    return None if interval is None else f"{interval.low:.1%} to {interval.high:.1%}"


def _values(row: Row) -> tuple[str | None, ...]:
    campaign = row.money.campaign
    return (
        *(None if f.count is None else f"{f.count:,} of {f.of:,}" for f in (row.pass_at_1, row.solved, row.all_k)),
        None if campaign is None else f"{campaign.normalize():f} {row.money.currency}",
        None if row.position is None else f"{row.position} ({row.best}–{row.worst})" if row.best else str(row.position),
    )
