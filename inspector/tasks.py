"""What workers do for the site. Thin, as `runs.tasks`."""

from __future__ import annotations

from celery import shared_task
from django.utils import timezone

from inspector.retention import expire_runs


@shared_task(ignore_result=True)
def expire() -> None:
    """Deletes runs whose time is over. Doing it twice does nothing more."""
    expire_runs(timezone.now())
