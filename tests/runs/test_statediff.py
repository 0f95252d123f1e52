from __future__ import annotations

import hashlib
import json
from typing import Any

import msgspec
import pytest
from msgspec import UNSET, Raw

from runs.records import Effect, EffectKind, Grading, ServerGrading, ServerStates
from runs.statediff import TableRules, compare_server, diff_states, effect_order, hash_of, shipped_rules
from runs.statediff.matching import find_key
from runs.statediff.tables import sorted_plain
from tests.runs.evidence import shown, state, states, table

TICKET = {"id": "20", "status": "solved", "priority": "high"}


def diff(before: Any, after: Any, required: Any, **rules: TableRules) -> list[tuple[Any, ...]]:
    return [shown(effect) for effect in diff_states(before, after, required, rules)]


@pytest.mark.parametrize(
    ("before", "after", "required", "kind"),
    [
        ("a", "b", "b", "correct"),
        ("a", "a", "b", "missing"),
        ("a", "c", "b", "wrong"),
        ("a", "b", "a", "extra"),
        (None, "", "x", "wrong"),
        (1, 1.0, 1, "extra"),
        (1, True, 1, "extra"),
        (0.0, -0.0, 0.0, "extra"),
        ("20", 20, "20", "extra"),
        (10**30, 10**30 + 1, 10**30 + 1, "correct"),
        ([], None, [], "extra"),
        (["a", None], [None, "a"], ["a", None], "extra"),
        ({"x": 1}, {"x": 2}, {"x": 2}, "correct"),
    ],
)
def test_the_kind_of_a_field(before: Any, after: Any, required: Any, kind: str) -> None:
    found = diff(*(state(t=[{"id": "1", "f": value}]) for value in (before, after, required)))
    assert found == [(kind, "t", "1", "f", before, after, required)]


@pytest.mark.parametrize(
    "values",
    [
        (["b", "a"], ["a", "b"], ["a", "b"]),
        ([1, True], [True, 1], [1, True]),
        ({"x": 1, "y": [2, 1]}, {"y": [1, 2], "x": 1}, {"x": 1, "y": [2, 1]}),
    ],
)
def test_order_inside_a_value_is_no_difference(values: tuple[Any, ...]) -> None:
    assert diff(*(state(t=[{"id": "1", "f": value}]) for value in values)) == []


def test_a_field_that_is_absent_is_not_null() -> None:
    before, after, required = ({"id": "1", "f": None}, {"id": "1"}, {"id": "1", "f": None})
    assert diff(state(t=[before]), state(t=[after]), state(t=[required])) == [
        ("extra", "t", "1", "f", None, UNSET, None)
    ]


def test_missing_says_whether_the_record_was_touched() -> None:
    before = state(t=[{"id": "1", "status": "solved", "at": "9:00"}])
    required = state(t=[{"id": "1", "status": "hold", "at": "9:00"}])
    untouched = diff_states(before, before, required, {})
    touched = diff_states(before, state(t=[{"id": "1", "status": "solved", "at": "9:05"}]), required, {})
    assert [(one.field, one.kind.value, one.touched) for one in untouched] == [("status", "missing", False)]
    assert [(one.field, one.kind.value, one.touched) for one in touched] == [
        ("status", "missing", True),
        ("at", "extra", False),
    ]


@pytest.mark.parametrize(
    ("after", "required", "kind"),
    [
        ([TICKET], [], "missing"),
        ([], [TICKET], "extra"),
        ([], [], "correct"),
        ([{**TICKET, "status": "hold"}], [], "wrong"),
        ([], [{**TICKET, "status": "hold"}], "wrong"),
    ],
)
def test_a_record_of_before_that_is_gone(after: list[Any], required: list[Any], kind: str) -> None:
    absent = [one[0] if one else UNSET for one in (after, required)]
    assert diff(state(t=[TICKET]), state(t=after), state(t=required)) == [(kind, "t", "20", None, TICKET, *absent)]


def test_created_records() -> None:
    made = [{"id": str(number), "text": f"made {number}"} for number in range(4)]
    wrong = {**made[1], "text": "other"}
    found = diff_states(state(t=[]), state(t=[made[0], wrong, made[3]]), state(t=made[:3]), {})
    assert [(*shown(one), one.created) for one in found] == [
        ("wrong", "t", "1", "text", UNSET, "other", "made 1", True),
        ("missing", "t", "2", None, UNSET, UNSET, made[2], False),
        ("extra", "t", "3", None, UNSET, made[3], UNSET, False),
        ("correct", "t", "0", None, UNSET, made[0], made[0], False),
    ]


