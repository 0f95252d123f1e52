from __future__ import annotations

import json
import re

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from runs.models import Attempt
from tests.factories import make_row, make_states
from tests.stored import outcomes, store
from tests.trace_rows import HOSTILE, hostile_row, huge_row, long_row, row_with, text, tool

pytestmark = pytest.mark.django_db
UID = "rental_desk_group1.py:test_return_001"
ROW = outcomes(UID, "f")[0]
PART = {"HX-Request": "true"}


def page(client: Client, query: str = "") -> str:
    attempt = Attempt.objects.get(repetition=0, current=True)
    answer = client.get(f"{attempt.get_absolute_url()}{query}")
    assert answer.status_code == 200
    return answer.content.decode()


def plain(html: str) -> str:
    """What a reader sees of it, one space between words."""
    return " ".join(re.sub(r"<[^>]*>", " ", html).split())


def part(html: str, start: str, end: str) -> str:
    return plain(html[html.index(start) : html.index(end, html.index(start))])


def evidence(html: str) -> str:
    return part(html, "<b>Evidence</b>", '<div class="tl')


def test_claim_and_evidence_of_a_failed_attempt(client: Client) -> None:
    store([ROW])
    html = page(client)
    assert part(html, "<b>Claim</b>", "<b>Evidence</b>") == (
        "Claim step 6, the last message The mixer is booked in. &lt;DONE&gt;"
    )
    assert evidence(html) == (
        "Evidence state comparison failed, 1 graded difference "
        "≠ wrong rentals 7 status is closed required returned written by 4"
    )
    assert plain(html).count("Step 4 of 6") == 1


RECORD = "To record the records before, after and required, run the harness with --dump testcontext."
WRONG = "≠ wrong rentals 7 status is closed required returned written by 4"


@pytest.mark.parametrize(
    ("letter", "states", "badge", "said"),
    [
        (
            "p",
            True,
            "Passed",
            "state comparison passed = 2 of 2 graded changes as required nothing wrong, missing or extra",
        ),
        ("p", False, "Passed", f"the check passed = The states are not recorded. {RECORD}"),
        ("e", True, "System error", "none: the harness broke system error RuntimeError: The endpoint answered 500."),
        ("n", False, "Not graded", f"not graded: the row has no test result · The states are not recorded. {RECORD}"),
        ("n", True, "Not graded", f"not graded: the row has no test result {WRONG}"),
        (
            "f",
            False,
            "Failed Tool usage",
            f"an assertion failed, the states are not recorded ≠ the states differ {RECORD}",
        ),
    ],
)
def test_the_evidence_says_what_is_known(client: Client, letter: str, states: bool, badge: str, said: str) -> None:
    store(outcomes(UID, letter, states=states))
    html = page(client)
    assert part(html, "<h1>", '<div class="notesline">') == f"test_return_001 {badge}"
    assert evidence(html) == f"Evidence {said}"


def state_pane(client: Client, verdict: str) -> str:
    html = client.get(Attempt.objects.get(verdict=verdict).get_absolute_url()).content.decode()
    return part(html, '<div class="nothing">', '<div data-panel="checks"')


def test_an_attempt_that_ended_in_an_error_gives_no_advice_on_recording_states(client: Client) -> None:
    store(outcomes(UID, "pe"))
    assert state_pane(client, "error") == "No end state is recorded. The attempt ended in an error."


def test_a_run_without_states_says_how_to_record_them(client: Client) -> None:
    store([*outcomes(UID, "p", states=False), make_row(repetition=1, outcome="system")])
    assert state_pane(client, "passed") == (
        "The states are not recorded. The file does not hold the records before, after and required, and the check "
        "reports no difference. To record them, run the harness with --dump testcontext ."
    )
    assert "testcontext" not in state_pane(client, "error")


def test_a_grader_error_is_no_evidence(client: Client) -> None:
    store([make_row(outcome="grader", states=False)])
    html = page(client)
    assert part(html, "<h1>", '<div class="notesline">') == "test_return_001 Grader error"
    assert evidence(html).startswith("Evidence none that counts: the test itself broke grader error KeyError")


def test_reported_differences_are_named_so(client: Client) -> None:
    report = (
        "AssertionError: Database hash\nFound 3 difference(s):\n\n"
        '1. Path: rentals[0].status\n   Type: value mismatch\n   Result:  "closed"\n   Golden:  "returned"\n\n'
        "2. Path: notes\n   Type: length mismatch\n   Result:  0\n   Golden:  1\n\n"
        '3. Path: notes[0].text\n   Type: value mismatch\n   Result:  "a"\n   Golden:  "b"\n'
    )
    row = make_row(states=False)
    row["test_result"]["tb"] = report
    store([row])
    html = page(client)
    assert evidence(html) == (
        "Evidence 2 differences reported by the check; the states are not recorded "
        "≠ reported rentals [0] status is closed required returned "
        "To record the records before, after and required, run the harness with --dump testcontext."
    )
    state = part(html, 'data-panel="state"', 'data-panel="checks"')
    assert "≠ 2 reported differences" in state
    assert "value mismatch not recorded closed returned" in state
    assert "1 more entry follows from a length mismatch" in state


