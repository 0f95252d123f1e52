"""Tasks × repetitions of a run as a drawing: one path a kind of cell, made from the tallies."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from enum import StrEnum

import msgspec

from runs.access import Access
from runs.kept import Kept
from runs.models import Attempt, Run, TaskTally
from runs.queries.numbers import Counts, Numbers, numbers_of
from runs.queries.signature_words import SignatureWords, signature_words
from runs.querysets import visible_runs
from runs.records import Verdict
from runs.signatures import Signature

__all__ = ["Band", "Colour", "Grid", "GridTask", "GridView", "Order", "run_grid"]

ROWS = 100
"""Repetitions that are drawn; of more the first ones."""
_LEAST_WIDE = 12
"""Tasks that a band has room for at least, so that a cell of a small run is no tile."""
_RANK = {"p": 0, "f": 1, "e": 2, ".": 3}
_CLASSES = {"p": "p", "f": "f", "e": "e", ".": "m"}
SIGNATURE_LETTERS = {
    Signature.TOOL_USAGE: "a",
    Signature.WRONG_STATE_UPDATE: "b",
    Signature.INCOMPLETE_USER_RESOLUTION: "c",
    Signature.NO_STATE_CHANGING_ACTION: "d",
    Signature.RESPONSE_CHECK: "g",
    Signature.UNDETERMINED: "h",
}
"""One letter a signature, in the order in which a column is stacked."""


class Order(StrEnum):
    """What lies where in a column."""

    FIRST = "first"
    """What passed at the bottom, tasks with most successes on the left."""
    REPETITION = "rep"
    """Repetition 0 on top, tasks by name."""


class Colour(StrEnum):
    VERDICT = "verdict"
    SIGNATURE = "signature"


class GridView(msgspec.Struct, frozen=True, kw_only=True):
    order: Order = Order.FIRST
    colour: Colour = Colour.VERDICT


class GridTask(msgspec.Struct, frozen=True):
    uid: str
    name: str
    cells: str
    """One letter a repetition: p, e, `.`, f, or where signatures are asked for one of `SIGNATURE_LETTERS`."""


class Band(msgspec.Struct, frozen=True, kw_only=True):
    """The tasks of one domain."""

    domain: str
    numbers: Numbers
    tasks: list[GridTask]
    """From left to right."""
    paths: list[tuple[str, str]]
    """Class and path data, in cells."""
    lines: str
    """What parts the cells, as path data."""


class Grid(msgspec.Struct, frozen=True, kw_only=True):
    slug: str
    view: GridView
    rows: int
    columns: int
    """Tasks that the widest band has; narrower bands leave room."""
    k: int
    cut: bool
    """There are more repetitions than are drawn."""
    bands: list[Band]
    legend: list[tuple[str, SignatureWords, int]]
    """Where signatures are shown: class, words, attempts."""


_grids: Kept[Grid] = Kept(32)


def run_grid(slug: str, view: GridView, *, access: Access) -> Grid:
    """The grid of a run. One query where its tallies have not changed, else two; three by signature, which is
    drawn anew each time, since classifying again changes no tally. Raises Run.DoesNotExist.

    Who may not evaluate gets it by verdict, whatever is asked for.
    """
    run = Run.objects.only("pk", "slug", "repetitions", "created_at", "updated_at", "tallied").get(
        visible_runs(access), slug=slug
    )
    if not access.evaluates:
        view = msgspec.structs.replace(view, colour=Colour.VERDICT)
    if view.colour is Colour.SIGNATURE:
        return _drawn(run, view)
    key = (run.pk, run.created_at, run.updated_at, run.tallied, view)
    return _grids.get_or_make(key, lambda: _drawn(run, view))


def _drawn(run: Run, view: GridView) -> Grid:
    tallies = list(TaskTally.objects.filter(run=run).select_related("task").order_by("task__uid"))
    marks = _signatures(run.pk) if view.colour is Colour.SIGNATURE else {}
    longest = max((len(tally.verdicts) for tally in tallies), default=0)
    rows = max(1, min(ROWS, max(run.repetitions, longest)))
    by_domain: defaultdict[str, list[tuple[TaskTally, GridTask]]] = defaultdict(list)
    seen: Counter[str] = Counter()
    for tally in tallies:
        cells = _cells(tally.verdicts, rows, marks.get(tally.task_id, {}))
        seen.update(cells)
        by_domain[tally.task.domain].append((tally, GridTask(tally.task.uid, tally.task.name, cells)))
    bands = [_band(domain, by_domain[domain], view, run.repetitions) for domain in sorted(by_domain)]
    return Grid(
        slug=run.slug,
        view=view,
        rows=rows,
        columns=max([_LEAST_WIDE, *(len(band.tasks) for band in bands)]),
        k=run.repetitions,
        cut=max(run.repetitions, longest) > rows,
        bands=bands,
        legend=[
            (letter, signature_words(signature.value), seen[letter])
            for signature, letter in SIGNATURE_LETTERS.items()
            if seen[letter]
        ],
    )


def _signatures(run: int) -> dict[int, dict[int, str]]:
    """Task (id) → repetition → letter of the signature."""
    found: defaultdict[int, dict[int, str]] = defaultdict(dict)
    letters = {signature.value: letter for signature, letter in SIGNATURE_LETTERS.items()}
    rows = Attempt.objects.filter(run=run, verdict=Verdict.FAILED, current=True, repetition__lt=ROWS).order_by()
    for task, repetition, signature in rows.values_list("task_id", "repetition", "signature"):
        if signature in letters:
            found[task][repetition] = letters[signature]
    return found


def _cells(verdicts: str, rows: int, marks: Mapping[int, str]) -> str:
    cells = verdicts[:rows].ljust(rows, ".")
    if not marks:
        return cells
    return "".join(marks.get(at, cell) if cell == "f" else cell for at, cell in enumerate(cells))


def _band(domain: str, rows: Sequence[tuple[TaskTally, GridTask]], view: GridView, k: int) -> Band:
    counts = [Counts(t.recorded, t.passed, t.failed, t.errors, t.with_states) for t, _ in rows]
    if view.order is Order.FIRST:
        rows = sorted(rows, key=lambda row: (-row[0].passed, row[0].errors, row[1].uid))
    tasks = [task for _, task in rows]
    return Band(
        domain=domain, numbers=numbers_of(counts, k), tasks=tasks, paths=_paths(tasks, view.order), lines=_lines(tasks)
    )


def stacked(cells: str) -> str:
    """The letters of a column from the bottom to the top: passed, failed by signature, errors, not recorded."""
    return "".join(sorted(cells, key=lambda cell: (_RANK.get(cell, 1), cell)))


def _lines(tasks: Sequence[GridTask]) -> str:
    width, height = len(tasks), len(tasks[0].cells) if tasks else 0
    return "".join([f"M{x} 0V{height}" for x in range(1, width)] + [f"M0 {y}H{width}" for y in range(1, height)])


def _paths(tasks: Sequence[GridTask], order: Order) -> list[tuple[str, str]]:
    """One path a letter: each run of equal cells in a column is one rectangle."""
    parts: defaultdict[str, list[str]] = defaultdict(list)
    for x, task in enumerate(tasks):
        column = stacked(task.cells)[::-1] if order is Order.FIRST else task.cells
        start = 0
        for y in range(1, len(column) + 1):
            if y == len(column) or column[y] != column[start]:
                parts[column[start]].append(f"M{x} {start}h1v{y - start}h-1z")
                start = y
    return [(_CLASSES.get(letter, letter), "".join(parts[letter])) for letter in sorted(parts)]
