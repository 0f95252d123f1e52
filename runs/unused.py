"""Payloads that nothing uses any more: found and removed, also while rows are being stored.

A writer that is about to use a stored payload locks its row first (`runs.payloads.put_payloads`), and what is to go is
locked here before it is looked at again. So a payload goes either before a writer looks, which then stores it anew, or
not at all. On SQLite the one transaction that writes does the same.
"""

from __future__ import annotations

from collections.abc import Iterable

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from runs.batches import batches
from runs.models import AttemptPart, Payload, PayloadPart, Trace

__all__ = ["collect", "drop_unused", "unused"]


def unused() -> QuerySet[Payload]:
    """Payloads that neither an attempt, its trace nor a state uses."""
    return Payload.objects.filter(
        ~Exists(Trace.objects.filter(dictionary=OuterRef("pk"))),
        ~Exists(AttemptPart.objects.filter(payload=OuterRef("pk"))),
        ~Exists(PayloadPart.objects.filter(part=OuterRef("pk"))),
    )


def collect() -> int:
    """Removes all of them, in short transactions, and returns how many. Memory grows with the ids only."""
    gone = 0
    # Which tables only an unused state holds is known once it is gone.
    while ids := list(unused().order_by("digest").values_list("pk", flat=True)):
        removed = 0
        for batch in batches(ids):
            with transaction.atomic():
                removed += _drop(batch)[0]
        gone += removed
        if not removed:  # others hold what is left: they use it, or remove it themselves
            break
    return gone


def drop_unused(candidates: Iterable[int]) -> int:
    """Removes those of the payloads (ids) that nothing uses, then the tables that only they held.

    Returns how many. Part of the caller's transaction.
    """
    tables: set[int] = set()
    gone = 0
    for ids in batches(candidates):
        count, parts = _drop(ids)
        gone += count
        tables |= parts
    for ids in batches(sorted(tables)):
        gone += _drop(ids)[0]
    return gone


def _drop(ids: list[int]) -> tuple[int, set[int]]:
    """How many of these went, and which payloads they held."""
    locking = Payload.objects.select_for_update(skip_locked=True).filter(pk__in=ids).order_by("digest")
    locked = list(locking.values_list("pk", flat=True))
    # Asked again: one of them may have come into use before it was locked.
    going = list(unused().filter(pk__in=locked).values_list("pk", flat=True))
    links = PayloadPart.objects.filter(whole__in=going)
    parts = set(links.values_list("part_id", flat=True))
    links.delete()
    # Without `data`: what is deleted need not be read first.
    return Payload.objects.filter(pk__in=going).only("pk").delete()[1].get("runs.Payload", 0), parts
