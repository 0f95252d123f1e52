from __future__ import annotations

import pytest

from runs.suspicion import mistakes_of_all


@pytest.mark.parametrize(
    ("failed", "made", "expected"),
    [
        ({}, {}, []),
        ({"a": 3}, {"y": {"a": 3}}, []),
        ({"a": 3, "b": 2}, {}, []),
        ({"a": 4, "b": 1}, {"y": {"a": 2, "b": 1}}, ["y"]),
        ({"a": 5, "b": 1}, {"y": {"a": 2, "b": 1}}, []),
        ({"a": 4, "b": 1}, {"y": {"a": 4}, "z": {"b": 1}}, []),
        ({"a": 4, "b": 1, "c": 0}, {"y": {"a": 4, "b": 1}}, ["y"]),
        ({"a": 4, "b": 1, "c": 1}, {"y": {"a": 4, "b": 1}}, []),
        ({"a": 2, "b": 2}, {"y": {"a": 1, "b": 1}, "z": {"a": 2, "b": 1}}, ["y", "z"]),
    ],
)
def test_a_mistake_of_all_is_in_half_of_the_failures_of_each(
    failed: dict[str, int], made: dict[str, dict[str, int]], expected: list[str]
) -> None:
    assert mistakes_of_all(failed, made) == expected
