from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from runs import search
from runs.access import EVERYTHING
from runs.editing import RunChanges, delete_run, edit_run
from runs.models import Attempt, Note
from runs.queries.errors import Again, ErrorFilters, error_page, runs_again
from runs.queries.everywhere import search_everywhere
from runs.queries.failure_filters import FailureFilters, Grouping
from runs.queries.failure_index import Facet, failure_index
from runs.queries.failure_words import Difference
from runs.queries.failures import FailurePage, failed_rows, failure_page
from runs.queries.look_next import look_next
from runs.queries.task_runs import task_across
from runs.transcripts import Piece, parse_query
from tests.factories import make_messages, make_row
from tests.stored import outcomes, store

pytestmark = pytest.mark.django_db


def index_all() -> None:
    while search.index_some():
        pass


def filters(text: str = "", **chosen: str | tuple[str, ...]) -> FailureFilters:
    wanted = {Facet(name): (value,) if isinstance(value, str) else value for name, value in chosen.items()}
    return FailureFilters(chosen=wanted, text=text, group=Grouping.NONE)


def shown(page: FailurePage) -> list[tuple[str, int]]:
    return [(row.name, row.repetition) for group in page.groups for row in group.rows]


def facet(page: FailurePage, facet: Facet) -> dict[str, int]:
    return next({choice.value: choice.count for choice in one.choices} for one in page.facets if one.facet is facet)


def test_only_failures_are_listed() -> None:
    store([*outcomes("a.py:one", "pfe"), *outcomes("a.py:two", "fnf")])
    page = failure_page(filters(), access=EVERYTHING)
    assert shown(page) == [("one", 1), ("two", 0), ("two", 2)]
    assert (page.stored, page.total, page.tasks) == (3, 3, 2)


def test_runs_are_called_by_model_and_benchmark_and_by_their_slug_where_others_are_called_so() -> None:
    first, second = (store(outcomes(f"a.py:{name}", "f"), model="birch", run="") for name in ("one", "two"))
    third = store(outcomes("a.py:one", "f"), model="cedar", run="")
    page = failure_page(filters(run=first.slug), access=EVERYTHING)
    (runs,) = [facet for facet in page.facets if facet.facet is Facet.RUN]
    assert [(choice.value, choice.title) for choice in runs.choices] == [
        (first.slug, f"birch on desk, run {first.slug}"),
        (second.slug, f"birch on desk, run {second.slug}"),
        (third.slug, "cedar on desk"),
    ]
    assert [one.title for one in page.applied] == [f"birch on desk, run {first.slug}"]


def test_every_facet_counts_the_attempts_of_its_values() -> None:
    store(outcomes("a.py:one", "fpf"), model="birch", run="")
    page = failure_page(filters(), access=EVERYTHING)
    assert {one.facet.value: {choice.title: choice.count for choice in one.choices} for one in page.facets} == {
        "run": {"birch on desk": 2},
        "looked": {"no": 2},
        "claimed": {"no": 2},
        "signature": {"Tool usage": 2},
        "label": {"Tool error not recovered": 2, "Wrong field value": 2},
        "effect": {"wrong": 2},
        "table": {"rentals": 2},
        "field": {"rentals.status": 2},
        "tool": {"find_notes": 2, "find_rentals": 2, "update_rental": 2},
        "erred": {"find_notes": 2},
        "domain": {"rental_desk": 2},
        "task": {"one": 2},
        "model": {"birch": 2},
        "rubric": {},
        "finish": {"done": 2},
        "disagrees": {"no": 2},
        "lone": {"no": 2},
        "alike": {"no": 2},
        "copy": {"in one run only": 2},
        "benchmark": {"desk": 2},
        "note": {},
    }


def test_filters_combine_and_counts_follow() -> None:
    store(outcomes("a.py:one", "ff"), model="birch")
    store([*outcomes("a.py:one", "f"), *outcomes("b.py:two", "ff", finish_reason="limit")], model="cedar")
    page = failure_page(filters(model="cedar", finish="limit"), access=EVERYTHING)
    assert shown(page) == [("two", 0), ("two", 1)]
    assert facet(page, Facet.MODEL) == {"cedar": 2}
    assert facet(page, Facet.FINISH) == {"done": 1, "limit": 2}
    assert facet(page, Facet.TASK) == {"b.py:two": 2}


def test_a_value_that_leaves_nothing_stays_listed_while_it_is_chosen() -> None:
    store(outcomes("a.py:one", "f"))
    page = failure_page(filters(model="nobody"), access=EVERYTHING)
    assert (page.total, facet(page, Facet.MODEL)) == (0, {"birch": 1, "nobody": 0})
    assert [(one.facet, one.title, one.without) for one in page.applied] == [("Model", "nobody", "group=none")]


