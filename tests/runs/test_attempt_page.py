from __future__ import annotations

import pytest

from runs.access import EVERYTHING
from runs.models import Attempt
from runs.queries.attempt_detail import step_detail
from runs.queries.attempt_evidence import effect_line
from runs.queries.attempt_state import state_panel, writes_by_step
from runs.queries.attempt_state_structs import SumItem
from runs.queries.attempt_steps import letters_of, timeline
from runs.queries.attempts import AttemptView, attempt_page
from runs.queries.values import CELL_LIMIT, ListItem, Shown, ValueKind, shown, shown_lists
from runs.queries.verdicts import verdict_word
from runs.records import (
    UNSET,
    Effect,
    EffectKind,
    GradedAttempt,
    Raw,
    ServerStates,
    StateSource,
    Step,
    StepKind,
    Write,
)  # fmt: skip
from runs.statediff import compare_server
from tests.factories import make_row
from tests.stored import store


def call(index: int, name: str = "update_rental", **changes: object) -> Step:
    values = {"arguments": {"id": 7}, "content": "{}"} | changes
    return Step(index=index, kind=StepKind.CALL, role="assistant", name=name, **values)  # type: ignore[arg-type]


def effect(kind: EffectKind, **changes: object) -> Effect:
    values = {"server": "desk", "table": "rentals", "key": "7", "field": "status"} | changes
    return Effect(kind=kind, **values)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        (UNSET, ValueKind.NO_FIELD, ""),
        (None, ValueKind.NULL, ""),
        ("", ValueKind.EMPTY_TEXT, ""),
        ([], ValueKind.EMPTY_LIST, ""),
        ({}, ValueKind.EMPTY_OBJECT, ""),
        (False, ValueKind.BOOLEAN, "false"),
        (185.0, ValueKind.NUMBER, "185.0"),
        (2**70, ValueKind.NUMBER, "1180591620717411303424"),
        ("null", ValueKind.TEXT, "null"),
        ({"a": [1]}, ValueKind.JSON, '{"a": [1]}'),
        ([None], ValueKind.JSON, "[null]"),
    ],
)
def test_a_value_is_shown_by_what_it_is(value: object, kind: ValueKind, text: str) -> None:
    assert shown(value) == Shown(kind=kind, text=text)


def test_a_long_value_is_cut_and_says_so() -> None:
    assert shown("x" * 5000) == Shown(kind=ValueKind.TEXT, text="x" * CELL_LIMIT, cut=5000)


def test_lists_are_compared_as_multisets() -> None:
    found = shown_lists(["b", "a", "a"], ["a", "c"])
    assert found is not None
    assert [one.items for one in found] == [
        [ListItem("b", True), ListItem("a", True), ListItem("a", False)],
        [ListItem("a", False), ListItem("c", True)],
    ]
    assert shown_lists(["a"], None) is None
    assert shown_lists([{"a": 1}], []) is None


@pytest.mark.parametrize(
    ("verdict", "reason", "word"),
    [
        ("passed", "", "Passed"),
        ("failed", "", "Failed"),
        ("error", "system", "System error"),
        ("error", "grader", "Grader error"),
        ("error", "not_graded", "Not graded"),
        ("error", "", "System error"),
    ],
)
def test_verdicts_have_one_word(verdict: str, reason: str, word: str) -> None:
    assert verdict_word(verdict, reason) == word


WRITES = [Write(step=9, value="solved"), Write(step=5, value="open"), Write(step=2)]


@pytest.mark.parametrize(
    ("step", "text", "kind"),
    [
        (1, "solved", ValueKind.TEXT),
        (2, "", ValueKind.UNKNOWN),
        (4, "", ValueKind.UNKNOWN),
        (5, "open", ValueKind.TEXT),
        (8, "open", ValueKind.TEXT),
    ],
)
def test_a_field_is_shown_as_of_a_step(step: int, text: str, kind: ValueKind) -> None:
    missing = effect(EffectKind.MISSING, before="solved", after="solved", required="hold", writes=WRITES)
    panel = state_panel(GradedAttempt(effects=[missing], state_source=StateSource.RECORDED), [], step=step)
    row = panel.tables[0].records[0].rows[0]
    assert (row.now, panel.later) == (False, 1)
    assert [version.value for version in row.versions if version.now] == [Shown(kind=kind, text=text)]


