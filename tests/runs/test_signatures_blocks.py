"""What the rules are built of: tool errors and their repair, look-ups, endings, claims, and the finer labels."""

from __future__ import annotations

import time
from typing import Any

import msgspec
import pytest
from msgspec import UNSET

from runs.records import Check, CheckKind, Effect, EffectKind, GradedAttempt, Step, StepKind, Tool
from runs.signatures import Evidence, EvidenceKind, Label
from runs.signatures.base import quote
from runs.signatures.claiming import claimed_success
from runs.signatures.endings import Ending
from runs.signatures.lookups import is_empty_answer, repeated_calls
from runs.signatures.outcomes import difference_of
from runs.signatures.toolcalls import ErrorKind, system_of, tool_errors
from runs.signatures.v1 import diagnose
from tests.runs.evidence import call
from tests.runs.paper_cases import attempt, say

REFUSED = "Tool execution failed: not found"
OK = {"ok": True}


def batch(number: int, *steps: Step) -> list[Step]:
    return [msgspec.structs.replace(step, batch=number) for step in steps]


def labels(*steps: Step, graded: GradedAttempt | None = None, **facts: Any) -> list[Label]:
    return diagnose(attempt(*steps, **facts), graded or GradedAttempt()).labels


WORDS = {
    "Error: function 'crm_super_update' does not exist": ErrorKind.UNKNOWN_TOOL,
    "Unknown tool: desk_fly": ErrorKind.UNKNOWN_TOOL,
    "Error: Expecting ',' delimiter: line 1 column 59 (char 58)": ErrorKind.INVALID_ARGUMENTS,
    "Error: Unterminated string starting at: line 1 column 11 (char 10)": ErrorKind.INVALID_ARGUMENTS,
    "Error executing tool desk: 1 validation error for Ticket": ErrorKind.INVALID_ARGUMENTS,
    "Error: desk() missing 1 required positional argument: 'id'": ErrorKind.INVALID_ARGUMENTS,
    "Tool execution failed: 1 validation error for Ticket": ErrorKind.WRITE,
    "Tool execution failed: Item with ID '6' not found in table 'tickets'": ErrorKind.WRITE,
    "The tool desk was not found wanting, but busy": ErrorKind.WRITE,
    "busy": ErrorKind.WRITE,
}


@pytest.mark.parametrize("words", WORDS)
def test_the_kind_of_an_error(words: str) -> None:
    (error,) = tool_errors([call(1, "desk_update", {}, None, error=words)], write_steps=[1])
    assert error.kind is WORDS[words]


def test_a_tool_that_was_not_offered_is_unknown() -> None:
    steps = [call(1, "desk_fly", {}, None, error="busy"), call(2, "desk_get", {}, None, error="busy")]
    kinds = [
        [error.kind.value for error in tool_errors(steps, write_steps=[], offered=offered)]
        for offered in ([], ["desk_get"])
    ]
    assert kinds == [["read", "read"], ["unknown_tool", "read"]]


def test_the_response_to_no_call_can_be_an_error() -> None:
    stray = Step(index=1, kind=StepKind.RESPONSE, role="tool", name="desk", content="Error: busy", error="Error: busy")
    assert [tuple(error) for error in tool_errors([stray], write_steps=[])] == [
        (1, ErrorKind.READ, "desk", "Error: busy", None)
    ]


def write(index: int, tool: str, table: str | None = None, **facts: Any) -> Step:
    return call(index, tool, {} if table is None else {"table": table}, OK, **facts)