def test_a_created_record_with_another_generated_key_is_the_same_record() -> None:
    after = state(t=[{"id": "8", "text": "refund"}], u=[{"id": "B", "ticket": "8", "state": "open"}])
    required = state(t=[{"id": "7", "text": "refund"}], u=[{"id": "A", "ticket": "7", "state": "open"}])
    found = diff_states(state(t=[], u=[]), after, required, {})
    assert [(*shown(one), one.after_key) for one in found] == [
        ("wrong", "t", "7", "id", UNSET, "8", "7", "8"),
        ("wrong", "u", "A", "id", UNSET, "B", "A", "B"),
        ("wrong", "u", "A", "ticket", UNSET, "8", "7", "B"),
    ]


def test_created_records_that_have_too_little_in_common_are_two() -> None:
    one, other = {"id": "7", "a": 1, "b": 2, "c": 3}, {"id": "8", "a": 1, "b": 5, "c": 6}
    assert diff(state(t=[]), state(t=[other]), state(t=[one])) == [
        ("missing", "t", "7", None, UNSET, UNSET, one),
        ("extra", "t", "8", None, UNSET, other, UNSET),
    ]


def test_ungraded_fields_are_shown_and_never_count() -> None:
    rules = TableRules(("id",), frozenset({"note"}))
    before, after, required = ({"id": "1", "note": note} for note in ("a", "b", "c"))
    found = diff_states(state(t=[before]), state(t=[after]), state(t=[required]), {"t": rules})
    assert [(shown(one), one.counts) for one in found] == [(("ungraded", "t", "1", "note", "a", "b", "c"), False)]
    assert diff(state(t=[]), state(t=[after]), state(t=[required]), t=rules) == [
        ("correct", "t", "1", None, UNSET, {"id": "1"}, {"id": "1"})
    ]


def test_key_fields_are_graded_whatever_the_rules_say() -> None:
    rules = TableRules(("id",), frozenset({"id"}))
    found = diff(state(t=[]), state(t=[{"id": "2", "a": 1}]), state(t=[{"id": "1", "a": 1}]), t=rules)
    assert found == [("wrong", "t", "1", "id", UNSET, "2", "1")]


@pytest.mark.parametrize(
    ("tables", "key"),
    [
        ([[{"id": 1}], [{"id": 1}, {"id": 2}]], ("id",)),
        ([[{"kind": "a", "sku": 1}, {"kind": "a", "sku": 2}]], ("sku",)),
        ([[{"a": 1, "b": 1}, {"a": 1, "b": 2}, {"a": 2, "b": 1}]], ("a", "b")),
        ([[{"id": None, "name": "x"}, {"id": "1", "name": "y"}]], ("name",)),
        ([[{"a": 1}, {"a": 1}]], ()),
        ([[{"a": [1]}, {"a": [2]}]], ()),
        ([[], []], ()),
    ],
)
def test_the_key_of_a_table(tables: list[list[dict[str, Any]]], key: tuple[str, ...]) -> None:
    assert find_key(tables) == key


def test_a_key_of_two_fields() -> None:
    before = [{"mail": "a", "client": "1", "ok": False}, {"mail": "a", "client": "2", "ok": False}]
    after = [before[0], {**before[1], "ok": True}]
    rules = TableRules(("mail", "client"))
    assert diff(state(t=before), state(t=after), state(t=after), t=rules) == [
        ("correct", "t", "a:2", "ok", False, True, True)
    ]


def test_records_without_a_key_are_matched_by_their_content() -> None:
    def line(name: str, amount: int) -> dict[str, Any]:
        return {"name": [name], "amount": [amount], "unit": ["piece"]}

    before = [line("bolt", 1), line("bolt", 1), line("nut", 2)]
    after = [line("nut", 3), line("bolt", 1), line("bolt", 1)]
    found = diff_states(state(t=before), state(t=after), state(t=before), {})
    assert [(one.kind.value, one.field, one.before, one.after) for one in found] == [("extra", "amount", [2], [3])]
    assert found[0].key.startswith("row-")


def test_two_records_with_one_key_are_both_compared_and_named() -> None:
    one, other = {"id": "1", "a": 1}, {"id": "1", "a": 2}
    effects, how = compare_server("s", states(state(t=[one]), state(t=[other, one]), state(t=[one])))
    assert [shown(effect) for effect in effects] == [("extra", "t", "1#2", None, UNSET, other, UNSET)]
    assert how.duplicates == ["t 1"]


