"""Tallies against attempts, and what uploads say of themselves."""

from __future__ import annotations

from collections.abc import Iterator

from django.conf import settings
from django.db import transaction
from django.db.models import F

from runs.models import Attempt, Run, Task, TaskTally, Upload, UploadState
from runs.tallies import differing, lock, recount
from runs.verifying.findings import Finding

__all__ = ["check_tallies", "check_uploads"]

_AT_ONCE = 200


def check_tallies(repair: bool) -> Iterator[Finding]:
    """Each tally is what the run's attempts at the task add up to."""
    for run in Run.objects.order_by("pk"):
        tasks = set(TaskTally.objects.filter(run=run).values_list("task_id", flat=True))
        tasks |= set(
            Attempt.objects.filter(run=run, current=True).order_by().values_list("task_id", flat=True).distinct()
        )
        ordered = sorted(tasks)
        for start in range(0, len(ordered), _AT_ONCE):
            wrong = differing(run, ordered[start : start + _AT_ONCE])
            # Asked twice: a first attempt at a task may have landed between the two reads.
            if not wrong or not (wrong := differing(run, wrong)):
                continue
            if repair:
                with transaction.atomic():
                    lock(run, wrong)
                    recount(run, wrong)
            uids = dict(Task.objects.filter(pk__in=wrong).values_list("pk", "uid"))
            for task in wrong:
                yield Finding(
                    text=f"The tally of {uids[task]} in {run.slug} is not what its attempts add up to.",
                    repairable=True,
                    repaired=repair,
                )


def check_uploads(repair: bool) -> Iterator[Finding]:
    """The counts of an upload agree with each other, and a file that is still needed is there."""
    counted = F("stored") + F("same") + F("replaced") + F("conflicts")
    for upload in Upload.objects.exclude(read=counted).order_by("pk"):
        yield Finding(
            text=f"Of the file {upload.file_name!r} (upload {upload.pk}) {upload.read:,} rows were read, and its other "
            "counts add up to another number. The attempts are not touched by that."
        )
    for upload in Upload.objects.exclude(path="").order_by("pk"):
        if (settings.UPLOADS_DIR / upload.path).is_file():
            continue
        needed = upload.state not in {UploadState.DONE, UploadState.FAILED}
        # Looked at again: it may have been finished meanwhile.
        if not Upload.objects.filter(pk=upload.pk, path=upload.path).exists():
            continue
        if repair:
            _forget(upload, needed=needed)
        yield Finding(
            text=f"The file {upload.file_name!r} (upload {upload.pk}) is no longer in the folder of uploads. "
            + ("Upload it again; nothing is stored twice." if needed else "All that could be was read from it before."),
            repairable=True,
            repaired=repair,
        )


def _forget(upload: Upload, *, needed: bool) -> None:
    """Notes that the file is gone; an upload that still needs it ends."""
    Upload.objects.filter(pk=upload.pk).update(path="")
    if needed:
        Upload.objects.filter(pk=upload.pk).update(
            state=UploadState.STOPPED, error="Its file is no longer here. Upload it again; nothing is stored twice."
        )
