"""Correcting what is said about a run, and deleting one with all that only it holds."""

from __future__ import annotations

from functools import partial

import msgspec
from django.db import transaction
from django.db.models import Exists, Max, OuterRef, Subquery

from runs import search
from runs.batches import batches
from runs.errors import IngestError
from runs.models import (
    Attempt,
    AttemptEffect,
    AttemptLabel,
    AttemptPart,
    AttemptRubric,
    Benchmark,
    PayloadPart,
    Run,
    Task,
    TaskTally,
    ToolUse,
    Trace,
    Upload,
    UploadState,
)
from runs.naming import checked_name
from runs.unused import drop_unused
from runs.upload_files import forget_files

__all__ = ["Deletion", "RunChanges", "delete_run", "deletion_of", "edit_run", "lowest_repetitions"]


class RunChanges(msgspec.Struct, frozen=True, kw_only=True):
    """What a run is said to be, whole: each fact replaces the stored one."""

    model: str
    benchmark: str
    provider: str = ""
    weights: str = ""
    """A value of `runs.models.run.Weights`."""
    repetitions: int | None = None
    """k; None takes it from the rows: the highest repetition + 1."""
    note: str = ""


class Deletion(msgspec.Struct, frozen=True, kw_only=True):
    """What goes with a run."""

    attempts: int
    """Replaced errors included."""
    payloads: int
    """States, tables and tool lists that no other run uses."""
    uploads: int
    """Files in the history that brought rows of it; they stay."""


def lowest_repetitions(run: Run) -> int:
    """The smallest k that the recorded attempts allow."""
    highest = Attempt.objects.filter(run=run, current=True).aggregate(Max("repetition"))["repetition__max"]
    return 0 if highest is None else int(highest) + 1


@transaction.atomic
def edit_run(run: Run, changes: RunChanges) -> Run:
    """Corrects the facts of a run; its address stays.

    Raises `IngestError` where k contradicts the rows, or where the benchmark changes while the run is being read.
    """
    run = Run.objects.select_for_update().get(pk=run.pk)
    least = lowest_repetitions(run)
    if changes.repetitions is not None and changes.repetitions < least:
        raise IngestError(
            f"{changes.repetitions:,} repetitions are too few: repetition {least - 1:,} is recorded, and they count "
            f"from 0. Give {least:,} or more."
        )
    # Whoever says the names has looked at them: they are no longer inferred.
    run.model = checked_name("The model's name", changes.model)
    run.model_inferred = run.benchmark_inferred = False
    run.repetitions = least if changes.repetitions is None else changes.repetitions
    run.repetitions_inferred = changes.repetitions is None
    run.provider = checked_name("The provider's name", changes.provider)
    run.weights, run.note = changes.weights, changes.note.strip()
    name = checked_name("The benchmark's name", changes.benchmark)
    if name != Benchmark.objects.values_list("name", flat=True).get(pk=run.benchmark_id):
        _refuse_while_reading(run, "change its benchmark")
        _move(run, name)
    run.save()
    return run


def _refuse_while_reading(run: Run, what: str) -> None:
    reading = Upload.objects.filter(run=run, state__in=[UploadState.WAITING, UploadState.READING]).first()
    if reading is not None:
        raise IngestError(
            f"The run is being read from {reading.file_name!r}. Wait until that is done, or stop it on the page of "
            f"uploads, and then {what}."
        )


def _move(run: Run, name: str) -> None:
    """Points the run's attempts and tallies at the tasks of another benchmark, which are made where it lacks them."""
    target, _ = Benchmark.objects.get_or_create(name=name)
    left = run.benchmark_id
    tasks = Task.objects.filter(tallies__run=run) | Task.objects.filter(attempts__run=run)
    Task.objects.bulk_create(
        [
            Task(benchmark=target, uid=uid, domain=domain)
            for uid, domain in tasks.order_by("uid").values_list("uid", "domain").distinct()
        ],
        ignore_conflicts=True,
    )
    uid = Task.objects.filter(pk=OuterRef(OuterRef("task_id"))).values("uid")[:1]
    same = Subquery(Task.objects.filter(benchmark=target, uid=Subquery(uid)).values("pk")[:1])
    Attempt.objects.filter(run=run).update(task_id=same)
    TaskTally.objects.filter(run=run).update(task_id=same)
    run.benchmark = target
    # What was computed from its tasks is not good any more.
    run.tallied += 1
    run.save(update_fields=["benchmark", "tallied"])
    _drop_unused_tasks(left)


