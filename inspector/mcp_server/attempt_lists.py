"""Attempts of any verdict in plain facts: what `find_attempts` gives who may not see what went wrong, and of what did
not fail. What it tells stands in the grid of the run's page too."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from enum import StrEnum

from mcp.server.mcpserver.exceptions import ToolError

from inspector.mcp_server import reading
from inspector.mcp_server.failure_answers import FailureCount, FoundAttempts, FoundLine
from inspector.mcp_server.refusals import unknown, unknown_run
from runs.access import Access
from runs.models import Attempt
from runs.queries.attempt_list import VALUES, AttemptFilters
from runs.queries.failure_index import Facet

__all__ = ["LISTED_VALUES", "Wanted", "check_names", "listed", "refuse_telling"]

LISTED_VALUES = 60
_ROWS = 25
_MOST_NAMES = 5000
"""Values among which one that was not found is looked for."""
_PLAIN = "run, domain, task, tool, erred, finish, model, verdict, sort, offset and values_of (of these) work."


class Wanted(StrEnum):
    """Of which verdict."""

    FAILED = "failed"
    PASSED = "passed"
    ERROR = "error"
    ANY = "any"


def refuse_telling(access: Access, telling: Collection[str], values_of: Facet | None) -> None:
    """Raises ToolError where arguments ask for what went wrong: not everybody may know it, nor has every attempt it.

    `telling`: the names of such arguments that were given.
    """
    names = [f"`{name}`" for name in telling]
    if values_of is not None and values_of.value not in VALUES:
        names.append(f"`values_of='{values_of.value}'`")
    if not names:
        return
    given = ", ".join(names)
    if not access.evaluates:
        raise ToolError(
            f"{given} asks for what went wrong, which tells what tasks require. That needs the scope `evaluate`, and "
            f"an account that is an evaluator's. Without it: leave that out. {_PLAIN}"
        )
    raise ToolError(
        f"{given} asks for what went wrong, and only failed attempts have that. Leave `verdict` out, or leave that "
        f"out. {_PLAIN}"
    )


def listed(
    access: Access, wanted: Wanted, given: Mapping[Facet, str], *, sort: str, values_of: Facet | None, offset: int
) -> FoundAttempts:
    """The attempts that fit. Raises ToolError for a name that none has."""
    filters = _filters(wanted, given)
    found = reading.listing_read(
        access, filters, sort=sort.removeprefix("-"), descending=sort.startswith("-"), offset=offset, limit=_ROWS
    )
    if not found.total:
        check_names(access, given, lambda scope, facet: _names(access, scope, facet))
    values = [] if values_of is None else reading.values_read(access, filters, values_of.value, most=LISTED_VALUES + 1)
    end = offset + len(found.attempts)
    made = FoundAttempts(
        verdict=wanted.value,
        attempts=found.total,
        tasks=found.tasks,
        values=[FailureCount(value=value, title=value, count=count) for value, count in values[:LISTED_VALUES]],
        found=[_line(attempt) for attempt in found.attempts],
        total=found.total,
        offset=offset,
        shown=len(found.attempts),
        next_offset=end if end < found.total else None,
        next=_following(found.attempts, given),
    )
    notes = []
    if len(values) > LISTED_VALUES:
        notes.append(f"Values after the {LISTED_VALUES} most frequent ones. Other filters leave fewer.")
    if not access.evaluates:
        notes.append("What went wrong: the token needs the scope `evaluate`.")
    return made.noting(*notes)


def _filters(wanted: Wanted, given: Mapping[Facet, str]) -> AttemptFilters:
    def of(facet: Facet) -> tuple[str, ...]:
        return (given[facet],) if given.get(facet) else ()

    return AttemptFilters(
        runs=of(Facet.RUN),
        domains=of(Facet.DOMAIN),
        tasks=of(Facet.TASK),
        models=of(Facet.MODEL),
        tools=of(Facet.TOOL),
        erring=of(Facet.ERRED),
        finish_reasons=of(Facet.FINISH),
        verdicts=() if wanted is Wanted.ANY else (wanted.value,),
    )


def _names(access: Access, scope: Mapping[Facet, str], facet: Facet) -> list[str]:
    found = reading.values_read(access, _filters(Wanted.ANY, scope), facet.value, most=_MOST_NAMES)
    return [value for value, _ in found]


def check_names(
    access: Access,
    given: Mapping[Facet, str],
    names_of: Callable[[Mapping[Facet, str], Facet], Collection[str]],
) -> None:
    """Nothing was found. Where a value is one that no attempt has, that is what was wrong: raises ToolError.

    `names_of(scope, facet)`: the values of a facet among the attempts of a run, or of all.
    """
    run = given[Facet.RUN]
    known = reading.slugs(access)
    if run and run not in known:
        raise unknown_run(run, known)
    for facet, value in given.items():
        if not value or facet in {Facet.RUN, Facet.LOOKED, Facet.CLAIMED}:
            continue
        names = names_of({Facet.RUN: run}, facet)
        if value not in names and names:
            how = f"find_attempts(run={run!r}, values_of='{facet.value}') lists all that such attempts have."
            raise unknown(facet.value, value, names, how)


def _following(found: Collection[Attempt], given: Mapping[Facet, str]) -> list[str]:
    if not found:
        names = [facet.value for facet, value in given.items() if value]
        return [
            f"Nothing fits all filters together. Leave one out: {', '.join([*names, 'verdict'])}; or a smaller offset."
        ]
    return [f"attempt_outline(attempt={next(iter(found)).pk}) shows the first one."]


def _line(attempt: Attempt) -> FoundLine:
    return FoundLine(
        attempt=attempt.pk,
        run=attempt.run.slug,
        task=attempt.task.uid,
        domain=attempt.task.domain,
        repetition=attempt.repetition,
        verdict=attempt.verdict,
        signature=None,
        finish_reason=attempt.finish_reason,
        steps=attempt.steps,
        differences=None,
        first_difference=None,
        claim=None,
        excerpts=[],
    )
