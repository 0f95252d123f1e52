"""What the pages of uploads show."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime

import msgspec
from django.conf import settings
from django.db.models import Case, Count, F, OuterRef, Q, QuerySet, Subquery, When, Window
from django.db.models.functions import Coalesce, RowNumber
from django.http import Http404
from django.utils import timezone

from runs.access import Access
from runs.bundles import ARCHIVE
from runs.models import Benchmark, Chunk, ChunkState, Run, Upload, UploadProblem, UploadState
from runs.queries.numbers import Numbers, numbers_by_run
from runs.queries.paging import Page, page_of
from runs.querysets import for_evaluators, visible_runs, visible_uploads
from runs.uploads import suggestion_for, upload_warnings

__all__ = [
    "MemberRow", "Problem", "RunLink", "UploadList", "UploadRow", "link_to", "member_rows", "problem_rows",
    "reading_now", "upload_list", "upload_row", "upload_rows", "uploads_total",
]  # fmt: skip

PAGE_SIZE = 25
ACTIVE_LIMIT = 100
PROBLEMS_IN_LIST = 5
PROBLEMS_ON_PAGE = 50
QUIET_SECONDS = 15.0
QUIET_CHUNKS = 5
"""Nothing stored for so many times what a chunk took so far, and for QUIET_SECONDS, is said; after a lease always."""
ACTIVE = (UploadState.ASKING, UploadState.WAITING, UploadState.READING)


class Problem(msgspec.Struct, frozen=True):
    line: int
    kind: str
    reason: str
    uid: str
    repetition: int | None
    kept: str


class RunLink(msgspec.Struct, frozen=True):
    slug: str
    title: str
    numbers: Numbers


class UploadLink(msgspec.Struct, frozen=True):
    pk: int
    file_name: str


class MemberRow(msgspec.Struct, frozen=True, kw_only=True):
    """A result file of an archive: an upload of its own, told in short."""

    pk: int
    file_name: str
    state: str
    error: str
    run: str | None
    """The slug of the run that its rows went into."""
    read: int
    stored: int
    same: int
    replaced: int
    passed: int
    failed: int
    errors: int
    conflicts: int
    rejected: int
    masked: int


class UploadRow(msgspec.Struct, frozen=True, kw_only=True):
    """One uploaded file and what became of it."""

    pk: int
    file_name: str
    size: int
    state: str
    reader: str
    error: str
    read: int
    stored: int
    same: int
    replaced: int
    passed: int
    failed: int
    errors: int
    conflicts: int
    rejected: int
    mask: bool = False
    """Secrets are masked before rows are stored."""
    masked: int = 0
    """Rows that had some."""
    created_at: datetime
    seconds: float | None
    """From the start of reading to its end, or until now."""
    seconds_left: float | None
    """An estimate by the pace so far; None where there is none, or `quiet` says that it does not hold."""
    quiet: float | None = None
    """Seconds since a part of the file was last stored, where that is far longer than a part takes: no worker is at it,
    or the one that was has died."""
    progress: float
    """Share of the file that is stored, from 0 to 1; an estimate until the file is cut."""
    run: RunLink | None
    run_name: str
    archive: UploadLink | None
    """The archive that it came in."""
    followed: bool
    """Its file is followed while it is being written."""
    members: int
    """Result files in it; always 0 where it is no archive."""
    files: list[MemberRow] = []
    """The first of them, as `runs.queries.archives` puts them in."""
    problems: list[Problem]
    problem_total: int
    warnings: list[str]
    suggested_model: str
    benchmark: str
    repetitions: int | None
    can_retry: bool

    @property
    def is_archive(self) -> bool:
        return self.reader == ARCHIVE

    @property
    def asking(self) -> bool:
        return self.state == UploadState.ASKING

    @property
    def moving(self) -> bool:
        """Something changes by itself, so the page asks again."""
        return self.state in {UploadState.WAITING, UploadState.READING}

    @property
    def kind(self) -> str:
        """The list that it stands in: `asking`, `moving` or `finished`."""
        return "asking" if self.asking else "moving" if self.moving else "finished"

    @property
    def tone(self) -> str:
        """`ok`, `warn`, `bad` or `dim`."""
        if self.state == UploadState.FAILED:
            return "bad"
        if self.state == UploadState.DONE:
            return "warn" if self.not_stored or self.warnings else "ok"
        return "warn" if self.state in {UploadState.STOPPED, UploadState.ASKING} else "dim"

    @property
    def not_stored(self) -> int:
        return self.rejected + self.conflicts

    @property
    def notes(self) -> int:
        """Lines that were stored and have something to be said about them."""
        return max(0, self.problem_total - self.not_stored)

    @property
    def rate(self) -> int | None:
        """Rows a minute."""
        return round(self.read * 60 / self.seconds) if self.seconds and self.read else None


class RunChoice(msgspec.Struct, frozen=True):
    slug: str
    title: str


class UploadList(msgspec.Struct, frozen=True):
    active: list[UploadRow]
    finished: list[UploadRow]
    page: Page
    runs: list[RunChoice]
    """Stored runs that a file can be added to, newest first."""
    benchmarks: list[str]

    @property
    def asking(self) -> list[UploadRow]:
        return [row for row in self.active if row.asking]

    @property
    def moving(self) -> list[UploadRow]:
        return [row for row in self.active if row.moving]


def upload_list(page: int = 1, *, access: Access) -> UploadList:
    """The uploads that are not finished, and a page of those that are."""
    active = list(_uploads(access).filter(state__in=ACTIVE)[:ACTIVE_LIMIT])
    done = _uploads(access).exclude(state__in=ACTIVE)
    where = page_of(done.count(), page, PAGE_SIZE)
    finished = list(done[max(0, where.first - 1) : where.last])
    rows = _rows([*active, *finished], PROBLEMS_IN_LIST)
    return UploadList(
        rows[: len(active)], rows[len(active) :], where, run_choices(access=access), benchmark_names(access=access)
    )


def upload_row(pk: int, *, access: Access) -> UploadRow:
    """One upload with its first problems. Raises Http404."""
    upload = _uploads(access).filter(pk=pk).first()
    if upload is None:
        raise Http404
    return _rows([upload], PROBLEMS_ON_PAGE)[0]


def member_rows(archive: int, *, access: Access) -> list[UploadRow]:
    """The result files of an archive, each with its first problems; as many as a list has that are not finished."""
    return _rows(list(_uploads(access).filter(archive=archive)[:ACTIVE_LIMIT]), PROBLEMS_IN_LIST)


def uploads_total(*, access: Access) -> int:
    for_evaluators(access)
    return Upload.objects.filter(visible_uploads(access)).count()


def upload_rows(start: int, count: int, *, access: Access) -> list[UploadRow]:
    """A part of all uploads, the latest first, each with its first problems."""
    return _rows(list(_uploads(access)[start : start + count]), PROBLEMS_IN_LIST)


def run_choices(limit: int = 200, *, access: Access) -> list[RunChoice]:
    runs = Run.objects.filter(visible_runs(access)).select_related("benchmark")[:limit]
    return [RunChoice(run.slug, f"{run.model} on {run.benchmark.name}") for run in runs]


def benchmark_names(limit: int = 200, *, access: Access) -> list[str]:
    """Those that a run which the asker sees is of."""
    seen = Run.objects.filter(visible_runs(access)).order_by().values("benchmark")
    return list(Benchmark.objects.filter(pk__in=seen).values_list("name", flat=True)[:limit])


def problem_rows(pk: int) -> Iterator[Problem]:
    """Everything that is to be said about the lines of an upload, in order; one pass over the database."""
    for problem in UploadProblem.objects.filter(upload=pk).order_by("line", "id").iterator(2000):
        yield _problem(problem)


def reading_now(runs: Sequence[int]) -> dict[int, tuple[int, float]]:
    """Run → (upload, share stored) for the runs that are being read. One query."""
    reading = Upload.objects.filter(run__in=runs, state__in=[UploadState.WAITING, UploadState.READING])
    uploads = _with_chunks(reading).order_by("pk")
    return {upload.run_id: (upload.pk, _progress(upload)) for upload in uploads if upload.run_id is not None}


def _uploads(access: Access) -> QuerySet[Upload]:
    """Those that the asker sees, with lines of files: raises PermissionDenied for who may not evaluate."""
    for_evaluators(access)
    members = Upload.objects.filter(archive=OuterRef("pk")).order_by().values("archive").annotate(files=Count("pk"))
    return (
        _with_chunks(Upload.objects.filter(visible_uploads(access)))
        .select_related("run__benchmark", "archive")
        .annotate(members_total=Coalesce(Subquery(members.values("files")), 0))
        .order_by("-created_at", "-pk")
    )


def _rows(uploads: Sequence[Upload], problem_limit: int) -> list[UploadRow]:
    problems = _first_problems(uploads, problem_limit)
    totals = _problem_totals(uploads)
    numbers = numbers_by_run({upload.run_id for upload in uploads if upload.run_id is not None})
    return [_row(upload, problems[upload.pk], totals.get(upload.pk, 0), numbers) for upload in uploads]


def _row(upload: Upload, problems: list[Problem], total: int, numbers: dict[int, Numbers]) -> UploadRow:
    elapsed = None
    if upload.started_at is not None:
        elapsed = ((upload.finished_at or timezone.now()) - upload.started_at).total_seconds()
    progress, quiet = _progress(upload), _quiet(upload)
    moving = upload.state in {UploadState.WAITING, UploadState.READING}
    run = upload.run
    return UploadRow(
        pk=upload.pk,
        file_name=upload.file_name,
        size=upload.size,
        state=upload.state,
        reader=upload.reader,
        error=upload.error,
        read=upload.read,
        stored=upload.stored,
        same=upload.same,
        replaced=upload.replaced,
        passed=upload.passed,
        failed=upload.failed,
        errors=upload.errors,
        conflicts=upload.conflicts,
        mask=upload.mask,
        masked=upload.masked,
        rejected=upload.rejected,
        created_at=upload.created_at,
        seconds=elapsed,
        seconds_left=elapsed * (1 - progress) / progress
        if moving and elapsed and progress > 0.02 and quiet is None and not upload.followed_path
        else None,
        quiet=quiet,
        progress=progress,
        run=None if run is None else link_to(run, numbers),
        run_name=upload.run_name,
        archive=None if upload.archive is None else UploadLink(upload.archive.pk, upload.archive.file_name),
        followed=bool(upload.followed_path),
        members=getattr(upload, "members_total", 0),
        problems=problems,
        problem_total=total,
        warnings=upload_warnings(upload),
        suggested_model=upload.model or suggestion_for(upload),
        benchmark=upload.benchmark,
        repetitions=upload.repetitions,
        can_retry=upload.state == UploadState.STOPPED and bool(upload.path),
    )


def link_to(run: Run, numbers: dict[int, Numbers]) -> RunLink:
    """A run with its benchmark, and the numbers of runs."""
    return RunLink(run.slug, f"{run.model} on {run.benchmark.name}", numbers.get(run.pk, Numbers(k=run.repetitions)))


def _problem(problem: UploadProblem) -> Problem:
    return Problem(problem.line, problem.kind, problem.reason, problem.uid, problem.repetition, problem.kept)


def _first_problems(uploads: Sequence[Upload], limit: int) -> defaultdict[int, list[Problem]]:
    numbered = (
        UploadProblem.objects.filter(upload__in=[upload.pk for upload in uploads])
        .annotate(place=Window(RowNumber(), partition_by="upload", order_by=[F("line").asc(), F("id").asc()]))
        .filter(place__lte=limit)
        .order_by("upload_id", "line", "id")
    )
    found: defaultdict[int, list[Problem]] = defaultdict(list)
    for problem in numbered:
        found[problem.upload_id].append(_problem(problem))
    return found


def _problem_totals(uploads: Sequence[Upload]) -> dict[int, int]:
    rows = UploadProblem.objects.order_by().filter(upload__in=[upload.pk for upload in uploads]).values("upload")
    return {row["upload"]: row["total"] for row in rows.annotate(total=Count("id"))}


def _with_chunks(uploads: QuerySet[Upload]) -> QuerySet[Upload]:
    """With the chunks that were cut so far, and stored, of those that are not finished. Chunk 0 is the cutting itself.

    It is one statement with the rows counted: read one after the other, the bar would be ahead of the rows.
    """
    chunks = Chunk.objects.filter(upload=OuterRef("pk"), number__gt=0).order_by().values("upload")
    counts = {"chunks_cut": Q(), "chunks_stored": Q(state=ChunkState.DONE)}
    return uploads.annotate(
        **{
            name: Case(
                When(state__in=ACTIVE, then=Subquery(chunks.filter(which).annotate(total=Count("id")).values("total"))),
                default=None,
            )
            for name, which in counts.items()
        }
    )


def _chunks_stored(upload: Upload) -> int:
    return getattr(upload, "chunks_stored", None) or 0


def _progress(upload: Upload) -> float:
    if upload.state == UploadState.DONE:
        return 1.0
    cut = min(1.0, upload.bytes_split / upload.size) if upload.size else 0.0
    if upload.followed_path:
        return cut
    if upload.split_done:
        cut = 1.0
    total = getattr(upload, "chunks_cut", None) or 0
    return cut * _chunks_stored(upload) / total if total else 0.0


def _quiet(upload: Upload) -> float | None:
    """Seconds without a stored chunk, where workers should have stored one. Cutting an archive may take long."""
    by_workers = not upload.followed_path and upload.lease_until is None and upload.reader != ARCHIVE
    if upload.state != UploadState.READING or not by_workers or upload.started_at is None or upload.moved_at is None:
        return None
    stored = _chunks_stored(upload)
    usual = (upload.moved_at - upload.started_at).total_seconds() / stored if stored else 0.0
    seconds = (timezone.now() - upload.moved_at).total_seconds()
    return seconds if seconds > max(QUIET_SECONDS, min(QUIET_CHUNKS * usual, settings.LEASE_SECONDS)) else None
