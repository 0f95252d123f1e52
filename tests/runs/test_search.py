from __future__ import annotations

from typing import Any

import pytest
from django.db import connection

from runs import search
from runs.editing import delete_run
from runs.models import Attempt, PendingTranscript, Run
from runs.regrade import regrade
from runs.transcripts import parse_query
from tests.factories import make_messages, make_row
from tests.stored import store

pytestmark = pytest.mark.django_db


def saying(text: str, **changes: Any) -> dict[str, Any]:
    """A row whose last message is `text`."""
    messages = make_messages()
    messages[-1]["content"] = text
    return make_row(messages=messages, **changes)


def index_all() -> None:
    while search.index_some():
        pass


def found(typed: str) -> list[int]:
    """Repetitions whose transcripts have the words."""
    index_all()
    ids = search.matching(parse_query(typed)).tolist()
    return sorted(Attempt.objects.filter(pk__in=ids).values_list("repetition", flat=True))


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("cancelled", [0]),
        ("CANCELLED order", [0]),
        ('"order is cancelled"', [0]),
        ('"cancelled order"', []),
        ("dejo", [1]),
        ("dejó", [1]),
        ("取消", [2]),
        ("消", [2]),
        ("消取", []),
        ("update_rental", [0, 1, 2]),
        ("ada@example.com", [0, 1, 2]),
        ("find", [0, 1, 2]),
        ("cancel", []),
        ('a" OR "b', []),
        ('cancelled"', [0]),
        ("x\0", []),
        ("\0", []),
        ("NOT", []),
        ("words:order", []),
        ("---", []),
        ("", []),
    ],
)
def test_words_and_phrases_find_their_attempts(typed: str, expected: list[int]) -> None:
    store(
        [
            saying("The order is cancelled. <DONE>"),
            saying("Lo dejó así", repetition=1),
            saying("我要取消订单\0\ud800", repetition=2),
        ]
    )
    assert found(typed) == expected


def test_the_index_of_sqlite_is_right_once_the_rows_are_stored() -> None:
    store([saying("needle")])
    waits = connection.vendor != "sqlite"
    assert search.anything_waits() == waits
    assert len(search.matching(parse_query("needle"))) == (0 if waits else 1)


def test_what_waits_is_indexed_in_slices_and_only_once() -> None:
    store([saying("needle", repetition=number) for number in range(3)])
    search.clear()
    search.queue_all(connection)
    assert [search.index_some(2), search.index_some(2), search.index_some(2)] == [2, 1, 0]
    assert found("needle") == [0, 1, 2]


def test_a_cleared_index_finds_nothing_and_is_filled_again() -> None:
    store([saying("needle")])
    search.clear()
    assert found("needle") == []
    search.queue_all(connection)
    assert found("needle") == [0]


def test_deleting_a_run_takes_its_words_along() -> None:
    gone = store([saying("needle haystack")], model="birch")
    store([saying("needle", repetition=4)], model="cedar")
    index_all()
    delete_run(gone)
    assert len(search.matching(parse_query("needle"))) == 1
    assert len(search.matching(parse_query("haystack"))) == 0
    assert found("needle") == [4]


def test_deleting_a_run_that_is_not_indexed_yet() -> None:
    run = store([saying("needle")])
    search.clear()
    search.queue_all(connection)
    delete_run(run)
    assert (PendingTranscript.objects.count(), search.index_some()) == (0, 0)
    assert len(search.matching(parse_query("needle"))) == 0


def test_grading_again_keeps_the_words() -> None:
    run = store([saying("needle")])
    index_all()
    assert list(regrade(run)) == [1]
    assert found("needle") == [0]
    delete_run(Run.objects.get())
    assert len(search.matching(parse_query("needle"))) == 0


def test_the_index_is_sound_after_rows_went() -> None:
    run = store([saying("needle 取消"), saying("other words", repetition=1)])
    store([saying("stays")], model="cedar")
    delete_run(run)
    if connection.vendor == "sqlite":  # its index keeps a structure of its own, and raises where that is broken
        with connection.cursor() as cursor:
            cursor.execute("INSERT INTO runs_transcript(runs_transcript) VALUES ('integrity-check')")
    assert (found("needle"), found("stays")) == ([], [0])


def test_the_index_of_sqlite_is_merged_late_also_once_it_was_cleared() -> None:
    if connection.vendor != "sqlite":
        pytest.skip("Only SQLite's index is made of parts that are merged.")
    search.clear()
    with connection.cursor() as cursor:
        cursor.execute("SELECT k, v FROM runs_transcript_config WHERE k != 'version' ORDER BY k")
        assert cursor.fetchall() == [("automerge", 16), ("crisismerge", 64)]
