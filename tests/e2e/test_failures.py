"""Failures, notes and the search in a browser: by pointer, by keyboard, without scripts, narrow and dark, hostile."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from runs import search
from runs.models import Attempt, Note, SavedView
from tests.factories import make_messages, make_row
from tests.stored import outcomes, store

OpenPage = Callable[..., Page]
HOSTILE = "<img src=x onerror=alert(1)>\u202e{{ 7|add:1 }}"


@pytest.fixture
def stored() -> None:
    messages = make_messages()
    messages[-1]["content"] = "The needle is in the haystack. <DONE>"
    store([*outcomes("a.py:one", "pffe"), make_row(uid="a.py:two", messages=messages)], model="birch", repetitions=4)
    store([*outcomes("a.py:one", "ppfp"), *outcomes("a.py:two", "pp")], model="cedar", repetitions=4)
    while search.index_some():
        pass


def heading(page: Page) -> str:
    return page.locator("#found h2").inner_text()


def test_filters_by_pointer_and_back(open_page: OpenPage, stored: None) -> None:
    page = open_page("/")
    page.get_by_role("link", name="Failures").click()
    expect(page.locator("#found h2")).to_have_text("4 attempts at 2 tasks")
    page.get_by_role("checkbox", name="birch 3").last.check()
    expect(page.locator("#found h2")).to_have_text("3 attempts at 2 tasks")
    page.get_by_label("Words in the transcript").fill("needle")
    expect(page.locator("#found h2")).to_have_text("1 attempt at 1 task")
    expect(page.locator(".hits mark")).to_have_text("needle")
    expect(page).to_have_url(re.compile("model=birch"))
    expect(page).to_have_url(re.compile("q=needle"))
    page.get_by_role("link", name="Remove filter Words: needle").click()
    expect(page.locator("#found h2")).to_have_text("3 attempts at 2 tasks")
    page.go_back()
    expect(page.locator("#found h2")).to_have_text("1 attempt at 1 task")
    page.get_by_role("link", name="two", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("two")


def test_groups_orders_and_whole_facets(open_page: OpenPage, stored: None) -> None:
    page = open_page("/failures/")
    expect(page.locator(".grp")).to_have_count(1)
    page.get_by_role("link", name="show all").click()
    expect(page.locator(".hits > li")).to_have_count(4)
    page.goto("/failures/?group=none")
    page.get_by_label("Order").select_option("repetition")
    expect(page.locator(".hits > li").first).to_contain_text("repetition 0")
    expect(page).to_have_url(re.compile("sort=repetition"))
    page.get_by_role("link", name="Task", exact=True).click()
    expect(page.locator(".grp")).to_have_count(2)


def test_filters_by_keyboard_alone(open_page: OpenPage, stored: None) -> None:
    page = open_page("/failures/")
    box = page.locator('input[name="task"][value="a.py:two"]')
    for _ in range(80):
        page.keyboard.press("Tab")
        if box.evaluate("box => box === document.activeElement"):
            break
    page.keyboard.press("Space")
    expect(page.locator("#found h2")).to_have_text("1 attempt at 1 task")
    expect(page).to_have_url(re.compile(r"task=a\.py%3Atwo"))


def test_everything_works_without_scripts(open_page: OpenPage, stored: None) -> None:
    page = open_page("/failures/", scripts=False)
    page.get_by_role("checkbox", name="cedar 1").last.check()
    page.get_by_role("button", name="Apply").click()
    assert heading(page) == "1 attempt at 1 task"
    page.get_by_label("Words in the transcript").fill("nowhere")
    page.get_by_role("button", name="Find").click()
    assert "No failed attempt fits." in page.locator("#found").inner_text()
    page.get_by_label("Name of the view to save").fill("Empty")
    page.get_by_role("button", name="Save view").click()
    assert SavedView.objects.get().name == "Empty"


def test_a_view_is_saved_opened_and_forgotten(open_page: OpenPage, stored: None) -> None:
    page = open_page("/failures/?model=cedar")
    page.get_by_label("Name of the view to save").fill("Cedar only")
    page.get_by_role("button", name="Save view").click()
    page.wait_for_url("**/failures/?model=cedar")
    page.goto("/failures/")
    page.get_by_role("link", name="Cedar only", exact=True).click()
    expect(page.locator("#found h2")).to_have_text("1 attempt at 1 task")
    page.get_by_role("link", name="Delete the saved view Cedar only").click()
    page.get_by_role("button", name="Delete the view").click()
    expect(page.get_by_role("link", name="Cedar only", exact=True)).to_have_count(0)


def test_a_note_by_keyboard_is_a_filter(open_page: OpenPage, stored: None) -> None:
    attempt = Attempt.objects.filter(verdict="failed").order_by("pk").first()
    assert attempt is not None
    page = open_page(attempt.get_absolute_url())
    page.get_by_role("link", name="Add a note").focus()
    page.keyboard.press("Enter")
    page.get_by_label("Comment").focus()
    page.keyboard.type("Look here")
    page.keyboard.press("Tab")
    page.keyboard.type("odd")
    page.keyboard.press("Enter")
    expect(page.locator(".plainlist")).to_contain_text("Look here")
    page.get_by_role("link", name="odd").click()
    expect(page.locator("#found h2")).to_have_text("1 attempt at 1 task")
    page.goto(attempt.get_absolute_url())
    expect(page.locator(".notesline")).to_contain_text("odd")
    page.goto("/notes/")
    page.get_by_role("button", name="Delete this note").click()
    expect(page.locator("#notes")).to_contain_text("Nobody has written a note yet.")


def test_the_slash_leads_to_the_search(open_page: OpenPage, stored: None) -> None:
    page = open_page("/")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "jump"
    page.keyboard.type("needle/")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search/?q=needle%2F")
    expect(page.locator(".hits mark")).to_have_text("needle")
    narrow = open_page("/", width=390)
    narrow.keyboard.press("/")
    narrow.wait_for_url("**/search/")
    narrow.get_by_label("Task, run, record key or words").fill("one")
    narrow.keyboard.press("Enter")
    expect(narrow.get_by_role("heading", name="1 task")).to_be_visible()


def test_what_to_look_at_next(open_page: OpenPage, stored: None) -> None:
    page = open_page("/")
    page.get_by_role("link", name="1 failed where all else passed").click()
    expect(page.locator("#found h2")).to_have_text("1 attempt at 1 task")
    expect(page.locator(".hits")).to_contain_text("cedar")
    plain = open_page("/", scripts=False)
    plain.get_by_role("link", name="What to look at next").click()
    assert "1 failed where all else passed" in plain.locator("main").inner_text()


def test_pages_are_accessible_and_fit(open_page: OpenPage, barriers: Callable[[Page], list[str]], stored: None) -> None:
    attempt = Attempt.objects.filter(verdict="failed").order_by("pk").first()
    assert attempt is not None
    Note.objects.create(attempt=attempt, step=2, label="odd", text="x", created_at="2026-03-01T00:00:00Z")
    page = open_page("/")
    for path in (
        "/failures/?q=mixer&model=birch#facets",
        "/failures/errors/#facets",
        "/failures/next/",
        "/search/?q=one",
        "/search/?q=7",
        "/notes/",
        f"/attempts/{attempt.pk}/notes/",
        "/",
    ):
        page.goto(path)
        assert (path, barriers(page)) == (path, [])


def test_hostile_text_does_nothing(open_page: OpenPage) -> None:
    messages = make_messages()
    messages[-1]["content"] = f"needle {HOSTILE} <DONE>"
    store([make_row(uid=f"a.py:{HOSTILE}", messages=messages, finish_reason=HOSTILE)], model=HOSTILE)
    while search.index_some():
        pass
    attempt = Attempt.objects.get()
    Note.objects.create(attempt=attempt, label=HOSTILE, text=HOSTILE, created_at="2026-03-01T00:00:00Z")
    SavedView.objects.create(name=HOSTILE, query='q="><script>alert(1)</script>')
    for path in ("/failures/?q=needle", "/search/?q=needle", "/notes/", f"/attempts/{attempt.pk}/notes/"):
        page = open_page(path)
        page.on("dialog", lambda dialog: pytest.fail(f"a dialog opened: {dialog.message}"))
        assert page.locator("main img").count() == 0
        assert "{{ 7|add:1 }}" in page.locator("main").inner_text()


def test_a_style_that_the_browser_gave_an_element_breaks_no_policy(open_page: OpenPage, stored: None) -> None:
    """As a text field that was made larger by hand has one: htmx would write it again as an attribute."""
    page = open_page("/failures/")
    page.evaluate("document.getElementById('filters').style.opacity = '1'")
    page.get_by_role("checkbox", name="birch 3").last.check()
    expect(page.locator("#found h2")).to_have_text("3 attempts at 2 tasks")
    page.go_back()
    expect(page.locator("#found h2")).to_have_text("4 attempts at 2 tasks")


def test_saved_views_stand_on_narrow_and_dark_pages(
    open_page: OpenPage, stored: None, barriers: Callable[[Page], list[str]]
) -> None:
    view = SavedView.objects.create(name=("A name that is as long as people give " * 3)[:100], query="model=birch")
    page = open_page("/failures/?model=birch")
    for address in ("/failures/?model=birch", f"/failures/views/{view.pk}/forget/"):
        page.goto(address)
        assert (address, barriers(page)) == (address, [])
