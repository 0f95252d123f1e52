"""Two small runs of an invented desk, for the tests of the API."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from runs.models import Run
from tests.stored import outcomes, store

Get = Callable[..., Any]


@pytest.fixture
def birch(db: None) -> Run:
    return store([*outcomes("desk.py:test_1", "ppf"), *outcomes("desk.py:test_2", "ffe")], repetitions=3)


@pytest.fixture
def alder(birch: Run) -> Run:
    rows = [*outcomes("desk.py:test_1", "ppp"), *outcomes("desk.py:test_2", "pff")]
    return store(rows, model="alder", repetitions=3)


@pytest.fixture
def get(client: Client) -> Get:
    """The JSON at an address below /api/v1; `status` is what is expected."""

    def ask(path: str, status: int = 200, **query: Any) -> Any:
        answer = client.get(f"/api/v1{path}", query)
        assert answer.status_code == status, answer.content
        return answer.json()

    return ask


def text_of(answer: Any) -> bytes:
    """The content, also of what is sent piece by piece."""
    return b"".join(answer.streaming_content) if answer.streaming else bytes(answer.content)
