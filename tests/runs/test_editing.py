from __future__ import annotations

import pytest

from runs.editing import Deletion, RunChanges, delete_run, deletion_of, edit_run, lowest_repetitions
from runs.errors import IngestError
from runs.models import (
    Attempt,
    AttemptEffect,
    AttemptPart,
    Benchmark,
    Payload,
    PayloadPart,
    Run,
    Task,
    TaskTally,
    ToolUse,
    Trace,
    Upload,
    UploadState,
)
from runs.payloads import restore_row
from tests.factories import make_row, make_states
from tests.stored import outcomes, store, upload_of

pytestmark = pytest.mark.django_db


def of_everything() -> dict[str, int]:
    tables = (
        Run,
        Benchmark,
        Task,
        Attempt,
        Trace,
        AttemptPart,
        AttemptEffect,
        ToolUse,
        TaskTally,
        Payload,
        PayloadPart,
    )
    return {table.__name__: table.objects.count() for table in tables}


def test_facts_are_replaced() -> None:
    run = store(outcomes("a.py:one", "pf"))
    Run.objects.filter(pk=run.pk).update(model_inferred=True, benchmark_inferred=True)
    edit_run(
        run,
        RunChanges(model=" Birch 2 ", benchmark="desk", provider="Grove", weights="open", repetitions=4, note="A try."),
    )
    facts = Run.objects.values(
        "slug",
        "model",
        "model_inferred",
        "benchmark_inferred",
        "provider",
        "weights",
        "repetitions",
        "repetitions_inferred",
        "note",
    ).get()
    assert facts == {
        "slug": run.slug, "model": "Birch 2", "model_inferred": False, "benchmark_inferred": False,
        "provider": "Grove", "weights": "open",
        "repetitions": 4, "repetitions_inferred": False, "note": "A try.",
    }  # fmt: skip


def test_k_without_a_number_comes_from_the_rows() -> None:
    run = store(outcomes("a.py:one", "p.f"), repetitions=20)
    assert lowest_repetitions(run) == 3
    edited = edit_run(run, RunChanges(model="birch", benchmark="desk"))
    assert (edited.repetitions, edited.repetitions_inferred, edited.model_inferred) == (3, True, False)


def test_k_below_what_is_recorded_is_refused() -> None:
    run = store(outcomes("a.py:one", "p.f"))
    with pytest.raises(IngestError, match="2 repetitions are too few: repetition 2 is recorded"):
        edit_run(run, RunChanges(model="other", benchmark="desk", repetitions=2))
    assert Run.objects.get().model == "birch"


def test_another_benchmark_takes_the_tasks_along() -> None:
    rows = [*outcomes("a.py:one", "pf"), *outcomes("a.py:two", "fe")]
    run = store(rows)
    before = list(TaskTally.objects.order_by("task__uid").values_list("task__uid", "verdicts"))
    edit_run(run, RunChanges(model="birch", benchmark="desk v2"))
    assert list(Benchmark.objects.values_list("name", flat=True)) == ["desk v2"]
    assert list(Task.objects.order_by("uid").values_list("uid", "benchmark__name", "domain")) == [
        ("a.py:one", "desk v2", "rental_desk"),
        ("a.py:two", "desk v2", "rental_desk"),
    ]
    assert list(TaskTally.objects.order_by("task__uid").values_list("task__uid", "verdicts")) == before
    assert set(Attempt.objects.values_list("task__benchmark__name", flat=True)) == {"desk v2"}


def test_moving_one_run_leaves_the_others_where_they_are() -> None:
    first = store(outcomes("a.py:one", "pf"))
    second = store(outcomes("a.py:one", "ff"), model="cedar")
    third = store(outcomes("a.py:one", "pp"), model="alder", benchmark="depot")
    edit_run(first, RunChanges(model="birch", benchmark="depot"))
    found = TaskTally.objects.order_by("run").values_list("run", "task__benchmark__name", "verdicts")
    assert list(found) == [(first.pk, "depot", "pf"), (second.pk, "desk", "ff"), (third.pk, "depot", "pp")]
    assert Task.objects.count() == 2


def test_the_benchmark_of_a_run_that_is_being_read_stays() -> None:
    run = store(outcomes("a.py:one", "pf"))
    Upload.objects.create(file_name="more.jsonl", sha256="0", size=1, run=run, state=UploadState.READING)
    with pytest.raises(IngestError, match=r"The run is being read from 'more\.jsonl'"):
        edit_run(run, RunChanges(model="birch", benchmark="depot"))
    with pytest.raises(IngestError, match=r"The run is being read from 'more\.jsonl'"):
        delete_run(run)
    assert Run.objects.get().benchmark.name == "desk"


def test_deleting_the_only_run_leaves_nothing_but_the_history() -> None:
    upload = upload_of([*outcomes("a.py:one", "pfe"), *outcomes("a.py:two", "ff")])
    assert upload.run is not None
    announced = deletion_of(upload.run)
    assert announced == Deletion(attempts=5, payloads=Payload.objects.count(), uploads=1)
    assert delete_run(upload.run) == announced
    assert set(of_everything().values()) == {0}
    kept = Upload.objects.get()
    assert (kept.run, kept.run_name, kept.stored) == (None, "birch on desk", 5)


def test_what_another_run_shares_stays() -> None:
    mine = store(outcomes("a.py:one", "pf"))
    theirs_rows = outcomes("a.py:one", "fp")
    alone = of_everything()
    changed = make_states()
    changed["after"]["notes"] = [{"id": 1, "text": "only in the second run"}]
    row = make_row(uid="a.py:two")
    row["test_context"]["effects"]["rental_desk"]["result_db_state"] = changed["after"]
    theirs = store([*theirs_rows, row], model="cedar")
    assert of_everything()["Payload"] == alone["Payload"] + 2  # the state and its table of notes
    assert deletion_of(theirs).payloads == 2
    assert delete_run(theirs) == Deletion(attempts=3, payloads=2, uploads=1)
    assert of_everything() == alone
    attempt = Attempt.objects.get(run=mine, repetition=0)
    assert b'"initial_db_state"' in restore_row(attempt)


def test_a_deleted_run_can_come_back() -> None:
    rows = outcomes("a.py:one", "pf")
    run = store(rows)
    before = of_everything()
    delete_run(run)
    store(rows)
    assert of_everything() == before


def test_replaced_errors_go_too() -> None:
    run = store(outcomes("a.py:one", "e"))
    store(outcomes("a.py:one", "p"), run=run.slug)
    assert delete_run(run).attempts == 2
    assert set(of_everything().values()) == {0}
