"""What each figure means, for readers who cannot look at docs/metrics.md."""

from __future__ import annotations

from inspector.mcp_server.board_answers import MetricLine

__all__ = ["METRICS"]

_LINES = (
    (
        "pass_at_1", "pass@1", "passed attempts / recorded attempts",
        "Over all attempts together, not the mean of tasks.",
        "System errors stay in the denominator unless errors='excluded' is asked for; missing attempts are in neither.",
    ),
    (
        "solved", "solved at least once, breadth", "tasks with a passed attempt / tasks",
        "How much a model can do at all. With k of k recorded it is pass@k at k.",
        "A lower bound where tasks are incomplete.",
    ),
    (
        "all_k", "all k of k, consistency", "tasks whose k attempts all passed / tasks",
        "How much can be relied on. A literal count.",
        "Never the estimate (c/n)^k, which gives 0.36 to a task that failed once in 20. Not computable for a task with "
        "fewer than k attempts; an error makes a task not all k.",
    ),
    (
        "retention", "retention", "all-k share / pass@1",
        "What of the average success survives repetition.", "Null where a task is incomplete or nothing passed.",
    ),
    (
        "pass_at_k", "pass@k", "mean over tasks of 1 - C(n-c, k) / C(n, k)",
        "The chance that one of k attempts passes; c of n passed.", "Only over tasks with at least k attempts.",
    ),
    (
        "pass_hat_k", "pass^k", "mean over tasks of (c/n)^k, or unbiased C(c, k) / C(n, k)",
        "The chance that k attempts all pass.", "The harness prints the first form, which is biased; all_k counts.",
    ),
    (
        "interval", "95% interval", "percentiles over resampled tasks, each with all its attempts",
        "Attempts at one task are alike, so tasks are resampled.",
        "The pooled Jeffreys interval that the harness prints is too narrow.",
    ),
    (
        "verdict", "verdicts", "passed + failed + errors + missing = expected",
        "Failed: graded, and a check failed. Error: the harness or grader broke, or the row has no test result.",
        "An error says nothing about the agent.",
    ),
    (
        "effect", "differences and effects", "records before, after and required, field by field",
        "wrong: changed, not to the required value. missing: a required change not made. extra: changed and not "
        "required. correct: changed as required. ungraded: a field that the benchmark does not grade. reported: known "
        "from the check's text only.",
        "Only wrong, missing, extra and reported count.",
    ),
    (
        "looked_like_success", "looked like a success",
        "ended cleanly, called a state-changing tool, last tool response no error",
        "Failures that nobody would notice without the check.", "Says nothing of what the agent claimed.",
    ),
    (
        "signature", "signature", "the first rule that fits, of an ordered list",
        "response_check: state as required, a rubric or assertion not. undetermined: nothing recorded says why. "
        "tool_usage: a tool error that no later step repaired. no_state_changing_action: a change was required and "
        "none was made. incomplete_user_resolution: broken off, or the final message asks or is empty. "
        "wrong_state_update: something was written, and not what is required.",
        "One for each failed attempt; labels are finer, and there may be several.",
    ),
    (
        "cost_per_success", "cost per success", "cost of all recorded attempts / passed attempts",
        "What a success costs with the failures paid for.", "Not priced is not 0; null says so.",
    ),
    (
        "cost_per_dependable_task", "cost per dependable task",
        "cost of all recorded attempts / tasks that passed all k",
        "What a task that can be relied on costs.", "Null where no task passed all k.",
    ),
)  # fmt: skip
METRICS = {
    name: MetricLine(name=name, title=title, formula=formula, meaning=meaning, traps=traps)
    for name, title, formula, meaning, traps in _LINES
}
