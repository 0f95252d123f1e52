"""Which run a file's rows go to: a named one, the one that the same bytes went to before, or a new one."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from difflib import get_close_matches

from django.db import IntegrityError, transaction
from django.db.models import Max
from django.utils.dateparse import parse_datetime
from django.utils.text import slugify

from runs.access import EVERYTHING, Access
from runs.benchmarks import THINKINGBOX_BENCH
from runs.errors import IngestError
from runs.models import Attempt, Benchmark, Run, Task, TaskTally, Upload, UploadState
from runs.querysets import visible_runs
from runs.records import Verdict

__all__ = ["NO_BENCHMARK", "check_said", "fits", "known_run", "run_for", "run_named", "sender"]

NO_BENCHMARK = "unnamed benchmark"


def run_named(slug: str, *, access: Access) -> Run:
    """The stored run with this name. Raises `IngestError`, with the names there are, where none has it."""
    seen = Run.objects.filter(visible_runs(access))
    run = seen.select_related("benchmark").filter(slug=slug).first()
    if run is None:
        stored = list(seen.values_list("slug", flat=True))
        close = get_close_matches(slug, stored, n=3, cutoff=0.4)
        named = f"Close names: {', '.join(close)}." if close else f"Newest runs: {', '.join(stored[:5]) or 'none yet'}."
        raise IngestError(f"There is no run named {slug!r}. {named}")
    return run


def known_run(sha256: str, model: str, benchmark: str, *, access: Access) -> Run | None:
    """The run that the same bytes went to before, or are going to, unless another model or benchmark is named now.

    Of the runs that the sender sees: a file that somebody else keeps to themselves is as good as new.
    """
    if not sha256:  # a file that is still growing
        return None
    took = Upload.objects.filter(sha256=sha256, run__isnull=False).exclude(state=UploadState.FAILED)
    seen = Run.objects.filter(visible_runs(access), pk__in=took.values("run"))
    for run in seen.select_related("benchmark").order_by("pk"):
        if model in {"", run.model} and benchmark in {"", run.benchmark.name}:
            return run
    return None


def check_said(run: Run, model: str, benchmark: str) -> None:
    """Raises `IngestError` where a model or benchmark is named that the named run is not of."""
    for what, said, stored in (("model", model, run.model), ("benchmark", benchmark, run.benchmark.name)):
        if said and said != stored:
            raise IngestError(
                f"The run {run.slug!r} is of the {what} {stored!r}, and {said!r} was said. Leave the {what} out to add "
                "to the run, leave the run out to make a new one, or correct the run on its page first."
            )


def run_for(upload: Upload, uids: Collection[str], results: Mapping[tuple[str, int], str] | None = None) -> Run:
    """The run of an upload whose first rows have these uids; made where there is none.

    `results`: task and repetition → digest of the first rows that are no errors.

    Raises `IngestError` when the upload names a run of another benchmark.
    """
    with transaction.atomic():
        if upload.run is None:
            upload.run = _found_or_made(upload, results or {})
            upload.run_name = str(upload.run)
            upload.save(update_fields=["run", "run_name"])
        else:
            _same_benchmark(upload.run, uids)
        if upload.repetitions is not None:
            _set_repetitions(upload.run, upload.repetitions)
    return upload.run


def _found_or_made(upload: Upload, results: Mapping[tuple[str, int], str]) -> Run:
    benchmark, _ = Benchmark.objects.get_or_create(name=upload.benchmark or NO_BENCHMARK)
    # Two copies of one file that come in at once take turns here, so that the second finds the run of the first.
    Benchmark.objects.select_for_update().get(pk=benchmark.pk)
    said_model = "" if upload.model_inferred or upload.model == upload.header.get("model") else upload.model
    said_benchmark = "" if upload.benchmark_inferred else upload.benchmark
    known = known_run(upload.sha256, said_model, said_benchmark, access=sender(upload))
    if known is None:
        known = _of_one_lineage(upload, benchmark, results)
    if known is not None:
        return known
    run = Run(
        benchmark=benchmark,
        model=upload.model,
        model_inferred=upload.model_inferred,
        benchmark_inferred=upload.benchmark_inferred,
        repetitions=upload.repetitions or 0,
        repetitions_inferred=upload.repetitions is None,
        lineage=upload.header.get("lineage") or "",
        settings=upload.header.get("parameters", {}),
        started_at=parse_datetime(upload.header.get("started_at") or ""),
        duration=upload.header.get("duration"),
        is_demo=upload.is_demo,
        owner_id=upload.owner_id,
        visibility=upload.visibility,
    )
    _save_with_slug(run)
    return run


def sender(upload: Upload) -> Access:
    """What the sender of an upload sees of the runs: all of them where it came by a command."""
    return EVERYTHING if upload.owner_id is None else Access(user=upload.owner_id)


def _of_one_lineage(upload: Upload, benchmark: Benchmark, results: Mapping[tuple[str, int], str]) -> Run | None:
    """The run that another file of the same run went to: another shard, or the errors beside the results.

    A file with other results for attempts that a run has is of a second run with the same configuration.
    """
    lineage = upload.header.get("lineage")
    if not lineage:
        return None
    seen = Run.objects.filter(visible_runs(sender(upload)))
    for run in seen.filter(lineage=lineage, benchmark=benchmark, model=upload.model).order_by("pk"):
        if fits(run, results):
            return run
    return None


def fits(run: Run, results: Mapping[tuple[str, int], str]) -> bool:
    """Whether a run has no other results than these for their attempts."""
    stored = Attempt.objects.filter(
        run=run, current=True, task__uid__in={uid for uid, _ in results}, repetition__in={n for _, n in results}
    ).exclude(verdict=Verdict.ERROR)
    places = stored.values_list("task__uid", "repetition", "digest")
    return all(results.get((uid, repetition), digest) == digest for uid, repetition, digest in places)


def _set_repetitions(run: Run, said: int) -> None:
    """k as somebody says it, unless a higher repetition is recorded."""
    highest = Attempt.objects.filter(run=run, current=True).aggregate(Max("repetition"))["repetition__max"]
    if highest is None or said > highest:
        run.repetitions, run.repetitions_inferred = said, False
        run.save(update_fields=["repetitions", "repetitions_inferred", "updated_at"])


def _save_with_slug(run: Run) -> None:
    stem = slugify(f"{run.benchmark.name} {run.model}".replace(".", "-"))[:180] or "run"
    number = 1
    while True:
        run.slug = stem if number == 1 else f"{stem}-{number}"
        number += 1
        if Run.objects.filter(slug=run.slug).exists():
            continue
        try:
            with transaction.atomic():
                run.save(force_insert=True)
        except IntegrityError:  # another upload took the name in between
            continue
        return


def _same_benchmark(run: Run, uids: Collection[str]) -> None:
    """Refuses rows of a benchmark that is known to be another one. Tasks that nobody knows yet may be new ones."""
    stored = set(TaskTally.objects.filter(run=run).values_list("task__uid", flat=True)[:5000])
    if not uids or not stored or stored & set(uids):
        return
    example = min(uids)
    ours, theirs = stored & THINKINGBOX_BENCH.uids, set(uids) & THINKINGBOX_BENCH.uids
    if bool(ours) != bool(theirs):
        owner = THINKINGBOX_BENCH.name if theirs else "another benchmark"
        raise IngestError(_foreign(run, example, owner))
    elsewhere = (
        Task.objects.filter(uid__in=uids).exclude(benchmark=run.benchmark_id).select_related("benchmark").first()
    )
    if elsewhere is not None and not Task.objects.filter(uid__in=uids, benchmark=run.benchmark_id).exists():
        raise IngestError(_foreign(run, elsewhere.uid, elsewhere.benchmark.name))


def _foreign(run: Run, uid: str, owner: str) -> str:
    return (
        f"The file is of another benchmark than the run {run.slug!r} ({run.benchmark.name}): its task {uid!r} "
        f"belongs to {owner}, and none of its first tasks is in the run. Ingest it as a run of its own, without "
        "naming a run."
    )
