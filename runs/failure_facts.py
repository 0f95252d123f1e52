"""What failures are filtered by, one run at a time: read from its attempts, and kept in the database ready to use.

Reading a run of ten thousand attempts takes most of a second, unpacking what was kept a few milliseconds. What is kept
is good as long as the run's tallies stay as they are (`Run.tallied`). Whoever reads a file keeps its run's facts, and
workers keep those of all other runs while nothing waits; a page only reads, and reads anew what is not kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum

import numpy as np
from django.db import transaction
from django.db.models import Exists, F, Model, OuterRef, Q, QuerySet

from runs.facets import Codes, Relation, RunPart, encode
from runs.models import (
    Attempt,
    AttemptEffect,
    AttemptLabel,
    AttemptRubric,
    FailureFacts,
    Run,
    TaskTally,
    ToolUse,
    Upload,
    UploadState,
)  # fmt: skip
from runs.packing import pack, unpack
from runs.records import Verdict

__all__ = [
    "MISTAKE",
    "NUMBERS",
    "Facet",
    "anything_to_keep",
    "difference_key",
    "keep_facts",
    "keep_some",
    "kept_parts",
    "no_part",
    "read_part",
]  # fmt: skip

VERSION = 1
"""Grows when something else is kept of a run, or in another way."""
_APART = "\x1f"


class Facet(StrEnum):
    """What failures are filtered by, in the order of the page; the value is the name in the address."""

    RUN = "run"
    BENCHMARK = "benchmark"
    LOOKED = "looked"
    """Looked like a success: ended cleanly, called a state-changing tool, last tool response without error."""
    CLAIMED = "claimed"
    SIGNATURE = "signature"
    LABEL = "label"
    EFFECT = "effect"
    TABLE = "table"
    FIELD = "field"
    """`table.field`; nothing behind the point for a whole row."""
    SAME = "same"
    """The attempt's first difference, with its values (`difference_key`)."""
    TOOL = "tool"
    ERRED = "erred"
    DOMAIN = "domain"
    TASK = "task"
    MODEL = "model"
    RUBRIC = "rubric"
    FINISH = "finish"
    DISAGREES = "disagrees"
    LONE = "lone"
    """The only failure at a task of which the run passed all other attempts that the benchmark asks for."""
    ALIKE = "alike"
    """With a mistake at its task that all models make that fail it (`runs.suspicion`)."""
    COPY = "copy"
    """Whether the same row is stored in another run too, as where a retry repeats the rows of a file."""
    NOTE = "note"


NUMBERS = ("repetition", "steps", "tool_errors", "write_calls", "differences", "duration", "tokens")

_OF_ATTEMPT = (
    Facet.TASK, Facet.DOMAIN, Facet.SIGNATURE, Facet.LOOKED, Facet.CLAIMED, Facet.FINISH, Facet.DISAGREES, Facet.LONE,
    Facet.SAME,
)  # fmt: skip
MISTAKE = "mistake"
"""Beside the facets of a difference: what makes it the same mistake as another. Nothing is filtered by it."""
_OF_EFFECT = (Facet.EFFECT, Facet.TABLE, Facet.FIELD, MISTAKE)


def keep_facts(pk: int) -> bool:
    """Reads a run's facts and keeps them; False where they were kept already or the run is gone."""
    tallied = Run.objects.filter(pk=pk).values_list("tallied", flat=True).first()
    if tallied is None or FailureFacts.objects.filter(run=pk, tallied=tallied, version=VERSION).exists():
        return False
    # What lands between the two lines is in them, though not in `tallied`: they are then read once more, never too old.
    data = pack(read_part(pk))
    with transaction.atomic():
        if not Run.objects.select_for_update().filter(pk=pk).exists():
            return False
        FailureFacts.objects.update_or_create(
            run_id=pk, defaults={"tallied": tallied, "version": VERSION, "data": data}
        )
    return True


def keep_some() -> bool:
    """Keeps the facts of one run that has none, or old ones; False: there is none. A run that is being read waits."""
    pk = _to_keep().order_by("pk").values_list("pk", flat=True).first()
    return pk is not None and keep_facts(pk)


def anything_to_keep() -> bool:
    return _to_keep().exists()


def _to_keep() -> QuerySet[Run]:
    good = FailureFacts.objects.filter(run=OuterRef("pk"), tallied=OuterRef("tallied"), version=VERSION)
    reading = Upload.objects.filter(Q(state=UploadState.READING) | Q(state=UploadState.WAITING), run=OuterRef("pk"))
    return Run.objects.filter(~Exists(good), ~Exists(reading))


def kept_parts(runs: Sequence[int]) -> dict[int, RunPart]:
    """Of these runs those facts that are kept and still good. One query."""
    kept = FailureFacts.objects.filter(run__in=runs, tallied=F("run__tallied"), version=VERSION)
    return {pk: unpack(bytes(data)) for pk, data in kept.order_by().values_list("run_id", "data").iterator()}


