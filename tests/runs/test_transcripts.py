from __future__ import annotations

from typing import Any

import pytest

from runs.records import UNSET, AttemptRecord, Step, StepKind, Verdict
from runs.transcripts import (
    LONGEST_RESPONSE,
    Excerpt,
    Piece,
    Query,
    excerpts,
    marked,
    parse_query,
    spaced,
    transcript_text,
    words_of,
)


def message(content: str, index: int = 1, role: str = "assistant", kind: StepKind = StepKind.MESSAGE) -> Step:
    return Step(index=index, kind=kind, role=role, content=content)


def call(name: str, arguments: Any = UNSET, response: str | None = None, index: int = 1) -> Step:
    return Step(index=index, kind=StepKind.CALL, role="assistant", name=name, arguments=arguments, content=response)


def record(*steps: Step) -> AttemptRecord:
    return AttemptRecord(uid="f.py:t", repetition=0, verdict=Verdict.FAILED, steps=list(steps))


def shown(found: list[Excerpt]) -> list[str]:
    """Excerpts with what was found in brackets."""
    return ["".join(f"[{piece.text}]" if piece.hit else piece.text for piece in one.pieces) for one in found]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Ticket #20: CLOSED", ["ticket", "20", "closed"]),
        ("zendesk_update_item", ["zendesk", "update", "item"]),
        ("3–5 días hábiles", ["3", "5", "dias", "habiles"]),
        ("dejo\u0301 2×", ["dejo", "2"]),
        ("東京へgo行", ["東", "京", "へ", "go", "行"]),
        ("서울 booking", ["서", "울", "booking"]),
        ("✅ — \0 \ud800 _", []),
    ],
)
def test_words_are_folded_and_unspaced_scripts_taken_apart(text: str, words: list[str]) -> None:
    assert words_of(text) == words


@pytest.mark.parametrize(
    ("typed", "terms"),
    [
        ("", ()),
        ("refund ticket", (("refund",), ("ticket",))),
        ('"refund the ticket" now', (("refund", "the", "ticket"), ("now",))),
        ('say "unclosed phrase', (("say",), ("unclosed",), ("phrase",))),
        ("a OR b* NOT (c) NEAR/2 ^d:e", (("a",), ("or",), ("b",), ("not",), ("c",), ("near", "2"), ("d", "e"))),
        ('"" "\0" --', ()),
        ("x\0y'; DROP TABLE runs_run", (("x", "y"), ("drop",), ("table",), ("runs", "run"))),
        ("取消", (("取", "消"),)),
    ],
)
def test_nothing_typed_is_an_operator(typed: str, terms: tuple[tuple[str, ...], ...]) -> None:
    assert parse_query(typed) == Query(terms)


def test_twenty_terms_are_the_most() -> None:
    assert len(parse_query("word " * 100).terms) == 20


def test_unspaced_scripts_get_spaces_and_others_stay() -> None:
    assert (spaced("plain text"), spaced("año"), spaced("取消ok")) == ("plain text", "año", " 取  消 ok")


def test_a_transcript_has_all_that_was_said_thought_called_and_answered() -> None:
    made = record(
        message("Cancel it", 1, role="user"),
        message("Look first", 2, kind=StepKind.THOUGHT),
        call("find_orders", {"id": 7, "who": {"name": "Ada", "tags": ["a", None, True]}}, '{"note": "one\\ntwo"}', 3),
        call("broken", '{"id": ', '{"cut": "\\u00', 4),
    )
    assert transcript_text(made).split("\n") == [
        "Cancel it",
        "Look first",
        "find_orders id 7 who name Ada tags a true",
        "note one",
        "two",
        'broken {"id": ',
        '{"cut": "\\u00',
    ]


def test_what_no_database_stores_is_replaced() -> None:
    assert transcript_text(record(message("a\0b \ud800c é"))) == "a b ?c é"


def test_only_the_beginning_of_a_long_response_is_indexed() -> None:
    made = record(call("read", {}, "x" * (LONGEST_RESPONSE + 1)))
    assert transcript_text(made) == "read \n" + "x" * LONGEST_RESPONSE


def test_very_deep_arguments_are_read() -> None:
    value: Any = "bottom"
    for _ in range(5000):
        value = [value]
    assert transcript_text(record(call("t", value))) == "t bottom\n".rstrip("\n")


def test_an_excerpt_marks_each_word_where_it_stands() -> None:
    made = record(message("Hello", 1), message("I set the Ticket to solved; the ticket, días hábiles.", 2))
    found = excerpts(made, parse_query("ticket dias"))
    assert found == [
        Excerpt(
            2,
            "agent",
            [
                Piece("I set the ", False),
                Piece("Ticket", True),
                Piece(" to solved; the ", False),
                Piece("ticket", True),
                Piece(", ", False),
                Piece("días", True),
                Piece(" hábiles.", False),
            ],
        )
    ]


def test_words_in_two_places_give_two_excerpts() -> None:
    made = record(message("alpha", 1, role="user"), call("beta_tool", {"x": 1}, "gamma", 2))
    assert shown(excerpts(made, parse_query("gamma alpha"))) == ["[alpha]", "[gamma]"]


def test_a_long_text_is_cut_between_words_on_both_sides() -> None:
    text = "start " + "filler " * 100 + "needle " + "filler " * 100
    (only,) = shown(excerpts(record(message(text)), parse_query("needle")))
    assert (only[:9], only[-9:], "[needle]" in only, len(only) < 220) == ("… filler ", " filler …", True, True)


def test_parts_of_words_are_not_marked_but_parts_of_unspaced_text_are() -> None:
    assert excerpts(record(message("ticketing")), parse_query("ticket")) == []
    assert shown(excerpts(record(message("我要取消订单")), parse_query("取消"))) == ["我要[取消]订单"]


def test_a_phrase_is_found_over_line_ends_and_signs() -> None:
    assert shown(excerpts(record(message("the new-\nstate is")), parse_query('"new state"'))) == [
        "the [new-\nstate] is"
    ]


def test_without_a_query_there_is_no_excerpt() -> None:
    assert excerpts(record(message("text")), parse_query("--")) == []


def test_json_inside_json_is_read_as_words() -> None:
    inner = '{"a": "one\\\\ntwo"}'
    made = record(call("read", {}, '{"text": "' + inner.replace('"', '\\"') + '"}'))
    assert transcript_text(made) == "read \ntext a one\ntwo"


def test_words_that_are_shown_already_need_no_excerpt() -> None:
    made = record(message("alpha beta", 1), message("gamma", 2))
    assert shown(excerpts(made, parse_query("alpha gamma"), shown="An Alpha")) == ["[gamma]"]


def test_a_whole_text_is_marked() -> None:
    query = parse_query("b")
    assert marked("a B c", query) == [Piece("a ", False), Piece("B", True), Piece(" c", False)]
    assert (marked("a", Query()), marked("", query)) == ([Piece("a", False)], [])
