from __future__ import annotations

import pytest

from runs.batches import batches


@pytest.mark.parametrize(
    ("count", "sizes"), [(0, []), (1, [1]), (3, [3]), (4, [3, 1]), (6, [3, 3])], ids=lambda value: str(value)
)
def test_ids_come_in_order_a_few_at_a_time(count: int, sizes: list[int]) -> None:
    found = list(batches(iter(range(count)), 3))
    assert [len(batch) for batch in found] == sizes
    assert [pk for batch in found for pk in batch] == list(range(count))
