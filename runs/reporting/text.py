"""The same figures for a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from runs.metrics import ErrorRule
from runs.reporting.pair import DifferenceReport, PairReport
from runs.reporting.run import CostReport, CountShare, IntervalReport, RunReport
from runs.wording import counted

__all__ = ["pair_text", "report_text"]

_RULES = {
    ErrorRule.AS_FAILED: "system errors count as failed",
    ErrorRule.LEFT_OUT: "system errors are left out of pass@1",
}
_COSTS = (
    ("campaign", "all attempts"),
    ("per_run", "all tasks once"),
    ("per_success", "per success"),
    ("per_dependable_task", "per dependable task"),
)


def report_text(report: RunReport) -> Iterator[str]:
    """A run's lines. What is not computable is a dash, with the reason where there is one."""
    yield f"{report.run}: {_plain(report.model)} on {_plain(report.benchmark)}"
    yield (
        f"  {counted(report.tasks, 'task')}, k = {report.k}; {counted(report.attempts, 'attempt')} recorded, "
        f"{report.missing:,} missing, "
        f"{counted(report.errors, 'error')}"
    )
    yield f"  pass@1                {_percent(report.pass_at.get('1'))}  ({_RULES[report.error_rule]})"
    yield f"                        {_doubt(report.intervals['pass_at_1'])}"
    yield f"  solved at least once  {_share(report.solved_at_least_once)}"
    yield f"  all {report.k} of {report.k}".ljust(24) + _share(report.observed_all_k) + _incomplete(report)
    yield f"  retention             {_percent(report.retention)}"
    last = max((int(k) for k in report.pass_hat), default=0)
    if last > 1:
        over = counted(report.tasks_with[str(last)], "task")
        yield (
            f"  pass^{last}".ljust(24) + f"{_percent(report.pass_hat[str(last)])} as (c/n)^{last}, the harness's form; "
            f"{_percent(report.pass_hat_unbiased[str(last)])} unbiased; over {over}"
        )
    yield from _cost_lines(report.cost)
    yield from _domain_lines(report)


def pair_text(pair: PairReport) -> Iterator[str]:
    """Both runs, then the comparison."""
    yield from report_text(pair)
    yield ""
    yield from report_text(pair.candidate)
    found = pair.comparison
    yield ""
    yield f"{found.candidate} against {found.baseline}, on the {counted(found.tasks, 'task')} that both have"
    yield f"  pass@1                {_difference(found.pass_at_1)}"
    yield f"  solved at least once  {_difference(found.solved_at_least_once)}"
    yield f"  all k                 {_difference(found.observed_all_k)}"
    if found.not_computable:
        yield f"                        without {counted(found.not_computable, 'task')} that one run has incomplete"
    yield (
        f"  solved only by the candidate {found.won:,}, only by the baseline {found.lost:,}, by both {found.both:,}, "
        f"by neither {found.neither:,}"
    )
    yield f"  better {found.better:,}, worse {found.worse:,}, equal {found.equal:,}"
    yield f"  became dependable {len(found.became_dependable):,}, no longer {len(found.no_longer_dependable):,}"


def _cost_lines(cost: CostReport) -> Iterator[str]:
    if cost.campaign is None:
        yield f"  cost                  – ({_plain(cost.reasons['campaign'])})"
        return
    bound = "at least " if cost.lower_bound else ""
    for name, label in _COSTS:
        amount: Decimal | None = getattr(cost, name)
        told = f"– ({_plain(cost.reasons[name])})" if amount is None else f"{bound}{_money(amount)} {cost.currency}"
        yield f"  cost, {label}".ljust(30) + told
    yield f"  priced by {_plain(cost.list)}" if cost.list else "  the total is stated"
    for note in cost.notes:
        yield f"  {_plain(note)}"


def _domain_lines(report: RunReport) -> Iterator[str]:
    """A table of the domains: names to the left, shares to the right; nothing where no task has one."""
    if not report.by_domain:
        return
    rows = [("by domain", "tasks", "pass@1", "at least once", f"all {report.k} of {report.k}")]
    for domain in report.by_domain:
        shares = (_share(domain.solved_at_least_once), _share(domain.observed_all_k))
        name = _plain(domain.domain) or "no domain"
        rows.append((name, f"{domain.tasks:,}", _percent(domain.pass_at_1), *shares))
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    for first, *cells in rows:
        right = "".join(f"   {cell:>{width}}" for cell, width in zip(cells, widths[1:], strict=True))
        yield f"  {first:<{widths[0]}}{right}"


def _money(amount: Decimal) -> str:
    """Cents, or three significant digits where that is less than a dollar."""
    if amount >= 1 or not amount:
        return f"{amount:,.2f}"
    return f"{amount:.{2 - amount.adjusted()}f}"


def _percent(value: float | None) -> str:
    """`67.2%`, as on the pages. Rounding never makes a share look like none or all."""
    if value is None:
        return "–"
    if 0 < value < 0.0005:
        return "<0.1%"
    if 0.9995 <= value < 1:
        return ">99.9%"
    return f"{value:.1%}"


def _share(share: CountShare) -> str:
    return f"{share.count:,} of {share.of:,} ({_percent(share.share)})"


def _incomplete(report: RunReport) -> str:
    if not report.incomplete_tasks:
        return ""
    return f"; {counted(report.incomplete_tasks, 'task')} incomplete"


def _doubt(interval: IntervalReport) -> str:
    ends, name = interval.task_bootstrap, "task bootstrap"
    if ends is None:
        ends, name = interval.jeffreys, "Jeffreys, pooled attempts"
    return "no interval" if ends is None else f"{_percent(ends[0])} to {_percent(ends[1])} ({name}, 95%)"


def _difference(found: DifferenceReport | None) -> str:
    if found is None:
        return "–"
    points = f"{_signed(found.difference)} points"
    if found.interval is None:
        return points
    low, high = (_signed(end) for end in found.interval)
    told = "told apart" if found.significant else "not told apart"
    return f"{points}, {low} to {high} (paired task bootstrap, 95%: {told})"


def _signed(difference: float) -> str:
    """A difference of shares in points: `+1.2`, `−0.4`, and `0.0` without a sign."""
    text = f"{difference * 100:+.1f}"
    return "0.0" if text in {"+0.0", "-0.0"} else text.replace("-", "−")


def _plain(text: str | None) -> str:
    """A name for a terminal: characters that are not printed are shown by their number."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text or "")
