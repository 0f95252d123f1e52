"""How large traces are loaded: one of 2,000 steps, and one with a response of five megabytes.

What is asserted are sizes and what is shown; times are measured by `tests/bench/trace.py`.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable

import pytest
from django.test import Client
from playwright.sync_api import Page, expect

from runs.models import Attempt
from tests.e2e.browser import settle
from tests.stored import store
from tests.trace_rows import huge_row, long_row, writing_row

OpenPage = Callable[..., Page]
FIRST_ANSWER = 300_000
FIRST_LOAD = 150_000
"""Bytes, compressed, of the page with all that it loads."""


def path() -> str:
    return Attempt.objects.get().get_absolute_url()


@pytest.mark.parametrize("step", ["", "?step=1", "?step=1000"])
def test_two_thousand_steps_answer_at_once(open_page: OpenPage, client: Client, step: str) -> None:
    store([long_row(2000)])
    assert Attempt.objects.get().steps == 2000
    answer = client.get(path() + step)
    assert len(answer.content) < FIRST_ANSWER
    page = open_page(path() + step)
    for key in ["G", "g", "n", "n", "e", "p", "G"]:
        page.keyboard.press(key)
    expect(page.locator("#s2000[aria-current]")).to_be_in_viewport()
    page.keyboard.press("g")
    expect(page.locator("#s1[aria-current]")).to_be_in_viewport()
    page.mouse.move(300, 600)
    for _ in range(12):
        page.mouse.wheel(0, 3000)
        page.wait_for_timeout(60)
    settle(page)


def test_two_thousand_writes_answer_at_once(open_page: OpenPage, client: Client) -> None:
    store([writing_row(2000)])
    assert len(client.get(path()).content) < FIRST_ANSWER
    page = open_page(path())
    assert page.evaluate("document.querySelectorAll('*').length") < 10_000
    page.keyboard.press("g")
    after = page.locator("tr.wrong td.after > div:not([hidden])")
    expect(after.first).to_contain_text("out")
    page.locator("[data-end]").click()
    expect(after.first).to_contain_text("closed")
    expect(page.locator("[data-after-head]").first).to_have_text("After")
    page.locator("[data-everything]").click()
    expect(page.locator("tr.wrong")).to_have_count(2000)


def test_five_megabytes_come_in_windows(open_page: OpenPage, client: Client) -> None:
    store([huge_row(5_000_000)])
    assert len(client.get(path()).content) < FIRST_ANSWER
    page = open_page(path() + "?step=1")
    page.keyboard.press("j")
    expect(page.locator("#s2 .all")).to_have_text("Show all (5.1 MB)")
    page.keyboard.press("k")
    expect(page.locator("#s1[aria-current]")).to_be_in_viewport()
    page.locator("#s2 .line").click()
    page.locator("#s2 .next").click()
    expect(page.locator("#s2 pre.win")).to_have_count(2)
    page.locator("#s2 .all").click()
    expect(page.locator("#s2 .rest")).to_have_count(0, timeout=30_000)
    shown = page.evaluate(
        "[...document.querySelectorAll('#s2 pre.win')].reduce((sum, one) => sum + one.textContent.length, 0)"
    )
    assert shown > 5_000_000


def test_a_first_load_is_small(open_page: OpenPage) -> None:
    store([long_row(300)])
    page = open_page("/uploads/")
    bodies: list[bytes] = []
    page.on("response", lambda answer: bodies.append(answer.body()))
    page.goto(path())
    settle(page)
    assert len(bodies) >= 8
    assert sum(len(gzip.compress(body, 6)) for body in bodies) < FIRST_LOAD
