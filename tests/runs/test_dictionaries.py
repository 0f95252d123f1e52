from __future__ import annotations

import json
from typing import Any

import pytest

from runs.dictionaries import Dictionaries, decompress_with
from runs.editing import delete_run, deletion_of
from runs.models import Attempt, Payload, Run, Trace
from runs.payloads import restore_row
from runs.unused import collect
from runs.verifying import verify
from tests.factories import make_messages, make_row
from tests.stored import store

LONG = "Each deposit is returned when the machine is. " * 200


def long_row(repetition: int, **changes: Any) -> dict[str, Any]:
    row = make_row(repetition=repetition, **changes)
    row["messages"] = make_messages()
    row["messages"][0]["content"] = LONG
    return row


def test_the_first_row_is_the_dictionary_of_its_task() -> None:
    made = Dictionaries()
    first = made.of("a", b"x" * 5000)
    assert first is not None
    assert made.of("a", b"y" * 5000) is first
    assert made.of("b", b"z" * 5000) is not first
    text = b"x" * 4990 + b"otherwise"
    assert decompress_with(first.text, made.compress(first, text)) == text


def test_a_small_or_huge_row_needs_none() -> None:
    made = Dictionaries()
    assert made.of("a", b"x" * 100) is None
    assert made.of("a", b"x" * 600_000) is None
    assert made.of("a", b"x" * 5000) is not None
    assert made.of("a", b"x" * 100) is None


def test_what_is_kept_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runs.dictionaries._HELD_BYTES", 12_000)
    made = Dictionaries()
    first = made.of("a", b"x" * 5000)
    made.of("b", b"y" * 5000)
    assert made.of("a", b"z" * 5000) is first
    made.of("c", b"y" * 5000)
    assert made.of("a", b"z" * 5000) is first
    assert made._held == 10_000


@pytest.fixture
def run(db: None) -> Run:
    return store([long_row(number) for number in range(4)])


def test_rows_of_a_task_share_one_and_come_back(run: Run) -> None:
    dictionaries = set(Trace.objects.values_list("dictionary", flat=True))
    assert len(dictionaries) == 1
    assert dictionaries != {None}
    assert max(len(trace.source) for trace in Trace.objects.all()) < 400
    rows = [json.loads(restore_row(attempt)) for attempt in Attempt.objects.order_by("repetition")]
    assert rows == [long_row(number) for number in range(4)]
    assert list(verify()) == []


def test_it_stays_while_a_row_needs_it_and_goes_with_the_run(run: Run) -> None:
    other = store([make_row()], model="elm")
    before = Payload.objects.count()
    assert collect() == 0
    assert deletion_of(run).payloads == 1
    assert delete_run(run).payloads == 1
    assert Payload.objects.count() == before - 1
    assert [json.loads(restore_row(attempt)) for attempt in other.attempts.all()] == [make_row()]


def test_one_file_does_not_lean_on_another(run: Run) -> None:
    store([long_row(number, outcome="passed") for number in range(2)], model="elm")
    assert Trace.objects.values("dictionary").distinct().count() == 2


def test_a_damaged_one_is_named_with_all_rows_it_takes_along(run: Run) -> None:
    Payload.objects.filter(compressed__isnull=False).update(data=b"nothing")
    texts = [finding.text for finding in verify()]
    assert f"It is part of 4 attempts of {run.slug}" in texts[0]
    assert ["The trace of" in text for text in texts] == [False, True, True, True, True]