def no_part() -> RunPart:
    """Of a run without failures."""
    none = np.empty(0, dtype=np.int64)
    return RunPart(none, none, {name: np.empty(0) for name in NUMBERS}, _relations(0, [], {}))


def difference_key(kind: str, table: str, field: str, after: str, required: str) -> str:
    """What makes two differences the same one, whichever record they are in. Of whole rows: kind and table."""
    return _APART.join((kind, table, field, after, required) if field else (kind, table, "", "", ""))


_COLUMNS = (
    "pk", "task__uid", "task__domain", "signature", "ended_cleanly", "called_write", "last_response_ok",
    "claimed_success", "finish_reason", "disagrees", "repetition", "steps", "tool_errors", "write_calls", "differences",
    "duration", "input_tokens", "output_tokens", "digest",
)  # fmt: skip


def read_part(run: int) -> RunPart:
    """The facts of a run, from its attempts. Seven queries."""
    failed = Attempt.objects.filter(run=run, verdict=Verdict.FAILED, current=True).order_by("pk")
    attempts = list(failed.values_list(*_COLUMNS, named=True))
    ids = [row.pk for row in attempts]
    place = {pk: number for number, pk in enumerate(ids)}
    effects = list(_narrow(AttemptEffect, run, place, "kind", "table", "field", "after", "required"))
    tallies = TaskTally.objects.filter(run=run).values_list(
        "task__uid", "passed", "failed", "recorded", "run__repetitions"
    )
    alone = {
        uid
        for uid, count, failed, recorded, k in tallies
        if failed == 1 and count == recorded - 1 and recorded >= k > 1
    }
    first: dict[int, str] = {}
    for at, effect in effects:
        first.setdefault(at, difference_key(*effect))
    tools = list(_narrow(ToolUse, run, place, "name", "errors"))
    rows = [
        (
            row.task__uid,
            row.task__domain,
            row.signature,
            _yes(row.ended_cleanly and row.called_write and row.last_response_ok),
            _yes(row.claimed_success),
            row.finish_reason,
            _yes(row.disagrees),
            _yes(row.task__uid in alone),
            first.get(number, ""),
        )
        for number, row in enumerate(attempts)
    ]
    narrow: dict[Facet, list[tuple[int, Sequence[str]]]] = {
        Facet.EFFECT: [
            (at, (kind, table, f"{table}.{field}", _mistake(kind, table, field, after)))
            for at, (kind, table, field, after, _) in effects
        ],
        Facet.TOOL: [(at, (name,)) for at, (name, _) in tools],
        Facet.ERRED: [(at, (name,)) for at, (name, errors) in tools if errors],
        Facet.LABEL: [(at, label) for at, label in _narrow(AttemptLabel, run, place, "label")],
        Facet.RUBRIC: [(at, question) for at, question in _narrow(AttemptRubric, run, place, "question")],
    }
    numbers = {name: np.array([getattr(row, name) for row in attempts], dtype=np.float64) for name in NUMBERS[:-1]}
    tokens = [
        None if row.input_tokens is None or row.output_tokens is None else row.input_tokens + row.output_tokens
        for row in attempts
    ]
    numbers["tokens"] = np.array(tokens, dtype=np.float64)
    return RunPart(
        ids=np.array(ids, dtype=np.int64),
        marks=_marks([row.digest for row in attempts]),
        numbers=numbers,
        relations=_relations(len(attempts), rows, narrow),
    )


def _marks(digests: Sequence[str]) -> Codes:
    """The first 64 bits of hexadecimal digests, as signed numbers."""
    return np.array([int(digest[:16], 16) for digest in digests], dtype=np.uint64).astype(np.int64)


def _mistake(kind: str, table: str, field: str, after: str) -> str:
    """What `runs.suspicion` calls one; empty for a whole row."""
    return _APART.join((kind, table, field, after)) if field else ""


def _relations(
    total: int, rows: Sequence[Sequence[str]], narrow: dict[Facet, list[tuple[int, Sequence[str]]]]
) -> tuple[Relation, ...]:
    return (
        encode(_OF_ATTEMPT, zip(range(total), rows, strict=True)),
        encode(_OF_EFFECT, narrow.get(Facet.EFFECT, []), once=False),
        *(encode((facet,), narrow.get(facet, [])) for facet in (Facet.TOOL, Facet.ERRED, Facet.LABEL, Facet.RUBRIC)),
    )


def _narrow(
    model: type[Model], run: int, place: dict[int, int], *columns: str
) -> Iterator[tuple[int, tuple[str, ...]]]:
    # In no order, and sorted here: before PostgreSQL has counted what was just stored, it would walk the whole table by
    # its key to save sorting a run's rows.
    rows = model._default_manager.filter(
        attempt__run=run, attempt__verdict=Verdict.FAILED, attempt__current=True
    ).order_by()
    for _, pk, *values in sorted(rows.values_list("pk", "attempt_id", *columns).iterator(chunk_size=5000)):
        # An attempt that was stored between two queries comes with the next reading.
        if pk in place:
            yield place[pk], tuple(values)


def _yes(value: bool | None) -> str:
    return "" if value is None else "yes" if value else "no"
