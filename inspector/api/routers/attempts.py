"""Attempts: lists, one in outline, and its steps, effects, checks, states and row."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from typing import Annotated, BinaryIO, Literal, cast

import msgspec
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from ninja import Field, Path, Query, Router, Schema

from inspector.api.answers import for_sender, json_answer, lines_answer, validate
from inspector.api.attempt_parts import effect_items, outline, step_items, summary
from inspector.api.auth import access, needs
from inspector.api.errors import bad_field, not_found
from inspector.api.operations import AttemptId, Listing, Sparse, operation, reads, reads_list
from inspector.api.pagination import Items, Place, Slice, cursor_to, cut, no_such_place, place_of, question_of
from inspector.api.parsing import JSON, broken_json, kind_of_body
from inspector.api.plain import encoded, plain
from inspector.api.structs import (
    AttemptOutline,
    AttemptSummary,
    EffectItem,
    PushLine,
    PushReport,
    StateRow,
    StateTable,
    StepItem,
)
from inspector.api.visibility import attempt_or_404, hidden_from, refuse_unknown_runs, run_or_404, visible_attempts
from runs.errorclasses import ErrorClass
from runs.masking import CURRENT as MASKED_BY
from runs.models import Attempt
from runs.payloads import load_evidence, load_record, restore_row
from runs.pushing import push, push_upload
from runs.queries.attempt_evidence import checks_panel
from runs.queries.attempt_list import AttemptFilters, attempts_behind, attempts_fitting, count_of, stream
from runs.queries.attempt_structs import ChecksPanel
from runs.queries.attempts import attempt_row
from runs.queries.state_tables import state_tables, table_records
from runs.records import Verdict
from runs.signatures import Label, Signature

router = Router()
_LINES = ("application/x-ndjson", "application/ndjson", "application/jsonl")
StepNumber = Annotated[int, Path(ge=1, le=2**31 - 1, description="Steps count from 1.")]

Names = list[str]


class AttemptFacets(Schema):
    """Several values of one filter mean "one of them"; all filters must fit."""

    run: Names = Field([], description="Slugs of runs.", max_length=50)
    benchmark: str = Field("", max_length=200)
    task: Names = Field([], description="Uids of tasks.", max_length=50)
    domain: Names = Field([], max_length=50)
    model: Names = Field([], max_length=50)
    verdict: list[Verdict] = Field([], max_length=3)
    signature: list[Signature] = Field([], max_length=20)
    label: list[Label] = Field([], max_length=20)
    tool: Names = Field([], description="Tools that were called.", max_length=50)
    error_class: list[ErrorClass] = Field([], max_length=20)
    finish: Names = Field([], description="Finish reasons.", max_length=50)
    repetition: int | None = Field(None, ge=0, le=2**31 - 1)
    replaced: bool = Field(False, description="Also errors that a later row replaced.")


class AttemptQuery(AttemptFacets, Listing):
    pass


class ExportQuery(AttemptFacets):
    content: Literal["summary", "row"] = Field(
        "summary", description="What a line is: the attempt in a list's words, or its row as the harness wrote it."
    )


def _filters(query: AttemptFacets, request: HttpRequest, *runs: str) -> AttemptFilters:
    if query.signature or query.label or query.error_class:
        needs(evaluates=True)(request)
    refuse_unknown_runs([] if runs else query.run, access(request))
    return AttemptFilters(
        runs=runs or tuple(query.run),
        benchmark=query.benchmark,
        tasks=tuple(query.task),
        domains=tuple(query.domain),
        models=tuple(query.model),
        verdicts=tuple(verdict.value for verdict in query.verdict),
        signatures=tuple(value.value for value in query.signature),
        labels=tuple(value.value for value in query.label),
        tools=tuple(query.tool),
        error_classes=tuple(value.value for value in query.error_class),
        finish_reasons=tuple(query.finish),
        repetition=query.repetition,
        replaced=query.replaced,
    )


def _slice(request: HttpRequest, query: AttemptQuery, filters: AttemptFilters) -> Slice[AttemptSummary]:
    question = question_of(request)
    place = place_of(query.cursor, question)
    if place is not None and not (place.key.isascii() and place.key.isdecimal() and len(place.key) < 19):
        raise no_such_place("is none that this server gave. Take it from `next` of the answer before.")
    found = attempts_fitting(filters, visible_attempts(access(request)))
    total = count_of(found)
    rows = attempts_behind(found, 0 if place is None else int(place.key), query.limit + 1)
    following = None
    if len(rows) > query.limit:
        following = cursor_to(Place(question, query.limit, str(rows[query.limit - 1].pk)))
    return Slice([summary(row) for row in rows[: query.limit]], following, total)


@reads_list(
    router,
    "/attempts",
    AttemptSummary,
    example={"id": 7, "run": "desk-birch", "task": "desk.py:test_1", "repetition": 0, "verdict": "failed"},
)
def index(request: HttpRequest, query: Query[AttemptQuery]) -> Slice[AttemptSummary]:
    """Attempts of all runs, by id. For failed ones with the search and all facets see `/failures`."""
    return _slice(request, query, _filters(query, request))


@reads_list(router, "/runs/{slug}/attempts", AttemptSummary)
def of_run(request: HttpRequest, slug: str, query: Query[AttemptQuery]) -> Slice[AttemptSummary]:
    """The attempts of a run, by id."""
    run = run_or_404(slug, access(request))
    return _slice(request, query, _filters(query, request, run.slug))


@operation(router, ["GET"], "/runs/{slug}/attempts.ndjson", {200: ("application/x-ndjson", {"type": "string"}, None)})
def export(request: HttpRequest, slug: str, query: Query[ExportQuery]) -> HttpResponseBase:
    """All attempts of a run that fit, one a line, sent as they are read, however many there are.

    With `content=row` each line is equal as JSON to the row that came in, but for secrets, which are masked: the file
    can be read in again.
    """
    run = run_or_404(slug, access(request))
    rows = query.content == "row"
    if rows:
        needs(evaluates=True)(request)
    found = attempts_fitting(_filters(query, request, run.slug), visible_attempts(access(request)))
    hidden = hidden_from(access(request))

    def lines() -> Iterator[bytes]:
        for attempt in stream(found, traces=rows):
            yield (restore_row(attempt) if rows else encoded(plain(summary(attempt), hidden))) + b"\n"

    return lines_answer(request, lines(), f"{run.slug}.jsonl" if rows else f"{run.slug}-attempts.ndjson")


@operation(
    router,
    ["POST"],
    "/runs/{slug}/attempts",
    {200: ("application/json", {"$struct": PushReport}, {"run": "desk-birch", "stored": 1, "lines": [
        {"line": 1, "outcome": "stored", "uid": "desk.py:test_1", "repetition": 0, "reason": ""}]})},
    check=needs(writes=True),
    body={
        "application/x-ndjson": {"type": "string", "description": "Rows of `tb infer`, one a line."},
        "application/json": {"type": "object", "description": "One row of `tb infer`."},
    },
)  # fmt: skip
def pushed(request: HttpRequest, slug: str) -> HttpResponse:
    """Adds attempts to a run while it is going: rows of `tb infer`, one a line.

    Pushing a row again changes nothing, so a sender that got no answer sends the same again. The answer says of each
    line what became of it: stored, same, replaced (a result in place of an error), conflict (another result at a place
    that is taken: the first is kept) or rejected, with the reason.
    """
    who = access(request)
    run = run_or_404(slug, who)
    kind = kind_of_body(request, {*_LINES, JSON}, send=f"{_LINES[0]}, or {JSON} for one row")
    upload = push_upload(run)
    lines: list[PushLine] = []
    # A request can be read as a file.
    body = _one_row(request) if kind == JSON else cast(BinaryIO, request)
    for part in push(run, upload, body, max_line=settings.MAX_LINE):
        lines += [
            PushLine(line=row.line, outcome=row.outcome, uid=row.uid, repetition=row.repetition, reason=row.reason)
            for row in part
        ]
    outcomes = [line.outcome for line in lines]
    report = PushReport(
        run=run.slug,
        upload=upload.pk,
        stored=outcomes.count("stored"),
        same=outcomes.count("same"),
        replaced=outcomes.count("replaced"),
        conflicts=outcomes.count("conflict"),
        rejected=outcomes.count("rejected"),
        lines=lines,
    )
    return json_answer(request, plain(report))


def _one_row(request: HttpRequest) -> BytesIO:
    """A body that is one JSON object, on one line. Raises `Problem` 422 for what is none."""
    text = request.read(settings.MAX_LINE + 1)
    try:
        msgspec.json.decode(text, type=dict[str, msgspec.Raw])
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        reason = broken_json(text) or "is no JSON object. Send one row, or several as application/x-ndjson."
        raise bad_field("body", reason, place="body") from None
    # A line end within JSON stands between values only.
    return BytesIO(text.replace(b"\r", b" ").replace(b"\n", b" "))


def _opened(request: HttpRequest, attempt_id: int) -> Attempt:
    """The attempt, its version named: what is stored of it changes only when it is classified anew."""
    attempt = attempt_or_404(attempt_id, access(request))
    validate(request, attempt.pk, attempt.digest, attempt.signature_version, attempt.signature, MASKED_BY)
    return attempt


@reads(router, "/attempts/{attempt_id}", AttemptOutline)
def detail(request: HttpRequest, attempt_id: AttemptId, query: Query[Sparse]) -> AttemptOutline:
    """An attempt in outline: which it is, the agent's claim and what stands against it, and a letter for each step."""
    return outline(attempt_or_404(attempt_id, access(request)), access(request))


