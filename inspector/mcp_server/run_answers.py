"""What the tools about runs answer, and how it reads."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from inspector.mcp_server.budget import Listed, Part
from inspector.mcp_server.quoting import QUOTED, counted, money, percent, quote

__all__ = [
    "ComparedTask",
    "CostLines",
    "Difference",
    "DomainLine",
    "Figures",
    "RunComparison",
    "RunLine",
    "RunReport",
    "RunsAnswer",
    "TaskLine",
]


class Figures(Part):
    """passed + failed + errors + missing = expected attempts; shares are from 0 to 1, null where not computable."""

    k: int = Field(description="Attempts at each task that the benchmark asks for.")
    tasks: int
    passed: int
    failed: int
    errors: int = Field(description="Attempts in which the harness or the grader broke, or that were not graded.")
    missing: int = Field(description="Attempts that nobody recorded.")
    pass_at_1: float | None = Field(description="passed / recorded attempts.")
    solved: int = Field(description="Tasks with at least one passed attempt.")
    all_k: int = Field(description="Tasks that passed all k attempts, of the complete tasks.")
    incomplete: int = Field(description="Tasks with fewer than k attempts, for which all k is not computable.")

    def told(self) -> str:
        recorded = self.passed + self.failed + self.errors
        rest = "".join(
            f", {counted(count, noun)}"
            for count, noun in ((self.errors, "error"), (self.missing, "missing attempt"))
            if count
        )
        incomplete = f" ({self.incomplete} incomplete)" if self.incomplete else ""
        return (
            f"pass@1 {percent(self.pass_at_1)} ({self.passed:,} of {recorded:,}, {self.failed:,} failed{rest}); "
            f"{self.solved:,} of {counted(self.tasks, 'task')} solved at least once, {self.all_k:,} all {self.k}"
            f"{incomplete}"
        )


class RunLine(Part):
    slug: str = Field(description="How tools call this run.")
    model: str
    benchmark: str
    created: str
    figures: Figures


class RunsAnswer(Listed):
    LISTS: ClassVar[dict[str, str]] = {"runs": "list_runs(offset={next}) goes on."}
    runs: list[RunLine]

    def lines(self) -> list[str]:
        rows = [f"{r.slug}: {quote(r.model)} on {quote(r.benchmark)}: {r.figures.told()}" for r in self.runs]
        return [self.window("runs"), *rows, QUOTED]


class DomainLine(Part):
    domain: str
    figures: Figures


class TaskLine(Part):
    task: str = Field(description="The task's uid, for find_attempts(task=…).")
    domain: str
    kind: str = Field(description="never, sometimes or always passed, or incomplete.")
    verdicts: str = Field(description="One letter a repetition: p passed, f failed, e error, n not graded, . missing.")


class CostLines(Part):
    currency: str
    campaign: str | None = Field(description="All recorded attempts; null: not known.")
    per_success: str | None
    per_dependable_task: str | None = Field(description="Of tasks that passed all k.")
    lower_bound: bool = Field(description="Some attempts have no tokens recorded, so the cost is at least this.")
    why_not: list[str] = Field(description="Why amounts are null.")


class RunReport(Listed):
    LISTS: ClassVar[dict[str, str]] = {
        "domains": "run_report(run, domain=…) gives one.",
        "tasks": "run_report(run, offset={next}) goes on.",
    }
    run: str
    model: str
    benchmark: str
    figures: Figures
    interval: tuple[float, float] | None = Field(description="95% interval of pass@1, resampling tasks.")
    retention: float | None = Field(description="all-k share / pass@1.")
    cost: CostLines
    domains: list[DomainLine]
    tasks: list[TaskLine] = Field(description="Tasks, those that failed most often first.")

    def lines(self) -> list[str]:
        interval = (
            ""
            if self.interval is None
            else f"; 95% interval {percent(self.interval[0])} to {percent(self.interval[1])}"
        )
        cost = self.cost
        amount = money(cost.campaign, cost.currency)
        if cost.campaign is not None:
            bound = "at least " if cost.lower_bound else ""
            amount = f"{bound}{amount}, {money(cost.per_success, cost.currency)} a success"
        elif cost.why_not:
            amount += f" ({cost.why_not[0]})"
        return [
            f"{self.run}: {quote(self.model)} on {quote(self.benchmark)}",
            f"{self.figures.told()}{interval}; retention {percent(self.retention)}; cost {amount}",
            *(f"domain {quote(d.domain) if d.domain else 'not named'}: {d.figures.told()}" for d in self.domains),
            self.window("tasks, most failures first,"),
            *(f"{quote(t.task)} {t.kind} {t.verdicts}" for t in self.tasks),
            QUOTED,
        ]


class Difference(Part):
    name: str
    points: float = Field(description="Candidate minus baseline, in percentage points.")
    interval: tuple[float, float] | None = Field(description="95%, in percentage points.")
    significant: bool | None

    def told(self) -> str:
        if self.interval is None:
            return f"{self.name} {self.points:+.1f} points"
        word = "told apart" if self.significant else "not told apart"
        return f"{self.name} {self.points:+.1f} points ({self.interval[0]:+.1f} to {self.interval[1]:+.1f}: {word})"


class ComparedTask(Part):
    task: str
    domain: str
    change: str = Field(description="won, lost, became dependable, no longer dependable, more often, less often …")
    base: str = Field(description="The baseline's verdicts, one letter a repetition.")
    candidate: str
    difference: str = Field(description="The candidate's most frequent difference from the required state.")


class RunComparison(Listed):
    LISTS: ClassVar[dict[str, str]] = {"tasks": "compare_runs(base, candidate, offset={next}) goes on."}
    base: str
    candidate: str
    same_benchmark: bool
    shared_tasks: int = Field(description="Tasks that both runs have; all figures are over these.")
    differences: list[Difference]
    counts: dict[str, int] = Field(description="Tasks by change; a value of `change`.")
    tasks: list[ComparedTask]

    def lines(self) -> list[str]:
        warning = [] if self.same_benchmark else ["These runs are of different benchmarks."]
        return [
            f"{self.candidate} against {self.base}, on the {self.shared_tasks:,} tasks that both have",
            *warning,
            *(one.told() for one in self.differences),
            ", ".join(f"{name} {count:,}" for name, count in self.counts.items()),
            self.window("tasks"),
            *(
                f"{quote(t.task)} {t.change}: {t.base} → {t.candidate}" + (f"; {t.difference}" if t.difference else "")
                for t in self.tasks
            ),
            QUOTED,
        ]
