"""Names beside points: none covers another, and none could be read as another's."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from inspector.charts.labels import Mark, Place, along, place_labels, text_width

WIDTH, HEIGHT = 480.0, 340.0
Box = tuple[float, float, float, float]


def box(mark: Mark, place: Place) -> Box:
    width = text_width(mark.text, mark.strong)
    left = mark.x + place.dx - {"left": 0.0, "center": width / 2, "right": width}[place.anchor]
    return left, mark.y + place.dy - 6, left + width, mark.y + place.dy + 6


def meet(a: Box, b: Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


marks = st.lists(
    st.builds(
        Mark,
        st.floats(0, WIDTH),
        st.floats(0, HEIGHT),
        st.sampled_from(["GPT-5.4", "Claude Opus 5.5", "Mistral-Large-3", "x", ""]),
        st.sampled_from([5.0, 9.5]),
        st.booleans(),
    ),
    max_size=24,
)


@settings(deadline=None, max_examples=60)
@given(marks)
def test_no_name_covers_a_name_a_point_or_the_edge(found: list[Mark]) -> None:
    places = place_labels(tuple(found), WIDTH, HEIGHT)
    assert [place for mark, place in zip(found, places, strict=True) if not mark.text and place] == []
    boxes = [
        (at, box(mark, place)) for at, (mark, place) in enumerate(zip(found, places, strict=True)) if place is not None
    ]
    for at, (left, top, right, bottom) in boxes:
        assert (left >= 0, top >= 0, right <= WIDTH, bottom <= HEIGHT) == (True, True, True, True)
        for other, other_box in boxes:
            assert at == other or not meet((left, top, right, bottom), other_box)
        for other, mark in enumerate(found):
            point = (mark.x - mark.radius, mark.y - mark.radius, mark.x + mark.radius, mark.y + mark.radius)
            assert at == other or not meet((left, top, right, bottom), point)


def test_a_lone_point_has_its_name_at_its_right() -> None:
    assert place_labels((Mark(100, 100, "GPT-5.4", 6.0),), WIDTH, HEIGHT) == (Place(10.0, 0, "left", False),)


def test_at_the_right_edge_the_name_goes_to_the_left() -> None:
    (place,) = place_labels((Mark(WIDTH - 10, 100, "GPT-5.4", 6.0),), WIDTH, HEIGHT)
    assert place == Place(-10.0, 0, "right", False)


def test_of_two_points_beside_each_other_both_are_named_unmistakably() -> None:
    first, second = place_labels((Mark(200, 100, "GPT-5.4"), Mark(212, 104, "aster-large")), WIDTH, HEIGHT)
    assert first is not None
    assert second is not None
    assert (first.anchor, second.anchor) == ("right", "left")


def test_where_nothing_is_free_a_name_is_left_out() -> None:
    assert place_labels((Mark(20, 20, "a name too long for this"),), 60, 60) == (None,)


def test_a_line_keeps_names_off() -> None:
    line = along([(0, 100), (WIDTH, 100)])
    (place, *others) = place_labels((Mark(200, 100, "GPT-5.4"), *line), WIDTH, HEIGHT)
    assert place is not None
    assert abs(place.dy) > 8
    assert set(others) == {None}
