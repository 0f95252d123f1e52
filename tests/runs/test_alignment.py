from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runs import alignment
from runs.alignment import Match, Relation, align, arguments_of
from runs.records import UNSET, Step, StepKind

EQUAL, ANSWER, DIFFERS, LEFT, RIGHT = Relation


def call(name: str, response: str = "{}", error: str | None = None, **arguments: Any) -> Step:
    return Step(
        index=0, kind=StepKind.CALL, role="assistant", name=name, arguments=arguments, content=response, error=error
    )


def said(text: str, role: str = "assistant") -> Step:
    return Step(index=0, kind=StepKind.MESSAGE, role=role, content=text)


def thought(text: str) -> Step:
    return Step(index=0, kind=StepKind.THOUGHT, role="assistant", content=text)


def numbered(*steps: Step) -> list[Step]:
    return [
        Step(
            index=number, kind=step.kind, role=step.role, content=step.content, name=step.name,
            arguments=step.arguments, error=step.error,
        )
        for number, step in enumerate(steps, start=1)
    ]  # fmt: skip


def lines(left: Sequence[Step], right: Sequence[Step]) -> list[tuple[int | None, int | None, Relation]]:
    return [(match.left, match.right, match.relation) for match in align(numbered(*left), numbered(*right))]


_steps = st.lists(
    st.one_of(
        st.builds(thought, st.sampled_from(["one", "two words", "three more words"])),
        st.builds(said, st.sampled_from(["hello there", "hello you", ""]), st.sampled_from(["user", "assistant"])),
        st.builds(
            call,
            st.sampled_from(["find", "write"]),
            response=st.sampled_from(["{}", "[]"]),
            id=st.integers(1, 3),
            status=st.sampled_from(["open", "hold"]),
        ),
    ),
    max_size=14,
).map(lambda steps: numbered(*steps))


@given(_steps)
def test_an_attempt_beside_itself_is_equal_throughout(steps: list[Step]) -> None:
    assert align(steps, steps) == [Match(step.index, step.index, EQUAL) for step in steps]


@given(_steps, _steps)
def test_each_step_stands_once_and_in_order(left: list[Step], right: list[Step]) -> None:
    found = align(left, right)
    assert [match.left for match in found if match.left is not None] == [step.index for step in left]
    assert [match.right for match in found if match.right is not None] == [step.index for step in right]


@given(_steps, _steps)
def test_only_like_steps_stand_side_by_side_and_the_relation_says_how(left: list[Step], right: list[Step]) -> None:
    for match in align(left, right):
        if match.left is None or match.right is None:
            assert match.relation is (LEFT if match.right is None else RIGHT)
            continue
        one, other = left[match.left - 1], right[match.right - 1]
        assert (one.kind, one.role, one.name) == (other.kind, other.role, other.name)
        if one.kind is StepKind.CALL and one.arguments == other.arguments:
            assert match.relation is (EQUAL if one.content == other.content else ANSWER)
        else:
            assert match.relation is (EQUAL if one.content == other.content and one.kind != "call" else DIFFERS)


@given(_steps, _steps)
def test_swapping_the_sides_pairs_as_many_equal_steps(left: list[Step], right: list[Step]) -> None:
    def equal(matches: list[Match]) -> int:
        return sum(match.relation in {EQUAL, ANSWER} for match in matches)

    assert equal(align(left, right)) == equal(align(right, left))


@settings(max_examples=30)
@given(_steps, _steps)
def test_in_pieces_each_step_still_stands_once(left: list[Step], right: list[Step]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(alignment, "LARGEST", 3)
        found = align(left, right)
    assert [match.left for match in found if match.left is not None] == [step.index for step in left]
    assert [match.right for match in found if match.right is not None] == [step.index for step in right]


def test_nothing_beside_nothing_and_beside_something() -> None:
    assert lines([], []) == []
    assert lines([], [said("hello")]) == [(None, 1, RIGHT)]
    assert lines([said("hello"), said("you")], []) == [(1, None, LEFT), (2, None, LEFT)]


def test_a_write_with_another_value_stands_beside_the_right_one() -> None:
    left = [call("find", q="a"), call("update", id=20, status="open"), call("update", id=20, status="hold"), said("ok")]
    right = [call("find", q="a"), call("update", id=20, status="open"), call("update", id=20, status="solved")]
    assert lines(left, right) == [(1, 1, EQUAL), (2, 2, EQUAL), (3, 3, DIFFERS), (4, None, LEFT)]


def test_a_call_that_only_one_made_stands_alone() -> None:
    left = [call("find", q="a"), call("refund", amount=3), said("done")]
    right = [call("find", q="a"), said("done")]
    assert lines(left, right) == [(1, 1, EQUAL), (2, None, LEFT), (3, 2, EQUAL)]
    assert lines(right, left) == [(1, 1, EQUAL), (None, 2, RIGHT), (2, 3, EQUAL)]


def test_equal_calls_are_found_across_other_steps() -> None:
    left = [thought("a"), call("search", q="delay weeks"), call("order", id=5), thought("b"), call("ship", id=5)]
    right = [call("order", id=5), thought("c"), call("search", q="supposed refund"), call("ship", id=5)]
    assert [line for line in lines(left, right) if line[2] is EQUAL] == [(3, 1, EQUAL), (5, 4, EQUAL)]


def test_of_two_calls_of_a_tool_the_liker_one_is_the_pair() -> None:
    left = [call("update", id=7, status="out", note="as agreed")]
    right = [call("update", id=9, status="new"), call("update", id=7, status="in", note="as agreed")]
    assert lines(left, right) == [(None, 1, RIGHT), (1, 2, DIFFERS)]


def test_a_call_answered_otherwise_is_the_same_call() -> None:
    left, right = [call("find", '{"a": 1}', id=1)], [call("find", "Error: no", "Error: no", id=1)]
    assert lines(left, right) == [(1, 1, ANSWER)]


def test_a_user_never_stands_beside_the_agent_nor_one_tool_beside_another() -> None:
    assert lines([said("hi", "user"), call("a", x=1)], [said("hi"), call("b", x=1)]) == [
        (1, None, LEFT), (2, None, LEFT), (None, 1, RIGHT), (None, 2, RIGHT),
    ]  # fmt: skip


def test_arguments_are_given_field_by_field() -> None:
    assert arguments_of(call("update", id=7, item={"status": "out", "tags": []}, none={})) == {
        "id": 7, "item.status": "out", "item.tags": [], "none": {},
    }  # fmt: skip
    assert arguments_of(Step(index=1, kind=StepKind.CALL, role="assistant", arguments="{broken")) == {"": "{broken"}
    assert arguments_of(Step(index=1, kind=StepKind.CALL, role="assistant", arguments=UNSET)) == {}


def test_two_thousand_steps_against_two_thousand_are_quick() -> None:
    """Against a bound that no machine should miss: the plain recurrence in Python takes ten times as long."""

    def made(salt: int) -> list[Step]:
        return numbered(
            *(
                call("update", id=at % 90, status=f"s{(at * salt) % 11}", note=f"w{at % 7} x{(at + salt) % 5} and more")
                if at % 2
                else thought(f"thought {at % 13} of {salt}")
                for at in range(2000)
            )
        )  # fmt: skip

    left, right = made(1), made(2)
    begun = time.process_time()
    found = align(left, right)
    assert time.process_time() - begun < 3
    assert sum(match.left is not None for match in found) == sum(match.right is not None for match in found) == 2000
