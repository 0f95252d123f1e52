from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest
from django.db import connection
from django.http import QueryDict
from django.test import Client

from inspector.error_filters import error_filters
from inspector.failure_filters import failure_filters
from runs import search
from runs.models import SavedView
from runs.queries.errors import ErrorFilters
from runs.queries.failure_filters import FailureFilters, Grouping
from runs.queries.failure_index import Facet
from tests.factories import make_messages, make_row
from tests.stored import outcomes, store

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}
HOSTILE = "<script>alert(1)</script>\u202e{{ 7 }}"


def text_of(client: Client, address: str, **headers: str) -> str:
    answer = client.get(address, headers=headers)
    assert answer.status_code == 200
    return " ".join(answer.content.decode().split())


def index_all() -> None:
    while search.index_some():
        pass


def body_of(answer: Any) -> str:
    return b"".join(answer.streaming_content).decode()


def test_without_a_failure_the_page_says_so(client: Client) -> None:
    assert "No run is stored yet" in text_of(client, "/failures/")
    store(outcomes("a.py:one", "p"))
    assert "No stored attempt has failed" in text_of(client, "/failures/")


def test_filters_are_named_where_there_are_some(client: Client) -> None:
    store(outcomes("a.py:one", "f"))
    assert "Name these filters" not in text_of(client, "/failures/")
    assert "Name these filters" in text_of(client, "/failures/?model=birch")
    SavedView.objects.create(name="Birch only", query="model=birch")
    text = text_of(client, "/failures/")
    assert ("Birch only" in text, "Name these filters" in text) == (True, False)


def test_a_value_of_a_difference_stands_there_without_quotes(client: Client) -> None:
    store(outcomes("a.py:one", "f"))
    text = text_of(client, "/failures/")
    value = '<code class="is"><bdi>{}</bdi></code> required <code class="must"><bdi>{}</bdi></code>'
    assert text.count(value.format("closed", "returned")) == 2
    assert "&quot;closed" not in text


def test_the_form_holds_every_filter_and_works_without_scripts(client: Client) -> None:
    store(outcomes("a.py:one", "fpf"))
    index_all()
    text = text_of(client, "/failures/?model=birch&q=mixer&group=none&sort=-steps")
    assert 'name="model" value="birch" checked' in text
    assert 'name="q" value="mixer"' in text
    assert '<input type="hidden" name="group" value="none">' in text
    assert '<option value="-steps" selected>' in text
    assert '<button class="btn small" type="submit">Apply</button>' in text
    assert 'aria-label="Remove filter Model: birch"' in text
    assert "<mark>mixer</mark>" in text


def test_htmx_gets_the_part_and_history_the_whole_page(client: Client) -> None:
    store(outcomes("a.py:one", "f"))
    part = text_of(client, "/failures/?q=mixer", **HTMX)
    assert part.startswith('<div id="found">')
    whole = client.get("/failures/", headers={**HTMX, "HX-History-Restore-Request": "true"})
    assert whole.content.startswith(b"<!doctype html>")


def test_a_filter_that_leaves_nothing_says_the_way_back(client: Client) -> None:
    store(outcomes("a.py:one", "ff"))
    assert 'No failed attempt fits. <a href="/failures/">Show all 2</a>' in text_of(client, "/failures/?model=oak")


def test_transcripts_that_wait_are_told_where_words_are_looked_for(client: Client) -> None:
    run = store(outcomes("a.py:one", "ff"))
    search.clear()
    search.queue_all(connection)
    assert "2 transcripts are not in the search yet" in text_of(client, "/failures/?q=mixer")
    assert "not in the search" not in text_of(client, f"/failures/?run={run.slug}")


def test_hostile_text_is_text_everywhere(client: Client) -> None:
    messages = make_messages()
    messages[-1]["content"] = f"needle {HOSTILE} <DONE>"
    store([make_row(uid=f"a.py:{HOSTILE}", messages=messages, finish_reason=HOSTILE)])
    index_all()
    for address in ("/failures/?q=needle", "/failures/?group=none", "/failures/?group=task&task=" + HOSTILE):
        text = text_of(client, address)
        assert "<script>alert" not in text
        assert "&lt;script&gt;alert(1)&lt;/script&gt;⟨U+202E⟩{{ 7 }}" in text


