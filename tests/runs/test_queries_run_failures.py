from __future__ import annotations

from typing import Any

import pytest

from runs.access import EVERYTHING
from runs.models import Attempt, AttemptEffect, Run
from runs.queries.run_failures import (
    ClaimShares,
    DomainFailures,
    ErrorRow,
    FieldRow,
    _failures,
    run_failures,
    usual_failures,
)
from runs.queries.run_grid import Colour, GridView, Order, run_grid, stacked
from tests.factories import SERVER, make_row
from tests.stored import outcomes, store
from tests.trace_rows import row_with, text

pytestmark = pytest.mark.django_db


def silent(uid: str, repetition: int, **changes: Any) -> dict[str, Any]:
    """A failed attempt in which the agent only asks something back."""
    return (
        row_with([text("user", "Book it in."), text("assistant", "Which one?")], uid=uid, repetition=repetition)
        | changes
    )


def test_claims_signatures_fields_and_errors_of_a_run() -> None:
    rows = [*outcomes("a.py:one", "pffe"), *outcomes("b.py:two", "ffpn"), silent("b.py:two", 4)]
    found = run_failures(store(rows, repetitions=5).pk, access=EVERYTHING)
    assert found.claims == ClaimShares(
        failed=5, clean=4, wrote=4, looked=0, claimed=0, state_differs=5, wrong=5, missing=0, extra=0
    )
    assert [(row.words.title, row.count) for row in found.signatures] == [
        ("Tool usage", 4), ("Incomplete user resolution", 1),
    ]  # fmt: skip
    assert found.fields == [
        FieldRow(
            table="rentals",
            field="status",
            kind="wrong",
            attempts=5,
            tasks=2,
            after="closed",
            required="returned",
            usual=5,
        )
    ]
    assert found.all_fields == 1
    assert [(row.title, row.count) for row in found.errors] == [("Harness", 1), ("Not graded", 1)]
    assert (found.error_count, found.retryable) == (2, sum(row.retryable for row in found.errors))
    assert found.errors[1] == ErrorRow(kind="not_graded", title="Not graded", count=1, retryable=0)
    assert found.errors[1].final == 1


def test_a_task_is_told_by_what_most_of_its_failed_attempts_do() -> None:
    def failing(uid: str, repetition: int, *fields: str) -> dict[str, Any]:
        row = make_row(uid=uid, repetition=repetition, outcome="failed")
        after = row["test_context"]["effects"][SERVER]["result_db_state"]["rentals"]
        for field in fields:
            after[0][field] = "other"
        return row

    rows = [
        failing("a.py:one", 0, "item"), failing("a.py:one", 1), failing("a.py:one", 2, "item"),
        *outcomes("a.py:always", "pp"),
        silent("a.py:three", 0), failing("a.py:three", 1, "item"), silent("a.py:three", 2),
    ]  # fmt: skip
    found = usual_failures(store(rows).pk, access=EVERYTHING)
    assert {uid: (u.signature.title, u.difference, u.table, u.field, u.attempts) for uid, u in found.items()} == {
        "a.py:one": ("Tool usage", "wrong", "rentals", "status", 3),
        "a.py:three": ("Incomplete user resolution", "wrong", "rentals", "status", 3),
    }


def test_an_attempt_counts_once_for_records_that_differ_alike_and_of_equals_the_first_is_told() -> None:
    run = store([*outcomes("a.py:one", "fff"), *outcomes("a.py:two", "ff")])
    AttemptEffect.objects.all().delete()
    fields = [["status", "status", "status"], ["item"], ["item"], ["status"], ["item"]]
    AttemptEffect.objects.bulk_create(
        AttemptEffect(attempt=attempt, kind="wrong", table="rentals", key=f"{key}", field=field)
        for attempt, differing in zip(Attempt.objects.order_by("task__uid", "repetition"), fields, strict=True)
        for key, field in enumerate(differing)
    )
    found = usual_failures(run.pk, access=EVERYTHING)
    assert {uid: (u.field, u.attempts) for uid, u in found.items()} == {
        "a.py:one": ("item", 2),
        "a.py:two": ("item", 1),
    }