def test_a_hash_that_contradicts_the_diff_is_said(client: Client) -> None:
    row = outcomes(UID, "p")[0]
    row["test_context"]["effects"]["rental_desk"]["result_db_hash"] = "0" * 64
    row["test_result"] |= {"result": False, "reward": 0.0, "tb": "AssertionError: the states differ"}
    store([row])
    assert "the check and the diff disagree" in evidence(page(client))
    assert "The check and the diff disagree" in part(page(client), 'data-panel="checks"', 'data-panel="task"')


def test_a_failed_rubric_with_the_right_state(client: Client) -> None:
    row = outcomes(UID, "p")[0]
    row["test_context"]["effects"]["rental_desk"]["rubrics"] = ["Is it polite?", "Is it short?"]
    row["test_result"] |= {
        "result": False,
        "reward": 0.0,
        "tb": "AssertionError: Rubric yesno failed: Is it polite?",
        "metadata": {"judge_motivation": [{"question": "Is it polite?", "answer": False, "motivation": "It swears."}]},
    }
    store([row])
    html = page(client)
    assert evidence(html) == (
        "Evidence a rubric question was answered No, the state is as required ≠ answered No: Is it polite?"
    )
    checks = part(html, 'data-panel="checks"', 'data-panel="task"')
    assert "No Is it polite? the judge: It swears. Not asked Is it short?" in checks


def test_the_two_faces_of_missing(client: Client) -> None:
    states = make_states()
    states["after"] = json.loads(json.dumps(states["before"]))
    row = make_row()
    row["test_context"]["effects"]["rental_desk"] |= {
        "result_db_state": states["after"],
        "result_db_hash": "1" * 64,
        "golden_db_hash": "2" * 64,
        "diff": None,
    }
    row["messages"] = row_with(
        [
            text("user", "Book it in."),
            *tool(1, "update_rental", {"id": 7, "item": {"status": "held"}}, '{"id": 7, "status": "held"}'),
            *tool(2, "update_rental", {"id": 7, "item": {"status": "out"}}, '{"id": 7, "status": "out"}'),
        ]
    )["messages"]
    store([row])
    state = part(page(client), 'data-panel="state"', 'data-panel="checks"')
    assert "status missing: written, not to the required value out out held out 3 held 2 returned" in state
    assert "missing: row written, this field not" in state or "missing: change not made" in state


def test_values_that_are_nothing_stay_five_things(client: Client) -> None:
    row = make_row()
    server = row["test_context"]["effects"]["rental_desk"]
    before, after, required = ({"id": 1, "a": None, "b": "", "c": [], "d": ["x", "y"]} for _ in range(3))
    after |= {"a": "", "b": None, "c": ["x"], "d": ["y", "z"]}
    required |= {"a": "set", "b": "set", "c": None, "d": ["x", "z"]}
    server["initial_db_state"]["things"] = [before]
    server["result_db_state"]["things"] = [after]
    server["golden_db_state"]["things"] = [required, {"id": 2, "a": None}]
    server |= {"result_db_hash": "1" * 64, "golden_db_hash": "2" * 64, "diff": None}
    store([row])
    html = page(client)
    for word in ("null", "empty text", "[ ]", "no such row"):
        assert f'<span class="gone">{word}</span>' in html or f"<b>{word}</b>" in html
    # Of two lists of plain values the items that the other does not have are marked.
    assert '<li class="surplus"><bdi>y</bdi></li><li><bdi>z</bdi></li>' in html
    assert '<li class="surplus"><bdi>x</bdi></li><li><bdi>z</bdi></li>' in html


def test_a_step_shows_the_state_as_of_it(client: Client) -> None:
    store([ROW])
    cell = re.compile(r'<td class="after[^>]*data-l="After">(.*?)</td>')
    at_end, at_start = (cell.search(page(client, query)) for query in ("?step=4", "?step=3"))
    assert at_end is not None
    assert at_start is not None
    hidden = re.compile(r"<div[^>]* hidden>.*?</div>")
    assert plain(hidden.sub("", at_end[1])) == "closed 4"
    assert plain(hidden.sub("", at_start[1])) == "out"
    assert "State as of step 3" in plain(page(client, "?step=3"))


