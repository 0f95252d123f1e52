"""What of the API a sender sees: which runs, and which fields of what. The one place where the API decides it.

Fields that the required state tells are the evaluators' alone. They are left out of answers that others may have;
operations that consist of such things ask for the role (`needs(evaluates=True)`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from msgspec import Struct

from inspector.api.errors import bad_field, not_found
from inspector.api.structs import AttemptOutline, AttemptSummary, StateTable, StepItem
from runs.access import Access
from runs.models import Attempt, Run
from runs.queries.compare_runs import PairRow, PairSide
from runs.queries.everywhere import Everywhere
from runs.queries.run_tasks import TaskRow
from runs.queries.task_runs import TaskAcross, TaskRun
from runs.queries.tasks import AttemptRow, TaskText
from runs.querysets import visible_attempts, visible_runs

__all__ = ["attempt_or_404", "hidden_from", "refuse_unknown_runs", "run_or_404", "visible_attempts", "visible_runs"]

_OF_THE_EVALUATORS: Mapping[type[Struct], Collection[str]] = {
    AttemptSummary: frozenset(
        {
            "state_source", "differences", "signature", "disagrees", "claimed_success", "looked_like_success",
            "error_class", "retryable",
        }
    ),
    AttemptOutline: frozenset(
        {"evidence", "why", "compare", "failing", "private_context", "first_failing_step", "claim"}
    ),
    StepItem: frozenset({"effects"}),
    StateTable: frozenset({"required", "same", "differences", "rows_required"}),
    TaskRow: frozenset({"differences", "usual"}),
    AttemptRow: frozenset({"differences", "reported", "first", "evident"}),
    TaskText: frozenset({"private_context"}),
    TaskRun: frozenset({"signatures"}),
    TaskAcross: frozenset({"mistakes", "all_mistakes", "alike", "never_passed"}),
    PairSide: frozenset({"signature", "signatures", "difference"}),
    PairRow: frozenset({"changes", "word"}),
    Everywhere: frozenset({"records", "records_total", "attempts", "failures"}),
}  # fmt: skip


def hidden_from(access: Access) -> Mapping[type[Struct], Collection[str]] | None:
    """Struct → the fields that the sender does not get; None: gets all."""
    return None if access.evaluates else _OF_THE_EVALUATORS


def run_or_404(slug: str, access: Access) -> Run:
    """What is not seen is as good as absent. Raises `Problem` 404."""
    run = Run.objects.select_related("benchmark").filter(visible_runs(access), slug=slug).first()
    if run is None:
        raise not_found("There is no run of this name.")
    return run


def refuse_unknown_runs(slugs: Collection[str], access: Access) -> None:
    """Raises `Problem` 404 for a filter by a run that is not there: an empty list would look like one without
    failures."""
    if slugs:
        seen = Run.objects.filter(visible_runs(access), slug__in=slugs).values_list("slug", flat=True)
        for slug in sorted({*slugs} - {*seen}):
            shown = slug if len(slug) <= 60 else slug[:60] + "…"
            raise bad_field("run", f"there is no run named {shown!r}. `/runs` lists them.", status=404)


def attempt_or_404(pk: int, access: Access) -> Attempt:
    """With its run, benchmark and task. Raises `Problem` 404."""
    attempts = Attempt.objects.select_related("run__benchmark", "task", "upload", "trace")
    attempt = attempts.filter(visible_attempts(access), pk=pk, trace__isnull=False).first()
    if attempt is None:
        raise not_found("There is no attempt with this id.")
    return attempt
