"""What workers do. Thin: a message carries nothing that matters, so a lost or doubled one does no harm."""

from __future__ import annotations

import logging
from collections.abc import Callable
from threading import Event
from typing import Any

from celery import shared_task
from celery.signals import worker_shutting_down
from django.db import Error as DatabaseError
from django.db.models import Q
from django.utils import timezone

from runs import search
from runs.chunking import close, split, store_claimed
from runs.chunks import AT_WORK, anything_waits, claim_next, give_back, set_exhausted_aside, succeed
from runs.databases import spare_memory
from runs.errors import is_full_disk
from runs.failure_facts import anything_to_keep, keep_some
from runs.models import Chunk, ChunkState, Upload, UploadState

logger = logging.getLogger(__name__)

_ending = Event()


def end(**_: Any) -> None:
    """The worker is told to end: it finishes its chunk, and claims no other whose lease would only run out."""
    _ending.set()


worker_shutting_down.connect(end)


@shared_task(ignore_result=True)
def work() -> None:
    """Does what waits until nothing does, or the worker is told to end: then the next one starts with the rest.

    Chunks of uploads come first; while none waits, what failures are filtered by is kept, and transcripts are indexed
    for the search.
    """
    while not _ending.is_set():
        if (chunk := claim_next()) is not None:
            do_chunk(chunk)
        elif not keep_some() and not search.index_some():
            return


@shared_task(ignore_result=True)
def sweep() -> None:
    """Ends what can be ended, and hints at what waits: work whose message was lost, or whose worker died."""
    set_exhausted_aside()
    ended = Q(split_done=True) | Q(chunks__state=ChunkState.FAILED)
    for upload_id in Upload.objects.filter(ended, state__in=AT_WORK).values_list("pk", flat=True).distinct():
        close(upload_id)
    Upload.objects.filter(state=UploadState.READING, lease_until__lt=timezone.now()).update(
        state=UploadState.STOPPED,
        lease_until=None,
        finished_at=timezone.now(),
        error="The command that read this file ended early. Run it again: what is stored is not counted twice.",
    )
    if anything_waits() or search.anything_waits() or anything_to_keep():
        work.delay()


def succeed_in(place: str) -> None:
    """A worker begins in a place, and what it finds there of a dead one is done at once, by whoever is free."""
    if succeed(place):
        work.delay()


def do_chunk(chunk: Chunk, hint: Callable[[], Any] | None = None) -> None:
    """Does one claimed chunk. An error of the disk or the database gives it back, to be tried again.

    `hint` tells the other workers of a part that was cut: they need not wait until the whole file is.
    """
    try:
        spare_memory()
        if chunk.number == 0:
            split(chunk, hint=hint or work.delay)
        else:
            store_claimed(chunk)
    except (OSError, DatabaseError) as error:
        logger.exception("Part %s of upload %s could not be stored.", chunk.number, chunk.upload_id)
        give_back(chunk, _said(error))
    close(chunk.upload_id)


def _said(error: Exception) -> str:
    """What the disk or the database would not do, in sentences."""
    text = str(error).strip().rstrip(".")
    if is_full_disk(error):
        return f"The disk is full: make space first ({text})."
    return f"The last error: {type(error).__name__}: {text}."