class StepQuery(Listing):
    cut: int | None = Field(None, description="Characters of each content to send.", ge=0, le=10_000_000)


@reads_list(router, "/attempts/{attempt_id}/steps", StepItem)
def steps(request: HttpRequest, attempt_id: AttemptId, query: Query[StepQuery]) -> Slice[StepItem]:
    """The steps of an attempt as recorded: messages, thoughts, tool calls with their responses."""
    attempt = _opened(request, attempt_id)
    rows = Items(step_items(attempt, access(request)))
    found = cut(request, rows, lambda row: row.index, cursor=query.cursor, limit=query.limit)
    if query.cut is None:
        return found
    return Slice([_cut(row, query.cut) for row in found.items], found.next, found.total)


class OneStepQuery(Sparse):
    cut: int | None = Field(None, description="Characters of the content to send.", ge=0, le=10_000_000)


@reads(router, "/attempts/{attempt_id}/steps/{number}", StepItem)
def step(request: HttpRequest, attempt_id: AttemptId, number: StepNumber, query: Query[OneStepQuery]) -> StepItem:
    """One step. Steps count from 1."""
    items = step_items(_opened(request, attempt_id), access(request))
    if not 0 < number <= len(items):
        raise not_found(f"The attempt has {len(items)} steps, counted from 1.")
    found = items[number - 1]
    return found if query.cut is None else _cut(found, query.cut)


