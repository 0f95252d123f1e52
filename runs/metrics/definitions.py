"""What each figure means: its formula, when it is not computable, and where it comes from. For programs and agents."""

from __future__ import annotations

import msgspec

__all__ = ["DEFINITIONS", "Definition", "definition_named"]


class Definition(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    """As the API and the report call it."""
    title: str
    """As pages call it."""
    formula: str
    meaning: str
    null_when: str = ""
    """When it is null, which is never 0."""
    source: str = ""


_PAPER = "arXiv:2608.19741v1"
_BLOG = "the benchmark's announcement of 3 October 2026"

DEFINITIONS: tuple[Definition, ...] = (
    Definition(
        name="pass_at_1",
        title="pass@1",
        formula="passed attempts / recorded attempts",
        meaning="Over all attempts together, not the mean of tasks or domains. Attempts that broke stay in the "
        "denominator, unless the error rule excludes them; attempts that are not recorded are in neither.",
        null_when="no attempt is recorded",
        source=f"{_PAPER}, eq. 5",
    ),
    Definition(
        name="pass_at_1_without_errors",
        title="pass@1 without errors",
        formula="passed / (passed + failed)",
        meaning="The same with attempts that broke left out.",
        null_when="no attempt was graded",
    ),
    Definition(
        name="breadth",
        title="solved at least once",
        formula="tasks with a passed attempt / tasks of the run",
        meaning="What a model can do at all. With k of k recorded it equals pass@k at k; in an incomplete run it is a "
        "lower bound. Also called solved_at_least_once.",
        null_when="the run has no task",
        source=f"{_PAPER}, eq. 6",
    ),
    Definition(
        name="consistency",
        title="all k of k",
        formula="tasks whose k attempts all passed / tasks of the run",
        meaning="A literal count, never an estimate: an attempt that broke makes its task not k of k. Also called "
        "observed_all_k.",
        null_when="a task has fewer than k attempts recorded",
        source=_BLOG,
    ),
    Definition(
        name="retention",
        title="retention",
        formula="consistency / pass@1",
        meaning="How much of what a model can do on average it does every time.",
        null_when="consistency is not computable, or nothing passed",
        source=_BLOG,
    ),
    Definition(
        name="pass_at",
        title="pass@k",
        formula="mean over tasks of 1 - C(n - c, k) / C(n, k)",
        meaning="The chance that at least one of k attempts passes, estimated without bias from n recorded attempts of "
        "which c passed, over the tasks with at least k attempts.",
        null_when="no task has k attempts",
        source=f"{_PAPER}, eq. 6",
    ),
    Definition(
        name="pass_hat",
        title="pass^k",
        formula="mean over tasks of (c / n)^k",
        meaning="As the harness's own summary prints it. It flatters: a task that failed once in 20 still has 0.36 at "
        "k = 20, while observed k of k gives it 0.",
        source="the harness's command tb agg",
    ),
    Definition(
        name="pass_hat_unbiased",
        title="pass^k, unbiased",
        formula="mean over tasks of C(c, k) / C(n, k)",
        meaning="The chance that k attempts all pass, estimated without bias.",
    ),
    Definition(
        name="task_bootstrap",
        title="95% interval",
        formula="percentiles 2.5 and 97.5 over 10,000 resamples of the tasks",
        meaning="How much a figure would move were the tasks others of the same kind. Attempts at one task are not "
        "independent, so tasks are drawn, not attempts.",
        null_when="there are fewer than two tasks",
    ),
    Definition(
        name="p_candidate_greater",
        title="P(candidate better)",
        formula="P(candidate's rate > baseline's rate)",
        meaning="For one task in two runs: with a Beta posterior for each rate, the probability that the candidate's "
        "is the greater one.",
    ),
    Definition(
        name="cost_per_success",
        title="cost per success",
        formula="cost of the run / passed attempts",
        meaning="What a success costs when failures are paid for too.",
        null_when="the run has no price, or nothing passed",
        source=_BLOG,
    ),
    Definition(
        name="cost_per_dependable_task",
        title="cost per dependable task",
        formula="cost of the run, all k repetitions / tasks that passed k of k",
        meaning="What it costs to have a task done that can be relied on.",
        null_when="the run has no price, or no task passed k of k",
        source=_BLOG,
    ),
    Definition(
        name="looked_like_success",
        title="looked like a success",
        formula="failed attempts: ended cleanly, called a state-changing tool, no error in the last tool response",
        meaning="Failures that nobody would have noticed without the records.",
        source=_PAPER,
    ),
    Definition(
        name="differences",
        title="differences",
        formula="effects of the kinds wrong, missing and extra, and reported ones",
        meaning="How an attempt's records differ from the required ones, in the fields that the benchmark grades.",
    ),
    Definition(
        name="signature",
        title="signature",
        formula="the first rule that fits, in a fixed order",
        meaning="The one deterministic diagnosis of a failed attempt. Each has the version of the rules that gave it.",
        source=_PAPER,
    ),
)


def definition_named(name: str) -> Definition | None:
    """By its name or its title, in any case."""
    wanted = name.strip().casefold()
    return next((each for each in DEFINITIONS if wanted in {each.name.casefold(), each.title.casefold()}), None)