def test_words_narrow_the_list_and_are_marked() -> None:
    messages = make_messages()
    messages[-1]["content"] = "The mixer went to the Moon. <DONE>"
    store([make_row(), make_row(repetition=1, messages=messages)])
    index_all()
    page = failure_page(filters("moon"), access=EVERYTHING)
    (group,) = page.groups
    assert [row.repetition for row in group.rows] == [1]
    assert Piece("Moon", True) in group.rows[0].claim_pieces
    assert facet(page, Facet.TASK) == {"rental_desk_group1.py:test_return_001": 1}
    (found,) = failure_page(filters("mixer ada"), access=EVERYTHING).groups[0].rows[0].excerpts
    assert (found.step, found.who, found.pieces[1]) == (3, "find_rentals", Piece("ada", True))


def test_what_has_no_word_finds_nothing_and_says_so() -> None:
    store(outcomes("a.py:one", "f"))
    page = failure_page(filters("--"), access=EVERYTHING)
    assert (page.total, page.no_words) == (0, True)


def test_groups_hold_what_has_the_same_first_difference() -> None:
    other = make_messages(status="lost")
    lost = make_row(uid="a.py:two", repetition=0, messages=other)
    lost["test_context"]["effects"]["rental_desk"]["result_db_state"]["rentals"][0]["status"] = "lost"
    lost["test_context"]["effects"]["rental_desk"]["result_db_hash"] = "0" * 64
    store([*outcomes("a.py:one", "ffff"), lost])
    page = failure_page(FailureFilters(), access=EVERYTHING)
    assert [(group.difference, group.total, group.tasks, len(group.rows)) for group in page.groups] == [
        (Difference("wrong", "rentals", "status", '"closed"', '"returned"'), 4, 1, 3),
        (Difference("wrong", "rentals", "status", '"lost"', '"returned"'), 1, 1, 1),
    ]
    by_task = failure_page(FailureFilters(group=Grouping.TASK), access=EVERYTHING)
    assert [(group.task, group.total) for group in by_task.groups] == [("a.py:one", 4), ("a.py:two", 1)]


@pytest.mark.parametrize("sort", ["task", "model", "steps", "tokens", "duration", "repetition"])
def test_the_order_is_total_either_way(sort: str) -> None:
    store(outcomes("a.py:one", "ff"), model="birch")
    store(outcomes("a.py:one", "ff", usage=None), model="cedar")
    for descending in (False, True):
        wanted = FailureFilters(sort=sort, descending=descending, group=Grouping.NONE)
        first = [row.pk for row in failure_page(wanted, access=EVERYTHING).groups[0].rows]
        assert first == [row.pk for row in failed_rows(wanted, access=EVERYTHING)]
        assert len(set(first)) == 4


def test_what_is_not_known_comes_last_in_every_order() -> None:
    store(outcomes("a.py:one", "f", usage=None), model="birch")
    store(outcomes("a.py:one", "f"), model="cedar")
    for descending in (False, True):
        rows = failed_rows(FailureFilters(sort="tokens", descending=descending), access=EVERYTHING)
        assert [row.model for row in rows] == ["cedar", "birch"]


def test_the_index_follows_what_is_stored() -> None:
    run = store(outcomes("a.py:one", "f"), model="birch")
    assert failure_page(filters(), access=EVERYTHING).total == 1
    store(outcomes("a.py:two", "ff"), run=run.slug)
    assert failure_page(filters(), access=EVERYTHING).total == 3
    edit_run(run, RunChanges(model="oak", benchmark="elsewhere"))
    page = failure_page(filters(), access=EVERYTHING)
    assert (facet(page, Facet.MODEL), page.groups[0].rows[0].benchmark) == ({"oak": 3}, "elsewhere")
    run.refresh_from_db()
    delete_run(run)
    assert (failure_page(filters(), access=EVERYTHING).total, failure_index(access=EVERYTHING).total) == (0, 0)


def test_labels_of_notes_are_a_facet_at_once() -> None:
    store(outcomes("a.py:one", "fpf"))
    failure_page(filters(), access=EVERYTHING)
    for attempt in Attempt.objects.exclude(repetition=2):
        for label in ("odd", "check"):
            Note.objects.create(attempt=attempt, label=label, created_at=timezone.now())
    page = failure_page(filters(note="odd"), access=EVERYTHING)
    assert (shown(page), facet(page, Facet.NOTE)) == ([("one", 0)], {"check": 1, "odd": 1})
    assert page.groups[0].rows[0].notes == ["check", "odd"]


