"""Stored values as people write them."""

from __future__ import annotations

import pytest

from runs.queries.values import stored_value


@pytest.mark.parametrize(
    ("stored", "written"),
    [
        ("", ""),
        ('"solved"', "solved"),
        ('"two words"', "two words"),
        ('""', "empty text"),
        ("12", "12"),
        ('"12"', '"12"'),
        ("null", "null"),
        ('"null"', '"null"'),
        ('"true"', '"true"'),
        ('"-1.5e3"', '"-1.5e3"'),
        ('"[1]"', '"[1]"'),
        ('"2026-11-30"', "2026-11-30"),
        ('{"a": 1}', '{"a": 1}'),
        ('"cut of', "cut of…"),
    ],
)
def test_a_text_has_quotes_only_where_it_would_read_as_another_value(stored: str, written: str) -> None:
    assert stored_value(stored) == written
