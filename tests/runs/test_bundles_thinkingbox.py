"""A `tb infer` row in this project's words, and in two parts."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from msgspec import Raw

from runs.bundles import reader_named
from runs.bundles.base import ReadRecord
from runs.records import AttemptRecord, ErrorReason, ServerStates, TestResult, Tool, Usage, Verdict
from tests.bundles import put_together, read_sample, row_texts
from tests.bundles.make import line
from tests.factories import SERVER, UID, make_messages, make_row, make_states, state_hash

READER = reader_named("thinkingbox")


def read(row: dict[str, Any]) -> ReadRecord:
    return READER.read(line(row).rstrip())


def record(**changes: Any) -> AttemptRecord:
    return read(make_row(**changes)).record


def with_metadata(**changes: Any) -> AttemptRecord:
    return record(metadata=make_row()["metadata"] | changes)


def plain(tables: dict[str, Raw] | None) -> Any:
    return None if tables is None else {name: json.loads(bytes(table)) for name, table in tables.items()}


def test_the_facts_of_a_row() -> None:
    made = record(repetition=3)
    row = make_row(repetition=3)
    facts = (made.uid, made.repetition, made.scenario, made.domain, made.finish_reason, made.duration, made.timers)
    assert facts == (UID, 3, SERVER, SERVER, "done", 3.25, {"tool": 0.25, "agent": 1.5})
    assert (made.instructions, made.policy, made.query) == tuple(message["content"] for message in make_messages()[:3])
    assert (made.metadata, made.tags, made.error, made.error_traceback) == (row["metadata"], row["test_tags"], None, "")
    assert (made.private_context, made.notes) == (None, [])


@pytest.mark.parametrize(
    ("outcome", "verdict", "reason"),
    [
        ("passed", Verdict.PASSED, None),
        ("failed", Verdict.FAILED, None),
        ("system", Verdict.ERROR, ErrorReason.SYSTEM),
        ("grader", Verdict.ERROR, ErrorReason.GRADER),
        ("not_graded", Verdict.ERROR, ErrorReason.NOT_GRADED),
    ],
)
def test_verdicts(outcome: str, verdict: Verdict, reason: ErrorReason | None) -> None:
    made = record(outcome=outcome)
    assert (made.verdict, made.reason) == (verdict, reason)


def test_a_system_error_has_its_type_message_and_traceback() -> None:
    made = record(outcome="system")
    assert (made.error, made.error_traceback) == ("RuntimeError: The endpoint answered 500.", "Traceback: 500")
    assert with_metadata(error="plain").error == "plain"


def test_the_test_result_whole() -> None:
    judged = [{"question": "Is it kind?", "answer": False, "motivation": "It is not."}]
    result = make_row()["test_result"] | {"metadata": {"judge_motivation": judged}, "prints": "seen"}
    assert record(test_result=result).test == TestResult(
        passed=False,
        reward=0.0,
        traceback="AssertionError: the states differ",
        prints="seen",
        line=12,
        line_content="assert_states_equal(effects)",
        judgements=judged,
    )
    assert record(outcome="passed").test == TestResult(passed=True, reward=1.0)


def test_states_by_table() -> None:
    states = make_states()
    server = record().servers[SERVER]
    assert (plain(server.before), plain(server.after), plain(server.required)) == (
        states["before"],
        states["after"],
        states["required"],
    )
    assert (server.after_hash, server.required_hash) == (state_hash(states["after"]), state_hash(states["required"]))
    assert server.diff == [
        {"path": "rentals[0].status", "type": "value mismatch", "result": "closed", "golden": "returned"}
    ]


def test_rows_without_states() -> None:
    assert [made.servers for made in read_sample("no-states.jsonl").records] == [{}, {}]
    row = make_row()
    row["test_context"]["effects"] = {SERVER: {"result_db_state": None, "rubrics": {}}, "mail": ["sent"]}
    made = read(row).record
    assert made.servers == {SERVER: ServerStates(), "mail": ServerStates()}
    assert made.notes == ["The effects of server 'mail' are no object, so there is nothing to compare."]


def test_rubrics_of_both_kinds() -> None:
    row = make_row()
    effects = row["test_context"]["effects"][SERVER]
    effects["rubrics"] = {"tone": {"criterion": "Is it kind?", "weight": 1.0}, "other": 3}
    effects["rubrics_yesno"] = ["Does it name the mixer?"]
    assert read(row).record.servers[SERVER].rubrics == ["Is it kind?", "Does it name the mixer?"]


def test_tools() -> None:
    row = make_row()
    row["tools"] += [{"name": "give_up", "description": None, "is_end_turn": True}]
    assert read(row).record.tools == [
        Tool(name="find_rentals", description="Rentals of a customer.", read_only=True),
        Tool(name="find_notes", description="Notes on a rental.", read_only=True),
        Tool(name="update_rental", description="Change a rental.", read_only=False),
        Tool(name="give_up", ends_turn=True),
    ]


def test_usage_in_both_spellings() -> None:
    chat = {
        "prompt_tokens": 10,
        "prompt_tokens_details": {"cached_tokens": 4},
        "completion_tokens": 6,
        "completion_tokens_details": {"reasoning_tokens": 5},
    }
    usage = make_row()["usage"]
    assert record(usage=[*usage, chat, {"input_tokens": 3, "input_tokens_details": None}]).usage == [
        Usage(input=1200, cached=1000, output=80, reasoning=60, calls=1),
        Usage(input=10, cached=4, output=6, reasoning=5, calls=1),
        Usage(input=3, calls=1),
    ]
    assert record(usage=None).usage is None
    assert record(usage=[]).usage == []


@pytest.mark.parametrize(
    "entry",
    [
        {"tokens": 5},
        None,
        {"input_tokens": "5"},
        {"input_tokens": -1, "output_tokens": 2},
        {"input_tokens": None, "output_tokens": 2},
        {"prompt_tokens": 7, "completion_tokens": None},
    ],
)
def test_usage_of_an_unknown_shape_is_not_counted_and_kept(entry: Any) -> None:
    usage = [*make_row()["usage"], entry]
    reading = read(make_row(usage=usage))
    assert reading.record.usage is None
    assert reading.record.notes == ["usage.1 has no token counts that can be read, so the tokens are not counted."]
    assert put_together(READER, reading)["usage"] == usage


def test_a_timer_that_is_no_number_is_a_note() -> None:
    made = with_metadata(time_tool="fast", execution_time=None)
    assert (made.timers, made.duration) == ({"agent": 1.5}, None)
    assert made.notes == ["metadata.time_tool is the text 'fast', no number of seconds, so it is not counted."]


def test_the_domain_is_the_tag_else_the_label_of_the_scenario_else_the_scenario() -> None:
    tags = make_row()["test_tags"]
    assert record(test_tags=tags | {"domain": "erp"}).domain == "erp"
    assert with_metadata(scenario="external_booking_v1").domain == "Travel"
    assert record().domain == SERVER


def prompt(context: str) -> list[list[dict[str, Any]]]:
    asked = (
        "\nCONVERSATION_HISTORY:\nUser: hi\n=== END CONVERSATION HISTORY ===\n\n"
        f"USER_CONTEXT:\n{context}\n\nLAST_ASSISTANT_MESSAGE:\nWho are you?\n\nTASK: Answer.\n"
    )
    turn = [("system", "You are the user."), ("user", asked), ("assistant", "Ada.")]
    return [[{"T": "Text", "metadata": {}, "role": role, "content": content} for role, content in turn]]


def test_the_private_context_is_taken_out_of_the_users_prompt() -> None:
    assert record(user_llm_history=prompt("You are Ada.\n\nYour PIN is 42.")).private_context == (
        "You are Ada.\n\nYour PIN is 42."
    )
    other = [[{"role": "user", "content": "Play Ada."}]]
    assert record(user_llm_history=other).private_context == "Play Ada."
    assert record(user_llm_history=[]).private_context is None


def test_a_row_comes_apart_into_what_is_shared_and_a_skeleton_without_it() -> None:
    detached = read(make_row()).detached
    assert [part.path for part in detached.parts] == [
        ("test_context", "effects", SERVER, "initial_db_state"),
        ("test_context", "effects", SERVER, "result_db_state"),
        ("test_context", "effects", SERVER, "golden_db_state"),
        ("tools",),
    ]
    skeleton = json.loads(detached.skeleton)
    assert skeleton["same"] is True
    context = skeleton["row"]["test_context"]
    effects = context["effects"][SERVER]
    taken = (effects["initial_db_state"], effects["golden_db_state"], skeleton["row"]["tools"], context["messages"])
    assert taken == (None, None, None, None)


@pytest.mark.parametrize("name", ["good.jsonl", "no-states.jsonl", "not-graded.jsonl", "same-place.jsonl"])
def test_a_row_is_put_together_again(name: str) -> None:
    for text in row_texts(name):
        assert put_together(READER, READER.read(text)) == json.loads(text)


def test_messages_that_differ_from_the_context_s_are_both_kept() -> None:
    row = make_row()
    row["test_context"]["messages"] = row["messages"][:3]
    assert put_together(READER, read(row)) == row
    row["test_context"]["messages"] = {"same": True}
    assert put_together(READER, read(row)) == row


def test_rows_with_spaces_between_their_tokens_are_the_same_rows() -> None:
    row = make_row()
    spaced = READER.read(json.dumps(row).encode())
    assert put_together(READER, spaced) == row
    assert READER.normalise(spaced.detached.skeleton) == READER.normalise(read(row).detached.skeleton)
    assert spaced.record.notes == []


def test_a_stored_row_is_read_without_its_parts() -> None:
    reading = read_sample("nan.jsonl").rows[0][1]
    stored = READER.normalise(reading.detached.skeleton)
    server = reading.record.servers[SERVER]
    assert stored == msgspec.structs.replace(
        reading.record,
        tools=[],
        servers={SERVER: msgspec.structs.replace(server, before=None, after=None, required=None)},
    )


def test_a_part_that_is_not_given_stays_null() -> None:
    reading = read(make_row())
    row = json.loads(READER.attach(reading.detached.skeleton, {}))
    assert (row["tools"], row["test_context"]["effects"][SERVER]["result_db_state"]) == (None, None)
    assert row["test_context"]["messages"] == row["messages"]


def test_equal_tables_of_all_rows_are_one_object() -> None:
    first, second = (record(repetition=repetition).servers[SERVER] for repetition in (0, 1))
    assert first.before is not None
    assert second.required is not None
    assert first.before["customers"] is second.required["customers"]


def test_a_row_of_the_openenv_format_among_others_is_read() -> None:
    row = make_row(states=False)
    row["metadata"] |= {"schema_version": 3, "repetition_id": f"{row['uid']}::repeat::0", "attempt": 2}
    record = read(row).record
    assert (record.tried, record.said, record.notes) == (
        2,
        {"schema_version": 3, "provenance": None, "execution": None, "forbidden": ["line_content", "prints", "tb"]},
        [],
    )
