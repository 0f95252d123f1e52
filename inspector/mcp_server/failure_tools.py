"""Tools about what went wrong: a run's failures in one answer, and the search over failed attempts."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated

from mcp_types import CallToolResult
from pydantic import Field

from inspector.mcp_server import reading
from inspector.mcp_server.attempt_lists import LISTED_VALUES, Wanted, check_names, listed, refuse_telling
from inspector.mcp_server.budget import answer
from inspector.mcp_server.calling import Ctx, Offset, RunSlug, access_of, page_number, reads, window
from inspector.mcp_server.failure_answers import (
    FailureCount,
    FailureSummary,
    FoundAttempts,
    FoundDifference,
    FoundGroup,
    FoundLine,
    WrongField,
)
from inspector.mcp_server.quoting import place_of, quote
from inspector.mcp_server.refusals import must_evaluate, unknown
from runs.access import Access
from runs.queries.failure_filters import FailureFilters, Grouping
from runs.queries.failure_index import Facet
from runs.queries.failure_rows import FailureRow
from runs.queries.failures import GROUPS_PER_PAGE, ROWS_PER_PAGE, FailureGroup, FailurePage
from runs.queries.run_tasks import TaskFilters
from runs.queries.values import stored_value
from runs.signatures import Signature

__all__ = ["find_attempts", "run_failures"]

_SHOWN_COUNTS = 8
_CLAIM = 160


class Sort(StrEnum):
    TASK = "task"
    MOST_DIFFERENCES = "-differences"
    FEWEST_STEPS = "steps"
    MOST_STEPS = "-steps"
    MOST_TOOL_ERRORS = "-tool_errors"
    MOST_TOKENS = "-tokens"
    LONGEST = "-duration"


@reads
def run_failures(
    ctx: Ctx,
    run: RunSlug,
    domain: Annotated[str, Field(description="Only this domain, by its exact name; empty: all.")] = "",
) -> Annotated[CallToolResult, FailureSummary]:
    """Why a run fails, in one answer: signatures, domains, wrong fields, tools that erred, and the mistakes that most
    attempts share, each with ids of examples.

    When to call: first, for "why does run X fail (in domain Y)?". Next: attempt_outline(attempt) of an example of the
    largest group.
    """
    access = access_of(ctx)
    must_evaluate(access, "run_failures", "run_report(run) counts them by domain and task.")
    page = reading.run_read(access, run, TaskFilters())
    domains = [row.name for row in page.domains]
    if domain and domain not in domains:
        same = [name for name in domains if name.casefold() == domain.casefold()]
        if not same:
            raise unknown("domain", domain, domains, f"run_failures(run={run!r}) without a domain shows all.")
        domain = same[0]
    chosen: dict[Facet, tuple[str, ...]] = {Facet.RUN: (run,)}
    if domain:
        chosen[Facet.DOMAIN] = (domain,)
    found = reading.failures_read(access, FailureFilters(chosen=chosen, group=Grouping.SAME))
    whole = None if domain else reading.run_failures_read(access, page.run.pk)
    groups = [_group(group) for group in found.groups]
    counts = {facet: _counts(found, facet) for facet in (Facet.SIGNATURE, Facet.DOMAIN, Facet.ERRED)}
    where = f", domain={domain!r}" if domain else ""
    following = (
        [f"attempt_outline(attempt={groups[0].examples[0]}) shows an example of the largest group."] if groups else []
    )
    following.append(
        f"find_attempts(run={run!r}{where}, signature=…) lists attempts; field=…, tool=… and words=… work too."
    )
    if found.page.next is not None:
        following.append(f"find_attempts(run={run!r}{where}, group='same', offset={len(groups)}) gives more groups.")
    return answer(
        FailureSummary(
            run=run,
            domain=domain,
            failed=found.total,
            tasks=found.tasks,
            looked_like_success=_count(found, Facet.LOOKED, "yes"),
            claimed_success=_count(found, Facet.CLAIMED, "yes"),
            signatures=counts[Facet.SIGNATURE],
            domains=[] if domain else counts[Facet.DOMAIN],
            erring_tools=counts[Facet.ERRED],
            fields=[]
            if whole is None
            else [
                WrongField(
                    field=place_of(row.table, row.field),
                    kind=row.kind,
                    attempts=row.attempts,
                    tasks=row.tasks,
                    after=row.after,
                    required=row.required,
                )
                for row in whole.fields
            ],
            errors=[]
            if whole is None
            else [FailureCount(value=row.kind, title=row.title, count=row.count) for row in whole.errors],
            same_mistakes=groups,
            next=following,
        )
    )


@reads
def find_attempts(
    ctx: Ctx,
    run: Annotated[str, Field(description="Slug of a run; empty: all runs.")] = "",
    domain: Annotated[str, Field(description="Exact name of a domain.")] = "",
    task: Annotated[str, Field(description="A task's uid.")] = "",
    verdict: Annotated[Wanted, Field(description="Of which verdict. What went wrong only failed ones have.")] = (
        Wanted.FAILED
    ),
    words: Annotated[str, Field(description='Words and "phrases" that the transcript holds.')] = "",
    tool: Annotated[str, Field(description="A tool that was called.")] = "",
    erred: Annotated[str, Field(description="A tool that erred.")] = "",
    finish: Annotated[str, Field(description="A finish reason.")] = "",
    model: Annotated[str, Field(description="Exact name of a model.")] = "",
    signature: Annotated[Signature | None, Field(description="Why attempts failed.")] = None,
    label: Annotated[str, Field(description="A finer label of attempt_outline's `why`.")] = "",
    effect: Annotated[str, Field(description="wrong, missing, extra or reported.")] = "",
    table: Annotated[str, Field(description="A table with a difference.")] = "",
    field: Annotated[str, Field(description="`table.field` with a difference; `table.` for whole rows.")] = "",
    rubric: Annotated[str, Field(description="A rubric question that failed.")] = "",
    looked_like_success: Annotated[bool | None, Field(description="Whether the attempt looked like a success.")] = None,
    claimed_success: Annotated[bool | None, Field(description="Whether the agent claimed success.")] = None,
    group: Annotated[
        Grouping, Field(description="none: attempts. same: by first difference. task: by task.")
    ] = Grouping.NONE,
    sort: Annotated[Sort, Field(description="Order of attempts; - is descending.")] = Sort.TASK,
    values_of: Annotated[
        Facet | None, Field(description="Also list the values of this filter with their counts.")
    ] = None,
    offset: Offset = 0,
) -> Annotated[CallToolResult, FoundAttempts]:
    """Finds attempts of all runs: failed ones by what went wrong and by words in their transcripts, others by plain
    facts. Without the scope `evaluate`: all by plain facts only.

    When to call: to get ids, or to count attempts like one you found. Names are exact; values_of='field' (or 'tool',
    'signature', 'domain' …) lists what there is. Next: attempt_outline(attempt).
    """
    access = access_of(ctx)
    given: dict[Facet, str] = {
        Facet.RUN: run, Facet.DOMAIN: domain, Facet.TASK: task, Facet.TOOL: tool, Facet.ERRED: erred,
        Facet.FINISH: finish, Facet.MODEL: model, Facet.SIGNATURE: signature.value if signature else "",
        Facet.LABEL: label, Facet.EFFECT: effect, Facet.TABLE: table, Facet.FIELD: field, Facet.RUBRIC: rubric,
        Facet.LOOKED: _yes(looked_like_success), Facet.CLAIMED: _yes(claimed_success),
    }  # fmt: skip
    chosen = {facet: (value,) for facet, value in given.items() if value}
    if verdict is not Wanted.FAILED or not access.evaluates:
        telling: dict[str, object] = {
            "words": words.strip(), "signature": signature, "label": label, "effect": effect, "table": table,
            "field": field, "rubric": rubric, "looked_like_success": looked_like_success is not None,
            "claimed_success": claimed_success is not None, "group": group is not Grouping.NONE,
            f"sort='{sort.value}'": sort is Sort.MOST_DIFFERENCES,
        }  # fmt: skip
        refuse_telling(access, [name for name, asked in telling.items() if asked], values_of)
        return answer(listed(access, verdict, given, sort=sort.value, values_of=values_of, offset=offset))
    size = ROWS_PER_PAGE if group is Grouping.NONE else GROUPS_PER_PAGE
    filters = FailureFilters(
        chosen=chosen,
        text=words.strip()[:400],
        sort=sort.value.removeprefix("-"),
        descending=sort.value.startswith("-"),
        group=group,
        page=page_number(offset, size),
        whole=values_of,
    )
    page = reading.failures_read(access, filters)
    part = window(page.page, offset, size, size)
    if group is Grouping.NONE:
        rows = [row for one in page.groups for row in one.rows]
        found: list[FoundLine | FoundGroup] = [_line(row) for row in part.of(rows)]
    else:
        found = [_group(one) for one in part.of(page.groups)]
    made = FoundAttempts(
        verdict=verdict.value,
        attempts=page.total,
        tasks=page.tasks,
        values=[] if values_of is None else _counts(page, values_of, LISTED_VALUES),
        found=found,
        next=_following(page, found, given),
        **part.fields,
    )
    notes = []
    more = 0 if values_of is None else sum(len(one.choices) + one.more for one in page.facets if one.facet is values_of)
    if more > LISTED_VALUES:
        notes.append(f"{more - LISTED_VALUES:,} of {more:,} values. Other filters leave fewer.")
    if page.waiting and words:
        notes.append(f"{page.waiting:,} transcripts are not in the index yet, so words may be missed in them.")
    if not page.total:
        check_names(access, given, lambda scope, facet: _names(access, scope, facet))
    return answer(made.noting(*notes))


def _names(access: Access, scope: Mapping[Facet, str], facet: Facet) -> list[str]:
    chosen = {each: (value,) for each, value in scope.items() if value}
    alone = reading.failures_read(access, FailureFilters(chosen=chosen, group=Grouping.NONE, whole=facet))
    return [choice.value for one in alone.facets if one.facet is facet for choice in one.choices]


def _following(page: FailurePage, found: list[FoundLine | FoundGroup], given: Mapping[Facet, str]) -> list[str]:
    if page.no_words:
        return ["`words` has neither a letter nor a digit in it, so nothing was searched for."]
    if not page.stored:
        return ["No failed attempt is stored. list_runs() shows what there is."]
    if not found:
        names = [facet.value for facet, value in given.items() if value]
        return [
            f"Nothing fits all filters together. Leave one out: {', '.join(names) or 'words'}; or a smaller offset."
        ]
    first = found[0]
    if isinstance(first, FoundLine):
        return [f"attempt_outline(attempt={first.attempt}) shows the first one."]
    following = (
        [f"attempt_outline(attempt={first.examples[0]}) shows one of the first group."] if first.examples else []
    )
    if first.difference is not None:
        place = place_of(first.difference.table, first.difference.field)
        following.append(
            f"find_attempts(…, effect='{first.difference.kind}', field={quote(place)}) lists the first group."
        )
    return following


def _yes(value: bool | None) -> str:
    return "" if value is None else "yes" if value else "no"


def _counts(page: FailurePage, facet: Facet, most: int = _SHOWN_COUNTS) -> list[FailureCount]:
    choices = [choice for one in page.facets if one.facet is facet for choice in one.choices if choice.count]
    return [FailureCount(value=one.value, title=one.title, count=one.count) for one in choices[:most]]


def _count(page: FailurePage, facet: Facet, value: str) -> int:
    return next((one.count for one in _counts(page, facet) if one.value == value), 0)


def _group(group: FailureGroup) -> FoundGroup:
    found = group.difference
    return FoundGroup(
        difference=None
        if found is None
        else FoundDifference(
            kind=found.kind,
            table=found.table,
            field=found.field,
            after=stored_value(found.after),
            required=stored_value(found.required),
        ),
        task=group.task,
        attempts=group.total,
        tasks=group.tasks,
        examples=[row.pk for row in group.rows],
    )


def _line(row: FailureRow) -> FoundLine:
    first = row.effects[0] if row.effects else None
    claim = row.claim[:_CLAIM]
    return FoundLine(
        attempt=row.pk,
        run=row.run,
        task=row.uid,
        domain=row.domain,
        repetition=row.repetition,
        verdict=Wanted.FAILED.value,
        signature=row.signature,
        finish_reason=row.finish_reason,
        steps=row.steps,
        differences=row.differences,
        first_difference=None
        if first is None
        else FoundDifference(
            kind=first.kind,
            table=first.table,
            key=first.key,
            field=first.field,
            after=stored_value(first.after),
            required=stored_value(first.required),
        ),
        claim=claim + ("…" if len(row.claim) > _CLAIM or row.claim_cut else ""),
        excerpts=[f"step {one.step}: {''.join(piece.text for piece in one.pieces)}" for one in row.excerpts[:2]],
    )
