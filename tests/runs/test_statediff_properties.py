from __future__ import annotations

import hashlib
import json
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET, Raw

from runs.records import Effect, ServerStates
from runs.statediff import Change, TableRules, apply, changes, compare_server, diff_states, hash_of

SWAPPED = {"missing": "extra", "extra": "missing"}

plain: st.SearchStrategy[Any] = st.sampled_from(["a", "b", "c", "", 0, 1, 1.0, True, False, None, 10**30])
values = plain | st.lists(plain, max_size=3) | st.dictionaries(st.sampled_from("xy"), plain, max_size=2)
keyed: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {"id": st.sampled_from([str(number) for number in range(12)])},
    optional={"status": values, "note": values, "at": values},
)
keyless = st.dictionaries(st.sampled_from(["name", "amount", "tags"]), values, max_size=3)
tables = (
    st.lists(keyed, max_size=6, unique_by=lambda record: record["id"])
    | st.lists(keyed, max_size=4)
    | st.lists(keyless, max_size=5)
)
states = st.dictionaries(st.sampled_from(["tickets", "orders"]), tables, max_size=2)
three = st.tuples(states, states, states)


def raw(state: dict[str, Any]) -> dict[str, Raw]:
    return {name: Raw(json.dumps(value).encode()) for name, value in state.items()}


def text(value: Any) -> str:
    return "absent" if value is UNSET else json.dumps(value, sort_keys=True)


def in_any_order(state: dict[str, Any]) -> dict[str, list[str]]:
    return {name: sorted(map(text, records)) for name, records in state.items()}


@given(states)
def test_equal_states_have_no_changes_and_no_effects(state: dict[str, Any]) -> None:
    assert changes(state, state) == []
    assert diff_states(raw(state), raw(state), raw(state), {}) == []


@given(states, states)
def test_changes_applied_to_before_give_after(before: dict[str, Any], after: dict[str, Any]) -> None:
    untouched = json.dumps(before)
    result = apply(changes(before, after), before)
    assert in_any_order(result) == in_any_order(after)
    assert json.dumps(before) == untouched


@given(three, st.randoms(use_true_random=False))
def test_the_order_of_records_never_matters(three: tuple[dict[str, Any], ...], random: Any) -> None:
    def shuffled(state: dict[str, Any]) -> dict[str, Any]:
        return {name: random.sample(records, len(records)) for name, records in state.items()}

    one, other = ([raw(state) for state in states] for states in (three, map(shuffled, three)))
    assert diff_states(one[0], one[1], one[2], {}) == diff_states(other[0], other[1], other[2], {})


@given(three)
def test_swapping_after_and_required_swaps_missing_and_extra(three: tuple[dict[str, Any], ...]) -> None:
    def entry(effect: Effect, *, swap: bool) -> tuple[Any, ...]:
        after, required, key = effect.after, effect.required, effect.key
        kind = effect.kind.value
        if swap:
            after, required, kind = required, after, SWAPPED.get(kind, kind)
            key = effect.after_key or effect.key
        return (kind, effect.table, key, effect.field, text(effect.before), text(after), text(required), effect.created)

    before, after, required = map(raw, three)
    one = diff_states(before, after, required, {})
    other = diff_states(before, required, after, {})
    keyed = [effect for effect in one if not effect.key.startswith("row-")]
    keyed_other = [effect for effect in other if not effect.key.startswith("row-")]
    assert Counter(entry(effect, swap=False) for effect in keyed) == Counter(
        entry(effect, swap=True) for effect in keyed_other
    )
    assert Counter(effect.kind.value for effect in one) == Counter(
        SWAPPED.get(effect.kind.value, effect.kind.value) for effect in other
    )


@given(three)
def test_differences_exist_exactly_when_after_is_not_as_required(three: tuple[dict[str, Any], ...]) -> None:
    before, after, required = three
    found = diff_states(raw(before), raw(after), raw(required), {})
    # As values of effects, lists of plain values are compared in any order, so their order is taken away first.
    settled = [diff_states(raw({}), raw(state), raw({}), {}) for state in (after, required)]
    as_required = Counter((one.table, text(one.after)) for one in settled[0]) == Counter(
        (one.table, text(one.after)) for one in settled[1]
    )
    assert any(effect.counts for effect in found) == (not as_required)


json_values = st.recursive(
    plain | st.text("a.é\x00😀", max_size=3) | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["id", "a", ""]), inner, max_size=3),
    max_leaves=8,
)
hashed_records: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {"id": st.sampled_from(["1", "10", "9"])},
    optional={
        "n": st.floats(allow_nan=False, allow_infinity=False) | st.integers(),
        "t": st.text('aé\x00\x7f/"\\\u2028😀e1'),
    },
)


@given(st.lists(hashed_records, max_size=4), st.sampled_from([frozenset[str](), frozenset({"n"})]))
def test_a_state_is_hashed_as_the_standard_library_prints_it(
    records: list[dict[str, Any]], ungraded: frozenset[str]
) -> None:
    kept = [{name: value for name, value in record.items() if name not in ungraded} for record in records]
    ordered = sorted(kept, key=lambda record: str(record["id"]))
    printed = json.dumps({"t": ordered}, sort_keys=True, separators=(",", ":"))
    found = hash_of({"t": json.dumps(records).encode()}, {"t": TableRules(ungraded=ungraded)})
    assert found == hashlib.sha256(printed.encode()).hexdigest()


any_state = st.none() | st.dictionaries(st.sampled_from("tu"), json_values, max_size=2)
any_diff = st.none() | st.lists(st.dictionaries(st.sampled_from(["path", "type"]), json_values, max_size=2), max_size=2)


@given(any_state, any_state, any_state, any_diff)
def test_no_shape_of_states_is_an_error(before: Any, after: Any, required: Any, diff: Any) -> None:
    recorded = ServerStates(
        before=None if before is None else raw(before),
        after=None if after is None else raw(after),
        required=None if required is None else raw(required),
        diff=diff,
    )
    effects, how = compare_server("s", recorded)
    if after is None or required is None:
        assert effects == []
    assert how.server == "s"


def test_a_change_about_a_record_that_is_not_there_is_refused() -> None:
    change = Change(table="t", record={"id": "2"}, field="a", before=1, after=2)
    with pytest.raises(KeyError, match=r'no record \{"id":"2"\}'):
        apply([change], {"t": [{"id": "1", "a": 1}]})


def test_changes_are_told_by_key() -> None:
    before = {"t": [{"id": "1", "a": 1, "b": 1}, {"id": "2"}], "gone": []}
    after = {"t": [{"id": "3"}, {"id": "1", "a": 2, "c": 1}], "new": [{"id": "1"}]}
    assert changes(before, after) == [
        Change(table="gone", before=[]),
        Change(table="new", after=[{"id": "1"}]),
        Change(table="t", record={"id": "1"}, field="a", before=1, after=2),
        Change(table="t", record={"id": "1"}, field="b", before=1),
        Change(table="t", record={"id": "1"}, field="c", after=1),
        Change(table="t", record={"id": "2"}, before={"id": "2"}),
        Change(table="t", record={"id": "3"}, after={"id": "3"}),
    ]
