from __future__ import annotations

import copy
import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from msgspec import UNSET

from runs.models import Attempt, Run
from runs.queries.compare_lines import word_pieces
from runs.queries.compare_structs import Piece
from runs.queries.compare_writes import GradedField, graded_by_step
from runs.records import Effect, EffectKind, GradedAttempt, Write
from tests.factories import SERVER, make_row, make_states, state_hash
from tests.stored import outcomes, store
from tests.trace_rows import hostile_row, long_row

pytestmark = pytest.mark.django_db
UID = "rental_desk_group1.py:test_return_001"


def page_of(client: Client, left: Attempt, right: Attempt, query: str = "") -> str:
    answer = client.get(reverse("compare_attempts", args=[left.pk, right.pk]) + query)
    assert answer.status_code == 200
    return " ".join(answer.content.decode().split())


def pair_of(run: Run) -> tuple[Attempt, Attempt]:
    by_repetition = {attempt.repetition: attempt for attempt in run.attempts.all()}
    return by_repetition[0], by_repetition[1]


def words(text: str) -> str:
    return " ".join(re.sub("<[^>]+>", " ", text.replace("<wbr>", "")).split())


def marked(text: str) -> list[tuple[str, str]]:
    """The words marked in the steps, line by line, each with the worth that the mark gives it."""
    steps = text[text.index('id="steps"') : text.index('id="choose"')]
    return re.findall(r'<span class="val ?(\w*)">(.*?)</span>', steps)


def test_a_passed_and_a_failed_attempt_side_by_side(client: Client) -> None:
    text = page_of(client, *pair_of(store(outcomes(UID, "pf"))))
    end = words(text[text.index('id="end"') : text.index('id="steps"')])
    assert "1 graded value differs, 1 equal" in end
    assert "rentals 7 ≠ status wrong in repetition 1 out returned 4 closed 4 returned" in end
    assert "returned_at equal null 2025-05-02T09:00:10Z 4 2025-05-02T09:00:10Z 4 2025-05-02T09:00:10Z" in end
    steps = words(text[text.index('id="steps"') : text.index('id="choose"')])
    assert "First divergent write Both make this call and differ in item.status ." in steps
    assert "First difference" not in steps
    assert "item.status : returned , id : 7" in steps
    assert "item.status : closed , id : 7" in steps
    assert marked(text) == [("must", "returned"), ("is", "closed")]
    passed, failed = pair_of(Run.objects.get())
    assert marked(page_of(client, failed, passed)) == [("is", "closed"), ("must", "returned")]
    assert 'class="rel graded"' in text


def test_only_graded_values_have_the_colours_of_a_verdict(client: Client) -> None:
    rows = [renamed_row(0, "Mixer A", outcome="passed"), renamed_row(1, "Mixer B", outcome="passed")]
    for row, word in zip(rows, ("ada", "bob"), strict=True):
        search = next(message for message in row["messages"] if "find_rentals" in str(message))
        search["tool_calls"][0]["arguments"]["customer"] = f"{word}@example.com"
    rows[1]["messages"][-1]["content"] = "The mixer is booked out. <DONE>"
    text = page_of(client, *pair_of(store(rows)))
    assert marked(text) == [("", "ada"), ("", "bob"), ("", "A"), ("", "B"), ("", "in"), ("", "out")]
    assert text.count('class="cmp-row diff"') == text.count('<div class="rel"><span aria-hidden="true">≠') > 0


def test_each_field_of_a_record_is_worth_what_is_required_of_it() -> None:
    def effect(kind: EffectKind, field: str | None, **more: Any) -> Effect:
        return Effect(kind=kind, server=SERVER, table="notes", key="1", field=field, **more)

    effects = [
        effect(EffectKind.MISSING, "status", required="hold", writes=[Write(step=4, value="open"), Write(step=2)]),
        effect(EffectKind.CORRECT, "tags", required=["a"], writes=[Write(step=4, value=["a"]), Write(step=2)]),
        effect(EffectKind.EXTRA, None, after={"text": "x"}, writes=[Write(step=5)]),
        effect(EffectKind.CORRECT, None, after={"text": "x"}, required={"text": "x"}, writes=[Write(step=6)]),
        effect(EffectKind.UNGRADED, "item", required="Mixer", writes=[Write(step=4, value="Saw")]),
    ]
    assert graded_by_step(GradedAttempt(effects=effects)) == {
        4: {"status": GradedField("hold", False), "tags": GradedField(["a"], True)},
        2: {"status": GradedField("hold", False), "tags": GradedField(["a"], False)},
        5: {"text": GradedField(UNSET, False)},
        6: {"text": GradedField("x", True)},
    }


