from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec import UNSET

from runs.records import Effect, EffectKind
from runs.reported import Hashes, Parsed, parse_differences, recorded_hashes, reported_effects
from tests.runs.evidence import read_bundle

MESSAGE = """Traceback (most recent call last):
  File "<string>", line 40, in validate_database
AssertionError: Database hash after test execution does not match expected golden hash
Result hash: 81f0efe5161e9607b1b2c74bf48134a589f464c1f0600eb50e1d316b07e14803
Golden hash: 6b12f402e33f2469c678ef14c4bd87e2b175b6ed5c79b7bf0a2552399eb2a5d1

Found {count} difference(s):

{entries}
"""


def message(*entries: tuple[str, str, Any, Any]) -> str:
    """An assertion message as the harness writes it: values as JSON, cut at 500 characters."""

    def part(value: Any) -> str:
        return json.dumps(value, ensure_ascii=False)[:500]

    texts = [
        f"{number}. Path: {path}\n   Type: {kind}\n   Result:  {part(result)}\n   Golden:  {part(golden)}\n"
        for number, (path, kind, result, golden) in enumerate(entries, start=1)
    ]
    return MESSAGE.format(count=len(entries), entries="\n".join(texts))


def reported(table: str, key: str, field: str | None, after: Any, required: Any, note: str, **facts: Any) -> Effect:
    return Effect(
        kind=EffectKind.REPORTED, server="s", table=table, key=key, field=field, after=after, required=required,
        note=note, **facts,
    )  # fmt: skip


def test_a_value_that_differs() -> None:
    text = message(("zendesk_tickets[2].status", "value mismatch", "solved", "hold"))
    effect = reported("zendesk_tickets", "[2]", "status", "solved", "hold", "value mismatch")
    assert reported_effects(text, "s") == [effect]
    assert effect.before is UNSET
    assert effect.counts


def test_a_length_mismatch_folds_the_rest_of_its_table() -> None:
    text = message(
        ("tickets[1].tags[0]", "value mismatch", "a", "b"),
        ("users", "length mismatch", 5, 6),
        ("users[0].name", "value mismatch", "a", "b"),
        ("users[5]", "missing in result (present in golden)", None, None),
        ("users_of_old[0].name", "value mismatch", "a", "b"),
    )
    effects = reported_effects(text, "s")
    assert effects == [
        reported("tickets", "[1]", "tags[0]", "a", "b", "value mismatch"),
        reported("users", "", None, 5, 6, "length mismatch"),
        reported("users_of_old", "[0]", "name", "a", "b", "value mismatch"),
        reported("users", "[0]", "name", "a", "b", "value mismatch", positional=True),
        reported("users", "[5]", None, UNSET, UNSET, "missing in result (present in golden)", positional=True),
    ]
    assert [effect.counts for effect in effects] == [True, True, True, False, False]


def test_a_list_of_another_length_folds_only_itself() -> None:
    text = message(
        ("t[0].tags", "length mismatch", 1, 2),
        ("t[0].tags[0]", "value mismatch", "a", "b"),
        ("t[0].status", "value mismatch", "a", "b"),
    )
    assert [(one.field, one.positional) for one in reported_effects(text, "s")] == [
        ("tags", False),
        ("status", False),
        ("tags[0]", True),
    ]


@pytest.mark.parametrize(
    ("kind", "result", "golden", "after", "required", "note"),
    [
        ("result is None, golden is not", None, "str", None, UNSET, "; the required value is of type str"),
        ("result is not None, golden is None", "int", None, UNSET, None, "; the value after is of type int"),
        ("type mismatch", "str", "int", UNSET, UNSET, "; the value after is of type str, the required one of type int"),
        ("value mismatch", 10**30, 1.0, 10**30, 1.0, ""),
        ("a kind of a later version", {"a": [1]}, None, {"a": [1]}, None, ""),
    ],
)
def test_names_of_types_are_not_values(
    kind: str, result: Any, golden: Any, after: Any, required: Any, note: str
) -> None:
    text = message(("t[0].f", kind, result, golden))
    assert reported_effects(text, "s") == [reported("t", "[0]", "f", after, required, kind + note)]