def test_the_list_goes_out_as_csv_that_no_program_takes_for_formulas(client: Client) -> None:
    messages = make_messages()
    messages[-1]["content"] = "=HYPERLINK(1) <DONE>"
    store([make_row(uid="a.py:@SUM(1)", messages=messages, finish_reason="+1"), make_row(repetition=1)])
    answer = client.get("/failures/list.csv?repetition=0&finish=%2B1")
    assert answer.headers["Content-Disposition"] == 'attachment; filename="failures.csv"'
    (row,) = csv.DictReader(io.StringIO(body_of(answer)))
    assert (row["task"], row["finish_reason"], row["claim"]) == ("a.py:@SUM(1)", "'+1", "'=HYPERLINK(1) <DONE>")
    assert (row["kind"], row["table"], row["field"], row["is"]) == ("wrong", "rentals", "status", '"closed"')


def test_the_list_goes_out_as_json_with_all_its_pages(client: Client) -> None:
    store([row for number in range(9) for row in outcomes(f"a.py:t{number}", "fff")])
    rows = json.loads(body_of(client.get("/failures/list.json?page=2")))
    assert len(rows) == 27
    assert (rows[0]["uid"], rows[0]["repetition"], rows[0]["effects"][0]["table"]) == ("a.py:t0", 0, "rentals")
    assert client.get("/failures/list.xml").status_code == 404


def test_runs_of_the_same_model_are_told_apart(client: Client) -> None:
    store(outcomes("a.py:one", "f"))
    assert "<bdi>birch</bdi></a>" in text_of(client, "/failures/")
    store(outcomes("b.py:two", "f"), benchmark="shop<b>")
    text = text_of(client, "/failures/")
    assert '<bdi>birch</bdi> <span class="dim"><bdi>on desk</bdi></span></a>' in text
    assert '<bdi>birch</bdi> <span class="dim"><bdi>on shop&lt;b&gt;</bdi></span></a>' in text


def test_views_are_saved_and_forgotten(client: Client) -> None:
    store(outcomes("a.py:one", "f"))
    saved = client.post("/failures/views/", {"name": " My  view ", "query": "model=birch&page=3&x=1"})
    assert (saved.status_code, saved.headers["Location"]) == (303, "/failures/?model=birch")
    view = SavedView.objects.get()
    assert (view.name, view.query) == ("My view", "model=birch")
    text = text_of(client, "/failures/")
    assert '<a class="tag" href="?model=birch"><bdi class="clip">My view</bdi></a>' in text
    address = f"/failures/views/{view.pk}/forget/"
    assert f'href="{address}" aria-label="Delete the saved view My view"' in text
    assert "Delete this saved view?" in text_of(client, address)
    assert SavedView.objects.count() == 1
    assert client.post(address).status_code == 303
    assert SavedView.objects.count() == 0
    assert client.post(address).status_code == client.get(address).status_code == 404


def test_a_view_is_replaced_only_when_that_is_asked_for(client: Client) -> None:
    typed = {"name": "My view", "query": "q=mixer"}
    assert client.post("/failures/views/", {**typed, "query": "model=birch"}).status_code == 303
    refused = client.post("/failures/views/", typed)
    assert refused.status_code == 422
    text = refused.content.decode()
    assert "There is a saved view “My view” with other filters." in text
    assert '<input type="hidden" name="query" value="q=mixer">' in text
    assert '<button class="btn danger" name="replace" value="1">Replace it</button>' in text
    assert SavedView.objects.get().query == "model=birch"
    assert client.post("/failures/views/", {**typed, "query": "model=birch"}).status_code == 303
    assert client.post("/failures/views/", {**typed, "replace": "1"}).status_code == 303
    assert SavedView.objects.get().query == "q=mixer"


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("", "The view has no name."),
        ("  ", "The view has no name."),
        ("x" * 201, "The name has 201 characters, and 100 are the most."),
    ],
)
def test_a_view_without_a_fit_name_is_not_saved(name: str, sentence: str, client: Client) -> None:
    answer = client.post("/failures/views/", {"name": name, "query": "q=x"})
    text = answer.content.decode()
    assert answer.status_code == 422
    assert sentence in text
    assert f'name="name" value="{name}"' in text
    assert "Replace it" not in text
    assert SavedView.objects.count() == 0


def test_the_name_of_a_view_is_text(client: Client) -> None:
    store(outcomes("a.py:one", "f"))
    client.post("/failures/views/", {"name": HOSTILE, "query": '"><script>'})
    text = text_of(client, "/failures/")
    assert "<script>alert" not in text
    assert SavedView.objects.get().query == ""