def test_signatures_are_counted_by_domain_where_there_are_several() -> None:
    tags: dict[str, Any] = {"labels": [], "category": [], "domain": "Depot", "eval_type": None, "skip": False}
    rows = [*outcomes("a.py:one", "ff"), *outcomes("b.py:two", "f", test_tags=tags)]
    found = run_failures(store(rows).pk, access=EVERYTHING)
    assert found.domains == [
        DomainFailures(name="Depot", failed=1, counts=[1]),
        DomainFailures(name="rental_desk", failed=2, counts=[2]),
    ]


def test_nothing_failed_and_nothing_is_stored() -> None:
    found = run_failures(store(outcomes("a.py:one", "pp")).pk, access=EVERYTHING)
    assert found.claims == ClaimShares(failed=0)
    assert (found.signatures, found.fields, found.errors, found.quote) == ([], [], [], None)


def test_what_is_kept_follows_what_is_stored() -> None:
    run = store(outcomes("a.py:one", "pf"))
    assert run_failures(run.pk, access=EVERYTHING).claims.failed == 1
    store(outcomes("a.py:two", "ff"), run=run.slug)
    assert run_failures(run.pk, access=EVERYTHING).claims.failed == 3


@pytest.mark.parametrize("letters", ["pf", "pffffffffffe"])
def test_queries_do_not_hang_on_the_attempts(letters: str, django_assert_num_queries: Any) -> None:
    run = store(outcomes("a.py:one", letters))
    _failures.clear()
    with django_assert_num_queries(5):
        run_failures(run.pk, access=EVERYTHING)
    with django_assert_num_queries(1):
        run_failures(run.pk, access=EVERYTHING)
    with django_assert_num_queries(2):
        run_grid(run.slug, GridView(), access=EVERYTHING)
    with django_assert_num_queries(3):
        run_grid(run.slug, GridView(colour=Colour.SIGNATURE), access=EVERYTHING)


def test_a_column_stands_on_what_passed() -> None:
    run = store([*outcomes("a.py:one", "fpef"), *outcomes("a.py:two", "pp.p")], repetitions=4)
    grid = run_grid(run.slug, GridView(), access=EVERYTHING)
    (band,) = grid.bands
    assert [(task.name, task.cells) for task in band.tasks] == [("two", "pp.p"), ("one", "fpef")]
    assert dict(band.paths) == {
        "p": "M0 1h1v3h-1zM1 3h1v1h-1z",
        "f": "M1 1h1v2h-1z",
        "e": "M1 0h1v1h-1z",
        "m": "M0 0h1v1h-1z",
    }
    assert (grid.rows, grid.columns, grid.cut) == (4, 12, False)


def test_by_repetition_tasks_go_by_name_and_repetition_0_is_on_top() -> None:
    run = store([*outcomes("a.py:one", "fp"), *outcomes("a.py:two", "pp")])
    (band,) = run_grid(run.slug, GridView(order=Order.REPETITION), access=EVERYTHING).bands
    assert [task.name for task in band.tasks] == ["one", "two"]
    assert dict(band.paths) == {"f": "M0 0h1v1h-1z", "p": "M0 1h1v1h-1zM1 0h1v2h-1z"}
    assert band.lines == "M1 0V2M0 1H2"


def test_by_signature_each_failure_has_the_letter_of_its_signature() -> None:
    run = store([*outcomes("a.py:one", "pf"), silent("a.py:one", 2)])
    grid = run_grid(run.slug, GridView(colour=Colour.SIGNATURE), access=EVERYTHING)
    (task,) = grid.bands[0].tasks
    assert task.cells[0] == "p"
    assert "f" not in task.cells
    assert sum(count for _, _, count in grid.legend) == 2
    assert {letter for letter, _, _ in grid.legend} == set(task.cells) - {"p"}


def test_a_stack_keeps_its_order() -> None:
    assert stacked("fepbpa.") == "ppabfe."


def test_an_absurd_number_of_repetitions_is_cut() -> None:
    run = store([make_row(repetition=0), make_row(repetition=700)])
    grid = run_grid(run.slug, GridView(), access=EVERYTHING)
    assert (grid.rows, grid.cut) == (100, True)
    assert Run.objects.get().repetitions == 701