def test_unknown_before_gives_only_differences_from_the_required_state() -> None:
    after = state(t=[{"id": "1", "a": 1}, {"id": "2", "a": 1}, {"id": "4", "a": 1}])
    required = state(t=[{"id": "1", "a": 1}, {"id": "2", "a": 2}, {"id": "3", "a": [3], "b": 1}])
    found = diff_states(None, after, required, {})
    assert [(*shown(one), one.created) for one in found] == [
        ("wrong", "t", "2", "a", UNSET, 1, 2, False),
        ("missing", "t", "3", None, UNSET, UNSET, {"id": "3", "a": [3], "b": 1}, False),
        ("extra", "t", "4", None, UNSET, {"id": "4", "a": 1}, UNSET, False),
    ]


def test_a_whole_table_that_is_missing_is_empty() -> None:
    required = state(t=[{"id": "1"}], u=[])
    assert diff({}, {}, required) == [("missing", "t", "1", None, UNSET, UNSET, {"id": "1"})]


@pytest.mark.parametrize(
    ("odd", "value"),
    [
        (b"7", 7),
        (b'{"id": "1"}', {"id": "1"}),
        (b"[1, 2]", [1, 2]),
        (b'[{"id": "1"}, 2]', [{"id": "1"}, 2]),
        (b'"text"', "text"),
        (b"null", None),
        (b"[" * 9000 + b"]" * 9000, "[" * 9000 + "]" * 9000),
        (b"not JSON", "not JSON"),
    ],
)
def test_a_table_that_is_no_list_of_records_is_one_value(odd: bytes, value: Any) -> None:
    sound = state(t=[{"id": "1"}])
    after = {"t": Raw(odd)}
    effects, how = compare_server("s", states(sound, after, sound, after_hash="a", required_hash="b"))
    assert [shown(effect) for effect in effects] == [("extra", "t", "", None, [{"id": "1"}], value, [{"id": "1"}])]
    assert (how.same_tables, how.disagrees) == (0, False)


@pytest.mark.parametrize(
    "records",
    [
        [{"id": ["not", None], "a": 1}, {"id": {"b": 1}, "a": 2}],
        [{"id": None}, {"id": None, "a": 1}],
        [{}, {"a": 1}],
        [{"id": float(10**20), "a": 10**400}],
    ],
)
def test_odd_keys_are_compared_like_others(records: list[dict[str, Any]]) -> None:
    assert diff(state(t=records), state(t=records[::-1]), state(t=records)) == []
    created = diff(state(t=[]), state(t=records), state(t=[]))
    assert sorted(json.dumps(one[5], sort_keys=True) for one in created) == sorted(
        json.dumps(record, sort_keys=True) for record in records
    )


def test_numbers_beyond_what_python_holds_stay_texts() -> None:
    digits = b"9" * 5000
    found = diff({"t": Raw(b'[{"id":1,"n":1e400}]')}, {"t": Raw(b'[{"id":1,"n":' + digits + b"}]")}, {})
    assert found[0][4] == {"id": 1, "n": "1e400"}
    assert found[0][5] == {"id": 1, "n": digits.decode()}


def test_states_that_are_not_recorded_have_no_effects() -> None:
    assert compare_server("s", ServerStates()) == ([], ServerGrading(server="s", grading=Grading.ALL))
    assert compare_server("s", states({}, {}, {}, diff=[])) == (
        [],
        ServerGrading(server="s", grading=Grading.COMPARED, positional=0),
    )


def test_an_unknown_server_is_graded_by_what_the_harness_names() -> None:
    before = state(t=[{"id": "1", "note": "x", "status": "new"}], u=[{"id": "1"}])
    after = state(t=[{"id": "1", "note": "y", "status": "open"}], u=[{"id": "1"}])
    required = state(t=[{"id": "1", "note": "z", "status": "done"}], u=[{"id": "1"}])
    diff_list = [{"path": "t[0].status", "type": "value mismatch", "result": "open", "golden": "done"}]
    effects, how = compare_server("s", states(before, after, required, diff=diff_list))
    assert [shown(effect) for effect in effects] == [
        ("wrong", "t", "1", "status", "new", "open", "done"),
        ("ungraded", "t", "1", "note", "x", "y", "z"),
    ]
    assert how == ServerGrading(
        server="s", grading=Grading.COMPARED, tables=2, same_tables=1, same_rows=1, rows={"t": 1}, positional=1
    )

    effects, how = compare_server("s", states(before, after, required))
    assert ([one.field for one in effects], how.grading) == (["note", "status"], Grading.ALL)


