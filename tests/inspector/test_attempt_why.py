"""The trace page's diagnosis, its other half, and where a passing attempt wrote what this one did not."""

from __future__ import annotations

import copy
import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from runs.access import EVERYTHING
from runs.models import Attempt, Run
from runs.queries.attempt_counterpart import counterpart
from runs.queries.attempts import AttemptView, attempt_page
from tests.factories import make_row, make_states
from tests.stored import outcomes, store
from tests.trace_rows import hostile_row, row_with, text

pytestmark = pytest.mark.django_db
UID = "rental_desk_group1.py:test_return_001"


def idle(**changes: Any) -> dict[str, Any]:
    """A failed attempt that writes nothing: both required changes are missing."""
    row = row_with([text("user", "Book it in."), text("assistant", "All is booked in. <DONE>")], **changes)
    effects = row["test_context"]["effects"]["rental_desk"]
    states = make_states()
    effects["result_db_state"] = copy.deepcopy(states["before"])
    effects["result_db_hash"] = "0" * 64
    effects["diff"] = None
    return row


def html_of(client: Client, attempt: Attempt, query: str = "") -> str:
    answer = client.get(attempt.get_absolute_url() + query)
    assert answer.status_code == 200
    return " ".join(answer.content.decode().split())


def words(html: str) -> str:
    return " ".join(re.sub("<[^>]+>", " ", html).split())


def at(run: Run, repetition: int) -> Attempt:
    return run.attempts.get(repetition=repetition, current=True)


def test_the_signature_stands_beside_the_verdict_with_its_rule(client: Client) -> None:
    run = store(outcomes(UID, "pf"))
    html = html_of(client, at(run, 1))
    assert 'title="an explicit tool error that no later step repaired">Tool usage</a>' in html
    assert "why-badge" not in html_of(client, at(run, 0))


def test_the_diagnosis_says_its_evidence_step_by_step(client: Client) -> None:
    run = store(outcomes(UID, "pf"))
    html = html_of(client, at(run, 1), "?tab=checks")
    why = words(html[html.index('<li id="why"') : html.index("State comparison")])
    assert why.startswith(
        "Why it failed Tool usage Version 1: explicit errors, strict repair An explicit tool error that"
    )
    assert "5 A tool error that no later step repaired “" not in why
    assert "5 A tool error that no later step repaired No notes for rental 7" in why
    assert "Finer labels Tool error not recovered" in why
    assert "Wrong field value" in why
    assert "wrong rentals 7 status" in why


def test_what_no_step_wrote_names_the_step_of_a_passing_attempt(client: Client) -> None:
    run = store([*outcomes(UID, "p"), idle(repetition=1)])
    passed, failed = at(run, 0), at(run, 1)
    html = html_of(client, failed)
    link = f'<a href="/attempts/{passed.pk}/?step=4" title="repetition 0">written at step 4</a> in a passing attempt'
    assert html.count(f'<span class="wd passing">{link}') == 2
    assert "written at step 4 in a passing attempt" in words(html)
    assert f'<span class="mid passing">{link}' in html_of(client, failed, "?tab=checks")


def test_a_passing_attempt_of_another_run_will_do(client: Client) -> None:
    store(outcomes(UID, "p"), model="cedar")
    run = store([idle()])
    html = html_of(client, at(run, 0))
    assert 'title="repetition 0 of cedar">written at step 4</a>' in html
    assert "Compare with <bdi>cedar 0</bdi>" in html


def test_without_a_passing_attempt_nothing_is_said(client: Client) -> None:
    run = store([idle(), idle(repetition=1)])
    html = html_of(client, at(run, 0))
    assert "in a passing attempt" not in html
    assert "data-compare" not in html


def test_of_several_the_nearest_repetition_of_the_same_run_is_compared() -> None:
    store(outcomes(UID, "pppppp"), model="cedar")
    run = store(outcomes(UID, "pffpfe"))
    found = [counterpart(at(run, repetition), access=EVERYTHING) for repetition in range(6)]
    assert [None if one is None else one.link.label for one in found] == ["1", "0", "3", "2", "3", "3"]
    passed, failed = at(run, 3), at(run, 2)
    assert found[2] is not None
    assert found[3] is not None
    assert (found[2].link.left, found[2].link.right) == (passed.pk, failed.pk)
    assert (found[3].link.left, found[3].link.right) == (passed.pk, failed.pk)


def test_an_attempt_that_was_replaced_is_no_counterpart() -> None:
    run = store(outcomes(UID, "fe"))
    store(outcomes(UID, "fp"), run=run.slug)
    found = counterpart(at(run, 0), access=EVERYTHING)
    assert found is not None
    assert found.pk == at(run, 1).pk


@pytest.mark.parametrize("repetitions", [1, 12])
def test_it_takes_one_query_more_however_many_there_are(repetitions: int, django_assert_num_queries: Any) -> None:
    run = store([*outcomes(UID, "p" * repetitions), idle(repetition=repetitions)])
    pk = at(run, repetitions).pk
    attempt_page(pk, AttemptView(), access=EVERYTHING)  # keeps the run's price
    with django_assert_num_queries(4):
        attempt_page(pk, AttemptView(), access=EVERYTHING)


def test_the_button_leads_to_the_comparison(client: Client) -> None:
    run = store(outcomes(UID, "pf"))
    passed, failed = at(run, 0), at(run, 1)
    address = reverse("compare_attempts", args=[passed.pk, failed.pk])
    for attempt, other in ((passed, "1"), (failed, "0")):
        html = html_of(client, attempt)
        assert f'href="{address}" data-compare' in html
        assert f"Compare with <bdi>{other}</bdi>" in html


def test_hostile_words_stay_text(client: Client) -> None:
    run = store([hostile_row(), make_row(repetition=1, outcome="passed")])
    html = html_of(client, at(run, 0), "?tab=checks")
    assert "<script>window" not in html
    assert 'id="why"' in html
