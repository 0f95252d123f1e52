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


def test_an_operation_says_what_it_takes(open_page: Open) -> None:
    page = open_page("/api/v1/docs#runs_create-post")
    body = page.locator("#runs_create-post .api-keys")
    expect(body.locator("dt")).to_have_text(
        ["model", "benchmark", "repetitions", "slug", "provider", "note", "private", "parameters"]
    )
    expect(body.locator("dd").first).to_have_text("text, required. The model's name.")
    # Nothing is said twice, and code is code.
    listed = open_page("/api/v1/docs#attempts_index-get").locator("#attempts_index-get")
    expect(listed.locator(".prose")).to_have_count(0)
    expect(listed.locator("summary code").last).to_have_text("/failures")
    verdict = listed.locator(".api-field:has(#attempts_index-get-verdict)")
    expect(verdict).to_contain_text("One or several of passed, failed, error.")


@pytest.mark.parametrize(("width", "dark"), [(390, True), (1440, False)])
def test_the_page_is_as_wide_as_the_screen(open_page: Open, width: int, dark: bool) -> None:
    page = open_page("/api/v1/docs#attempts_steps-get", width=width, dark=dark)
    assert page.evaluate("document.documentElement.scrollWidth") == width