@pytest.mark.parametrize("path", ["t[0].f", "t[0].f[1]", "t[0].f.x"])
def test_a_difference_inside_a_value_names_its_field(path: str) -> None:
    before, after, required = (state(t=[{"id": "1", "f": value, "fa": value}]) for value in (0, 1, 2))
    effects, _ = compare_server("s", states(before, after, required, diff=[{"path": path}, {"path": 7}, {}]))
    assert [(one.field, one.kind.value) for one in effects] == [("f", "wrong"), ("fa", "ungraded")]


def test_hashes_and_differences_that_contradict_each_other_are_said() -> None:
    one, other = state(t=[{"id": "1", "a": 1}]), state(t=[{"id": "1", "a": 2}])
    assert compare_server("s", states(one, one, other, after_hash="x", required_hash="y"))[1].disagrees is False
    assert compare_server("s", states(one, one, one, after_hash="x", required_hash="y"))[1].disagrees is True
    assert compare_server("s", states(one, one, one, after_hash="x", required_hash="x"))[1].disagrees is False


def test_the_same_states_are_compared_once_and_what_else_was_recorded_is_heeded() -> None:
    one, other = state(t=[{"id": "1", "a": 1}]), state(t=[{"id": "1", "a": 2}])
    recorded = ServerStates(before=one, after=other, required=one)
    effects, how = compare_server("s", recorded)
    assert compare_server("s", ServerStates(before=one, after=other, required=one)) == (effects, how)
    equal = msgspec.structs.replace(recorded, after_hash="x", required_hash="x")
    unnamed = msgspec.structs.replace(recorded, diff=[])
    kinds = [compare_server("s", one)[0][0].kind for one in (recorded, equal, unnamed, recorded)]
    assert kinds == [EffectKind.EXTRA, EffectKind.UNGRADED, EffectKind.UNGRADED, EffectKind.EXTRA]
    assert compare_server("s", recorded, listed={}) == (effects, how)
    for number in range(100):  # more than are kept
        compare_server("s", ServerStates(before=one, after=state(t=[{"id": "1", "a": number}]), required=one))
    assert compare_server("s", recorded) == (effects, how)


def test_the_hash_of_a_state_is_the_harness_s_own() -> None:
    records: list[dict[str, Any]] = [
        {"id": "10", "note": "n", "tags": ["é", "a"], "n": 1.0},
        {"id": "9", "note": "n", "tags": [], "n": None},
    ]
    text = '{"a":[],"t":[{"id":"10","n":1.0,"tags":["a","\\u00e9"]},{"id":"9","n":null,"tags":[]}]}'
    rules = {"t": TableRules(("id",), frozenset({"note"}))}
    found = hash_of({"t": bytes(table(*records)), "a": b"[]"}, rules)
    assert found == hashlib.sha256(text.encode()).hexdigest()
    assert hash_of({}, {}) == hashlib.sha256(b"{}").hexdigest()


def test_shipped_rules() -> None:
    rules = shipped_rules()
    assert {server: len(tables) for server, tables in rules.items()} == {
        "external_booking_v1": 17,
        "sandbox_auto_insurance": 14,
        "sandbox_consulting": 30,
        "sandbox_external_retail": 22,
        "sandbox_neobank_support_v1": 20,
    }
    assert sum(len(table.ungraded) for tables in rules.values() for table in tables.values()) == 59
    assert rules["sandbox_consulting"]["license_management_license_pool_record"].key == ("catalog_id", "pool_type")


def test_failing_tables_and_real_fields_come_first() -> None:
    def effect(kind: EffectKind, table: str, key: str, field: str | None) -> Effect:
        return Effect(kind=kind, server="s", table=table, key=key, field=field)

    ordered = [
        effect(EffectKind.WRONG, "b", "9", "status"),
        effect(EffectKind.MISSING, "b", "9", "created_at"),
        effect(EffectKind.MISSING, "b", "10", None),
        effect(EffectKind.EXTRA, "b", "2", None),
        effect(EffectKind.EXTRA, "c", "1", "x"),
        effect(EffectKind.CORRECT, "c", "1", "y"),
        effect(EffectKind.CORRECT, "a", "1", "x"),
        effect(EffectKind.UNGRADED, "b", "1", "x"),
    ]
    assert effect_order(ordered[::-1]) == ordered


def test_sorted_plain_leaves_mixed_lists_in_order() -> None:
    assert sorted_plain({"a": [3, 1, 2], "b": ["b", "a"], "c": [["b", "a"], None], "d": [True, "x", 1]}) == {
        "a": [1, 2, 3],
        "b": ["a", "b"],
        "c": [["a", "b"], None],
        "d": ["x", 1, True],
    }
