"""The only writer of attempts.

One chunk is one short transaction: attempts, payloads, tallies and the upload's counts together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import msgspec
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from runs import search
from runs.conflicts import Outcome, Placed, decide
from runs.databases import insert_rows, reserve_ids
from runs.masking import mask_text
from runs.models import (
    Attempt,
    Run,
    Task,
    Upload,
    UploadProblem,
)
from runs.payloads import put_payloads, put_provenances
from runs.prepare import EffectRow, PreparedRow, ToolRow, indexed_text
from runs.records import Problem, ProblemKind, Verdict
from runs.tallies import lock, recount

__all__ = ["ChunkReport", "add_counts", "add_problems", "store_chunk", "write_narrow_rows"]


class ChunkReport(msgspec.Struct, kw_only=True):
    """What became of the rows of one chunk.

    `read` = stored + same + replaced + conflicts; the verdicts count rows that count.
    """

    read: int = 0
    stored: int = 0
    same: int = 0
    replaced: int = 0
    passed: int = 0
    failed: int = 0
    errors: int = 0
    conflicts: int = 0
    rejected: int = 0
    masked: int = 0
    """Of the rows read, those with secrets that were masked before."""

    def count(self, verdict: Verdict, by: int = 1) -> None:
        if verdict is Verdict.PASSED:
            self.passed += by
        elif verdict is Verdict.FAILED:
            self.failed += by
        else:
            self.errors += by


class _Seat:
    """The current row of one (task, repetition): stored before this chunk, or about to be stored by it."""

    def __init__(self, placed: Placed, *, stored: Attempt | None = None, row: PreparedRow | None = None) -> None:
        self.placed = placed
        self.stored = stored
        self.row = row

    def where(self, upload: Upload) -> str:
        """Where the row came from, as told in a list of `upload`'s lines."""
        origin = self.stored.upload if self.stored is not None else upload
        if origin is None:
            return "a row stored earlier"
        return f"line {self.placed.line}" + (f" of {origin.file_name}" if origin.pk != upload.pk else "")


class _Plan:
    """The decisions about a chunk's rows, before anything is written."""

    def __init__(self, upload: Upload, seats: dict[tuple[str, int], _Seat], past: set[tuple[str, int, str]]) -> None:
        self.upload = upload
        self.seats = seats
        self.past = past
        """Errors that are history: task, repetition, digest."""
        self.report = ChunkReport()
        self.problems: list[Problem] = []
        self.new: dict[tuple[str, int], PreparedRow] = {}
        self.history: list[PreparedRow] = []
        self.retired: list[Attempt] = []
        """Stored errors that become history."""
        self.displaced: list[Attempt] = []
        """Stored rows that an earlier line of the same upload takes the place of."""
        self.seen: list[Attempt] = []
        self.moved: list[Attempt] = []
        """Stored rows of this upload that stand on an earlier line too."""

    def place(self, row: PreparedRow) -> Outcome | None:
        """None: nothing was there yet."""
        report = self.report
        report.read += 1
        report.masked += row.was_masked
        self.problems += [
            Problem(line=row.line, kind=ProblemKind.NOTE, reason=note, uid=row.uid, repetition=row.repetition)
            for note in row.notes
        ]
        spot = (row.uid, row.repetition)
        incoming = Placed(row.digest, row.verdict, self.upload.pk, row.line, row.tried)
        if (*spot, row.digest) in self.past:
            report.same += 1
            return Outcome.SAME
        seat = self.seats.get(spot)
        if seat is None:
            report.stored += 1
            report.count(row.verdict)
            self._seat(spot, incoming, row)
            return None
        outcome = decide(seat.placed, incoming)
        match outcome:
            case Outcome.SAME:
                report.same += 1
                self._see_again(seat, row)
            case Outcome.REPLACE:
                report.replaced += 1
                report.count(row.verdict)
                self._retire(spot, seat)
                self._seat(spot, incoming, row)
            case Outcome.HISTORY:
                report.replaced += 1
                self._remember(row)
            case Outcome.KEEP:
                report.conflicts += 1
                self._conflict(row.line, row.uid, row.repetition, seat.where(self.upload))
            case Outcome.DISPLACE:
                report.conflicts += 1
                report.count(seat.placed.verdict, -1)
                report.count(row.verdict)
                self._conflict(seat.placed.line, row.uid, row.repetition, f"line {row.line}")
                if seat.stored is not None:
                    self.displaced.append(seat.stored)
                self._seat(spot, incoming, row)
        return outcome

    def _see_again(self, seat: _Seat, row: PreparedRow) -> None:
        """A stored row that this upload holds too counts for it once."""
        attempt = seat.stored
        if attempt is None:
            return
        if attempt.seen_in_id != self.upload.pk:
            self.report.count(row.verdict)
            attempt.seen_in_id = self.upload.pk
            self.seen.append(attempt)
        elif attempt.upload_id == self.upload.pk and row.line < attempt.line:
            attempt.line = row.line
            self.moved.append(attempt)

    def _seat(self, spot: tuple[str, int], placed: Placed, row: PreparedRow) -> None:
        self.new[spot] = row
        self.seats[spot] = _Seat(placed, row=row)

    def _retire(self, spot: tuple[str, int], seat: _Seat) -> None:
        """The seat's error becomes history; where this very upload brought it, it no longer counts there."""
        if seat.stored is not None:
            self.retired.append(seat.stored)
            if self.upload.pk in {seat.stored.upload_id, seat.stored.seen_in_id}:
                self.report.errors -= 1
        else:
            self._remember(self.new[spot])
            self.report.errors -= 1

    def _remember(self, row: PreparedRow) -> None:
        self.history.append(row)
        self.past.add((row.uid, row.repetition, row.digest))

    def _conflict(self, line: int, uid: str, repetition: int, kept: str) -> None:
        self.problems.append(
            Problem(
                line=line,
                kind=ProblemKind.CONFLICT,
                uid=uid,
                repetition=repetition,
                kept=kept,
                reason=(
                    f"The run already has repetition {repetition} of this task, with another content ({kept}). "
                    "The first is kept and counted once; if this is another run, ingest the file without naming a run."
                ),
            )
        )


