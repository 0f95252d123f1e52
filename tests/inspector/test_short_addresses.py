from __future__ import annotations

import pytest
from django.test import Client

from tests.stored import outcomes, store

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("given", "short"),
    [
        ("/failures/?q=&sort=task", "/failures/"),
        ("/failures/?model=birch&q=&sort=-tokens&group=same", "/failures/?model=birch&sort=-tokens"),
        ("/failures/?domain=&q=+&page=1", "/failures/?domain=&q=+"),
        ("/failures/errors/?class=harness&retryable=&run=", "/failures/errors/?class=harness"),
        ("/?q=&sort=-created", "/"),
        ("/runs/desk-birch/?domain=&q=", "/runs/desk-birch/"),
        ("/compare/?base=a&candidate=b&domain=&q=x", "/compare/?base=a&candidate=b&q=x"),
    ],
)
def test_what_goes_without_saying_leaves_the_address(client: Client, given: str, short: str) -> None:
    store(outcomes("a.py:one", "pf"), model="birch")
    answer = client.get(given)
    assert (answer.status_code, answer["Location"]) == (302, short)
    assert client.get(short).status_code == 200
    part = client.get(given, headers={"HX-Request": "true"})
    assert (part.status_code, part["HX-Push-Url"]) == (200, short)
    assert "HX-Push-Url" not in client.get(short, headers={"HX-Request": "true"})


def test_a_task_that_a_benchmark_has_not_says_which_have(client: Client) -> None:
    store(outcomes("a.py:one", "p"), benchmark="desk")
    answer = client.get("/tasks/a.py:one/?benchmark=elsewhere")
    text = answer.content.decode()
    assert answer.status_code == 404
    assert "The benchmark has no such task" in text
    assert 'href="/tasks/a.py:one/?benchmark=desk"' in text
    answer = client.get("/tasks/a.py:two/")
    assert (answer.status_code, "No run has such a task" in answer.content.decode()) == (404, True)