def _drop_unused_tasks(benchmark: int) -> None:
    """A benchmark's tasks are those that stored runs brought along. Without any it goes too, unless something was set
    by hand."""
    Task.objects.filter(
        ~Exists(Attempt.objects.filter(task=OuterRef("pk"))),
        ~Exists(TaskTally.objects.filter(task=OuterRef("pk"))),
        benchmark=benchmark,
    ).delete()
    Benchmark.objects.filter(
        ~Exists(Task.objects.filter(benchmark=OuterRef("pk"))),
        ~Exists(Run.objects.filter(benchmark=OuterRef("pk"))),
        pk=benchmark,
        tool_overrides={},
    ).delete()


def deletion_of(run: Run) -> Deletion:
    """What `delete_run` would take along. Its cost grows with the run's own payloads, not with what is stored."""
    foreign = AttemptPart.objects.exclude(attempt__run=run)
    wholes: set[int] = set()
    tables: set[int] = set()
    for ids in batches(_payloads_of(run)):
        kept = set(foreign.filter(payload__in=ids).values_list("payload_id", flat=True))
        kept |= set(PayloadPart.objects.filter(part__in=ids).values_list("part_id", flat=True))
        others = Trace.objects.filter(dictionary__in=ids).exclude(attempt__run=run)
        kept |= set(others.values_list("dictionary_id", flat=True))
        gone = set(ids) - kept
        wholes |= gone
        tables |= set(PayloadPart.objects.filter(whole__in=gone).values_list("part_id", flat=True))
    parts = 0
    for ids in batches(sorted(tables)):
        kept = set(foreign.filter(payload__in=ids).values_list("payload_id", flat=True))
        links = PayloadPart.objects.filter(part__in=ids).values_list("part_id", "whole_id")
        kept |= {part for part, whole in links if whole not in wholes}
        parts += len(set(ids) - kept)
    return Deletion(
        attempts=Attempt.objects.filter(run=run).count(),
        payloads=len(wholes) + parts,
        uploads=Upload.objects.filter(run=run).count(),
    )


def _payloads_of(run: Run) -> list[int]:
    parts = AttemptPart.objects.filter(attempt__run=run).order_by().values_list("payload_id", flat=True).distinct()
    against = Trace.objects.filter(attempt__run=run, dictionary__isnull=False).order_by()
    return sorted({*parts, *against.values_list("dictionary_id", flat=True).distinct()})


@transaction.atomic
def delete_run(run: Run) -> Deletion:
    """Deletes a run with its attempts, traces and the payloads that nothing else uses. Its uploads stay as history.

    All or nothing. Raises `IngestError` while the run is being read.
    """
    run = Run.objects.select_for_update().select_related("benchmark").get(pk=run.pk)
    _refuse_while_reading(run, "delete it")
    Upload.objects.filter(run=run, run_name="").update(run_name=str(run)[:500])
    # Their names stay with whom the run was seen by.
    Upload.objects.filter(run=run).update(visibility=run.visibility)
    Upload.objects.filter(run=run, owner=None).update(owner=run.owner_id)
    kept = list(Upload.objects.filter(run=run).exclude(path=""))
    uploads = Upload.objects.filter(run=run).update(run=None, path="")
    for upload in kept:
        transaction.on_commit(partial(forget_files, upload))
    used = _payloads_of(run)
    search.forget(Attempt.objects.filter(run=run))
    # Model by model, leaves first: each is then one statement that reads no payload.
    for model in (AttemptEffect, AttemptLabel, AttemptRubric, ToolUse, AttemptPart, Trace):
        model.objects.filter(attempt__run=run).delete()
    attempts = Attempt.objects.filter(run=run).delete()[1].get("runs.Attempt", 0)
    TaskTally.objects.filter(run=run).delete()
    benchmark = run.benchmark_id
    run.delete()
    _drop_unused_tasks(benchmark)
    return Deletion(attempts=attempts, payloads=drop_unused(used), uploads=uploads)
