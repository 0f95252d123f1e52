from __future__ import annotations

from decimal import Decimal

import pytest
from django.http import Http404

from runs.access import EVERYTHING
from runs.costs import Price, StatedCost
from runs.models import Attempt
from runs.prices import PricingChoice, create_list, price_run
from runs.queries.attempt_cost import AttemptCost
from runs.queries.attempts import AttemptView, attempt_page
from runs.queries.tasks import AttemptRow, FirstEffect, TaskText, task_page
from tests.factories import make_row
from tests.stored import outcomes, store

pytestmark = pytest.mark.django_db
UID = "a.py:one"


def test_attempts_stand_side_by_side_and_missing_ones_as_missing() -> None:
    run = store(outcomes(UID, "pf.e"), repetitions=5)
    page = task_page(run.slug, UID, access=EVERYTHING)
    pks = dict(Attempt.objects.values_list("repetition", "pk"))
    wrong = FirstEffect("wrong", "rentals", "7", "status", "closed", "returned")
    same = {"finish_reason": "done", "steps": 6, "tool_calls": 3, "tool_errors": 1, "tokens": 1280, "duration": 3.25}
    graded = {**same, "evident": True}
    assert page.strip == [
        AttemptRow(repetition=0, pk=pks[0], verdict="passed", word="Passed", **graded),  # type: ignore[arg-type]
        AttemptRow(repetition=1, pk=pks[1], verdict="failed", word="Failed", differences=1, first=wrong, **graded),  # type: ignore[arg-type]
        AttemptRow(repetition=2),
        AttemptRow(repetition=3, pk=pks[3], verdict="error", word="System error", **same),  # type: ignore[arg-type]
        AttemptRow(repetition=4),
    ]
    assert (page.verdicts, page.missing, page.expected, page.name, page.file) == ("pf.e.", 2, 5, "one", "a.py")
    assert page.text == TaskText(
        repetition=0,
        query="I brought the concrete mixer back. Please book it in.",
        policy="# Rental desk\nA returned item is set to `returned`.",
        private_context=None,
    )


def test_attempts_have_their_cost_by_the_price_of_the_run() -> None:
    beside = [{"input_tokens": 200, "cache_read_input_tokens": 1000, "output_tokens": 80}]
    run = store([*outcomes(UID, "p"), make_row(uid=UID, repetition=1, usage=None)])
    other = store(outcomes(UID, "p", usage=beside), model="cedar")
    prices = create_list(
        "Desk",
        [Price(model=name, input=Decimal(2), cached=Decimal("0.5"), output=Decimal(8)) for name in ("birch", "cedar")],
    )
    page = task_page(run.slug, UID, access=EVERYTHING)
    assert (page.currency, [(row.tokens, row.cost) for row in page.strip]) == (None, [(1280, None), (None, None)])
    for priced in (run, other):
        price_run(priced, PricingChoice(price_list=prices.pk))
    page = task_page(run.slug, UID, access=EVERYTHING)
    # 200 fresh tokens of input, 1,000 from the cache, 80 of output; once counted inside the input, once beside it.
    cost = Decimal("0.0004") + Decimal("0.0005") + Decimal("0.00064")
    assert (page.currency, [(row.tokens, row.cost) for row in page.strip]) == ("USD", [(1280, cost), (None, None)])
    (row,) = task_page(other.slug, UID, access=EVERYTHING).strip
    assert (row.tokens, row.cost) == (1280, cost)
    shown = attempt_page(page.strip[0].pk or 0, AttemptView(), access=EVERYTHING)
    assert shown is not None
    assert shown.head.cost == AttemptCost(amount=cost, currency="USD", price_list="Desk")
    half = create_list("Half", [Price(model="birch", input=Decimal(2))])
    price_run(run, PricingChoice(price_list=half.pk))
    assert task_page(run.slug, UID, access=EVERYTHING).currency is None
    price_run(run, PricingChoice(stated=StatedCost(total=Decimal(5))))
    assert task_page(run.slug, UID, access=EVERYTHING).currency is None


def test_a_replaced_error_stays_as_history() -> None:
    run = store(outcomes(UID, "e"))
    store(outcomes(UID, "p"), run=run.slug)
    old = Attempt.objects.get(current=False).pk
    (row,) = task_page(run.slug, UID, access=EVERYTHING).strip
    assert (row.verdict, row.replaced) == ("passed", [old])


def test_an_attempt_that_was_not_graded_says_so() -> None:
    run = store(outcomes(UID, "n"))
    (row,) = task_page(run.slug, UID, access=EVERYTHING).strip
    assert (row.word, row.evident) == ("Not graded", False)


def test_neighbours_follow_the_order_of_uids() -> None:
    run = store([make_row(uid=uid) for uid in ("a.py:b", "a.py:a", "a.py:c")])
    page = task_page(run.slug, "a.py:b", access=EVERYTHING)
    assert page.previous is not None
    assert page.following is not None
    assert (page.previous.name, page.following.name) == ("a", "c")
    assert task_page(run.slug, "a.py:a", access=EVERYTHING).previous is None
    assert task_page(run.slug, "a.py:c", access=EVERYTHING).following is None


@pytest.mark.parametrize("letters", ["f", "fff"])
def test_a_task_takes_the_same_queries_for_any_number_of_attempts(letters: str, django_assert_num_queries) -> None:  # type: ignore[no-untyped-def]
    run = store(outcomes(UID, letters))
    with django_assert_num_queries(10):
        assert len(task_page(run.slug, UID, access=EVERYTHING).strip) == len(letters)
    with django_assert_num_queries(8):  # what was computed is kept
        assert len(task_page(run.slug, UID, access=EVERYTHING).strip) == len(letters)


def test_many_repetitions_are_paged() -> None:
    run = store(outcomes(UID, "p"), repetitions=250)
    page = task_page(run.slug, UID, 3, access=EVERYTHING)
    assert [row.repetition for row in page.strip] == list(range(200, 250))


def test_an_unknown_task_is_not_found() -> None:
    run = store(outcomes(UID, "p"))
    with pytest.raises(Http404):
        task_page(run.slug, "a.py:two", access=EVERYTHING)
