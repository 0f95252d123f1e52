"""Attempts that come in one by one while a run is going, beside the files that come in whole.

They go through the same reader, the same grading and the same writer (`runs.store`). What was pushed into a run is one
entry in the history of uploads: its lines are counted on, so that the first of two different rows is the one that came
first, and a row that is pushed again is the same row.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator, Sequence
from typing import BinaryIO

import msgspec
from django.conf import settings
from django.db import transaction
from django.utils import timezone

from runs.access import Access
from runs.bundles import reader_named
from runs.bundles.base import RawRecord
from runs.canonical import sha256_hex
from runs.conflicts import Outcome
from runs.errors import IngestError
from runs.masking import mask_text, mask_value
from runs.models import Benchmark, Run, Upload, UploadState, Visibility
from runs.naming import MOST_REPETITIONS, checked_name
from runs.prepare import PreparedRow, prepare
from runs.preparing import chunked
from runs.querysets import visible_runs
from runs.records import BundleHeader, Problem, ProblemKind
from runs.store import store_chunk
from runs.targets import run_for

__all__ = ["PUSHED", "NewRun", "Pushed", "create_run", "push", "push_upload"]

PUSHED = "pushed attempts"
"""The file name of what came in one by one."""
READER = "thinkingbox"
_SLUG = re.compile(r"[-a-zA-Z0-9_]{1,200}\Z")
_WORDS = {
    Outcome.SAME: "same",
    Outcome.REPLACE: "replaced",
    Outcome.HISTORY: "replaced",
    Outcome.KEEP: "conflict",
    Outcome.DISPLACE: "conflict",
}


class NewRun(msgspec.Struct, frozen=True, kw_only=True):
    """What is said about a run before its first attempt."""

    model: str
    benchmark: str
    repetitions: int | None = None
    """k; None takes it from the rows: the highest repetition + 1."""
    slug: str = ""
    """Its name in addresses; made from benchmark and model where it is left out."""
    provider: str = ""
    note: str = ""
    parameters: dict[str, str] = {}
    private: bool = False
    """Only its owner and admins see it."""


class Pushed(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one line: `stored`, `same`, `replaced`, `conflict` or `rejected`."""

    line: int
    outcome: str
    uid: str = ""
    repetition: int | None = None
    reason: str = ""


@transaction.atomic
def create_run(wanted: NewRun, *, access: Access) -> tuple[Run, bool]:
    """A run without attempts, and whether it was made now. One of the same slug, model and benchmark is given back.

    Raises `IngestError` where a name is missing or cannot be one, or the slug is another run's.
    """
    model = checked_name("The model's name", wanted.model)
    benchmark = checked_name("The benchmark's name", wanted.benchmark)
    provider = checked_name("The provider's name", wanted.provider)
    if not model or not benchmark:
        raise IngestError("A run needs the name of its model and of its benchmark.")
    if wanted.repetitions is not None and not 1 <= wanted.repetitions <= MOST_REPETITIONS:
        raise IngestError(f"A run has between 1 and {MOST_REPETITIONS:,} repetitions.")
    if wanted.slug:
        if not _SLUG.match(wanted.slug):
            raise IngestError("A slug has up to 200 letters, digits, hyphens and underscores, and nothing else.")
        # Two that ask for one slug at once take turns here.
        Benchmark.objects.select_for_update().get_or_create(name=benchmark)
        known = Run.objects.select_related("benchmark").filter(slug=wanted.slug).first()
        if known is not None:
            if not Run.objects.filter(visible_runs(access), pk=known.pk).exists():
                raise IngestError(f"The slug {wanted.slug!r} is taken. Choose another one, or leave it out.")
            if (known.model, known.benchmark.name) != (model, benchmark):
                raise IngestError(
                    f"There is a run {known.slug!r} already, and it is of {known.model!r} on "
                    f"{known.benchmark.name!r}. Choose another slug, or leave it out."
                )
            return known, False
    upload = Upload(
        file_name=PUSHED,
        sha256=sha256_hex(uuid.uuid4().bytes),
        size=0,
        state=UploadState.DONE,
        reader=READER,
        model=model,
        benchmark=benchmark,
        repetitions=wanted.repetitions,
        header=mask_value(msgspec.to_builtins(BundleHeader(model=model, parameters=dict(wanted.parameters)))),
        split_done=True,
        started_at=timezone.now(),
        finished_at=timezone.now(),
        owner_id=access.user,
        mask=settings.MASK_AT_INGEST,
        visibility=Visibility.PRIVATE if wanted.private and access.user is not None else Visibility.TEAM,
    )
    upload.save()
    run = run_for(upload, ())
    if wanted.slug:
        run.slug = wanted.slug
    run.provider, run.note = provider, wanted.note.strip()
    run.save(update_fields=["slug", "provider", "note", "updated_at"])
    Upload.objects.filter(pk=upload.pk).update(sha256=_digest_of(run))
    return run, True