def test_a_call_without_response_and_a_response_without_call_are_said(client: Client) -> None:
    messages = [text("user", "Hello"), *tool(1, "find_rentals", {}, None)]
    messages.append({"T": "ToolResponse", "metadata": {}, "name": "find_notes", "content": "lost", "id": "call_9"})
    messages.append(text("assistant", "I am put in.", is_dummy=True))
    store([row_with(messages)])
    steps = part(page(client), 'class="steps"', 'data-pane="side"')
    assert "find_rentals no response recorded" in steps
    assert "answers no call of this transcript" in steps


@pytest.mark.parametrize(
    ("query", "listed"),
    [
        ("", [1, 2, 3, 4, 5, 6]),
        ("?show=calls", [3, 4, 5]),
        ("?show=writes", [4]),
        ("?show=errors", [5]),
        ("?find=BOOKED", [6]),
    ],
)
def test_steps_can_be_narrowed(client: Client, query: str, listed: list[int]) -> None:
    store([ROW])
    assert [int(number) for number in re.findall(r'<li class="step [^>]*id="s(\d+)"', page(client, query))] == listed


def test_tabs_are_addresses(client: Client) -> None:
    store([ROW])
    task = page(client, "?tab=task")
    assert "A returned item is set to `returned`." in task
    assert "not recorded; the harness records it with <code>--dump userllm</code>" in task
    assert "update_rental" in part(task, "Tools offered", "Private context")
    raw = page(client, "?tab=raw")
    assert "/srv/eval/rental_desk_group1.py" in raw
    assert "AssertionError: the states differ" in raw
    names = re.findall(r"&quot;(\w+)&quot;:", part(raw, "Test result</h3>", "</pre>"))
    assert names == ["result", "reward", "is_system_error", "lineno", "line_content", "metadata", "judge_motivation"]
    # The large ones are not in an answer that did not ask for them.
    assert "A returned item is set" not in page(client)
    assert "/srv/eval/" not in page(client)


def test_unchanged_fields_come_on_demand(client: Client) -> None:
    store([ROW])
    assert "Concrete mixer" not in part(page(client), 'data-panel="state"', 'data-panel="checks"')
    state = part(page(client, "?unchanged=1"), 'data-panel="state"', 'data-panel="checks"')
    assert "item Concrete mixer Concrete mixer Concrete mixer" in state


def test_unchanged_tables_come_on_demand(client: Client) -> None:
    store([ROW])
    address = f"{Attempt.objects.get().get_absolute_url()}same/"
    assert "customers 2 rows notes 0 rows" in plain(client.get(address).content.decode())
    rows = plain(client.get(f"{address}?server=rental_desk&table=customers").content.decode())
    assert "id 1 email ada@example.com name Ada Winter tags regular" in rows


def test_a_step_is_a_page_and_a_part(client: Client) -> None:
    store([ROW])
    address = f"{Attempt.objects.get().get_absolute_url()}steps/4/"
    assert "<!doctype html>" in client.get(address).content.decode()
    payload = client.get(address, headers=PART).content.decode()
    assert "<!doctype" not in payload
    assert "Arguments copy id 7 item. status closed item. returned_at 2025-05-02T09:00:10Z" in plain(payload)
    copied = client.get(f"{address}?text=arguments")
    assert (copied["Content-Type"], copied["X-Content-Type-Options"]) == ("text/plain; charset=utf-8", "nosniff")
    assert json.loads(copied.content) == {"id": 7, "item": {"status": "closed", "returned_at": "2025-05-02T09:00:10Z"}}


def test_a_long_response_comes_in_windows_that_make_the_whole(client: Client) -> None:
    store([huge_row(400_000)])
    address = f"{Attempt.objects.get().get_absolute_url()}steps/2/"
    whole = client.get(f"{address}?text=response").content.decode()
    assert json.loads(whole)["log"].startswith("2025-05-02T09:00:10Z the mixer left")
    shown, start = "", 0
    for _ in range(5):
        html = client.get(f"{address}?only=response&start={start}" if start else address, headers=PART).content.decode()
        shown += html[html.index('<pre class="win"') :].partition(">")[2].partition("</pre>")[0]
        following = re.search(r"start=(\d+)", html)
        if following is None:
            break
        start = int(following[1])
    assert json.loads(shown.replace("&quot;", '"')) == json.loads(whole)


def test_a_value_in_full_is_plain_text(client: Client) -> None:
    row = make_row()
    server = row["test_context"]["effects"]["rental_desk"]
    server["result_db_state"]["rentals"][0]["status"] = "<b>long</b> " * 500
    server |= {"result_db_hash": "1" * 64, "golden_db_hash": "2" * 64, "diff": None}
    store([row])
    found = re.search(r'href="(/attempts/\d+/values/0/after/\?field=status)"', page(client))
    assert found is not None
    answer = client.get(found[1])
    assert (answer["Content-Type"], answer.content.decode()) == ("text/plain; charset=utf-8", "<b>long</b> " * 500)


