from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from runs.models import Attempt
from tests.stored import outcomes, store

pytestmark = pytest.mark.django_db
UID = "a.py:one"


def text_of(client: Client, slug: str, uid: str = UID) -> str:
    answer = client.get(reverse("run_task", args=[slug, uid]))
    assert answer.status_code == 200
    return " ".join(answer.content.decode().split())


def test_each_attempt_is_a_link_and_a_missing_one_says_so(client: Client) -> None:
    run = store(outcomes(UID, "pf.e"))
    text = text_of(client, run.slug)
    for repetition, pk in Attempt.objects.values_list("repetition", "pk"):
        assert f'<a href="/attempts/{pk}/">{repetition}</a>' in text
    assert "Repetition 2, not recorded" in text
    assert "Not recorded</span>" in text
    assert 'is <code class="is"><bdi>closed</bdi></code> required <code class="must"><bdi>returned</bdi></code>' in text


def test_what_was_not_recorded_names_the_switch_that_records_it(client: Client) -> None:
    run = store(outcomes(UID, "p"))
    text = text_of(client, run.slug)
    assert "evaluator only" in text
    assert "--dump userllm" in text
    assert "A returned item is set to `returned`." in text


def test_a_private_context_is_shown(client: Client) -> None:
    history = [[{"role": "user", "content": "You know that the mixer is <b>broken</b>."}]]
    run = store(outcomes(UID, "p", user_llm_history=history))
    text = text_of(client, run.slug)
    assert "the mixer is &lt;b&gt;broken&lt;/b&gt;" in text
    assert "--dump userllm" not in text


def test_a_replaced_error_is_linked_as_history(client: Client) -> None:
    run = store(outcomes(UID, "e"))
    store(outcomes(UID, "p"), run=run.slug)
    old = Attempt.objects.get(current=False)
    assert f'href="/attempts/{old.pk}/"' in text_of(client, run.slug)


def test_an_unknown_task_is_not_found(client: Client) -> None:
    run = store(outcomes(UID, "p"))
    assert client.get(reverse("run_task", args=[run.slug, "other"])).status_code == 404