def test_errors_are_listed_and_exported_to_run_again(client: Client) -> None:
    store(outcomes("a.py:one", "pfen"))
    text = text_of(client, "/failures/errors/")
    assert "2 errors" in text
    assert 'name="class" value="harness"' in text
    assert "The endpoint answered 500." in text
    lines = body_of(client.get("/failures/errors/again.csv?class=harness")).splitlines()
    assert lines[0] == "run,uid,repetition,class,retryable"
    assert [line.rpartition(",")[0] for line in lines[1:]] == ["desk-birch,a.py:one,2,harness"]
    assert [row["repetition"] for row in json.loads(body_of(client.get("/failures/errors/again.json")))] == [2, 3]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", FailureFilters()),
        ("run=a&run=b&run=a", FailureFilters(chosen={Facet.RUN: ("a", "b")})),
        ("finish=", FailureFilters(chosen={Facet.FINISH: ("",)})),
        ("q=+a+b+&sort=-steps", FailureFilters(text="a b", sort="steps", descending=True)),
        ("sort=-nonsense&group=x&all=y&page=-1&unknown=1", FailureFilters()),
        ("group=task&all=tool&page=2", FailureFilters(group=Grouping.TASK, whole=Facet.TOOL, page=2)),
    ],
)
def test_an_address_says_what_is_shown(query: str, expected: FailureFilters) -> None:
    assert failure_filters(QueryDict(query)) == expected
    assert failure_filters(QueryDict(expected.query())) == expected


def test_an_address_of_errors() -> None:
    assert error_filters(QueryDict("run=a&class=harness&class=x&retryable=no&page=2")) == ErrorFilters(
        run="a", kinds=("harness",), retryable=False, page=2
    )
    assert error_filters(QueryDict("retryable=maybe")) == ErrorFilters()


def test_the_runs_page_leads_to_what_deserves_a_look(client: Client) -> None:
    store(outcomes("a.py:one", "pppf"), repetitions=4)
    assert '<div id="looknext" hx-get="/failures/next/"' in text_of(client, "/")
    part = text_of(client, "/failures/next/", **HTMX)
    assert part.startswith('<section class="panel looknext"')
    assert '<a href="/failures/?lone=yes&amp;group=task"><b>1</b> failed where all else passed</a>' in part
    assert "<h1>Look next</h1>" in text_of(client, "/failures/next/")


def test_the_search_finds_runs_tasks_records_and_words(client: Client) -> None:
    store(outcomes("a.py:birch", "f"))
    text = text_of(client, "/search/?q=birch")
    assert '<a href="/runs/desk-birch/"><bdi>birch</bdi></a>' in text
    assert '<a class="push sm" href="/failures/?task=a.py%3Abirch">failures</a>' in text
    assert "1 difference " in text_of(client, "/search/?q=7")
    index_all()
    text = text_of(client, "/search/?q=%22mixer+is+booked%22")
    assert "<mark>mixer is booked</mark>" in text
    assert (
        '<a class="push sm" href="/failures/?q=%22mixer+is+booked%22&amp;group=none">show the failed ones</a>' in text
    )
    assert "Nothing stored fits" in text_of(client, "/search/?q=nowhere")


def test_a_search_for_hostile_text_shows_it_as_text(client: Client) -> None:
    store(outcomes("a.py:one", "f"))
    text = text_of(client, "/search/?q=" + HOSTILE)
    assert "<script>alert" not in text
    assert "Nothing stored fits <b><bdi>&lt;script&gt;" in text
    for empty in ("", "?q=", "?q=%00"):
        assert "Nothing stored" not in text_of(client, "/search/" + empty)


def test_every_page_has_the_search(client: Client) -> None:
    assert '<form class="jump" method="get" action="/search/" role="search">' in text_of(client, "/")


def test_filters_say_what_they_are_and_those_without_a_choice_are_left_out(client: Client) -> None:
    store(outcomes("a.py:one", "ff"), model="birch")
    text = client.get("/failures/").content.decode()
    assert "How the harness says that the attempt ended" in text
    assert '<span class="vh">wrong 2</span>' in text
    assert 'id="by-benchmark"' not in text
    store(outcomes("a.py:one", "f"), model="cedar", benchmark="depot")
    text = client.get("/failures/").content.decode()
    assert 'id="by-benchmark"' in text


def test_a_row_says_in_which_other_run_it_is(client: Client) -> None:
    store(outcomes("a.py:one", "f"), model="birch")
    assert "also in" not in client.get("/failures/").content.decode()
    store(outcomes("a.py:one", "f"), model="cedar")
    text = client.get("/failures/").content.decode()
    assert text.count("also in <bdi>desk-cedar</bdi>") == text.count("also in <bdi>desk-birch</bdi>") == 1
    assert "1 attempt" in client.get("/failures/?copy=no&copy=first").content.decode()