SYNTAX = "Error: Expecting value: line 1 column 1 (char 0)"
# first the call that failed (step 1), then what came later, which of the steps write, and the step that repaired it
REPAIRS: dict[str, tuple[Step, list[Step], list[int], int | None]] = {
    "a write by the same tool": (write(1, "create_rma", error=REFUSED), [write(2, "create_rma")], [1, 2], 2),
    "a write by another tool": (write(1, "create_rma", error=REFUSED), [write(2, "create_refund")], [1, 2], None),
    "a write on the same table": (write(1, "put", "tickets", error=REFUSED), [write(2, "add", "tickets")], [1, 2], 2),
    "a write on another table": (write(1, "put", "tickets", error=REFUSED), [write(2, "add", "users")], [1, 2], None),
    "a write in the same system": (write(1, "okta_api_revoke", error=REFUSED), [write(2, "okta_api_add")], [1, 2], 2),
    "a write in another system": (write(1, "okta_api_revoke", error=REFUSED), [write(2, "box_api_add")], [1, 2], None),
    "a write by a look-up": (write(1, "desk_put", error=REFUSED), [write(2, "desk_get")], [1], None),
    "a look-up by another look-up": (write(1, "get_order", error=REFUSED), [write(2, "get_user")], [], 2),
    "a look-up by a write": (write(1, "get_order", error=REFUSED), [write(2, "create_rma")], [2], 2),
    "a write that never ran by a look-up": (write(1, "create_rma", error=SYNTAX), [write(2, "get_user")], [1], 2),
    "a repeat that fails again": (
        write(1, "get_order", error=REFUSED), [write(2, "get_order", error=REFUSED)], [], None,
    ),
    "a call without an answer": (write(1, "get_order", error=REFUSED), [call(2, "get_user", {})], [], None),
    "only the first of two": (write(1, "get_order", error=REFUSED), [write(2, "a"), write(3, "b")], [], 2),
    "a message": (write(1, "get_order", error=REFUSED), [say(2, "Done. <DONE>")], [], None),
}  # fmt: skip


@pytest.mark.parametrize("name", REPAIRS)
def test_what_repairs_an_error(name: str) -> None:
    failed, later, writes, repaired_by = REPAIRS[name]
    assert tool_errors([failed, *later], write_steps=writes)[0].repaired_by == repaired_by


def test_an_earlier_success_and_one_of_the_same_batch_repair_nothing() -> None:
    earlier, failed = write(1, "get_user"), write(2, "get_order", error=REFUSED)
    together = batch(1, failed, write(3, "get_user"))
    found = [
        tool_errors(steps, write_steps=[])[0].repaired_by
        for steps in ([earlier, failed], [earlier, *together], [earlier, *together, write(4, "get_user")])
    ]
    assert found == [None, None, 4]


def test_the_backend_system_in_a_tools_name() -> None:
    names = [
        "zendesk_update_item",
        "okta_api_provision_access",
        "okta_security_api_execute_action",
        "box_api",
        "billing_grant_extension",
        "shop.orders-cancel",
        "create_rma",
        "escalate",
        "api",
        "",
    ]
    assert [system_of(name) for name in names] == [
        "zendesk",
        "okta_api",
        "okta_security_api",
        "box_api",
        "billing",
        "shop",
        None,
        None,
        None,
        None,
    ]


ANSWERS = {
    '{"items": []}': True,
    "[]": True,
    "{}": True,
    "null": True,
    "": True,
    '{"items": [], "total": 0, "next": null}': True,
    '{"success": true, "data": {"items": []}}': True,
    '{"employee_id": "WD-1", "devices": []}': True,
    "No results found.": True,
    '{"employee_id": "WD-2", "devices": []}': False,
    '{"items": [{"id": 1}]}': False,
    '{"items": [], "status": "open"}': False,
    '{"completed": [1], "certifications": []}': False,
    '{"has_access": false, "groups": []}': False,
    '{"count": 0}': False,
    '{"snippets": ["[] is an empty list"]}': False,
    "No, the parcel is on its way.": False,
    "[] and more": False,
    '{"items": []}' + " " * 3000: False,
}


@pytest.mark.parametrize("content", ANSWERS)
def test_an_empty_answer(content: str) -> None:
    assert is_empty_answer(content, {"employee_id": "WD-1"}) is ANSWERS[content]


def test_a_write_with_an_empty_answer_is_no_empty_lookup() -> None:
    steps = [call(1, "desk_put", {}, {"items": []}), say(2, "<DONE>")]
    assert [labels(*steps), labels(*steps, graded=GradedAttempt(write_steps=[1]))] == [[Label.EMPTY_LOOKUP], []]


