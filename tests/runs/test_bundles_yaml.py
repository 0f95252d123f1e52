"""One result as a YAML document: the same row as in JSON."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
import yaml

from runs.bundles.base import RawRecord
from runs.bundles.thinkingbox_yaml import yaml_rows
from runs.records import Problem
from tests.bundles import FOLDER, put_together, read_bytes, read_sample
from tests.factories import make_row


def rows(text: str | bytes, *, most: int = 1 << 20) -> list[RawRecord | Problem]:
    content = text.encode() if isinstance(text, str) else text
    return list(yaml_rows(io.BytesIO(content), max_document=most))


def value_of(text: str) -> Any:
    (row,) = rows(text)
    assert isinstance(row, RawRecord)
    return json.loads(row.text)


def reason(text: str | bytes, *, most: int = 1 << 20) -> tuple[int, str]:
    (problem,) = rows(text, most=most)
    assert isinstance(problem, Problem)
    return problem.line, problem.reason


def test_the_sample_is_the_row_that_the_harness_had() -> None:
    reading = read_sample("one-result.yaml")
    row = make_row()
    row["metadata"] |= {"opened": "2025-05-02", "code": "0x1F", "shift": "12:30", "answer": "no", "mass": "1e5"}
    assert put_together(reading.reader, reading.rows[0][1]) == row
    assert (reading.reader.name, reading.rows[0][0], reading.rows[0][1].record.metadata) == (
        "thinkingbox-yaml",
        1,
        row["metadata"],
    )


def test_plain_words_are_values_only_in_the_spellings_of_the_writer() -> None:
    assert value_of(
        "a: [null, ~, true, False, 0, -7, 1.5, 1.0e+22, 12345678901234567890123]\n"
        "b: [2025-05-02, 2025-05-02T09:00:00Z, 0x1F, 010, 1_000, 12:30, yes, on, n, 1e5, <<, =]\n"
        "c: [\"1\", 'null', !!str 5]\n"
    ) == {
        "a": [None, None, True, False, 0, -7, 1.5, 1e22, 12345678901234567890123],
        "b": [
            "2025-05-02",
            "2025-05-02T09:00:00Z",
            "0x1F",
            "010",
            "1_000",
            "12:30",
            "yes",
            "on",
            "n",
            "1e5",
            "<<",
            "=",
        ],
        "c": ["1", "null", "5"],
    }


def test_numbers_keep_their_digits() -> None:
    (row,) = rows("a: [0.1000000000000000055511, 1.0e+22, +1, 1., .5]")
    assert isinstance(row, RawRecord)
    assert row.text == b'{"a":[0.1000000000000000055511,1.0e+22,1,1.0,0.5]}'


def test_what_the_writer_of_the_harness_writes_comes_back() -> None:
    value = {
        "texts": [
            "yes",
            "1.5",
            ".inf",
            "2025-01-01",
            "",
            " x ",
            "a\nb",
            "é ✅ 😀",
            "null",
            "0x1F",
            "1e5",
            "\x07",
            "12:30",
        ],
        "numbers": [1.5, 1e-9, 1e300, -0.0, 10**40],
        "20": {"": None},
    }
    assert value_of(yaml.safe_dump(value)) == value


def test_nan_and_the_infinities_are_kept_as_texts_with_a_note() -> None:
    (row,) = rows("a: [.nan, .inf, -.inf]")
    assert row == RawRecord(
        line=1,
        text=b'{"a":["NaN","Infinity","-Infinity"]}',
        notes=["JSON has no such number, so it is kept as a text: NaN or Infinity (3 ×)."],
    )


def test_of_two_equal_keys_the_last_counts_and_a_note_says_so() -> None:
    (row,) = rows("a: 1\na: 2\n")
    assert row == RawRecord(
        line=1,
        text=b'{"a":2}',
        notes=["Occurs more than once in one mapping, and the last value counts: a."],
    )


def test_aliases_are_written_out() -> None:
    assert value_of("a: &x {b: [1, &y 2]}\nc: *x\nd: *y\n") == {"a": {"b": [1, 2]}, "c": {"b": [1, 2]}, "d": 2}


def test_several_documents_are_several_rows() -> None:
    first, second = rows("---\na: 1\n---\na: 2\n")
    assert isinstance(first, RawRecord)
    assert isinstance(second, RawRecord)
    assert [(row.line, row.text) for row in (first, second)] == [(1, b'{"a":1}'), (3, b'{"a":2}')]


def test_an_alias_bomb_is_refused() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    assert reason("\n".join(lines)) == (
        1,
        "The YAML document expands to more than 2,000,000 values or 1,048,576 characters, so it is not read.",
    )
    long = "a: &a " + "x" * 60_000 + "\nb: [" + ", ".join(["*a"] * 40) + "]"
    assert reason(long)[1].startswith("The YAML document expands to more than")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: &x [*x]", (1, "The YAML alias *x names nothing that is complete before it.")),
        ("- 1\n- 2\n", (1, "The document is no mapping, so it holds no result.")),
        ("? [1]\n: 2\n", (1, "A key of the YAML document is a list or a mapping, which no JSON key can be.")),
        (
            "a: !!python/object/apply:os.system [ls]",
            (
                1,
                "The YAML document asks for a value of type tag:yaml.org,2002:python/object/apply:os.system, "
                "which a result never holds.",
            ),
        ),
        ("a: 1\nb: {1,\n]", (3, "Not valid YAML: did not find expected node content.")),
        (b"a: \xff\n", (1, "Not valid YAML: unacceptable character #x00ff: invalid leading UTF-8 octet.")),
    ],
)
def test_documents_that_hold_no_result_are_listed(text: str | bytes, expected: tuple[int, str]) -> None:
    assert reason(text) == expected


def test_endless_nesting_is_listed() -> None:
    line, text = reason("a: " + "[" * 20_000 + "]" * 20_000)
    assert line == 1
    assert text in {"Not valid YAML: exceeded maximum nesting depth.", "The YAML is nested too deeply to be read."}


def test_a_document_over_the_limit_is_listed() -> None:
    assert reason("a: " + "x" * 9_000, most=4_000) == (
        1,
        "The document has more than the limit of 4,000 bytes (TWENTYFOLD_MAX_LINE), so it was passed over.",
    )


def test_a_document_that_is_cut_off_is_listed() -> None:
    content = (FOLDER / "one-result.yaml").read_bytes()
    (problem,) = read_bytes(content[:-200] + b'\nbroken: "', name="cut.yaml").problems
    assert problem.reason.startswith("Not valid YAML: found unexpected end of stream")
