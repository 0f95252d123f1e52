"""Answers are measured as they are sent, and say what was shortened."""

from __future__ import annotations

from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.mcp_server.budget import LIMIT, Listed, Part, answer, fitted, size_of
from inspector.mcp_server.quoting import block, plain, quote


class Line(Part):
    name: str
    parts: list[str] = []


class Lines(Listed):
    WHOLE: ClassVar[str] = "one(name) gives all of a text."
    LISTS: ClassVar[dict[str, str]] = {"extra": "extras() lists all.", "rows": "lines(offset={next}) goes on."}
    extra: list[str] = []
    rows: list[Line]

    def lines(self) -> list[str]:
        return [self.window("rows"), *(quote(row.name) for row in self.rows)]


def made(count: int, name: str = "a", extra: int = 0) -> Lines:
    rows = [Line(name=name, parts=[name]) for _ in range(count)]
    return Lines(rows=rows, extra=["x" * 50] * extra, total=9000, offset=40, shown=count, next_offset=40 + count)


def test_what_fits_is_sent_as_it_is() -> None:
    small = made(3, "b" * 3000)
    whole = made(1, "b" * 2500)
    assert (fitted(made(3)), fitted(whole)) == (made(3), whole)
    assert size_of(answer(small)) <= LIMIT


def test_a_list_is_cut_where_it_no_longer_fits_and_the_offset_goes_on_there() -> None:
    shown = fitted(made(2000, "row"))
    kept = len(shown.rows)  # type: ignore[attr-defined]
    assert 100 < kept < 2000
    assert shown.model_dump(include={"total", "offset", "shown", "next_offset"}) == {
        "total": 9000, "offset": 40, "shown": kept, "next_offset": 40 + kept,
    }  # fmt: skip
    assert shown.cut == [f"{2000 - kept:,} of 2,000 rows. lines(offset={40 + kept}) goes on."]
    one_more = shown.left_out("rows", kept).model_copy(update={"rows": made(kept + 1, "row").rows})
    assert (size_of(answer(shown)) <= LIMIT, one_more.fits()) == (True, False)


def test_what_is_needed_least_goes_first() -> None:
    shown = fitted(made(60, "row", extra=2000))
    assert (len(shown.rows), 0 < len(shown.extra) < 2000) == (60, True)  # type: ignore[attr-defined]
    assert shown.cut[0].endswith("of 2,000 extra. extras() lists all.")


def test_long_texts_are_cut_with_their_length_before_entries_are_left_out() -> None:
    shown = fitted(made(10, "n" * 5000))
    assert len(shown.rows) == 10  # type: ignore[attr-defined]
    assert shown.rows[0].name == "n" * 400 + "… (+4,600 characters)"  # type: ignore[attr-defined]
    assert shown.cut == ["Texts longer than 400 characters. one(name) gives all of a text."]


@pytest.mark.parametrize("letter", ["\x00", "\u202e", "é", "😀", '"', "\\", "\n", "\ud800"])
def test_characters_that_take_many_bytes_are_counted_as_they_are_sent(letter: str) -> None:
    for count, length in ((1, 5_000_000), (300, 200), (5000, 3)):
        assert size_of(answer(made(count, letter * length))) <= LIMIT


@given(st.lists(st.text(max_size=3000), min_size=1, max_size=60))
def test_whatever_the_texts_are_the_answer_fits_and_says_so_where_it_was_shortened(names: list[str]) -> None:
    rows = [Line(name=name, parts=[name, name]) for name in names]
    whole = Lines(rows=rows, total=len(rows), offset=0, shown=len(rows), next_offset=None)
    shown = fitted(whole)
    assert size_of(answer(whole)) <= LIMIT
    assert shown == whole or shown.cut != []


@given(st.text())
def test_a_quoted_text_never_looks_like_a_part_of_the_answer(text: str) -> None:
    assert all(line.startswith("> ") for line in block(text))
    quoted = quote(text)
    assert (quoted[0], quoted[-1], len(quoted.splitlines())) == ('"', '"', 1)
    assert quoted.isprintable()


def test_marks_that_turn_or_hide_text_are_shown() -> None:
    assert plain("a\u202eb\u200bc\U000e0041d\x1b[2Je") == r"a\u202eb\u200bc\U000e0041d\x1b[2Je"
    assert block("one\ntwo\r\nthree\u2028four") == ["> one", "> two", "> three", "> four"]
    assert quote('say "yes"\nNext:') == r'"say \"yes\"\nNext:"'