def test_a_row_names_its_run_where_several_have_the_same_model() -> None:
    desk = store(outcomes("a.py:one", "f"))
    store(outcomes("a.py:one", "f"), model="cedar")
    assert run_notes() == {"birch": {""}, "cedar": {""}}
    store(outcomes("b.py:two", "f"), benchmark="shop")
    assert run_notes() == {"birch": {"on desk", "on shop"}, "cedar": {""}}
    again = store(outcomes("a.py:one", "ff"))
    assert again.slug != desk.slug
    assert run_notes() == {
        "birch": {f"on desk, run {desk.slug}", f"on desk, run {again.slug}", "on shop"}, "cedar": {""},
    }  # fmt: skip


def run_notes() -> dict[str, set[str]]:
    notes: dict[str, set[str]] = {}
    for group in failure_page(filters(), access=EVERYTHING).groups:
        for row in group.rows:
            notes.setdefault(row.model, set()).add(row.run_note)
    return notes


def test_the_number_of_queries_does_not_grow(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    run = store(outcomes("a.py:one", "f"))
    failure_page(filters(), access=EVERYTHING)
    with django_assert_num_queries(7):
        failure_page(filters(), access=EVERYTHING)
    store(outcomes("a.py:two", "ffff"), run=run.slug)
    failure_page(filters(), access=EVERYTHING)
    with django_assert_num_queries(7):
        failure_page(filters(), access=EVERYTHING)


def test_long_lists_are_paged_and_long_facets_open_on_demand() -> None:
    store([row for number in range(9) for row in outcomes(f"a.py:t{number}", "ffff")])
    page = failure_page(FailureFilters(group=Grouping.NONE, page=2), access=EVERYTHING)
    assert (page.page.number, page.page.pages, len(shown(page)), shown(page)[0]) == (2, 2, 11, ("t6", 1))
    tasks = next(one for one in page.facets if one.facet is Facet.TASK)
    assert (len(tasks.choices), tasks.more, tasks.whole) == (6, 3, "group=none&all=task")
    whole = failure_page(FailureFilters(whole=Facet.TASK), access=EVERYTHING)
    assert len(facet(whole, Facet.TASK)) == 9


def test_filters_and_their_query() -> None:
    made = filters("a b", run=("x", "y"), effect="wrong").but(sort="steps", descending=True, page=3)
    assert made.query() == "run=x&run=y&effect=wrong&q=a+b&sort=-steps&group=none&page=3"
    assert made.without(Facet.RUN, "x").query() == "run=y&effect=wrong&q=a+b&sort=-steps&group=none"
    assert FailureFilters().query() == ""


def test_errors_are_listed_apart_by_class(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    birch = store([*outcomes("a.py:one", "pfe"), *outcomes("a.py:two", "nf")], model="birch")
    store(outcomes("a.py:one", "ee"), model="cedar")
    with django_assert_num_queries(7):
        page = error_page(ErrorFilters(), access=EVERYTHING)
    assert page.stored == page.page.total == 4
    assert [(row.model, row.name, row.repetition, row.word, row.kind) for row in page.rows] == [
        ("birch", "one", 2, "System error", "Harness"),
        ("birch", "two", 0, "Not graded", "Not graded"),
        ("cedar", "one", 0, "System error", "Harness"),
        ("cedar", "one", 1, "System error", "Harness"),
    ]
    assert [(choice.title, choice.count) for choice in page.kinds] == [("Harness", 3), ("Not graded", 1)]
    wanted = ErrorFilters(run=birch.slug, kinds=("harness",))
    narrowed = error_page(wanted, access=EVERYTHING)
    assert [(choice.title, choice.count, choice.chosen) for choice in narrowed.kinds] == [
        ("Harness", 1, True),
        ("Not graded", 1, False),
    ]
    assert [(choice.value, choice.count) for choice in narrowed.runs] == [("desk-birch", 1), ("desk-cedar", 2)]
    (only,) = runs_again(wanted, access=EVERYTHING)
    assert only == Again(run="desk-birch", uid="a.py:one", repetition=2, kind="harness", retryable=only.retryable)


def test_a_replaced_error_is_no_error_any_more() -> None:
    run = store(outcomes("a.py:one", "e"))
    store(outcomes("a.py:one", "f"), run=run.slug)
    assert (error_page(ErrorFilters(), access=EVERYTHING).stored, failure_page(filters(), access=EVERYTHING).total) == (
        0,
        1,
    )


def test_hostile_names_stay_values() -> None:
    bad: dict[str, Any] = {"finish_reason": "'); DROP TABLE runs_run; --\x1f<b>"}
    store(outcomes("a.py:<img src=x>", "f", **bad))
    page = failure_page(filters(finish=bad["finish_reason"]), access=EVERYTHING)
    assert (page.total, connection.vendor in {"sqlite", "postgresql"}) == (1, True)


def test_what_deserves_a_look() -> None:
    store([*outcomes("a.py:dependable", "ppfp"), *outcomes("a.py:hard", "ffff")], model="birch", repetitions=4)
    assert [(look.count, look.query) for look in look_next(access=EVERYTHING)] == [(1, "lone=yes&group=task")]
    store([*outcomes("a.py:dependable", "pf.."), *outcomes("a.py:hard", "f")], model="cedar", repetitions=4)
    assert [(look.count, look.query) for look in look_next(access=EVERYTHING)] == [
        (1, "lone=yes&group=task"),
        (7, "alike=yes&group=task"),
    ]
    page = failure_page(filters(alike="yes"), access=EVERYTHING)
    assert facet(page, Facet.MODEL) == {"birch": 5, "cedar": 2}
    assert [look.count for look in look_next(access=EVERYTHING)] == [
        1,
        sum(
            one.failed for uid in ("dependable", "hard") if (one := task_across(f"a.py:{uid}", access=EVERYTHING)).alike
        ),
    ]


def test_a_task_that_one_model_fails_otherwise_is_not_failed_alike() -> None:
    lost = make_row(uid="a.py:hard", messages=make_messages(status="lost"))
    lost["test_context"]["effects"]["rental_desk"]["result_db_state"]["rentals"][0]["status"] = "lost"
    lost["test_context"]["effects"]["rental_desk"]["result_db_hash"] = "0" * 64
    store(outcomes("a.py:hard", "ff"), model="birch")
    store([lost], model="cedar")
    assert look_next(access=EVERYTHING) == []


def test_everything_is_searched_at_once() -> None:
    messages = make_messages()
    messages[-1]["content"] = "Booked in for birch 7. <DONE>"
    store([*outcomes("a.py:birch_return", "pf"), make_row(uid="a.py:other", messages=messages)], model="birch")
    index_all()
    found = search_everywhere("birch", access=EVERYTHING)
    assert [run.slug for run in found.runs] == ["desk-birch"]
    assert [(task.name, task.runs) for task in found.tasks] == [("birch_return", 1)]
    assert [(row.name, row.verdict) for row in found.attempts] == [("other", "failed")]
    assert (found.attempts_total, found.failures, found.records_total) == (1, 1, 0)
    record = search_everywhere("7", access=EVERYTHING)
    assert [(one.task, one.repetition, one.effect.field) for one in record.records] == [
        ("other", 0, "status"),
        ("birch_return", 1, "status"),
    ]
    assert search_everywhere("mixer", access=EVERYTHING).attempts_total == 3
    assert search_everywhere("nowhere", access=EVERYTHING).nothing
    assert search_everywhere("\0", access=EVERYTHING).text == ""


def test_signs_that_a_database_reads_are_only_signs() -> None:
    store(outcomes("a.py:one_two", "f"))
    for typed in ("%", "_%_", "'", '"', "--", "a.py%two", "\\"):
        assert search_everywhere(typed, access=EVERYTHING).tasks_total == int(typed in "a.py:one_two")


def test_the_difference_that_was_asked_for_is_shown_first() -> None:
    row = make_row()
    server = row["test_context"]["effects"]["rental_desk"]
    server["result_db_state"]["customers"][0]["name"] = "Someone"
    server["result_db_hash"] = "0" * 64
    server["diff"].append(
        {"path": "customers[0].name", "type": "value mismatch", "result": "Someone", "golden": "Ada Winter"}
    )
    store([row])
    for field, first in (("customers.name", "name"), ("rentals.status", "status")):
        (group,) = failure_page(filters(field=field), access=EVERYTHING).groups
        assert group.rows[0].effects[0].field == first
        assert group.rows[0].differences == len(group.rows[0].effects) == 2


def test_where_words_stand_is_kept_until_something_is_stored(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    run = store(outcomes("a.py:one", "f"))
    index_all()
    query = parse_query('"the mixer"')
    index = failure_index(access=EVERYTHING)
    before = index.having(query).tolist()
    with django_assert_num_queries(0):
        assert index.having(query).tolist() == before == [True]
        assert index._beside(index.relations[0]).having(query) is index.having(query)
    store(outcomes("a.py:two", "f"), run=run.slug)
    assert failure_index(access=EVERYTHING).having(parse_query("mixer")).tolist() == [
        True,
        connection.vendor == "sqlite",
    ]
    index_all()
    assert failure_index(access=EVERYTHING).having(parse_query("mixer")).tolist() == [True, True]