def test_the_row_can_be_taken_away(client: Client) -> None:
    store([ROW])
    answer = client.get(f"{Attempt.objects.get().get_absolute_url()}raw/")
    assert answer["Content-Disposition"] == 'attachment; filename="test-return-001-repetition-0.json"'
    assert (answer["Content-Type"], answer["X-Content-Type-Options"]) == ("application/json", "nosniff")
    assert json.loads(answer.content) == ROW


def test_dots_lead_to_the_other_repetitions(client: Client) -> None:
    store(outcomes(UID, "fp.e"), repetitions=5)
    html = page(client)
    strip = re.findall(r'aria-label="(Repetition \d+, [a-z ]+)"', html)
    assert strip == [
        "Repetition 0, failed",
        "Repetition 1, passed",
        "Repetition 2, not recorded",
        "Repetition 3, system error",
        "Repetition 4, not recorded",
    ]
    assert "1 passed, 1 failed, 1 system error, 2 not recorded" in html


def test_a_replaced_row_says_so_and_leads_to_the_one_that_counts(client: Client) -> None:
    run = store(outcomes(UID, "e"))
    store(outcomes(UID, "p"), run=run.slug)
    old, new = Attempt.objects.get(current=False), Attempt.objects.get(current=True)
    assert (
        f'<a href="{new.get_absolute_url()}">Show that attempt</a>'
        in client.get(old.get_absolute_url()).content.decode()
    )
    raw = part(page(client, "?tab=raw"), 'class="rawbox"', "</section>")
    assert "Other rows of this repetition System error , replaced by this one" in raw


@pytest.mark.parametrize("steps", [3, 300])
def test_the_page_takes_five_queries(
    client: Client, django_assert_num_queries: DjangoAssertNumQueries, steps: int
) -> None:
    store([long_row(steps)])
    address = Attempt.objects.get().get_absolute_url()
    with django_assert_num_queries(7):
        client.get(address)
    with django_assert_num_queries(5):  # the run's price is kept
        client.get(address)
    with django_assert_num_queries(1):
        client.get(f"{address}?block=1", headers=PART)
    with django_assert_num_queries(1):
        client.get(f"{address}steps/2/", headers=PART)


def test_a_long_trace_comes_in_blocks(client: Client) -> None:
    store([long_row(400)])
    html = page(client, "?step=200")
    shown = [int(number) for number in re.findall(r'<li class="step [^>]*id="s(\d+)"', html)]
    assert (shown[0], shown[-1]) == (101, 250)
    assert "Steps 1 to 50" in html
    block = client.get(f"{Attempt.objects.get().get_absolute_url()}?block=30", headers=PART).content.decode()
    assert [int(number) for number in re.findall(r'id="s(\d+)"', block)] == list(range(1, 51))
    assert "<!doctype" not in block


def test_text_of_a_bundle_is_text(client: Client) -> None:
    store([hostile_row()])
    assert "<script>" in HOSTILE
    attempt = Attempt.objects.get()
    for query in ("", "?tab=task", "?tab=raw", "?unchanged=1", "?find=neila", "?step=4"):
        html = page(client, query)
        assert "<script>window" not in html
        assert "<img src=x" not in html
        assert "<svg onload" not in html
        assert "&lt;script&gt;window.ran=1&lt;/script&gt;" in html
        assert not {"\x1b", "\x07", "\u202e", "\u2066"} & set(html)
    payload = client.get(f"{attempt.get_absolute_url()}steps/3/", headers=PART).content.decode()
    assert "<script>window" not in payload
    assert "␛[31mred␛[0m ⟨U+202E⟩neila⟨U+202C⟩ ⟨U+2066⟩x⟨U+2069⟩ ␇" in payload


@pytest.mark.parametrize(
    "address",
    ["/attempts/999/", "/attempts/999/steps/1/", "/attempts/999/same/", "/attempts/999/raw/", "/attempts/999/?block=1"],
)
def test_what_is_not_there_is_a_404(client: Client, address: str) -> None:
    assert client.get(address, headers=PART).status_code == 404


def test_a_senseless_address_shows_the_attempt(client: Client) -> None:
    store([ROW])
    shown = page(client)
    for query in ("?step=0", "?step=99999999999999", "?step=x", "?tab=nothing", "?show=nothing", "?part=nothing"):
        assert "test_return_001" in page(client, query)
    assert page(client, "?tab=nothing&show=nothing").count("<li") == shown.count("<li")
    address = Attempt.objects.get().get_absolute_url()
    for wrong in ("steps/0/", "steps/7/", "steps/1/?text=response", "values/99/after/", "values/0/nothing/"):
        assert client.get(f"{address}{wrong}").status_code == 404
