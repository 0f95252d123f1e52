from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from runs.facets import RunPart, encode
from runs.packing import pack, unpack


@given(
    st.lists(st.tuples(st.text(max_size=9), st.floats(allow_infinity=False)), max_size=30),
    st.lists(st.integers(-(2**63), 2**63 - 1), min_size=30, max_size=30),
)
def test_what_was_packed_comes_back(attempts: list[tuple[str, float]], marks: list[int]) -> None:
    total = len(attempts)
    part = RunPart(
        ids=np.arange(total, dtype=np.int64) + 2**40,
        marks=np.array(marks[:total], dtype=np.int64),
        numbers={"duration": np.array([number for _, number in attempts], dtype=np.float64)},
        relations=(
            encode(("task",), enumerate((name,) for name, _ in attempts)),
            encode(("kind", "field"), [(at, (name, "")) for at, (name, _) in enumerate(attempts)] * 2, once=False),
        ),
    )
    back = unpack(pack(part))
    assert (back.ids.tolist(), back.marks.tolist()) == (part.ids.tolist(), part.marks.tolist())
    np.testing.assert_array_equal(back.numbers["duration"], part.numbers["duration"])
    for one, other in zip(back.relations, part.relations, strict=True):
        assert (one.values, one.once, one.attempts.tolist()) == (other.values, other.once, other.attempts.tolist())
        assert {name: codes.tolist() for name, codes in one.codes.items()} == {
            name: codes.tolist() for name, codes in other.codes.items()
        }
