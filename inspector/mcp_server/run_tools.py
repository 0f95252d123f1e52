"""Tools about runs: list, report, compare."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated

from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult
from pydantic import Field

from inspector.mcp_server import reading, run_answers
from inspector.mcp_server.budget import answer
from inspector.mcp_server.calling import Ctx, Offset, RunSlug, access_of, page_number, reads, window
from inspector.mcp_server.quoting import place_of, quote
from inspector.mcp_server.refusals import must_evaluate
from inspector.mcp_server.run_answers import RunComparison, RunReport, RunsAnswer
from runs.access import Access
from runs.costs import RunCost
from runs.metrics import Difference, ErrorRule
from runs.queries.compare_runs import TASKS_PER_PAGE as PAIRS_PER_PAGE
from runs.queries.compare_runs import Change, ComparedRuns, PairFilters, PairRow
from runs.queries.numbers import Numbers, TaskClass
from runs.queries.run_tasks import TaskFilters
from runs.queries.runs import RUNS_PER_PAGE, TASKS_PER_PAGE, RunFilters
from runs.queries.values import stored_value

__all__ = ["compare_runs", "list_runs", "run_report"]

_RUNS, _TASKS = 20, 15
Rule = Annotated[
    ErrorRule, Field(description="Whether system errors count as not passed in pass@1, or are left out of it.")
]
Domain = Annotated[str, Field(description="Only tasks of this domain; empty: all.")]


@reads
def list_runs(
    ctx: Ctx,
    search: Annotated[str, Field(description="Part of a model's or benchmark's name.")] = "",
    benchmark: Annotated[str, Field(description="Exact name of a benchmark.")] = "",
    offset: Offset = 0,
) -> Annotated[CallToolResult, RunsAnswer]:
    """Lists the stored runs, newest first, with slug, model, benchmark and scores.

    When to call: first; other tools take the slug. Next: run_failures(run) for why a run fails, run_report(run) for its
    figures, compare_runs(base, candidate) for two.
    """
    filters = RunFilters(benchmark=benchmark, text=search.strip(), page=page_number(offset, RUNS_PER_PAGE))
    access = access_of(ctx)
    found = reading.runs_read(access, filters)
    part = window(found.page, offset, RUNS_PER_PAGE, _RUNS)
    runs = [
        run_answers.RunLine(
            slug=row.slug,
            model=row.model,
            benchmark=row.benchmark,
            created=row.created_at.date().isoformat(),
            figures=_figures(row.numbers),
        )
        for row in part.of(found.rows)
    ]
    following = [_why(access, run.slug) for run in runs[:1]]
    if not found.stored:
        following = [
            "No run is stored yet. `uv run manage.py ingest FILE` reads a result file, `manage.py demo` an example."
        ]
    return answer(RunsAnswer(runs=runs, next=following, **part.fields))


def _why(access: Access, run: str) -> str:
    """What to call after the figures of a run."""
    if access.evaluates:
        return f"run_failures(run={run!r}) says why attempts failed."
    return f"find_attempts(run={run!r}) lists the attempts that failed."


@reads
def run_report(
    ctx: Ctx,
    run: RunSlug,
    domain: Domain = "",
    kind: Annotated[TaskClass | None, Field(description="Only tasks that passed never, sometimes or always.")] = None,
    errors: Rule = ErrorRule.AS_FAILED,
    offset: Offset = 0,
) -> Annotated[CallToolResult, RunReport]:
    """Figures of one run, by domain and by task: pass@1 with its interval, solved at least once, all k, cost.

    When to call: for numbers. For reasons call run_failures(run). metric_definition(name) says how a figure is made.
    """
    filters = TaskFilters(
        show=kind,
        domain=domain,
        sort="failed",
        descending=True,
        rule=errors,
        page=page_number(offset, TASKS_PER_PAGE),
    )
    access = access_of(ctx)
    page = reading.run_read(access, run, filters)
    part = window(page.page, offset, TASKS_PER_PAGE, _TASKS)
    interval = page.figures.pass_at_1_uncertainty.bootstrap
    domains = [
        run_answers.DomainLine(domain=row.name, figures=_figures(row.numbers))
        for row in page.domains
        if domain in {"", row.name}
    ]
    if domain and not domains:
        known = ", ".join(repr(row.name[:200]) for row in page.domains[:40])
        raise ToolError(f"Run {run!r} has no domain {domain[:200]!r}. It has: {known}.")
    figures = _figures(page.numbers).model_copy(update={"pass_at_1": page.figures.pass_at_1.value})
    report = RunReport(
        run=page.run.slug,
        model=page.run.model,
        benchmark=page.run.benchmark,
        figures=figures,
        interval=None if interval is None else (interval.low, interval.high),
        retention=page.figures.retention,
        cost=_cost(page.worth.cost),
        domains=domains,
        tasks=[
            run_answers.TaskLine(task=row.uid, domain=row.domain, kind=row.kind.value, verdicts=row.verdicts[:40])
            for row in part.of(page.tasks)
        ],
        next=[_why(access, run), f"find_attempts(run={run!r}, task=…, verdict='any') lists the attempts at a task."],
        **part.fields,
    )
    return answer(report)


@reads
def compare_runs(
    ctx: Ctx,
    base: Annotated[str, Field(description="Slug of the baseline.")],
    candidate: Annotated[str, Field(description="Slug of the run that is set against it.")],
    change: Annotated[Change | None, Field(description="Only tasks with this change; null: all.")] = None,
    domain: Domain = "",
    errors: Rule = ErrorRule.AS_FAILED,
    offset: Offset = 0,
) -> Annotated[CallToolResult, RunComparison]:
    """Compares two runs on the tasks that both have: what differs beyond chance, and which tasks were won or lost.

    When to call: after a change, to find regressions (change="lost" or "stopped"). Next: find_attempts(run, task) for
    the failures at one task, then first_divergence(attempt, other) with an attempt of each run.
    """
    access = access_of(ctx)
    if change is Change.SIGNATURE:
        must_evaluate(access, "compare_runs with change='signature'", "leave `change` out, or take another one.")
    if base == candidate:
        raise ToolError("base and candidate are the same run. Give two different slugs; list_runs() lists them.")
    filters = PairFilters(
        base=base,
        candidate=candidate,
        change=change,
        domain=domain,
        sort="gain",
        rule=errors,
        page=page_number(offset, PAIRS_PER_PAGE),
    )
    return answer(_comparison(access, reading.pair_read(access, filters), offset))


def _comparison(access: Access, found: ComparedRuns, offset: int) -> RunComparison:
    comparison = found.comparison
    if comparison is None or not comparison.tasks:
        raise ToolError("The two runs have no task in common, so nothing can be compared. run_report shows each alone.")
    part = window(found.page, offset, PAIRS_PER_PAGE, _TASKS)
    measured = (
        ("pass@1", comparison.pass_at_1), ("solved at least once", comparison.solved), ("all k", comparison.all_k)
    )  # fmt: skip
    base, candidate = found.filters.base, found.filters.candidate
    return RunComparison(
        base=base,
        candidate=candidate,
        same_benchmark=not found.other_benchmark,
        shared_tasks=len(comparison.tasks),
        differences=[_difference(name, value) for name, value in measured if value is not None],
        counts={
            choice.value: choice.count
            for choice in found.changes
            if choice.value and (access.evaluates or choice.value != Change.SIGNATURE.value)
        },
        tasks=[_compared(access, row) for row in part.of(found.rows)],
        next=[
            f"find_attempts(run={candidate!r}, task=…) lists the failures at a task.",
            "first_divergence(attempt, other) shows where two attempts part."
            if access.evaluates
            else "attempt_steps(attempt) shows what an attempt did.",
        ],
        **part.fields,
    )


def _compared(access: Access, row: PairRow) -> run_answers.ComparedTask:
    found = row.candidate.difference if access.evaluates else None
    told = (
        ""
        if found is None
        else f"{found.kind} {quote(place_of(found.table, found.field))}: is {_value(found.after)}, "
        f"required {_value(found.required)} ({found.attempts} of {row.candidate.failed} failed)"
    )
    return run_answers.ComparedTask(
        task=row.uid,
        domain=row.domain,
        change=row.word,
        base=row.base.verdicts[:40],
        candidate=row.candidate.verdicts[:40],
        difference=told,
    )


def _value(stored: str) -> str:
    return quote(stored_value(stored)) if stored else "not there"


def _difference(name: str, found: Difference) -> run_answers.Difference:
    known = found.low is not None and found.high is not None
    return run_answers.Difference(
        name=name,
        points=found.value * 100,
        interval=((found.low or 0.0) * 100, (found.high or 0.0) * 100) if known else None,
        significant=found.significant,
    )


def _figures(numbers: Numbers) -> run_answers.Figures:
    return run_answers.Figures(
        k=numbers.k,
        tasks=numbers.tasks,
        passed=numbers.passed,
        failed=numbers.failed,
        errors=numbers.errors,
        missing=numbers.missing,
        pass_at_1=numbers.pass_at_1,
        solved=numbers.solved,
        all_k=numbers.always,
        incomplete=numbers.incomplete,
    )


def _cost(cost: RunCost) -> run_answers.CostLines:
    return run_answers.CostLines(
        currency=cost.currency or "",
        campaign=_amount(cost.campaign),
        per_success=_amount(cost.per_success),
        per_dependable_task=_amount(cost.per_dependable_task),
        lower_bound=cost.lower_bound,
        why_not=list(dict.fromkeys(cost.reasons.values()))[:5],
    )


def _amount(amount: Decimal | None) -> str | None:
    """Six significant digits are more than a price list warrants; they are a reader's, not a ledger's."""
    return None if amount is None else f"{amount:.6g}"
