"""A run whose rows are still coming: how far it is, and how long it may take."""

from __future__ import annotations

from datetime import datetime

import msgspec
from django.utils import timezone

from runs.models import Run, Upload, UploadState
from runs.queries.numbers import Numbers, numbers_by_run
from runs.queries.uploads import reading_now

__all__ = ["RunLive", "run_live"]

_QUIET = 30.0
"""Seconds without a new row after which that is said."""


class RunLive(msgspec.Struct, frozen=True, kw_only=True):
    slug: str
    upload: int
    """The upload that is being read into the run."""
    followed: bool
    """Its file is still being written."""
    numbers: Numbers
    expected: int
    expected_said: bool
    """Somebody said how many there will be; else it is the tasks seen so far × k."""
    share: float
    """Of a file: what is stored of it. Of a followed one: attempts of those expected."""
    per_minute: float | None
    seconds_left: float | None
    """An estimate, by the pace so far."""
    quiet: float | None
    """Seconds since the last new row, where that is long."""


def run_live(run: Run) -> RunLive | None:
    """None where nothing is being read into the run. At most three queries."""
    reading = reading_now([run.pk]).get(run.pk)
    if reading is None:
        return None
    pk, share = reading
    upload = Upload.objects.get(pk=pk)
    numbers = numbers_by_run([run.pk]).get(run.pk, Numbers(k=run.repetitions))
    followed = bool(upload.followed_path) and upload.state == UploadState.READING
    expected = upload.expected or numbers.expected
    pace = _pace(upload)
    left = max(0, expected - numbers.recorded)
    return RunLive(
        slug=run.slug,
        upload=pk,
        followed=followed,
        numbers=numbers,
        expected=expected,
        expected_said=upload.expected is not None,
        share=(min(1.0, numbers.recorded / expected) if expected else 0.0) if followed else share,
        per_minute=pace * 60 if pace else None,
        seconds_left=left / pace if followed and pace and left else None,
        quiet=_quiet(upload.grew_at) if followed else None,
    )


def _pace(upload: Upload) -> float | None:
    """Rows a second, until the last one that came."""
    if upload.started_at is None or not upload.read:
        return None
    seconds = ((upload.grew_at or timezone.now()) - upload.started_at).total_seconds()
    return upload.read / seconds if seconds > 1 else None


def _quiet(grew_at: datetime | None) -> float | None:
    if grew_at is None:
        return None
    seconds = (timezone.now() - grew_at).total_seconds()
    return seconds if seconds > _QUIET else None