def _cut(row: StepItem, length: int) -> StepItem:
    if row.content is None or len(row.content) <= length:
        return row
    return msgspec.structs.replace(row, content=row.content[:length], cut=True)


@reads_list(router, "/attempts/{attempt_id}/effects", EffectItem, check=needs(evaluates=True))
def effects(request: HttpRequest, attempt_id: AttemptId, query: Query[Listing]) -> Slice[EffectItem]:
    """The differences between before, after and required: failing first, then correct, then ungraded ones.

    A value that is absent, or was not recorded, is left out.
    """
    rows = Items(effect_items(_opened(request, attempt_id)))
    return cut(request, rows, lambda row: row.number, cursor=query.cursor, limit=query.limit)


@reads(router, "/attempts/{attempt_id}/checks", ChecksPanel, check=needs(evaluates=True))
def checks(request: HttpRequest, attempt_id: AttemptId, query: Query[Sparse]) -> ChecksPanel:
    """The executable conditions: state comparisons, assertions, rubric questions."""
    attempt = _opened(request, attempt_id)
    return checks_panel(load_record(attempt.trace), load_evidence(attempt.trace).graded)


@reads_list(router, "/attempts/{attempt_id}/states", StateTable)
def states(request: HttpRequest, attempt_id: AttemptId, query: Query[Listing]) -> Slice[StateTable]:
    """The tables of the recorded states, with their numbers of records. Empty where no state was recorded."""
    facts = state_tables(_opened(request, attempt_id), access=access(request))
    tables = [
        StateTable(
            server=table.server,
            table=table.table,
            rows_before=table.before,
            rows_after=table.after,
            rows_required=table.required,
            changed=table.changed,
            same=table.same,
            differences=table.differences,
        )
        for table in facts
    ]
    return cut(request, Items(tables), lambda row: (row.server, row.table), cursor=query.cursor, limit=query.limit)


class RecordsQuery(Listing):
    server: str = Field(description="The tool server whose state it is.", max_length=1000)
    table: str = Field(max_length=1000)
    side: Literal["before", "after", "required"] = Field(description="Which of the three states.")


@reads_list(router, "/attempts/{attempt_id}/states/records", StateRow)
def records(request: HttpRequest, attempt_id: AttemptId, query: Query[RecordsQuery]) -> Slice[StateRow]:
    """The records of one table in one of the three states."""
    if query.side == "required":
        needs(evaluates=True)(request)
    found = table_records(_opened(request, attempt_id), query.server, query.table, query.side)
    if found is None:
        raise not_found("There is no such server, or that state of it was not recorded.")
    rows = [StateRow(position=number, record=record) for number, record in enumerate(found)]
    return cut(request, Items(rows), lambda row: row.position, cursor=query.cursor, limit=query.limit)


@operation(
    router,
    ["GET"],
    "/attempts/{attempt_id}/raw",
    {200: ("application/json", {"type": "object"}, None)},
    check=needs(evaluates=True),
)
def raw(request: HttpRequest, attempt_id: AttemptId) -> HttpResponse:
    """The row as it came in, equal as JSON but for secrets, which are masked. To be saved, never to be shown by a
    browser."""
    attempt = _opened(request, attempt_id)
    found = attempt_row(attempt.pk, access=access(request))
    if found is None:
        raise not_found("There is no attempt with this id.")
    response = HttpResponse(
        found.content,
        content_type="application/json",
        headers={
            "Content-Disposition": f'attachment; filename="{found.file_name}"',
            "X-Content-Type-Options": "nosniff",
            "ETag": getattr(request, "_api_etag", ""),
        },
    )
    return for_sender(response)
