"""What became of an archive: its own lines, and the result files in it together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from django.db.models import Count, F, Q, QuerySet, Sum, Window
from django.db.models.functions import RowNumber
from msgspec.structs import replace

from runs.access import Access
from runs.models import Run, Upload, UploadState
from runs.queries.numbers import numbers_by_run
from runs.queries.uploads import MemberRow, RunLink, UploadRow, link_to
from runs.querysets import for_evaluators, visible_uploads

__all__ = ["with_members"]

FILES_SHOWN = 500
_COUNTS = (
    "read", "stored", "same", "replaced", "passed", "failed", "errors", "conflicts", "rejected", "masked",
)  # fmt: skip
_UNREAD = (UploadState.FAILED, UploadState.STOPPED)


def with_members(rows: Sequence[UploadRow], *, access: Access) -> list[UploadRow]:
    """The same rows; an archive's with the counts of its result files added up, the files themselves, and their run
    where all are of one. It is done when all of them have ended. At most four queries, none where there is no archive.
    """
    archives = [row.pk for row in rows if row.is_archive and row.members]
    if not archives:
        return list(rows)
    for_evaluators(access)
    members = Upload.objects.filter(visible_uploads(access), archive__in=archives).order_by()
    sums = _sums(members)
    files = _files(members)
    links = _only_runs(members)
    return [
        _with_members(row, sums[row.pk], files[row.pk], links.get(row.pk)) if row.pk in sums else row for row in rows
    ]


def _with_members(row: UploadRow, sums: dict[str, int], files: list[MemberRow], run: RunLink | None) -> UploadRow:
    added = {name: getattr(row, name) + sums[name] for name in _COUNTS}
    state = row.state
    if state == UploadState.DONE and sums["working"]:
        state = UploadState.READING.value
    elif state == UploadState.DONE and sums["asking"]:
        state = UploadState.ASKING.value
    error = row.error
    if sums["unread"] and not error:
        were = "was" if sums["unread"] == 1 else "were"
        error = f"{sums['unread']:,} of {row.members:,} result files {were} not read to the end; `files` says why."
    progress = min(row.progress, 1 - (sums["working"] + sums["asking"]) / row.members)
    return replace(row, **added, state=state, error=error, progress=progress, files=files, run=run)


def _sums(members: QuerySet[Upload]) -> dict[int, dict[str, int]]:
    found = members.values("archive").annotate(
        **{f"sum_{name}": Sum(name) for name in _COUNTS},
        working=Count("pk", filter=Q(state__in=[UploadState.WAITING, UploadState.READING])),
        asking=Count("pk", filter=Q(state=UploadState.ASKING)),
        unread=Count("pk", filter=Q(state__in=_UNREAD)),
    )
    return {row["archive"]: {name.removeprefix("sum_"): value for name, value in row.items()} for row in found}


def _files(members: QuerySet[Upload]) -> defaultdict[int, list[MemberRow]]:
    numbered = (
        members.select_related("run")
        .annotate(place=Window(RowNumber(), partition_by="archive", order_by=F("pk").asc()))
        .filter(place__lte=FILES_SHOWN)
        .order_by("archive", "pk")
    )
    found: defaultdict[int, list[MemberRow]] = defaultdict(list)
    for member in numbered:
        assert member.archive_id is not None
        found[member.archive_id].append(
            MemberRow(
                pk=member.pk,
                file_name=member.file_name,
                state=member.state,
                error=member.error,
                run=None if member.run is None else member.run.slug,
                **{name: getattr(member, name) for name in _COUNTS},
            )
        )
    return found


def _only_runs(members: QuerySet[Upload]) -> dict[int, RunLink]:
    """Archive → the run, where its files are of one."""
    runs: defaultdict[int, set[int]] = defaultdict(set)
    pairs = members.filter(archive__isnull=False, run__isnull=False).values_list("archive_id", "run_id").distinct()
    for archive, run in pairs:
        assert archive is not None
        assert run is not None
        runs[archive].add(run)
    single = {archive: min(found) for archive, found in runs.items() if len(found) == 1}
    known = Run.objects.select_related("benchmark").in_bulk(set(single.values()))
    numbers = numbers_by_run(set(known))
    return {archive: link_to(known[run], numbers) for archive, run in single.items()}
