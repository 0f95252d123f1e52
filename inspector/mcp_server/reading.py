"""Every question that the tools ask of the store, with who asks: the only place here that calls `runs.queries`."""

from __future__ import annotations

from django.http import Http404

from inspector.mcp_server.refusals import no_attempt, unknown, unknown_run
from runs.access import Access
from runs.queries.attempt_list import AttemptFilters, AttemptListing, attempt_listing, values_among
from runs.queries.attempt_structs import AttemptPage
from runs.queries.attempt_viewed import ViewedAttempt, viewed_attempt
from runs.queries.attempt_windows import StepWindow, attempt_window
from runs.queries.attempts import AttemptView, attempt_page, attempt_step_text
from runs.queries.compare import compare_page
from runs.queries.compare_runs import ComparedRuns, PairFilters, compared_runs
from runs.queries.compare_structs import ComparePage, CompareView
from runs.queries.failure_filters import FailureFilters
from runs.queries.failures import FailurePage, failure_page
from runs.queries.leaderboards import BoardIndex, BoardPage, board_index, board_page
from runs.queries.run_failures import RunFailures, run_failures
from runs.queries.run_tasks import TaskFilters
from runs.queries.runs import RunFilters, RunList, RunPage, run_list, run_page

__all__ = [
    "attempt_read", "board_read", "boards_read", "divergence_read", "failures_read", "listing_read", "pair_read",
    "run_failures_read", "run_read", "runs_read", "slugs", "step_text_read", "values_read", "viewed_read",
    "window_read",
]  # fmt: skip


def runs_read(access: Access, filters: RunFilters) -> RunList:
    return run_list(filters, access=access)


def slugs(access: Access) -> list[str]:
    """Of all runs that may be seen, newest first."""
    found: list[str] = []
    page = 1
    while True:
        listed = run_list(RunFilters(page=page), access=access)
        found += [row.slug for row in listed.rows]
        if listed.page.next is None:
            return found
        page += 1


def run_read(access: Access, slug: str, filters: TaskFilters) -> RunPage:
    try:
        return run_page(slug, filters, access=access, why=False)
    except Http404:
        raise unknown_run(slug, slugs(access)) from None


def run_failures_read(access: Access, pk: int) -> RunFailures:
    return run_failures(pk, access=access)


def pair_read(access: Access, filters: PairFilters) -> ComparedRuns:
    found = compared_runs(filters, access=access)
    for slug, choice in ((filters.base, found.base), (filters.candidate, found.candidate)):
        if choice is None:
            raise unknown_run(slug, slugs(access))
    return found


def failures_read(access: Access, filters: FailureFilters) -> FailurePage:
    return failure_page(filters, access=access)


def listing_read(
    access: Access, filters: AttemptFilters, *, sort: str, descending: bool, offset: int, limit: int
) -> AttemptListing:
    return attempt_listing(filters, sort=sort, descending=descending, offset=offset, limit=limit, access=access)


def values_read(access: Access, filters: AttemptFilters, of: str, *, most: int) -> list[tuple[str, int]]:
    return values_among(filters, of, most=most, access=access)


def attempt_read(access: Access, attempt: int, view: AttemptView) -> AttemptPage:
    """For evaluators; `viewed_read` for the others."""
    page = attempt_page(attempt, view, access=access) if _is_id(attempt) else None
    if page is None:
        raise no_attempt(attempt)
    return page


def viewed_read(access: Access, attempt: int) -> ViewedAttempt:
    """Without anything that tells the required state."""
    page = viewed_attempt(attempt, AttemptView(), access=access) if _is_id(attempt) else None
    if page is None:
        raise no_attempt(attempt)
    return page


def window_read(
    access: Access, attempt: int, *, first: int, count: int, letters: str, words: str, characters: int
) -> StepWindow:
    found = (
        attempt_window(
            attempt, first=first, count=count, letters=letters, words=words, characters=characters, access=access
        )
        if _is_id(attempt)
        else None
    )
    if found is None:
        raise no_attempt(attempt)
    return found


def step_text_read(access: Access, attempt: int, step: int, part: str) -> str | None:
    return attempt_step_text(attempt, step, part, access=access)


def divergence_read(access: Access, left: int, right: int, view: CompareView) -> ComparePage:
    """Both are known to be attempts at one task."""
    return compare_page(left, right, view, access=access)


def boards_read(access: Access) -> BoardIndex:
    return board_index(access=access)


def board_read(access: Access, slug: str) -> BoardPage:
    try:
        return board_page(slug, access=access)
    except Http404:
        known = [link.slug for link in board_index(access=access).boards]
        raise unknown("leaderboard", slug, known, "leaderboard() lists all leaderboards.") from None


def _is_id(attempt: int) -> bool:
    """Whether a database can be asked for it at all."""
    return 0 < attempt < 2**63