def note_row(repetition: int, **wrong: Any) -> dict[str, Any]:
    """An attempt that books the rental right and makes the required note, with these fields of it wrong."""
    states = make_states()
    required = states["required"]
    required["notes"].append({"id": 1, "rental_id": 7, "text": "Returned", "status": "hold", "tags": ["desk"]})
    after = copy.deepcopy(required)
    after["notes"][0] |= wrong
    golden = required["notes"][0]
    row = make_row(repetition=repetition, outcome="failed" if wrong else "passed")
    row["test_context"]["effects"][SERVER] |= {
        "result_db_state": after,
        "result_db_hash": state_hash(after),
        "golden_db_state": required,
        "golden_db_hash": state_hash(required),
        "diff": [
            {"path": f"notes[0].{name}", "type": "value mismatch", "result": value, "golden": golden[name]}
            for name, value in wrong.items()
        ],
    }
    return row


def end_of(client: Client, left: Attempt, right: Attempt) -> str:
    text = page_of(client, left, right)
    return words(text[text.index('id="end"') : text.index('id="steps"')])


def test_the_other_fields_of_a_new_record_that_is_partly_wrong_are_as_required(client: Client) -> None:
    left, right = pair_of(store([note_row(0, status="open"), note_row(1)]))
    end = end_of(client, left, right)
    assert "1 graded value differs, 6 equal" in end
    assert "notes 1 ≠ status wrong in repetition 0 no such row open hold hold" in end
    assert "= text equal no such row Returned Returned Returned" in end
    mirrored = end_of(client, right, left)
    assert "1 graded value differs, 6 equal" in mirrored
    assert "notes 1 ≠ status wrong in repetition 0 no such row hold open hold" in mirrored
    assert "= text equal no such row Returned Returned Returned" in mirrored
    assert "both count as correct" not in end + mirrored


def test_two_new_records_wrong_in_different_fields_are_as_required_in_the_others(client: Client) -> None:
    left, right = pair_of(store([note_row(0, status="open"), note_row(1, text="Back")]))
    for end in (end_of(client, left, right), end_of(client, right, left)):
        assert "2 graded values differ, 2 equal" in end
        assert "≠ status wrong in repetition 0 no such row" in end
        assert "≠ text wrong in repetition 1 no such row" in end
    assert "status wrong in repetition 0 no such row open hold hold" in end_of(client, left, right)
    assert "status wrong in repetition 0 no such row hold open hold" in end_of(client, right, left)


def test_of_new_records_that_both_left_partly_wrong_the_page_says_which_fields_it_lists(client: Client) -> None:
    sentence = (
        "New in both attempts, and partly wrong in both: notes 1. Of such a record only the fields that are wrong in "
        "one or both are listed; its other graded fields are as required in both."
    )
    left, right = pair_of(store([note_row(0, status="open"), note_row(1, status="shut", text="Back")]))
    for end in (end_of(client, left, right), end_of(client, right, left)):
        assert sentence in end
        # The record's other graded fields are neither listed nor counted.
        assert "2 graded values differ, 2 equal" in end
        assert re.findall("tags|rental_id", end) == []
    one, other = pair_of(store([note_row(0, status="open"), note_row(1)], model="cedar"))
    assert "New in both attempts" not in end_of(client, one, other)
    assert "tags" in end_of(client, one, other)


def renamed_row(repetition: int, name: str, *, again: str = "", **changes: Any) -> dict[str, Any]:
    """An attempt that also renames the item, which is not compared; `again`: a status that it writes later."""
    row = make_row(repetition=repetition, **changes)
    at = next(at for at, message in enumerate(row["messages"]) if "update_rental" in str(message))
    call = row["messages"][at]["tool_calls"][0]
    call["arguments"]["item"]["item"] = name
    server = row["test_context"]["effects"][SERVER]
    server["result_db_state"]["rentals"][0]["item"] = name
    if again:
        second = copy.deepcopy(row["messages"][at : at + 2])
        second[0]["tool_calls"] = [{**call, "id": "call_9", "arguments": {"id": 7, "item": {"status": again}}}]
        second[1] |= {"id": "call_9", "content": '{"id": 7, "status": "' + again + '"}'}
        row["messages"][-1:-1] = second
    return row


def steps_of(client: Client, left: Attempt, right: Attempt) -> str:
    text = page_of(client, left, right)
    return words(text[text.index('id="steps"') : text.index('id="choose"')])


def test_writes_that_differ_in_ungraded_fields_alone_do_not_part_the_attempts(client: Client) -> None:
    rows = [renamed_row(0, "Mixer A", outcome="passed"), renamed_row(1, "Mixer B", outcome="passed")]
    left, right = pair_of(store(rows))
    for steps in (steps_of(client, left, right), steps_of(client, right, left)):
        assert "First divergent write" not in steps
        assert "First difference Both make this call and differ in item.item . No state-changing call" not in steps
        assert "First difference Both make this call and differ in item.item ." in steps


def test_the_first_divergent_write_explains_a_graded_difference(client: Client) -> None:
    passed = renamed_row(1, "Mixer B", outcome="passed", again="returned")
    first = next(message for message in passed["messages"] if "update_rental" in str(message))
    first["tool_calls"][0]["arguments"]["item"]["status"] = "closed"
    left, right = pair_of(store([renamed_row(0, "Mixer A"), passed]))
    for steps in (steps_of(client, left, right), steps_of(client, right, left)):
        assert "First divergent write Only repetition 1 calls this." in steps
        assert "First difference Both make this call and differ in item.item ." in steps


