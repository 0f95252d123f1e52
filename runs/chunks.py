"""Who works on which chunk. The database says what is to do; a message is only a hint.

A worker claims a chunk with a lease, works outside any transaction, and stores behind a fence: if its claim was taken
over meanwhile, nothing of its work is kept. A lost message costs a sweep, a doubled one nothing, a dead worker one
lease, or only its restart where one supervisor starts its successor.
"""

from __future__ import annotations

import uuid
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Case, F, Q, QuerySet, TextField, Value, When
from django.utils import timezone

from runs.models import Chunk, ChunkState, Upload, UploadState

__all__ = [
    "AT_WORK", "MOST_TRIES", "anything_waits", "claim_next", "fence", "give_back", "renew", "set_exhausted_aside",
    "succeed",
]  # fmt: skip

MOST_TRIES = 5
"""A chunk that was claimed this often and never stored is set aside."""

_UNSAID = "No worker could say why: each was ended, or the disk was so full that not even this could be written."

_place = ""
"""Where this process was started, for its claims; empty where nobody could tell that it died."""

AT_WORK = [UploadState.WAITING, UploadState.READING]
"""The states of an upload whose chunks are claimed."""


def _claimable() -> Q:
    return Q(upload__state__in=AT_WORK, tries__lt=MOST_TRIES) & _free()


def _free() -> Q:
    return Q(state=ChunkState.WAITING) | Q(state=ChunkState.RUNNING, lease_until__lt=timezone.now())


def anything_waits() -> bool:
    """Whether a chunk waits for a worker, or its worker's lease is over. One query."""
    return Chunk.objects.filter(_claimable()).exists()


def claim_next() -> Chunk | None:
    """Claims a chunk for this worker, smallest upload and number first; None when nothing waits."""
    while True:
        candidate = Chunk.objects.filter(_claimable()).order_by("upload_id", "number").first()
        if candidate is None:
            return None
        taken = Chunk.objects.filter(_free(), pk=candidate.pk, tries=candidate.tries).update(
            state=ChunkState.RUNNING, claim=_new_claim(), lease_until=_lease(), tries=candidate.tries + 1
        )
        if taken:
            return Chunk.objects.select_related("upload", "upload__run", "upload__run__benchmark").get(pk=candidate.pk)


def succeed(place: str) -> int:
    """Takes a place that one process has after another, and gives back what the dead ones before had claimed.

    Call it before the first claim. `place` has at most 15 characters, none of them a full stop, and is no other's at
    this time. One that is still about to end loses its claim, and what it stores then is not kept. Tries still count,
    so a chunk that ends its worker each time is set aside in the end. Returns how many chunks were given back.
    """
    global _place
    _place = place
    left = Chunk.objects.filter(state=ChunkState.RUNNING, claim__startswith=f"{place}.")
    return left.update(state=ChunkState.WAITING, lease_until=None, claim="")


def renew(chunk: Chunk) -> bool:
    """Prolongs a claim; False when another worker has taken it over, or the upload was stopped."""
    return bool(_mine(chunk).filter(upload__state__in=AT_WORK).update(lease_until=_lease()))


def fence(chunk: Chunk) -> bool:
    """Marks the chunk done if the claim still holds and the upload was not stopped.

    Call it first in the storing transaction.
    """
    mine = _mine(chunk).filter(upload__in=Upload.objects.filter(state__in=AT_WORK))
    return bool(mine.update(state=ChunkState.DONE, lease_until=None))


def give_back(chunk: Chunk, error: str) -> None:
    """Returns a chunk that could not be stored; after too many tries it is set aside with the error."""
    state = ChunkState.FAILED if chunk.tries >= MOST_TRIES else ChunkState.WAITING
    _mine(chunk).update(state=state, lease_until=None, claim="", error=error)


def set_exhausted_aside() -> None:
    """Sets chunks aside that were claimed too often: each took its worker with it, or could not even be given back.

    What was said of an earlier try stays.
    """
    Chunk.objects.filter(_free(), tries__gte=MOST_TRIES, upload__state__in=AT_WORK).update(
        state=ChunkState.FAILED,
        lease_until=None,
        claim="",
        error=Case(When(error="", then=Value(_UNSAID)), default=F("error"), output_field=TextField()),
    )


def _mine(chunk: Chunk) -> QuerySet[Chunk]:
    return Chunk.objects.filter(pk=chunk.pk, state=ChunkState.RUNNING, claim=chunk.claim)


def _new_claim() -> str:
    return f"{_place}.{uuid.uuid4().hex[:20]}"


def _lease() -> datetime:
    return timezone.now() + timedelta(seconds=settings.LEASE_SECONDS)