def test_repeated_calls() -> None:
    a, b = {"id": "1", "n": 2}, {"n": 2, "id": "1"}
    steps = [
        call(1, "get", a, OK),
        call(2, "get", b, OK),
        call(3, "get", {"id": "2"}, OK),
        call(4, "put", a, OK),
        call(5, "get", a, OK),
        call(6, "put", a, OK),
        call(7, "put", a, None, error=REFUSED),
        call(8, "get", {"id": "\ud800"}, OK),
        call(9, "get", {"id": "\ud800"}, OK),
        call(10, "get", UNSET, OK),
        call(11, "get", None, OK),
    ]
    assert repeated_calls(steps, write_steps=[4, 6, 7]) == [2, 6, 7, 11]


CLAIMS = {
    "I have opened a ticket for you. <DONE>": "I have opened",
    "I've now successfully updated it.": "I've now successfully updated",
    "Your access has been raised.": "has been raised",
    "The plan was changed.": "was changed",
    "Everything has been taken care of.": "taken care of",
    "Here is what I have done:\n1. looked": "Here is what I have done",
    "**Summary**\n\n- updated the ticket 7 (status: hold)": "- updated",
    "Your order is cancelled.": "Your order is cancelled",
    "Done, Marcus. 85.00 is taken.": "Done",
    "I cannot refund it, but I have opened a ticket.": "I have opened",
    "Once you write back we look again. I have closed the ticket.": "I have closed",
    "Let me pull up your records.": None,
    "You're welcome! Have a great day <DONE>": None,
    "Thank you.\n<DONE>": None,
    "I have checked the policy.": None,
    "Your ticket is open.": None,
    "Once it has been processed, you get an email.": None,
    "Would you like to know whether it has been updated?": None,
    "I have opened a ticket, but I was unable to refund it.": None,
    "I tried, but the system would not take it. I have noted it. It was closed.": None,
    "The refund did not go through. I have opened a ticket.": None,
    "": None,
}


@pytest.mark.parametrize("text", CLAIMS)
def test_a_claim_of_success(text: str) -> None:
    found = claimed_success(text)
    expected = CLAIMS[text]
    assert (None if found is None else text[found[0] : found[1]].strip()) == expected


def test_a_very_long_message_is_read_at_its_ends() -> None:
    begun = time.perf_counter()
    text = "x I \n" * 200_000 + "I have closed it. <DONE>"
    found = claimed_success(text)
    assert found is not None
    assert text[found[0] : found[1]] == "I have closed"
    assert time.perf_counter() - begun < 1


def test_question_marks() -> None:
    texts = [
        "Why?",
        "See https://e.example/?a=1.",
        "Did you see https://e.example/x?",
        "Yes.",
        "See www.e.example?b=1 ?",
    ]
    assert [(Ending(1, text).question_mark, Ending(1, text).question) for text in texts] == [
        (True, 3),
        (True, None),
        (True, 31),
        (False, None),
        (True, 22),
    ]


def reported(note: str, after: Any = UNSET, required: Any = UNSET, *, positional: bool = False) -> Effect:
    return Effect(
        kind=EffectKind.REPORTED, server="s", table="t", key="[0]", note=note, after=after, required=required,
        positional=positional,
    )  # fmt: skip


REPORTED = {
    "another value": (reported("value mismatch", "a", "b"), EffectKind.WRONG, EffectKind.MISSING),
    "another type": (reported("type mismatch; of type int"), EffectKind.WRONG, EffectKind.MISSING),
    "no value": (reported("result is None, golden is not; x"), EffectKind.MISSING, EffectKind.MISSING),
    "a value too many": (reported("result is not None, golden is None"), EffectKind.EXTRA, EffectKind.EXTRA),
    "a row too few": (reported("missing in result (present in golden)"), EffectKind.MISSING, EffectKind.MISSING),
    "a row too many": (reported("present in result (missing in golden)"), EffectKind.EXTRA, EffectKind.EXTRA),
    "a shorter table": (reported("length mismatch", 5, 6), EffectKind.MISSING, EffectKind.MISSING),
    "a longer table": (reported("length mismatch", 7, 6), EffectKind.EXTRA, EffectKind.EXTRA),
    "what follows from another": (reported("value mismatch", "a", "b", positional=True), None, None),
}