def test_equal_attempts_have_no_difference(client: Client) -> None:
    text = page_of(client, *pair_of(store(outcomes(UID, "pp"))))
    assert 'Differences<span class="n">0</span>' in text
    assert "data-jump" not in text
    assert "0 graded values differ, 2 equal" in text
    assert '<div class="cmp-row same">' in page_of(client, *pair_of(Run.objects.get()), "?show=all")


def test_only_attempts_at_one_task_are_compared(client: Client) -> None:
    run = store([*outcomes(UID, "p"), *outcomes("b.py:other", "f")])
    first, second = run.attempts.order_by("pk")
    assert client.get(reverse("compare_attempts", args=[first.pk, second.pk])).status_code == 404
    assert client.get(reverse("compare_attempts", args=[first.pk, 999_999])).status_code == 404
    assert client.get(reverse("compare_attempts", args=[10**30, first.pk])).status_code == 404


def test_attempts_of_two_runs_are_called_by_their_models(client: Client) -> None:
    one, other = store(outcomes(UID, "p")), store(outcomes(UID, "f"), model="cedar")
    left, right = one.attempts.get(), other.attempts.get()
    text = page_of(client, left, right)
    assert "wrong in cedar 0" in text
    assert f'href="/attempts/{right.pk}/vs/{left.pk}/" data-swap' in text


def test_states_that_are_not_recorded_are_not_taken_for_equal(client: Client) -> None:
    run = store([make_row(outcome="passed"), make_row(repetition=1, states=False)])
    text = page_of(client, *pair_of(run))
    assert "The states of repetition 1 are not recorded" in text
    end = words(text[text.index('id="end"') : text.index('id="steps"')])
    assert "0 graded values differ, 0 equal" in end
    assert "status not recorded in repetition 1 out returned 4 not recorded returned" in end


def test_each_choice_leads_to_another_comparison(client: Client) -> None:
    run = store(outcomes(UID, "pffe"), repetitions=4)
    left, right = pair_of(run)
    text = page_of(client, left, right)
    found = re.findall(
        r'/vs/(\d+)/" title="repetition (\d): ([a-z ]+)"(?: aria-label="[^"]*")( aria-current="true")?', text
    )
    assert [(int(number), verdict, bool(current)) for _, number, verdict, current in found] == [
        (1, "failed", True), (2, "failed", False), (3, "system error", False),
    ]  # fmt: skip


@pytest.mark.parametrize("size", [30, 2000])
def test_the_number_of_queries_does_not_hang_on_the_steps(
    size: int, client: Client, django_assert_num_queries: Any
) -> None:
    run = store([long_row(size), long_row(size - 20, repetition=1, outcome="passed")])
    left, right = pair_of(run)
    with django_assert_num_queries(2):
        text = page_of(client, left, right)
    assert text.count('class="cmp-row ') <= 300


def test_a_long_comparison_is_paged_and_folds_what_is_equal(client: Client) -> None:
    run = store([long_row(2000), long_row(2000, repetition=1)])
    text = page_of(client, *pair_of(run))
    assert re.search(r"[\d,]+ equal steps", text)
    everything = page_of(client, *pair_of(run), "?show=all&thoughts=1&page=2")
    assert "301 to 600 of 2,0" in everything
    writes = page_of(client, *pair_of(run), "?show=writes")
    assert writes.count("update_rental</bdi>") == 2 * writes.count('class="cmp-row ')


def test_hostile_text_stays_text(client: Client) -> None:
    run = store([hostile_row(), hostile_row(repetition=1, outcome="passed")])
    text = page_of(client, *pair_of(run), "?show=all&thoughts=1")
    assert "<script>window" not in text
    assert "<img src=x" not in text
    assert "\u202e" not in text
    assert "{{ 7|add:7 }}" in text


@pytest.mark.parametrize("query", ["?show=nonsense&page=x", "?page=99999", "?thoughts=2&effects=some"])
def test_an_unknown_view_is_as_good_as_none(query: str, client: Client) -> None:
    left, right = pair_of(store(outcomes(UID, "pf")))
    assert 'class="cmp-row diff"' in page_of(client, left, right, query)


def test_words_are_compared_one_by_one() -> None:
    left, right = word_pieces("Set it to hold now", "Set it to solved now", limit=100)
    assert left == [Piece("Set it to "), Piece("hold", True), Piece(" now")]
    assert right == [Piece("Set it to "), Piece("solved", True), Piece(" now")]


def test_texts_with_little_in_common_are_marked_as_a_whole_and_cut() -> None:
    assert word_pieces("one two three", "other words here", limit=7) == (
        [Piece("one two", True)],
        [Piece("other w", True)],
    )
    assert word_pieces("", "", limit=7) == ([], [])