def test_a_value_that_was_cut_says_so() -> None:
    text = message(("t[0].f", "value mismatch", "x" * 600, "short"), ("t[0].g", "value mismatch", 1, 2))
    first, second = reported_effects(text, "s")
    assert first == reported("t", "[0]", "f", '"' + "x" * 499 + "…", "short", "value mismatch; cut at 500 characters")
    assert second == reported("t", "[0]", "g", 1, 2, "value mismatch")


def test_values_over_several_lines() -> None:
    value = '{\n  "a": [\n    1\n  ]\n}'
    text = f"Found 1 difference(s):\n\n1. Path: t[0].f\n   Type: value mismatch\n   Result:  {value}\n   Golden:  []\n"
    assert parse_differences(text) == [
        Parsed(path="t[0].f", type="value mismatch", result={"a": [1]}, golden=[]),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Traceback",
        "Found x difference(s):",
        "Found 3 difference(s):",
        "Found 1 difference(s):\n\n2. Path: a\n",
        "no list\n1. Path: a",
    ],
)
def test_a_message_without_a_list_reports_nothing(text: str) -> None:
    assert reported_effects(text, "s") == []


def test_hostile_text_is_text() -> None:
    path = "<script>alert(1)</script>[0].\u202ename"
    text = message((path, "value mismatch", "\x1b[31m\n2. Path: fake[0].f", "</td>"))
    effect = reported(
        "<script>alert(1)</script>", "[0]", "\u202ename", "\x1b[31m\n2. Path: fake[0].f", "</td>", "value mismatch"
    )
    assert reported_effects(text, "s") == [effect]
    broken = "Found 1 difference(s):\n1. Path: \n   Type: \n   Result:  [[[[\n   Golden:  \ud800\n   Type: again\n"
    assert parse_differences(broken) == [
        Parsed(path="", type="", result="[[[[…", golden="\ud800\n   Type: again…", cut=True)
    ]
    assert reported_effects("Found 1 difference(s):\n1. Path: t\n   Result:  " + "[" * 9000, "s")[0].table == "t"


def test_hashes_of_the_message() -> None:
    assert recorded_hashes(message()) == Hashes(
        "81f0efe5161e9607b1b2c74bf48134a589f464c1f0600eb50e1d316b07e14803",
        "6b12f402e33f2469c678ef14c4bd87e2b175b6ed5c79b7bf0a2552399eb2a5d1",
    )
    assert recorded_hashes("Result hash: short") == Hashes(None, None)


@pytest.mark.shared
@pytest.mark.parametrize(
    ("bundle", "lists"),
    [
        ("smoke/smoke.jsonl.gz", 10),
        ("variants/limits.jsonl.zst", 9),
        ("five-domains/five-domains.aster-large.jsonl.zst", 149),
        ("five-domains/five-domains.delta-medium.jsonl.zst", 385),
    ],
)
def test_the_message_says_what_the_dumped_list_says(shared: Path, bundle: str, lists: int) -> None:
    seen = 0
    for record in read_bundle(shared / "bundles" / bundle):
        parsed = parse_differences(record.test.traceback if record.test else "")
        for states in record.servers.values():
            if parsed:
                seen += 1
                assert [one.entry() for one in parsed] == states.diff
                assert recorded_hashes(record.test.traceback if record.test else "") == Hashes(
                    states.after_hash, states.required_hash
                )
            elif record.test is not None and not record.test.broke:
                assert states.diff == []
    assert seen == lists


@pytest.mark.shared
def test_a_bundle_without_states(shared: Path) -> None:
    found = {}
    for record in read_bundle(shared / "bundles" / "variants" / "no-dump.jsonl.gz"):
        effects = reported_effects(record.test.traceback if record.test else "", "s")
        if effects:
            found[record.uid.partition(":")[2], record.repetition] = (
                sum(effect.counts for effect in effects),
                sum(effect.positional for effect in effects),
            )
    assert found == {
        ("test_case_ST003_006", 0): (1, 0),
        ("test_case_ST003_006", 3): (2, 0),
        ("test_bil_019", 0): (5, 1),
        ("test_bil_019", 1): (5, 1),
        ("test_he_033", 0): (2, 48),
        ("test_he_033", 1): (2, 48),
        ("test_doc_005", 0): (8, 1),
        ("test_doc_005", 1): (1, 1),
        ("test_doc_005", 2): (1, 1),
    }
