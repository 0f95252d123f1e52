"""Rounds of faults: an ingest that is disturbed at random ends with the same rows and numbers as one that is not.

Apart from the other tests, as each round is an installation of its own: `uv run pytest -m faults`.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator

import pytest

from tests.faults.scenarios import SCENARIOS, missing_for
from tests.faults.site import Given, Numbers, temporary

pytestmark = pytest.mark.faults

ROUNDS = int(os.environ.get("TWENTYFOLD_FAULT_ROUNDS", "5"))


@pytest.fixture(scope="module")
def given() -> Iterator[Given]:
    with temporary() as folder:
        yield Given(folder)


@pytest.fixture(scope="module")
def expected(given: Given) -> Numbers:
    return given.numbers()


@pytest.mark.parametrize("number", range(ROUNDS))
@pytest.mark.parametrize("name", list(SCENARIOS))
def test_what_is_disturbed_ends_as_what_is_not(name: str, number: int, given: Given, expected: Numbers) -> None:
    if missing := missing_for(name):
        pytest.skip(f"{missing} is missing here.")
    assert expected["attempts"]
    SCENARIOS[name](given, expected, random.Random(f"20/{name}/{number}"))
