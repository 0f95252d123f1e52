"""Each trouble that a result file may have: what is read, what is listed, and in which words."""

from __future__ import annotations

import json
from typing import Any

import pytest

from runs.bundles import reader_named
from runs.bundles.repairing import diagnose
from runs.errors import BadRecord
from runs.records import Problem, ProblemKind
from tests.bundles import FOLDER, put_together, read_bytes, read_sample, row_texts
from tests.bundles.make import line
from tests.factories import SERVER, make_row


def noted(name: str) -> list[str]:
    (read,) = read_sample(name).records
    return read.notes


def restored(name: str) -> Any:
    reading = read_sample(name)
    return put_together(reading.reader, reading.rows[0][1])


def test_a_truncated_last_line_is_listed_and_the_others_are_read() -> None:
    reading = read_sample("truncated.jsonl")
    assert [number for number, _ in reading.rows] == [1]
    assert reading.problems == [
        Problem(
            line=2,
            kind=ProblemKind.REJECTED,
            reason="Not valid JSON: the text breaks off at character 700. The line has no line end, so the copy is "
            "probably cut off. Ingest the whole file again; what is stored will not be counted twice.",
        )
    ]


def test_a_line_cut_anywhere_is_called_cut() -> None:
    text = line(make_row(finish_reason="fertig ✅ und zurück")).rstrip()
    for length in (1, 2, 9, 400, len(text) - 40, len(text) - 24, len(text) - 1):
        (problem,) = read_bytes(line(make_row()) + text[:length]).problems
        assert problem.line == 2
        assert problem.reason.startswith("Not valid JSON: the text breaks off at character ")
        assert "The line has no line end, so the copy is probably cut off." in problem.reason
    inside = read_bytes(line(make_row()) + text[:20]).problems[0].reason
    assert inside.startswith("Not valid JSON: the text breaks off at character 20 (inside a string).")


def test_lines_that_end_by_carriage_returns_alone_are_told_so() -> None:
    row = line(make_row()).rstrip()
    (problem,) = read_bytes(b"\r".join([row, row, row])).problems
    assert problem.reason == (
        f"Not valid JSON: another value begins behind the carriage return before character {len(row) + 2}. Save the "
        "file with line feeds as line ends."
    )


def test_a_raw_control_character_is_told_with_its_place() -> None:
    bad = diagnose(b'{"uid": "t\x01"}')
    assert bad is not None
    assert bad.reason == "Not valid JSON: invalid control character at character 11."


def test_a_whole_last_line_needs_no_line_end() -> None:
    assert [number for number, _ in read_bytes(line(make_row()).rstrip()).rows] == [1]


def test_blank_lines_count_as_lines_and_are_one_note() -> None:
    reading = read_sample("blank-lines.jsonl")
    assert [number for number, _ in reading.rows] == [2, 5]
    assert reading.problems == [Problem(line=1, kind=ProblemKind.NOTE, reason="4 blank lines were passed over.")]


def test_lines_that_are_no_json_are_listed_with_the_place() -> None:
    reading = read_sample("not-json.jsonl")
    assert [number for number, _ in reading.rows] == [1, 4]
    assert [(problem.line, problem.reason) for problem in reading.problems] == [
        (2, "Not valid JSON: expecting value at character 1.")
    ]
    assert [(number, error.field, error.reason) for number, error in reading.refused] == [
        (3, "", "Not valid JSON: expecting property name enclosed in double quotes at character 13.")
    ]


def test_json_that_is_no_object_is_listed() -> None:
    reading = read_sample("not-object.jsonl")
    assert [number for number, _ in reading.rows] == [1, 6]
    assert [(problem.line, problem.reason) for problem in reading.problems] == [
        (2, "The line is a list, not a JSON object."),
        (3, "The line is a text, not a JSON object."),
        (4, "The line is a number, not a JSON object."),
        (5, "The line is null, not a JSON object."),
    ]


def test_wrong_types_are_refused_with_the_field_what_was_found_and_what_is_expected() -> None:
    reading = read_sample("wrong-types.jsonl")
    assert reading.rows == []
    count = "a whole number from 0 to 99999 is expected."
    assert [(error.field, error.reason) for _, error in reading.refused] == [
        ("uid", "found the number 5 where a text is expected."),
        ("messages", "found an object of 1 field where a list of messages is expected."),
        ("metadata.repetition", f"found the text '0' where {count}"),
        ("metadata.repetition", f"found true where {count}"),
        ("metadata.repetition", f"found the number -1 where {count}"),
        ("metadata.repetition", f"it is missing, and {count}"),
        ("messages.0.T", "it is missing, and a text is expected."),
        ("test_result.result", "found the text 'yes' where true or false is expected."),
        ("is_system_error", "found the text 'no' where true or false is expected."),
        ("usage", "found an object of 1 field where a list or null is expected."),
        ("test_context", "found a list of 0 where an object is expected."),
        (
            "test_context.effects.rental_desk.result_db_state.rentals",
            "found an object of 1 field where a list of records is expected.",
        ),
    ]


def test_nan_and_the_infinities_are_kept_as_texts() -> None:
    assert noted("nan.jsonl") == [
        "JSON has no such number, so it is kept as a text: -Infinity (1 ×), Infinity (1 ×), NaN (1 ×).",
        "metadata.execution_time is the text 'NaN', no number of seconds, so it is not counted.",
    ]
    row = restored("nan.jsonl")
    assert (row["metadata"]["execution_time"], row["metadata"]["load"]) == ("NaN", ["Infinity", "-Infinity"])
    (record,) = read_sample("nan.jsonl").records
    assert record.duration is None


