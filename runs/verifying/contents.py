"""Payloads and traces against their digests."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

import msgspec
import zstandard
from django.db.models import Count, Q

from runs.canonical import sha256_hex
from runs.databases import snapshot
from runs.models import Attempt, AttemptEffect, AttemptPart, Payload, PayloadPart, Run, Trace
from runs.payloads import Evidence, decompress, load_evidence, load_source
from runs.prepare import row_digest
from runs.regrade import regrade_attempts
from runs.verifying.findings import Finding

__all__ = ["check_attempts", "check_payloads"]

_AT_ONCE = 100
_READ_AGAIN = "Restore a backup, or delete the run and read its file again."


def check_payloads(repair: bool) -> Iterator[Finding]:
    """Each payload is readable and what its digest says; a state's links are the tables that it names."""
    last = 0
    while batch := list(Payload.objects.filter(pk__gt=last).order_by("pk")[:_AT_ONCE]):
        last = batch[-1].pk
        sound: dict[Payload, bytes] = {}
        for payload in batch:
            try:
                text = decompress(payload.data)
            except zstandard.ZstdError as error:
                yield Finding(text=f"The payload {payload.digest[:12]}… cannot be read ({error}). {_used_by(payload)}")
                continue
            if sha256_hex(text) != payload.digest:
                yield Finding(text=f"The payload {payload.digest[:12]}… holds something else. {_used_by(payload)}")
            elif len(text) != payload.size:
                if repair:
                    Payload.objects.filter(pk=payload.pk).update(size=len(text))
                yield Finding(
                    text=f"The payload {payload.digest[:12]}… has {len(text):,} bytes, and {payload.size:,} are noted.",
                    repairable=True,
                    repaired=repair,
                )
            else:
                sound[payload] = text
        yield from _check_links(sound, repair)


def _used_by(payload: Payload) -> str:
    uses = Attempt.objects.filter(
        Q(parts__payload=payload) | Q(parts__payload__parts__part=payload) | Q(trace__dictionary=payload)
    )
    runs = list(uses.order_by("run__slug").values_list("run__slug").annotate(Count("pk", distinct=True)))
    if not runs:
        return "Nothing uses it; `manage.py gc` removes it."
    named = ", ".join(f"{count:,} attempts of {slug}" for slug, count in runs[:5])
    return f"It is part of {named}{' and others' if len(runs) > 5 else ''}. {_READ_AGAIN}"


def _check_links(texts: dict[Payload, bytes], repair: bool) -> Iterator[Finding]:
    linked: defaultdict[int, set[str]] = defaultdict(set)
    for whole, digest in PayloadPart.objects.filter(whole__in=[payload.pk for payload in texts]).values_list(
        "whole_id", "part__digest"
    ):
        linked[whole].add(digest)
    states = _states(texts)
    for payload, text in texts.items():
        named = set(_manifest(text).values()) if payload.pk in states or payload.pk in linked else set()
        missing, surplus = named - linked[payload.pk], linked[payload.pk] - named
        if not missing and not surplus:
            continue
        found = dict(Payload.objects.filter(digest__in=missing).values_list("digest", "pk"))
        lost = sorted(missing - found.keys())
        if repair:
            PayloadPart.objects.bulk_create(
                [PayloadPart(whole=payload, part_id=pk) for pk in found.values()], ignore_conflicts=True
            )
            PayloadPart.objects.filter(whole=payload, part__digest__in=surplus).delete()
        if lost:
            yield Finding(
                text=f"The state {payload.digest[:12]}… names {len(lost):,} tables that are not there "
                f"({lost[0][:12]}…). {_used_by(payload)}"
            )
        if found or surplus:
            yield Finding(
                text=f"The links of the state {payload.digest[:12]}… are not the tables that it names.",
                repairable=True,
                repaired=repair,
            )


def _states(texts: dict[Payload, bytes]) -> set[int]:
    """Ids of the payloads that look like a state's manifest and are used as a part: table → digest."""
    return {
        payload.pk
        for payload, text in texts.items()
        if text.startswith(b"{") and (manifest := _manifest(text)) and all(map(_is_digest, manifest.values()))
    }