def store_chunk(
    run: Run,
    upload: Upload,
    reader: str,
    rows: Sequence[PreparedRow | Problem],
    *,
    fence: Callable[[], bool] = lambda: True,
    told: Callable[[PreparedRow, Outcome | None], None] = lambda row, outcome: None,
) -> ChunkReport | None:
    """Stores the rows of one chunk in one transaction and returns what became of them; `told` hears it of each row.

    `fence` runs first inside the transaction; where it returns False another worker has the chunk, nothing is written
    and None returned.
    """
    prepared = [row for row in rows if isinstance(row, PreparedRow)]
    with transaction.atomic():
        if not fence():
            return None
        tasks = _tasks(run, prepared)
        touched = sorted(task.pk for task in tasks.values())
        lock(run, touched)
        plan = _Plan(upload, *_seats(run, tasks, prepared))
        for row in prepared:
            told(row, plan.place(row))
        _write(run, reader, tasks, plan)
        recount(run, touched)
        rejected = [row for row in rows if isinstance(row, Problem)]
        plan.report.rejected = sum(problem.kind is ProblemKind.REJECTED for problem in rejected)
        add_problems(upload, [*rejected, *plan.problems])
        add_counts(upload, plan.report)
    return plan.report


def add_problems(upload: Upload, problems: Iterable[Problem]) -> None:
    """Lists lines on the upload."""
    UploadProblem.objects.bulk_create(
        UploadProblem(
            upload=upload,
            line=problem.line,
            kind=problem.kind.value,
            reason=indexed_text(mask_text(problem.reason), 4000),
            uid=indexed_text(problem.uid, 1000),
            repetition=problem.repetition,
            kept=indexed_text(mask_text(problem.kept), 300),
        )
        for problem in problems
    )


def add_counts(upload: Upload, report: ChunkReport) -> None:
    """Adds a chunk's counts to the upload's, in the database, since several workers count."""
    counts = {name: F(name) + count for name, count in msgspec.structs.asdict(report).items() if count}
    if counts:
        Upload.objects.filter(pk=upload.pk).update(moved_at=timezone.now(), **counts)


def _tasks(run: Run, rows: Sequence[PreparedRow]) -> dict[str, Task]:
    domains: dict[str, str] = {}
    for row in rows:
        domains[row.uid] = domains.get(row.uid) or row.domain
    stored = {task.uid: task for task in Task.objects.filter(benchmark=run.benchmark_id, uid__in=domains)}
    missing = sorted(domains.keys() - stored.keys())
    if missing:
        Task.objects.bulk_create(
            [Task(benchmark_id=run.benchmark_id, uid=uid, domain=domains[uid]) for uid in missing],
            ignore_conflicts=True,
        )
        stored = {task.uid: task for task in Task.objects.filter(benchmark=run.benchmark_id, uid__in=domains)}
    for uid, task in stored.items():
        if not task.domain and domains[uid]:
            task.domain = domains[uid]
            task.save(update_fields=["domain"])
            # What other runs of the benchmark computed from its tasks is not good any more.
            Run.objects.filter(benchmark=run.benchmark_id, tallies__task=task).update(tallied=F("tallied") + 1)
    return stored