def test_numbers_keep_all_their_digits() -> None:
    assert noted("numbers.jsonl") == [
        "Too large for a number, so it is kept as a text of its digits: 1e400, 1e400, 1e400."
    ]
    reading = read_sample("numbers.jsonl")
    after = reading.records[0].servers[SERVER].after
    assert after is not None
    tables = bytes(after["rentals"])
    assert b'"deposit":0.1000000000000000055511,' in tables
    assert b'"serial":123456789012345678901234567890,"volume":"1e400"' in tables


@pytest.mark.parametrize("digits", ["123456789012345678901234567890", "-" + "9" * 3000, "0.10000000000000000555112"])
def test_an_exact_number_anywhere_comes_back_exactly(digits: str) -> None:
    text = line(make_row(odd=7)).replace(b'"odd":7', b'"odd":[' + digits.encode() + b"]")
    reader = reader_named("thinkingbox")
    read = reader.read(text)
    assert read.record.notes == []
    assert f'"odd":[{digits}]'.encode() in reader.attach(read.detached.skeleton, {})


def test_a_number_beyond_every_decoder_is_kept_as_a_text() -> None:
    digits = "7" * 6000
    text = line(make_row(odd=7)).replace(b'"odd":7', b'"odd":' + digits.encode())
    reader = reader_named("thinkingbox")
    read = reader.read(text)
    assert read.record.notes == ["Too large for a number, so it is kept as a text of its digits: one of 6000 digits."]
    assert put_together(reader, read)["odd"] == digits


def test_of_two_equal_keys_the_last_counts_and_a_note_says_so() -> None:
    assert noted("duplicate-keys.jsonl") == [
        "Occurs more than once in one object, and the last value counts: finish_reason."
    ]
    (text,) = row_texts("duplicate-keys.jsonl")
    assert restored("duplicate-keys.jsonl") == json.loads(text)
    assert read_sample("duplicate-keys.jsonl").records[0].finish_reason == "b"


def test_a_key_that_is_repeated_deep_inside_reads_as_its_last_value() -> None:
    text = line(make_row()).replace(b'"time_tool":0.25', b'"time_tool":1,"time_tool":0.5')
    reader = reader_named("thinkingbox")
    read = reader.read(text)
    assert read.record.timers["tool"] == 0.5
    assert put_together(reader, read) == json.loads(text)
    spaced = json.dumps(make_row()).replace('"time_tool": 0.25', '"time_tool": 1, "time_tool": 0.5').encode()
    assert reader.read(spaced).record.notes == [
        "Occurs more than once in one object, and the last value counts: time_tool."
    ]


@pytest.mark.parametrize(
    ("name", "byte", "position", "detail"),
    [
        ("bad-utf-8.jsonl", "ff", b"\xff", "invalid start byte"),
        ("bad-utf-8-in-state.jsonl", "c3", b"\xc3", "invalid continuation byte"),
    ],
)
def test_bytes_that_are_no_utf_8_are_refused_with_their_place(
    name: str, byte: str, position: bytes, detail: str
) -> None:
    reading = read_sample(name)
    at = (FOLDER / name).read_bytes().index(position) + 1
    assert [number for number, _ in reading.rows] == [2]
    assert [(number, error.field, error.reason) for number, error in reading.refused] == [
        (
            1,
            "",
            f"Not valid UTF-8: byte 0x{byte} at position {at} of the line ({detail}). Save the file as UTF-8.",
        )
    ]


@pytest.mark.parametrize("field", ["tool_calls", "session_id", "messages", "later"])
def test_no_part_of_a_row_hides_bytes_that_are_no_utf_8(field: str) -> None:
    row = make_row()
    row["test_context"][field] = ["@@@"]
    with pytest.raises(BadRecord, match="Not valid UTF-8: byte 0xfe"):
        reader_named("thinkingbox").read(line(row).replace(b"@@@", b"\xfe"))


def test_half_a_character_is_kept_as_the_text_of_its_escape() -> None:
    assert noted("surrogate.jsonl") == ["Half a character (3 ×) is kept as the text of its escape, such as \\ud800."]
    assert read_sample("surrogate.jsonl").records[0].steps[-1].content == ("The mixer \\ud83d is booked in 😀. <DONE>")


def test_u_0000_is_kept() -> None:
    assert noted("nul.jsonl") == []
    (text,) = row_texts("nul.jsonl")
    assert restored("nul.jsonl") == json.loads(text)
    assert read_sample("nul.jsonl").records[0].query == "I brought the concrete\0mixer back. Please book it in."


@pytest.mark.parametrize("where", ["odd", "messages", "tools", "test_context"])
def test_endless_nesting_is_refused(where: str) -> None:
    deep = b'{"odd":1,'.replace(b"odd", where.encode()).replace(b"1", b"[" * 20_000 + b"]" * 20_000)
    content = line(make_row()) + line({k: v for k, v in make_row().items() if k != where}).replace(b"{", deep, 1)
    reading = read_bytes(content)
    assert [number for number, _ in reading.rows] == [1]
    assert [(number, error.reason) for number, error in reading.refused] == [
        (2, "The JSON is nested too deeply to be read.")
    ]


def test_fields_nobody_knows_are_kept() -> None:
    (text,) = row_texts("unknown-fields.jsonl")
    assert restored("unknown-fields.jsonl") == json.loads(text)
    assert json.loads(text)["shard"] == {"index": 3, "of": [4]}
