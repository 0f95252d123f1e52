from __future__ import annotations

from runs.kept import Kept


def test_the_last_results_are_kept() -> None:
    made: list[int] = []

    def make(number: int) -> int:
        made.append(number)
        return number * 10

    kept: Kept[int] = Kept(2)
    assert [kept.get_or_make(number, lambda number=number: make(number)) for number in (1, 2, 1, 3, 1, 2)] == [  # type: ignore[misc]
        10, 20, 10, 30, 10, 20,
    ]  # fmt: skip
    assert made == [1, 2, 3, 2]
    assert (kept.get(3), kept.get(2)) == (None, 20)
    kept.clear()
    assert kept.get(2) is None
