from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from runs.facets import Chosen, Mask, Relation, Selection, encode, merge, repeated


def selected(total: int, relations: Sequence[Relation], wanted: Chosen, found: Mask | None = None) -> Mask:
    return Selection(total, relations, wanted, found).mask


def counts(
    facet: str, total: int, relations: Sequence[Relation], wanted: Chosen, found: Mask | None = None
) -> dict[str, int]:
    return Selection(total, relations, wanted, found).counts(facet)


# Attempts 0 to 3: a model each, tools called, differences of kind and field.
MODELS = encode(("model",), enumerate([("birch",), ("birch",), ("cedar",), ("cedar",)]))
TOOLS = encode(("tool",), [(0, ("find",)), (0, ("write",)), (1, ("find",)), (3, ("write",))])
EFFECTS = encode(
    ("kind", "field"),
    [(0, ("wrong", "a")), (0, ("missing", "b")), (1, ("wrong", "b")), (1, ("wrong", "b")), (2, ("extra", "a"))],
    once=False,
)
ALL = (MODELS, TOOLS, EFFECTS)


def chosen(**values: str | list[str]) -> list[int]:
    wanted = {facet: [value] if isinstance(value, str) else value for facet, value in values.items()}
    return np.flatnonzero(selected(4, ALL, wanted)).tolist()


def test_nothing_chosen_is_everything() -> None:
    assert (chosen(), chosen(model=[])) == ([0, 1, 2, 3], [0, 1, 2, 3])


def test_values_of_a_facet_widen_and_facets_narrow() -> None:
    assert chosen(model=["birch", "cedar"]) == [0, 1, 2, 3]
    assert chosen(tool=["find", "write"]) == [0, 1, 3]
    assert chosen(tool="write", model="cedar") == [3]
    assert chosen(tool="unheard of") == []


def test_facets_of_one_relation_must_fit_the_same_row() -> None:
    assert chosen(kind="wrong") == [0, 1]
    assert chosen(field="b") == [0, 1]
    assert chosen(kind="wrong", field="b") == [1]


def test_what_was_found_narrows_too() -> None:
    found = np.array([False, True, True, True])
    assert np.flatnonzero(selected(4, ALL, {"model": ["birch"]}, found)).tolist() == [1]
    assert counts("model", 4, ALL, {}, found) == {"birch": 1, "cedar": 2}


def test_a_count_leaves_out_what_is_chosen_in_its_own_facet() -> None:
    wanted = {"model": ["birch"]}
    assert counts("model", 4, ALL, wanted) == {"birch": 2, "cedar": 2}
    assert counts("tool", 4, ALL, wanted) == {"find": 2, "write": 1}
    assert counts("tool", 4, ALL, {"tool": ["write"]}) == {"find": 2, "write": 2}


def test_an_attempt_counts_once_for_a_value() -> None:
    assert counts("field", 4, ALL, {}) == {"a": 2, "b": 2}
    assert counts("field", 4, ALL, {"kind": ["wrong"]}) == {"a": 1, "b": 1}
    assert counts("kind", 4, ALL, {"kind": ["extra"], "field": ["b"]}) == {"wrong": 1, "missing": 1}


def test_without_attempts_there_is_nothing() -> None:
    nothing = (encode(("model",), []), encode(("kind", "field"), [], once=False))
    assert selected(0, nothing, {"model": ["x"]}).tolist() == []
    assert (counts("model", 0, nothing, {}), counts("kind", 0, nothing, {})) == ({}, {})


def test_merged_relations_count_as_one() -> None:
    joined = merge([(0, TOOLS), (4, TOOLS), (8, encode(("tool",), [(0, ("new",))]))])
    assert counts("tool", 9, (joined,), {}) == {"find": 4, "write": 4, "new": 1}
    assert joined.attempts.tolist() == [0, 0, 1, 3, 4, 4, 5, 7, 8]


def test_repeated_rows_are_those_written_out() -> None:
    models = repeated(("model", "run"), [(("birch", "a"), 2), (("cedar", "b"), 0), (("birch", "c"), 1)])
    assert models.attempts.tolist() == [0, 1, 2]
    assert counts("model", 3, (models,), {}) == {"birch": 3}
    assert counts("run", 3, (models,), {"model": ["birch"]}) == {"a": 2, "c": 1}


Rows = st.lists(st.tuples(st.integers(0, 7), st.sampled_from("abc"), st.sampled_from("xy")), max_size=40)


@given(Rows, st.lists(st.sampled_from("abc"), max_size=2), st.lists(st.sampled_from("xy"), max_size=2))
def test_counts_are_those_of_counting_by_hand(
    rows: list[tuple[int, str, str]], letters: list[str], signs: list[str]
) -> None:
    relation: Relation = encode(("letter", "sign"), [(at, (letter, sign)) for at, letter, sign in rows], once=False)
    wanted = {"letter": letters, "sign": signs}
    fitting = {(at, letter) for at, letter, sign in rows if not signs or sign in signs}
    assert counts("letter", 8, (relation,), wanted) == dict(Counter(letter for _, letter in fitting))
    both = {at for at, letter, sign in rows if (not letters or letter in letters) and (not signs or sign in signs)}
    everything = set(range(8)) if not letters and not signs else both
    assert set(np.flatnonzero(selected(8, (relation,), wanted)).tolist()) == everything


def test_pairs_count_attempts_of_two_facets_of_one_row() -> None:
    pairs = Selection(4, ALL, {}).pairs("field", "kind", ["a", "b"])
    assert pairs == {("a", "wrong"): 1, ("b", "missing"): 1, ("b", "wrong"): 1, ("a", "extra"): 1}
    assert Selection(4, ALL, {"model": ["cedar"]}).pairs("field", "kind", ["a", "b"]) == {("a", "extra"): 1}
    assert Selection(4, ALL, {"kind": ["wrong"], "field": ["b"]}).pairs("field", "kind", ["a"]) == {("a", "wrong"): 1}
    assert Selection(4, ALL, {}).pairs("field", "kind", []) == {}