def _manifest(text: bytes) -> dict[str, str]:
    try:
        return msgspec.json.decode(text, type=dict[str, str])
    except msgspec.ValidationError:
        return {}


def _is_digest(text: str) -> bool:
    return len(text) == 64 and all(sign in "0123456789abcdef" for sign in text)


class _Batch(NamedTuple):
    attempts: list[Attempt]
    parts: dict[int, dict[str, int]]
    """Attempt → digest → payload (ids), as linked."""
    narrow: dict[int, int]
    """Attempt (id) → differences to filter by."""


def check_attempts(repair: bool) -> Iterator[Finding]:
    """Each attempt has its trace, which is what its digest says, its parts, and its differences to filter by."""
    for run in Run.objects.select_related("benchmark").order_by("pk"):
        last = 0
        while (batch := _batch(run, last)).attempts:
            last = batch.attempts[-1].pk
            for attempt in batch.attempts:
                yield from _check_attempt(run, attempt, batch, repair)


def _batch(run: Run, last: int) -> _Batch:
    with snapshot():
        found = Attempt.objects.filter(run=run, pk__gt=last).select_related("trace__dictionary", "task")
        attempts = list(found.order_by("pk")[:_AT_ONCE])
        ids = [attempt.pk for attempt in attempts]
        parts: defaultdict[int, dict[str, int]] = defaultdict(dict)
        uses = AttemptPart.objects.filter(attempt__in=ids)
        for attempt_id, digest, payload in uses.values_list("attempt_id", "payload__digest", "payload_id"):
            parts[attempt_id][digest] = payload
        effects = AttemptEffect.objects.filter(attempt__in=ids)
        narrow = dict(effects.values_list("attempt_id").annotate(Count("pk")))
    return _Batch(attempts, parts, narrow)


def _check_attempt(run: Run, attempt: Attempt, batch: _Batch, repair: bool) -> Iterator[Finding]:
    where = f"Repetition {attempt.repetition} of {attempt.task.uid} in {run.slug}"
    try:
        trace = attempt.trace
    except Trace.DoesNotExist:
        yield Finding(text=f"{where} has no trace: its row is lost. {_READ_AGAIN}")
        return
    try:
        evidence, source = load_evidence(trace, masked=False), load_source(trace)
        digest = row_digest(source, evidence.parts)
    except (zstandard.ZstdError, msgspec.DecodeError, UnicodeError) as error:
        yield Finding(text=f"The trace of {where} cannot be read ({error}). {_READ_AGAIN}")
        return
    if digest != attempt.digest:
        yield Finding(text=f"{where} is not the row that its digest says. {_READ_AGAIN}")
        return
    parts = list(_check_parts(where, attempt, evidence, batch.parts[attempt.pk], repair))
    yield from parts
    counting = sum(effect.counts for effect in evidence.graded.effects)
    narrow = batch.narrow.get(attempt.pk, 0)
    if narrow != counting and all(finding.repairable for finding in parts):
        if repair:
            regrade_attempts(run, [attempt])
        yield Finding(
            text=f"{where} has {counting:,} differences, and {narrow:,} to filter by.",
            repairable=True,
            repaired=repair,
        )


def _check_parts(
    where: str, attempt: Attempt, evidence: Evidence, stored: dict[str, int], repair: bool
) -> Iterator[Finding]:
    named = {ref.digest for ref in evidence.parts}
    if named == stored.keys():
        return
    found = dict(Payload.objects.filter(digest__in=named - stored.keys()).values_list("digest", "pk"))
    lost = sorted(named - stored.keys() - found.keys())
    surplus = [stored[digest] for digest in stored.keys() - named]
    if repair:
        AttemptPart.objects.bulk_create(AttemptPart(attempt=attempt, payload_id=pk) for pk in found.values())
        AttemptPart.objects.filter(attempt=attempt, payload__in=surplus).delete()
    if lost:
        yield Finding(text=f"{where} names {len(lost):,} parts that are not there ({lost[0][:12]}…). {_READ_AGAIN}")
    if found or surplus:
        yield Finding(
            text=f"The parts that {where} is noted to use are not those it names.", repairable=True, repaired=repair
        )
