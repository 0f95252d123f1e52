"""Cached tokens lie inside input tokens or beside them, by provider; either way they are priced once."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from runs.costs import Price, run_cost
from runs.models import Attempt, Run, TaskTally
from runs.queries.report import run_input
from tests.factories import make_row, write_jsonl
from tests.runs.test_ingest_shared import ingest

pytestmark = pytest.mark.django_db

PRICE = Price(model="m", input=Decimal(10), cached=Decimal(1), cache_write=Decimal(12), output=Decimal(50))
INSIDE = {
    "input_tokens": 17_903,
    "input_tokens_details": {"cached_tokens": 17_817},
    "output_tokens": 100,
    "output_tokens_details": {"reasoning_tokens": 60},
}
BESIDE = {
    "input_tokens": 86,
    "cache_read_input_tokens": 17_817,
    "cache_creation_input_tokens": 1_000,
    "output_tokens": 100,
}
MORE_THAN_ALL = {"input_tokens": 86, "input_tokens_details": {"cached_tokens": 17_817}, "output_tokens": 100}


@pytest.mark.parametrize(
    ("usage", "stored", "dollars"),
    [
        (INSIDE, (17_903, 17_817, 0, 100, 60, False), 86 * 10 + 17_817 * 1 + 100 * 50),
        (BESIDE, (86, 17_817, 1_000, 100, 0, True), 86 * 10 + 17_817 * 1 + 1_000 * 12 + 100 * 50),
        (MORE_THAN_ALL, (86, 17_817, 0, 100, 0, True), 86 * 10 + 17_817 * 1 + 100 * 50),
    ],
    ids=["inside", "beside", "more cached than input"],
)
def test_a_call_is_stored_as_recorded_and_priced_once(
    usage: dict[str, Any], stored: tuple[int | bool, ...], dollars: int, tmp_path: Path
) -> None:
    ingest(write_jsonl(tmp_path / "rows.jsonl", [make_row(usage=[usage])]), "--model", "m")
    columns = (
        "input_tokens",
        "cached_tokens",
        "cache_write_tokens",
        "output_tokens",
        "reasoning_tokens",
        "usage_beside",
    )
    assert Attempt.objects.values_list(*columns).get() == stored
    assert TaskTally.objects.get().usage_beside == stored[-1]
    given = run_input(Run.objects.get())
    cost = run_cost(given.usage, PRICE, successes=0, dependable=0, style=given.style)
    assert cost.campaign == Decimal(dollars) / 1_000_000