def test_a_field_holds_its_last_value_from_its_last_write_on() -> None:
    missing = effect(EffectKind.MISSING, before="solved", after="solved", required="hold", writes=WRITES)
    panel = state_panel(GradedAttempt(effects=[missing], state_source=StateSource.RECORDED), [], step=9)
    row = panel.tables[0].records[0].rows[0]
    assert (row.now, panel.later, [link.step for link in row.links]) == (True, 0, [9, 5, 2])
    assert row.word == "missing: written, not to the required value"


def test_a_new_row_is_absent_until_it_is_written() -> None:
    extra = effect(
        EffectKind.EXTRA,
        field=None,
        after={"id": 8, "status": "open"},
        writes=[Write(step=4, value={"status": "open"})],
    )
    graded = GradedAttempt(effects=[extra], state_source=StateSource.RECORDED)
    before, after = (state_panel(graded, [], step=step).tables[0].records[0].rows for step in (3, 4))
    assert [[version.value.kind for version in row.versions if version.now] for row in before] == [
        [ValueKind.NO_ROW]
    ] * 2
    assert [row.now for row in after] == [True, True]


def test_effects_are_counted_in_words_failing_first() -> None:
    effects = [
        effect(EffectKind.WRONG),
        effect(EffectKind.MISSING, field=None),
        effect(EffectKind.CORRECT),
        effect(EffectKind.CORRECT, key="8"),
        effect(EffectKind.CORRECT, field=None, key="9"),
        effect(EffectKind.UNGRADED),
    ]
    panel = state_panel(GradedAttempt(effects=effects, state_source=StateSource.RECORDED), [], step=1)
    assert panel.sums == [
        SumItem("wrong", "1 wrong field"),
        SumItem("missing", "1 missing row"),
        SumItem("correct", "2 correct fields"),
        SumItem("correct", "1 correct new row"),
        SumItem("ungraded", "1 ungraded"),
    ]


def test_very_many_effects_are_cut_and_counted() -> None:
    effects = [effect(EffectKind.WRONG, key=str(number), before=1, after=2, required=3) for number in range(1000)]
    graded = GradedAttempt(effects=effects, state_source=StateSource.RECORDED)
    panel = state_panel(graded, [], step=1)
    assert (panel.shown, panel.total) == (120, 1000)
    assert state_panel(graded, [], step=1, everything=True).shown == 1000


def test_a_failed_try_stands_beside_a_row_that_is_missing() -> None:
    steps = [
        call(1, arguments={"table": "rentals", "id": "9"}, error="not found"),
        call(2, arguments={"id": "10"}, error="no"),
    ]
    missing = effect(EffectKind.MISSING, field=None, key="9", required={"id": "9"})
    graded = GradedAttempt(effects=[missing], state_source=StateSource.RECORDED, write_steps=[1, 2])
    tried = state_panel(graded, steps, step=1).tables[0].records[0].tried
    assert tried is not None
    assert (tried.step, tried.state) == (1, "bad")


def test_a_step_says_what_it_wrote_and_what_was_there() -> None:
    missing = effect(EffectKind.MISSING, before="solved", after="solved", required="hold", writes=WRITES)
    wrote = writes_by_step(GradedAttempt(effects=[missing]))
    assert [(step, items[0].was, items[0].value) for step, items in sorted(wrote.items())] == [
        (2, shown("solved"), Shown(kind=ValueKind.UNKNOWN)),
        (5, None, shown("open")),
        (9, shown("open"), shown("solved")),
    ]


