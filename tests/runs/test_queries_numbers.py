from __future__ import annotations

import pytest

from runs.queries.numbers import Counts, Numbers, TaskClass, class_of, numbers_by_run, numbers_of
from tests.stored import outcomes, store


@pytest.mark.parametrize(
    ("counts", "k", "kind"),
    [
        (Counts(4, 4, 0, 0), 4, TaskClass.ALWAYS),
        (Counts(4, 3, 0, 1), 4, TaskClass.SOMETIMES),
        (Counts(4, 0, 3, 1), 4, TaskClass.NEVER),
        (Counts(3, 3, 0, 0), 4, TaskClass.INCOMPLETE),
        (Counts(3, 0, 3, 0), 4, TaskClass.INCOMPLETE),
        # More recorded than asked for: all of them count.
        (Counts(5, 4, 1, 0), 4, TaskClass.SOMETIMES),
        (Counts(5, 5, 0, 0), 4, TaskClass.ALWAYS),
    ],
)
def test_a_task_is_judged_only_when_it_is_complete(counts: Counts, k: int, kind: TaskClass) -> None:
    assert class_of(counts, k) is kind


@pytest.mark.django_db
def test_the_database_adds_up_as_python_does() -> None:
    rows = [
        *outcomes("a.py:always", "pppp"),
        *outcomes("a.py:sometimes", "pfep"),
        *outcomes("a.py:never", "ffen"),
        *outcomes("a.py:incomplete", "pp.p"),
    ]
    run = store(rows, repetitions=4)
    numbers = numbers_by_run()[run.pk]
    assert numbers == Numbers(
        k=4, tasks=4, expected=16, recorded=15, passed=9, failed=3, errors=3, with_states=13, solved=3,
        always=1, sometimes=1, never=1, incomplete=1,
    )  # fmt: skip
    counts = [Counts(4, 4, 0, 0, 4), Counts(4, 2, 1, 1, 3), Counts(4, 0, 2, 2, 3), Counts(3, 3, 0, 0, 3)]
    assert numbers_of(counts, 4) == numbers
    assert numbers.passed + numbers.failed + numbers.errors + numbers.missing == numbers.expected
    assert (numbers.pass_at_1, numbers.pass_at_1_without_errors) == (9 / 15, 9 / 12)
    assert (numbers.breadth, numbers.consistency, numbers.complete) == (3 / 4, None, 3)


def test_a_run_without_attempts_has_no_shares() -> None:
    numbers = Numbers(k=0)
    assert (numbers.pass_at_1, numbers.pass_at_1_without_errors, numbers.breadth, numbers.consistency) == (None,) * 4
    assert numbers_of([], 0) == numbers
