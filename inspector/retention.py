"""Who sees a run and how long it stays, and deleting it. Each leaves an entry in the audit log."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet

from inspector.audit import Action, note
from runs.access import Access
from runs.editing import Deletion, delete_run
from runs.errors import IngestError
from runs.models import Run, Visibility

__all__ = ["THE_SERVER", "expire_runs", "expired", "keep_run", "remove_run"]

logger = logging.getLogger(__name__)

THE_SERVER = Access(evaluates=True, writes=True, administers=True, name="the server")


@transaction.atomic
def remove_run(run: Run, access: Access, action: Action = Action.RUN_DELETED) -> Deletion:
    """Deletes a run with all that only it holds. Raises `IngestError` while it is being read."""
    name = str(run)
    gone = delete_run(run)
    note(access, action, run.slug, f"{name}: {gone.attempts:,} attempts, {gone.payloads:,} payloads")
    return gone


@transaction.atomic
def keep_run(run: Run, visibility: Visibility, expires_at: datetime | None, access: Access) -> None:
    """Says who sees a run from now on, and when it is deleted (None: by the server's rule)."""
    stored = Run.objects.select_for_update().get(pk=run.pk)
    if stored.visibility != visibility:
        note(access, Action.VISIBILITY, stored.slug, f"now seen by {visibility.label}")
    if stored.visibility != visibility or stored.expires_at != expires_at:
        stored.visibility, stored.expires_at = visibility, expires_at
        stored.save(update_fields=["visibility", "expires_at", "updated_at"])


def expired(now: datetime) -> QuerySet[Run]:
    """Runs whose time is over: by their own day, else by the rule of the server, from the day they came.

    The shipped example stays until somebody deletes it.
    """
    over = Q(expires_at__lte=now)
    if settings.RETENTION_DAYS is not None:
        over |= Q(expires_at__isnull=True, created_at__lte=now - timedelta(days=settings.RETENTION_DAYS))
    return Run.objects.filter(over, is_demo=False).select_related("benchmark").order_by("pk")


def expire_runs(now: datetime, access: Access = THE_SERVER) -> list[str]:
    """Deletes what has expired, run by run, and returns the addresses of what went. One that is being read waits."""
    gone = []
    for run in expired(now):
        try:
            remove_run(run, access, Action.RUN_EXPIRED)
        except IngestError as error:
            logger.info("The run %s is over, and stays for now: %s", run.slug, error)
        else:
            gone.append(run.slug)
    return gone