def test_letters_tell_writes_from_errors() -> None:
    steps = [
        Step(index=1, kind=StepKind.MESSAGE, role="user", content="Hi"),
        Step(index=2, kind=StepKind.THOUGHT, role="assistant", content="Hm"),
        call(3),
        call(4),
        call(5, error="no"),
        call(6, error="no"),
        Step(index=7, kind=StepKind.RESPONSE, role="tool", content="x"),
        Step(index=8, kind=StepKind.MESSAGE, role="assistant", content="Done"),
    ]
    assert letters_of(steps, [4, 6]) == "utcwexra"


def test_a_timeline_thins_out_as_it_grows() -> None:
    def line(count: int) -> tuple[int, bool, list[str], bool]:
        steps = [call(index) for index in range(1, count + 1)]
        made = timeline(steps, letters_of(steps, [2]), current=1, cause=2)
        return len(made.marks), made.dense, [kind for kind, _ in made.paths], made.writes_only

    assert [line(count) for count in (3, 150, 500, 2000)] == [
        (3, False, [], False),
        (150, True, [], False),
        (0, False, ["call", "write"], False),
        (0, False, ["write"], True),
    ]


def test_numbers_in_a_response_are_shown_as_they_are_written() -> None:
    step = call(1, content='{"price": 10.50, "big": 123456789012345678901234567890, "far": 1e999, "deep": {"x": 1.0}}')
    pairs = step_detail(1, step, []).parts[1].pairs
    assert [(pair.inside, pair.name, pair.value.text) for pair in pairs] == [
        ("", "price", "10.50"),
        ("", "big", "123456789012345678901234567890"),
        ("", "far", "1e999"),
        ("deep", "x", "1.0"),
    ]


@pytest.mark.parametrize("content", ['{"a": 1, "a": 2}', "[1, 2]", "plain text", '{"cut": '])
def test_a_response_that_is_no_object_is_shown_as_text(content: str) -> None:
    part = step_detail(1, call(1, content=content), []).parts[1]
    assert part.pairs == []
    assert part.text is not None
    assert "".join(part.text.split()) == "".join(content.split())


@pytest.mark.django_db
def test_the_step_shown_is_the_one_behind_the_first_failing_field() -> None:
    store([make_row(), make_row(repetition=1, outcome="passed"), make_row(repetition=2, outcome="system", messages=[])])
    steps = []
    for attempt in Attempt.objects.order_by("repetition"):
        page = attempt_page(attempt.pk, AttemptView(), access=EVERYTHING)
        assert page is not None
        steps.append(page.step)
    assert steps == [4, 4, 0]


@pytest.mark.django_db
def test_there_is_no_page_without_an_attempt() -> None:
    assert attempt_page(1, AttemptView(), access=EVERYTHING) is None


def without_before() -> GradedAttempt:
    """What is compared where a bundle holds after and required, but not before."""
    after = {"rentals": Raw(b'[{"id":"7","status":"closed"},{"id":"8","status":"out"},{"id":"9","city":"Ulm"}]')}
    required = {"rentals": Raw(b'[{"id":"7","status":"returned"},{"id":"8","status":"out"},{"id":"5","price":12}]')}
    effects, how = compare_server("desk", ServerStates(after=after, required=required), listed={})
    return GradedAttempt(effects=effects, state_source=StateSource.RECORDED, servers=[how])


def test_before_is_not_recorded_where_the_bundle_does_not_hold_it() -> None:
    panel = state_panel(without_before(), [], step=0)
    (table,) = panel.tables
    assert (table.failing, table.rows) == (3, 4)
    found = [
        (card.key, card.title, card.why, card.void_before, card.void_after, card.void_required)
        for card in table.records
    ]
    assert sorted(found) == [
        ("5", "missing row", "required, not there", False, True, False),
        ("7", "", "", False, False, False),
        ("9", "extra row", "there, not required", False, False, True),
    ]
    rows = [row for card in table.records for row in card.rows]
    assert {row.before.kind for row in rows} == {ValueKind.UNRECORDED}
    assert [row.changed for row in rows] == [False] * len(rows)
    lines = [
        effect_line(number, effect, without_before(), []) for number, effect in enumerate(without_before().effects)
    ]
    assert {line.sentence for line in lines if line.field is None} == {
        "is there and not required",
        "is required and not there",
    }
