"""Which rows somebody may see, as conditions for a query: the one place that says what a private run is.

What is not seen is as good as absent: every query function filters by these before it looks anything up.
"""

from __future__ import annotations

from django.core.exceptions import PermissionDenied
from django.db.models import Q

from runs.access import Access
from runs.models import Visibility

__all__ = [
    "for_evaluators", "only_its_owner", "owns", "sees_every_run", "visible_attempts", "visible_runs", "visible_through",
    "visible_uploads",
]  # fmt: skip


def for_evaluators(access: Access) -> None:
    """Raises PermissionDenied for who may not see required states, checks, private context, and what is derived."""
    if not access.evaluates:
        raise PermissionDenied("Only evaluators may see this.")


def sees_every_run(access: Access) -> bool:
    """Then the conditions below filter nothing, and what was computed over all runs may be shown."""
    return access.administers


def visible_runs(access: Access) -> Q:
    """On `Run`: what the team sees, and one's own."""
    return visible_through("", access)


def visible_attempts(access: Access) -> Q:
    """On `Attempt`."""
    return visible_through("run__", access)


def visible_through(path: str, access: Access) -> Q:
    """On whatever has a run at `path`, such as `attempt__run__`: what belongs to a run is seen with it."""
    if sees_every_run(access):
        return Q()
    if access.user is None:
        # Only who administers may be without an account.
        return Q(pk__in=())
    return Q(**{f"{path}visibility": Visibility.TEAM}) | Q(**{f"{path}owner": access.user})


def visible_uploads(access: Access) -> Q:
    """On `Upload`: with its run; while it has none, or none any more, by what it says itself."""
    if sees_every_run(access):
        return Q()
    return (Q(run__isnull=False) & visible_through("run__", access)) | (
        Q(run__isnull=True) & visible_through("", access)
    )


def only_its_owner(access: Access, owner: int | None, what: str) -> None:
    """Raises PermissionDenied, with a sentence, for who neither owns a thing nor administers."""
    if not owns(access, owner):
        raise PermissionDenied(f"Only its owner or an admin may {what}.")


def owns(access: Access, owner: int | None) -> bool:
    """Whether they may share, hide and delete what this account made: their own, and everything for an admin."""
    return access.administers or (access.writes and owner is not None and owner == access.user)
