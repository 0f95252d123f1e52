"""The page that describes the API, in a browser: it keeps to the policy, and its forms work."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from runs.models import Run
from tests.stored import outcomes, store

Open = Callable[..., Page]
pytestmark = pytest.mark.django_db(transaction=True)


def test_an_operation_is_tried_and_another_one_changes_something(
    open_page: Open, barriers: Callable[[Page], list[str]]
) -> None:
    run = store(outcomes("desk.py:test_1", "pf"))
    page = open_page("/api/v1/docs#runs_index-get")
    listed = page.locator("#runs_index-get")
    listed.locator("[name=fields]").fill("slug")
    listed.get_by_role("button", name="Try it").click()
    expect(listed.get_by_role("status")).to_have_text("200 OK")
    expect(listed.locator(".api-answer pre")).to_contain_text(run.slug)
    expect(listed.locator(".api-address")).to_have_text("/api/v1/runs?fields=slug")
    made = page.locator("#runs_create-post")
    made.locator("summary").click()
    made.locator("textarea").fill('{"model": "elm", "benchmark": "desk"}')
    made.get_by_role("button", name="Send it, for real").click()
    expect(made.get_by_role("status")).to_have_text("201 Created")
    assert Run.objects.filter(model="elm").exists()
    assert barriers(page) == []


@pytest.mark.parametrize(("width", "dark"), [(390, True), (1440, False)])
def test_the_page_is_as_wide_as_the_screen(open_page: Open, width: int, dark: bool) -> None:
    page = open_page("/api/v1/docs#attempts_steps-get", width=width, dark=dark)
    assert page.evaluate("document.documentElement.scrollWidth") == width
