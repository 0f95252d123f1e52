"""`/uploads/`: files on their way in, what they asked, and what became of each."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any, cast

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from kombu.exceptions import OperationalError

from inspector.access import access_of, evaluators_only, writers_only
from inspector.companions import matched_files
from inspector.csv_lines import csv_lines
from inspector.filters import listed_members, page_number
from inspector.forms import AnswerForm, UploadForm
from inspector.http import HtmxHttpRequest, redirect_to, render_page, wants_part
from runs.access import Access
from runs.bundles import ARCHIVE
from runs.errors import RunsError
from runs.models import Upload, UploadState
from runs.queries.uploads import (
    Problem,
    benchmark_names,
    member_rows,
    problem_rows,
    run_choices,
    upload_list,
    upload_row,
)
from runs.querysets import visible_uploads
from runs.tasks import work
from runs.upload_files import has_room
from runs.uploads import Wishes, accept_upload, answer_upload, retry_upload, stop_upload

logger = logging.getLogger(__name__)

# One byte more than the reader takes, so that it says what is wrong.
COMPANION_LIMIT = (2 << 20) + 1


@evaluators_only
@require_http_methods(["GET", "HEAD", "POST"])
def index(request: HtmxHttpRequest) -> HttpResponse:
    """The list, and the place to drop files on. `inspector.asgi` keeps requests beyond the limit away."""
    if request.method != "POST":
        return _list(request)
    form = UploadForm(request.POST)
    files = cast("list[UploadedFile]", request.FILES.getlist("files"))
    if not form.is_valid() or not files:
        problems = [str(problem) for errors in form.errors.values() for problem in errors]
        return _refused(request, problems or ["No file was chosen. Choose at least one result file."], form)
    stored, problems = _accept(files, form.wishes(), access_of(request))
    if problems:
        return _refused(request, problems, form)
    if len(stored) == 1 and wants_part(request):
        return _one(request, stored[0].pk, listed=0)
    return redirect_to(request, "uploads")


def _accept(files: list[UploadedFile], wishes: Wishes, access: Access) -> tuple[list[Upload], list[str]]:
    """Takes in each file with its companion. One that is refused does not hold up the others."""
    stored = []
    matched, alone = matched_files([file.name or "" for file in files])
    problems = [
        f"{files[at].name!r} describes a run, and its result file was not sent along. Send both at once: "
        "the two names begin alike."
        for at in alone
    ]
    for at, companion in matched:
        file = files[at]
        beside = None
        if companion is not None:
            beside = files[companion].read(COMPANION_LIMIT)
        try:
            name = file.name or "without a name"
            upload = accept_upload(name, file.chunks(), companion=beside, wishes=wishes, access=access)
        except RunsError as error:
            problems.append(f"{file.name!r}: {error}")
            continue
        if upload.state == UploadState.WAITING:
            hint()
        stored.append(upload)
    return stored, problems


def _list(
    request: HtmxHttpRequest, problems: list[str] | None = None, form: UploadForm | None = None, status: int = 200
) -> HttpResponse:
    context = {
        "list": upload_list(page_number(request.GET), access=access_of(request)),
        "limit": settings.UPLOAD_LIMIT,
        "mask_always": settings.MASK_AT_INGEST,
        "form": form or UploadForm(),
        "problems": problems or [],
        "no_room": not has_room(),
    }
    return render_page(request, "uploads/index.html", context, status=status)


def _refused(request: HtmxHttpRequest, problems: list[str], form: UploadForm) -> HttpResponse:
    if wants_part(request):
        return render_page(request, "uploads/refused.html", {"problems": problems}, status=422)
    return _list(request, problems, form, status=422)


@evaluators_only
@require_safe
def detail(request: HtmxHttpRequest, pk: int) -> HttpResponse:
    """One upload. Asked by htmx, only its entry: that is how an entry follows its file."""
    return _one(request, pk)


def _one(
    request: HtmxHttpRequest, pk: int, form: AnswerForm | None = None, *, listed: int | None = None
) -> HttpResponse:
    """`listed`: how many members of the archive the asking list has; behind the entry come those that it lacks. None:
    what the request says, and it says nothing where the entry stands alone."""
    access = access_of(request)
    upload = upload_row(pk, access=access)
    if listed is None and wants_part(request):
        listed = listed_members(request.POST if request.method == "POST" else request.GET)
    # All members of an archive are made at once.
    members = member_rows(pk, access=access) if listed is not None and upload.members > listed else []
    context: dict[str, Any] = {"upload": upload, "form": form, "full": listed is None, "members": members}
    context["no_room"] = not has_room()
    if any(row.asking for row in (upload, *members)):
        context |= {"runs": run_choices(access=access), "benchmarks": benchmark_names(access=access)}
    return render_page(
        request, "uploads/detail.html", context, partial="entry", status=422 if form and form.errors else 200
    )


@writers_only
@require_POST
def answer(request: HtmxHttpRequest, pk: int) -> HttpResponse:
    upload = upload_or_404(request, pk)
    form = AnswerForm(request.POST)
    if form.is_valid():
        try:
            answer_upload(upload, form.wishes(), access=access_of(request))
        except RunsError as error:
            form.add_error(None, str(error))
        else:
            hint()
            return _after(request, pk)
    return _one(request, pk, form)


@writers_only
@require_POST
def stop(request: HtmxHttpRequest, pk: int) -> HttpResponse:
    stop_upload(upload_or_404(request, pk))
    return _after(request, pk)


@writers_only
@require_POST
def retry(request: HtmxHttpRequest, pk: int) -> HttpResponse:
    upload = upload_or_404(request, pk)
    try:
        retry_upload(upload)
    except RunsError as error:
        return _refused(request, [str(error)], UploadForm())
    hint()
    return _after(request, pk)


@evaluators_only
@require_safe
def problems(request: HtmxHttpRequest, pk: int) -> StreamingHttpResponse:
    """Every line that was not stored, or every file of an archive that was not read, as CSV."""
    is_archive = upload_or_404(request, pk).reader == ARCHIVE
    head, cells = (_MEMBER_HEAD, _member_cells) if is_archive else (_LINE_HEAD, _line_cells)
    lines = csv_lines(head, map(cells, problem_rows(pk)))
    response = StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8")
    response.headers["Content-Disposition"] = f'attachment; filename="upload-{pk}-lines.csv"'
    return response


def upload_or_404(request: HtmxHttpRequest, pk: int) -> Upload:
    return get_object_or_404(Upload, visible_uploads(access_of(request)), pk=pk)


def _after(request: HtmxHttpRequest, pk: int) -> HttpResponse:
    return _one(request, pk) if wants_part(request) else redirect_to(request, "uploads")


def hint() -> None:
    """Tells the workers that something waits. Where the broker is away, their next sweep finds it."""
    try:
        work.delay()
    except (OperationalError, OSError) as error:
        logger.warning("The workers could not be told of an upload: %s", error)


_LINE_HEAD = ("line", "kind", "uid", "repetition", "reason", "kept")
_MEMBER_HEAD = ("member", "kind", "reason")
"""A file of an archive that was not read has no task, no repetition, and no row that was kept instead."""


def _line_cells(row: Problem) -> Sequence[object]:
    return row.line, row.kind, row.uid, row.repetition, row.reason, row.kept


def _member_cells(row: Problem) -> Sequence[object]:
    return row.line, row.kind, row.reason
