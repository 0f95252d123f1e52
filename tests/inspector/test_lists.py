from __future__ import annotations

from datetime import UTC, datetime

import pytest

from inspector.templatetags.lists import about, dots, limit, moment, strip, width


def test_moment() -> None:
    assert moment(datetime(2026, 11, 8, 9, 5, tzinfo=UTC)) == "8 Nov 2026, 09:05"
    assert moment(None) == "–"


def test_about() -> None:
    assert [about(seconds) for seconds in (0.2, 7.1, 89, 90, 3600, 10000)] == [
        "1 s",
        "7 s",
        "89 s",
        "2 min",
        "60 min",
        "3 h",
    ]


def test_width() -> None:
    assert (width(1, 3), width(0, 3), width(3, 3), width(0, 0)) == ("33.33", "0.00", "100.00", "0")


@pytest.mark.parametrize(
    ("size", "text"),
    [(1000, "1000 B"), (1 << 20, "1 MB"), (8 << 30, "8 GB"), (3 << 19, "1.5 MB"), (1 << 50, "1024 TB")],
)
def test_limit(size: int, text: str) -> None:
    assert limit(size) == text


def test_dots() -> None:
    assert dots("pfe.x") == ["passed", "failed", "error", "none", "none"]


def test_the_marks_of_a_strip_are_at_most_a_hundred_and_nothing_else() -> None:
    assert strip("p<", 1, 2) == (
        '<span class="strip mini" role="img" aria-label="1 of 2 passed">'
        '<span class="dot passed"></span><span class="dot none"></span></span>'
    )
    assert strip("f" * 101, 0, 101) == (
        '<span class="strip mini long" role="img" aria-label="0 of 101 passed">'
        + '<span class="dot failed"></span>' * 100
        + '<span class="xs dim" aria-hidden="true">…</span></span>'
    )