@pytest.mark.parametrize("name", REPORTED)
def test_the_kind_of_a_reported_difference(name: str) -> None:
    effect, wrote, untouched = REPORTED[name]
    assert (difference_of(effect, wrote=True), difference_of(effect, wrote=False)) == (wrote, untouched)


def test_the_labels_of_calls() -> None:
    steps = [
        call(1, "fly", {}, None, error="Error: function 'fly' does not exist"),
        call(2, "get", '{"id": ', None, error=SYNTAX),
        call(3, "get", {}, {"items": []}),
        call(4, "get", {}, {"items": []}),
    ]
    assert labels(*steps) == [
        Label.EMPTY_LOOKUP,
        Label.REPEATED_IDENTICAL_CALL,
        Label.UNKNOWN_TOOL,
        Label.INVALID_ARGUMENTS,
    ]
    assert labels(call(1, "get", {}, OK), tools=[Tool(name="get")]) == []


def test_the_labels_of_endings() -> None:
    asked, done = say(1, "Which one?"), say(1, "I have closed it. <DONE>")
    link = say(1, "See https://e.example/?a=1 <DONE>")
    found = [
        labels(asked),
        labels(asked, finish_reason="user_limit"),
        labels(done, finish_reason="agent_limit"),
        labels(done, finish_reason="agent_error"),
        labels(link),
    ]
    assert found == [
        [Label.ENDED_ON_A_QUESTION],
        [Label.TURN_LIMIT, Label.ENDED_ON_A_QUESTION],
        [Label.TURN_LIMIT],
        [],
        [],
    ]


def test_success_claimed_after_an_error() -> None:
    failed, done = call(1, "put", {}, None, error=REFUSED), say(3, "I have closed it. <DONE>")
    found = [
        labels(failed, done),
        labels(failed, say(3, "I was unable to close it. <DONE>")),
        labels(failed, call(2, "get", {}, OK), done),
        labels(done),
    ]
    assert found == [
        [Label.TOOL_ERROR_NOT_RECOVERED, Label.ERROR_THEN_CLAIMED_SUCCESS],
        [Label.TOOL_ERROR_NOT_RECOVERED],
        [],
        [],
    ]


def test_the_labels_of_effects_and_rubrics() -> None:
    kinds = [EffectKind.CORRECT, EffectKind.WRONG, EffectKind.MISSING, EffectKind.EXTRA, EffectKind.UNGRADED]
    effects = [Effect(kind=kind, server="s", table="t", key="1", field="f", before="a", after="b") for kind in kinds]
    checks = [
        Check(kind=CheckKind.RUBRIC, name="Polite?", passed=True),
        Check(kind=CheckKind.RUBRIC, name="True?", passed=False),
        Check(kind=CheckKind.RUBRIC, name="Short?", passed=None),
    ]
    diagnosis = diagnose(attempt(say(1, "<DONE>")), GradedAttempt(effects=effects, checks=checks))
    assert [piece for piece in diagnosis.evidence if piece.label is not None] == [
        Evidence(kind=EvidenceKind.DIFFERENCE, effect=1, label=Label.WRONG_FIELD_VALUE),
        Evidence(kind=EvidenceKind.DIFFERENCE, effect=3, label=Label.EXTRA_EFFECT),
        Evidence(kind=EvidenceKind.DIFFERENCE, effect=2, label=Label.MISSING_EFFECT),
        Evidence(kind=EvidenceKind.RUBRIC, step=1, words="True?", label=Label.RUBRIC_FAILED),
    ]
    assert labels(graded=GradedAttempt(effects=[effects[0], effects[4]], checks=[checks[0], checks[2]])) == []


def test_words_are_quoted_as_one_storable_line() -> None:
    assert [
        quote("a\0b\n\tc \ud800"),
        quote("x" * 200),
        quote("x" * 200, around=200),
        quote("a" * 200 + "?" + "b" * 200, around=200),
        quote(""),
    ] == ["a b c ?", "x" * 160 + "…", "…" + "x" * 160, "…" + "a" * 80 + "?" + "b" * 79 + "…", ""]
