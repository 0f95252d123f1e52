"""`/runs/<slug>/provenance/`: where a run's rows came from, and what may be said of them as a whole."""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime
from typing import Any

import msgspec
from django.db.models import Count, Q

from runs.access import Access
from runs.models import Attempt, Provenance, Run, TaskTally, Upload
from runs.provenance import Coverage, Judgement, judge
from runs.provenance_facts import SaidBy
from runs.queries.runs import run_or_404
from runs.querysets import for_evaluators
from runs.records import Verdict

__all__ = ["ProvenancePage", "SourceFile", "provenance_page"]

_MOST_FILES = 200


class SourceFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file that brought rows of the run."""

    pk: int
    file_name: str
    sha256: str
    size: int
    reader: str
    created_at: datetime
    rows: int
    """Rows of the run that it brought, history included."""
    not_stored: int


class ProvenancePage(msgspec.Struct, frozen=True, kw_only=True):
    slug: str
    model: str
    benchmark: str
    judgement: Judgement
    files: list[SourceFile]
    masked: int
    """Attempts, history included, with secrets that are masked."""
    settings: list[tuple[str, Any]]
    """From the run metadata, or the rows."""


def provenance_page(slug: str, *, access: Access) -> ProvenancePage:
    """Six queries at most, whatever the run's size.

    Raises Http404, and PermissionDenied for who may not evaluate: it tells what files held.
    """
    for_evaluators(access)
    run = run_or_404(slug, access=access)
    uploads = list(Upload.objects.filter(run=run).order_by("created_at", "pk")[:_MOST_FILES])
    names = {upload.pk: upload.file_name for upload in uploads}
    brought: dict[int, int] = defaultdict(int)
    said = _said(run, names, brought)
    places = dict(TaskTally.objects.filter(run=run).values_list("task__uid", "verdicts"))
    counted = Attempt.objects.filter(run=run).aggregate(
        results=Count("pk", filter=Q(current=True) & ~Q(verdict=Verdict.ERROR)),
        errors=Count("pk", filter=Q(current=True, verdict=Verdict.ERROR)),
        retried=Count("pk", filter=Q(current=False)),
        masked=Count("pk", filter=Q(masked__gt=0)),
    )
    masked = counted.pop("masked")
    coverage = Coverage(tasks=len(places), k=run.repetitions, **counted)
    conflicts = sum(upload.conflicts for upload in uploads)
    return ProvenancePage(
        slug=run.slug,
        model=run.model,
        benchmark=run.benchmark.name,
        judgement=judge(said, coverage, places, conflicts),
        files=[
            SourceFile(
                pk=upload.pk,
                file_name=upload.file_name,
                sha256=upload.sha256,
                size=upload.size,
                reader=upload.reader,
                created_at=upload.created_at,
                rows=brought[upload.pk],
                not_stored=upload.rejected + upload.conflicts,
            )
            for upload in uploads
        ],
        masked=masked,
        settings=sorted((run.settings or {}).items()),
    )


def _said(run: Run, names: dict[int, str], brought: dict[int, int]) -> list[SaidBy]:
    """What rows say, each with the rows that say it. Counts what each upload brought on the way."""
    rows = (
        Attempt.objects.filter(run=run)
        .order_by()
        .values("provenance", "upload", "task__uid")
        .annotate(rows=Count("pk"), broken=Count("pk", filter=Q(verdict=Verdict.ERROR)))
    )
    counts: dict[int | None, list[int]] = defaultdict(lambda: [0, 0])
    uids: dict[int | None, set[str]] = defaultdict(set)
    files: dict[int | None, set[str]] = defaultdict(set)
    for row in rows.values_list("provenance", "upload", "task__uid", "rows", "broken"):
        key, upload, uid, count, broken = row
        counts[key][0] += count
        counts[key][1] += broken
        uids[key].add(uid)
        if upload is not None:
            brought[upload] += count
            files[key].add(names.get(upload, ""))
    values = dict(Provenance.objects.filter(pk__in=[key for key in counts if key]).values_list("pk", "value"))
    return [
        SaidBy(
            said=values.get(key) if key is not None else None,
            rows=counts[key][0],
            errors=counts[key][1],
            uids=frozenset(uids[key]),
            files=tuple(sorted(filter(None, files[key]))),
        )
        for key in sorted(counts, key=lambda key: (key is None, key or 0))
    ]