@transaction.atomic
def push_upload(run: Run) -> Upload:
    """The entry of what is pushed into a run, made where there is none yet.

    Raises `IngestError` where the run is gone meanwhile.
    """
    # The run's lock lets two processes that push its first attempts take turns. It is given back before anything else
    # is locked: whoever stores a chunk locks tallies first and the run last.
    if Run.objects.select_for_update(of=("self",)).only("pk").filter(pk=run.pk).first() is None:
        raise IngestError("The run was deleted meanwhile. Nothing more of this was stored.")
    digest = _digest_of(run)
    upload = Upload.objects.filter(run=run, sha256=digest).order_by("pk").first()
    if upload is None:
        upload = Upload.objects.create(
            file_name=PUSHED,
            sha256=digest,
            size=0,
            state=UploadState.DONE,
            reader=READER,
            model=run.model,
            benchmark=run.benchmark.name,
            run=run,
            run_name=str(run)[:500],
            owner_id=run.owner_id,
            visibility=run.visibility,
            mask=settings.MASK_AT_INGEST,
            split_done=True,
            started_at=timezone.now(),
            finished_at=timezone.now(),
        )
    return upload


def push(run: Run, upload: Upload, stream: BinaryIO, *, max_line: int) -> Iterator[list[Pushed]]:
    """Reads rows of `tb infer`, one a line, and stores them, up to a hundred in a transaction. `upload` is the run's
    `push_upload`.

    What was stored stays, also where the sender breaks off. Raises `IngestError` where the run is gone meanwhile.
    """
    for part in chunked(reader_named(READER).rows(stream, max_line=max_line)):
        rows = list(part)
        # Grading takes longest, and needs no lock.
        overrides = run.benchmark.tool_overrides
        mask = upload.mask or settings.MASK_AT_INGEST
        prepared = [
            prepare(reader_named(READER), row, overrides, mask=mask) if isinstance(row, RawRecord) else row
            for row in rows
        ]
        size = sum(len(row.text) for row in rows if isinstance(row, RawRecord))
        yield _store(run, upload, prepared, size)


@transaction.atomic
def _store(run: Run, upload: Upload, rows: Sequence[PreparedRow | Problem], size: int) -> list[Pushed]:
    # Locked until the transaction ends: lines are numbered on, and two that push into one run take turns.
    found = Upload.objects.select_for_update().filter(pk=upload.pk, run=run).first()
    if found is None:
        raise IngestError("The run was deleted meanwhile. Nothing more of this was stored.")
    upload = found
    lines: dict[int, Pushed] = {}
    base = upload.read + upload.rejected
    numbered = [msgspec.structs.replace(row, line=base + at) for at, row in enumerate(rows, start=1)]
    asked = {base + at: row.line for at, row in enumerate(rows, start=1)}
    outcomes: dict[int, Outcome | None] = {}

    def told(row: PreparedRow, outcome: Outcome | None) -> None:
        outcomes[row.line] = outcome

    store_chunk(run, upload, READER, numbered, told=told)
    for row in numbered:
        lines[row.line] = _told(row, asked[row.line], outcomes.get(row.line))
    now = timezone.now()
    Upload.objects.filter(pk=upload.pk).update(size=upload.size + size, bytes_split=upload.size + size, finished_at=now)
    return [lines[number] for number in sorted(lines)]


def _told(row: PreparedRow | Problem, line: int, outcome: Outcome | None) -> Pushed:
    if isinstance(row, Problem):
        word = "rejected" if row.kind is ProblemKind.REJECTED else row.kind.value
        return Pushed(line=line, outcome=word, uid=row.uid, repetition=row.repetition, reason=mask_text(row.reason))
    reason = " ".join(row.notes)
    if outcome in {Outcome.KEEP, Outcome.DISPLACE}:
        reason = (
            f"The run already has repetition {row.repetition} of this task, with another content. "
            "The first is kept and counted once."
        )
    return Pushed(
        line=line,
        outcome="stored" if outcome is None else _WORDS[outcome],
        uid=row.uid,
        repetition=row.repetition,
        reason=reason,
    )


def _digest_of(run: Run) -> str:
    """Of what is pushed into a run: never that of a file."""
    return sha256_hex(f"{PUSHED}\n{run.pk}\n{run.created_at.isoformat()}".encode())