def _seats(
    run: Run, tasks: dict[str, Task], rows: Sequence[PreparedRow]
) -> tuple[dict[tuple[str, int], _Seat], set[tuple[str, int, str]]]:
    """The current row of each place that the rows are of, and what is history there."""
    uids = {task.pk: uid for uid, task in tasks.items()}
    attempts = Attempt.objects.filter(run=run, task__in=uids, repetition__in={row.repetition for row in rows})
    attempts = attempts.select_related("upload").only(
        "run", "task", "repetition", "current", "tried", "verdict", "digest", "upload__file_name", "line", "seen_in"
    )
    seats, past = {}, set()
    for attempt in attempts:
        spot = (uids[attempt.task_id], attempt.repetition)
        if attempt.current:
            placed = Placed(attempt.digest, Verdict(attempt.verdict), attempt.upload_id, attempt.line, attempt.tried)
            seats[spot] = _Seat(placed, stored=attempt)
        else:
            past.add((*spot, attempt.digest))
    return seats, past


def _write(run: Run, reader: str, tasks: dict[str, Task], plan: _Plan) -> None:
    if plan.displaced:
        displaced = Attempt.objects.filter(pk__in=[attempt.pk for attempt in plan.displaced])
        search.forget(displaced)
        displaced.delete()
    if plan.retired:
        Attempt.objects.filter(pk__in=[attempt.pk for attempt in plan.retired]).update(current=False)
    if plan.seen:
        Attempt.objects.filter(pk__in=[attempt.pk for attempt in plan.seen]).update(seen_in=plan.upload)
    if plan.moved:
        Attempt.objects.bulk_update(plan.moved, ["line"])
    rows = [*((row, False) for row in plan.history), *((row, True) for row in plan.new.values())]
    if not rows:
        return
    ids = put_payloads(payload for row, _ in rows for payload in row.payloads)
    said = put_provenances(row.said for row, _ in rows if row.said is not None)
    # By rows, not objects: making an object for each costs more than reading the row did.
    numbers = reserve_ids("runs_attempt", len(rows))
    stored = [(pk, row) for pk, (row, _) in zip(numbers, rows, strict=True)]
    columns = list(rows[0][0].columns)
    upload = plan.upload.pk
    insert_rows(
        "runs_attempt",
        [
            "id",
            "run_id",
            "task_id",
            "repetition",
            "current",
            "digest",
            "upload_id",
            "seen_in_id",
            "line",
            "tried",
            "provenance_id",
            *columns,
        ],
        [
            [pk, run.pk, tasks[row.uid].pk, row.repetition, current, row.digest, upload, upload, row.line]
            + [row.tried, None if row.said is None else said[row.said.digest]]
            + [row.columns[name] for name in columns]
            for pk, (row, current) in zip(numbers, rows, strict=True)
        ],
    )
    insert_rows(
        "runs_trace",
        ["attempt_id", "reader", "source", "evidence", "dictionary_id"],
        [
            (pk, reader, row.source, row.evidence, None if row.dictionary is None else ids[row.dictionary])
            for pk, row in stored
        ],
    )
    insert_rows(
        "runs_attemptpart",
        ["attempt_id", "payload_id"],
        [(pk, ids[digest]) for pk, row in stored for digest in sorted({ref.digest for ref in row.refs})],
    )
    write_narrow_rows(stored)
    search.write([(pk, row.transcript) for pk, row in stored])


def write_narrow_rows(stored: Sequence[tuple[int, PreparedRow]]) -> None:
    """Writes what filters and counts read of attempts (by id) that have none of it yet."""
    insert_rows(
        "runs_attempteffect",
        ["attempt_id", *EffectRow.__struct_fields__],
        [(pk, *msgspec.structs.astuple(effect)) for pk, row in stored for effect in row.effects],
    )
    insert_rows(
        "runs_tooluse",
        ["attempt_id", *ToolRow.__struct_fields__],
        [(pk, *msgspec.structs.astuple(tool)) for pk, row in stored for tool in row.tools],
    )
    insert_rows(
        "runs_attemptlabel", ["attempt_id", "label"], [(pk, label) for pk, row in stored for label in row.labels]
    )
    insert_rows(
        "runs_attemptrubric", ["attempt_id", "question"], [(pk, text) for pk, row in stored for text in row.rubrics]
    )
