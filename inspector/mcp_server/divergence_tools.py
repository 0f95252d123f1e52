"""The tool that sets two attempts at a task side by side."""

from __future__ import annotations

from typing import Annotated

from django.http import Http404
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult
from pydantic import Field

from inspector.mcp_server import reading
from inspector.mcp_server.attempt_answers import Divergence, DivergentStep, EndLine, SideLine, StepLine
from inspector.mcp_server.attempt_parts import step_line, value_of
from inspector.mcp_server.budget import answer
from inspector.mcp_server.calling import AttemptId, Ctx, access_of, reads
from inspector.mcp_server.refusals import must_evaluate
from runs.access import Access
from runs.queries.attempts import AttemptView
from runs.queries.compare_structs import Bar, Cell, CompareLine, ComparePage, CompareView, EndState, Side

__all__ = ["first_divergence"]

_ENDS = 20
_CHARACTERS = 700


@reads
def first_divergence(
    ctx: Ctx,
    attempt: AttemptId,
    other: Annotated[
        int | None, Field(description="Another attempt at the same task; null: one that passed, if there is one.")
    ] = None,
) -> Annotated[CallToolResult, Divergence]:
    """Where two attempts at one task part: the first state-changing call that differs, and the fields in which they end
    otherwise.

    When to call: for a failed attempt of which the cause is not plain from its outline, or to see what a passing one
    did instead. Next: attempt_steps on either side.
    """
    access = access_of(ctx)
    must_evaluate(access, "first_divergence", "read both attempts with attempt_steps.")
    mine = reading.attempt_read(access, attempt, AttemptView())
    if other is None:
        if mine.compare is None:
            raise ToolError(
                f"There is no other attempt at the task of attempt {attempt} to compare with. "
                f"attempt_steps(attempt={attempt}) reads it alone."
            )
        left, right = mine.compare.left, mine.compare.right
    else:
        theirs = reading.attempt_read(access, other, AttemptView())
        if other == attempt:
            raise ToolError("attempt and other are the same. attempt_outline lists the other repetitions of the task.")
        if theirs.head.uid != mine.head.uid:
            raise ToolError(
                f"Attempts {attempt} and {other} are at two different tasks. Leave `other` out, or take one of the "
                f"repetitions that attempt_outline(attempt={attempt}) lists."
            )
        swap = theirs.head.verdict == "passed" and mine.head.verdict != "passed"
        left, right = (other, attempt) if swap else (attempt, other)
    try:
        return answer(_divergence(access, left, right))
    except Http404:
        raise ToolError("One of the two attempts has no trace. attempt_outline shows what is stored of it.") from None


def _divergence(access: Access, left: int, right: int) -> Divergence:
    pages = {1: reading.divergence_read(access, left, right, CompareView())}
    first = pages[1]

    def line_of(number: int | None, *, write: bool) -> CompareLine | None:
        """The line under its bar, on the page of lines that it is on."""
        if number is None:
            return None
        if number not in pages:
            pages[number] = reading.divergence_read(access, left, right, CompareView(page=number))
        return next((line for line in pages[number].lines if line.bar is not None and line.bar.write is write), None)

    write, difference = line_of(first.first_write, write=True), line_of(first.first, write=False)
    ends = _ends(first.end)
    writer = None if write is None or write.right is None else write.right.index
    following = [
        f"attempt_steps(attempt={right}, first={max(1, (writer or 1) - 3)}, count=8) reads around it on the right.",
        f"attempt_checks(attempt={right}) lists all differences of the right one.",
    ]
    made = Divergence(
        task=first.uid,
        left=_side(first.left),
        right=_side(first.right),
        first_write=_parted(access, first, write),
        first_difference=_parted(access, first, difference),
        different_lines=first.differences,
        ends=ends[:_ENDS],
        next=following,
    )
    if first.end.differing > len(made.ends):
        made = made.noting(
            f"{first.end.differing - len(made.ends):,} more fields in which they end otherwise. "
            "attempt_checks(attempt) lists the differences of each attempt."
        )
    return made


def _side(side: Side) -> SideLine:
    return SideLine(
        attempt=side.pk,
        run=side.run_slug,
        label=side.label,
        verdict=side.word.lower(),
        repetition=side.repetition,
        steps=side.steps,
    )


def _parted(access: Access, page: ComparePage, line: CompareLine | None) -> DivergentStep | None:
    if line is None or line.bar is None:
        return None
    cells = [cell for cell in (line.left, line.right) if cell is not None]
    return DivergentStep(
        sentence=_sentence(line.bar),
        left=_step(access, page.left.pk, line.left),
        right=_step(access, page.right.pk, line.right),
        fields=list(dict.fromkeys(one.name for cell in cells for one in cell.arguments if one.differs)),
    )


def _sentence(bar: Bar) -> str:
    return f"{bar.title}: {bar.sentence}{f' {bar.field}.' if bar.field else ''}{bar.after}"


def _step(access: Access, attempt: int, cell: Cell | None) -> StepLine | None:
    if cell is None:
        return None
    found = reading.window_read(
        access, attempt, first=cell.index, count=1, letters="", words="", characters=_CHARACTERS
    )
    return step_line(found.shown[0])


def _ends(end: EndState) -> list[EndLine]:
    return [
        EndLine(
            table=record.table,
            key=record.key,
            field=row.field,
            left=value_of(row.left),
            right=value_of(row.right),
            required=value_of(row.required),
            left_step=row.left_step,
            right_step=row.right_step,
        )
        for record in end.records
        for row in record.rows
        if row.differs
    ]
