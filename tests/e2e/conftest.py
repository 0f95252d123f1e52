"""Fixtures for tests in a browser: a page that notes what goes wrong, and what axe finds. They skip without one."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any, Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.e2e.browser import chromium_path, launch, settle

# What must come is waited for, however busy the machine is.
expect.set_options(timeout=30_000)

_WATCH = """
window.policyViolations = [];
addEventListener("securitypolicyviolation", event => {
  window.policyViolations.push(`${event.violatedDirective} ${event.blockedURI} ${event.sample}`);
});
"""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.parent.name == "e2e":
            item.add_marker(pytest.mark.e2e)


@pytest.fixture(scope="session")
def browser(django_db_setup: None) -> Iterator[Browser]:
    """A Chromium of this machine.

    It ends before the test database goes: the server's threads keep their database connections as long as the browser
    keeps its own to them, and PostgreSQL removes no database that somebody uses.
    """
    if chromium_path() is None:
        pytest.skip("No Chromium is installed: put chromium on the path, or name it in CHROMIUM.")
    # Playwright keeps an event loop in this thread, in which Django would refuse to ask its database.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    with sync_playwright() as playwright:
        browser = launch(playwright)
        yield browser
        browser.close()
    del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


@pytest.fixture
def open_page(browser: Browser, live_server: Any) -> Iterator[Callable[..., Page]]:
    """`open_page("/path/", width=1440, height=900, dark=False, scripts=True)`: a new page on the test server.

    At the end of the test each page must have had no console error, no uncaught error and no policy violation.
    """
    contexts: list[BrowserContext] = []
    pages: list[Page] = []
    problems: list[str] = []

    def open_it(path: str, *, width: int = 1440, height: int = 900, dark: bool = False, scripts: bool = True) -> Page:
        context = browser.new_context(
            base_url=live_server.url,
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
            java_script_enabled=scripts,
            permissions=["clipboard-read", "clipboard-write"],
        )
        contexts.append(context)
        context.add_init_script(_WATCH)
        page = context.new_page()
        page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: problems.append(str(error)))
        if scripts:
            pages.append(page)
        page.goto(path)
        settle(page)
        return page

    yield open_it
    violations = [found for page in pages for found in page.evaluate("window.policyViolations")]
    for context in contexts:
        context.close()
    assert (problems, violations) == ([], [])


@pytest.fixture
def barriers() -> Callable[[Page], list[str]]:
    """What is wrong with a page wide and light, narrow and dark, and very narrow: what axe calls serious or critical,
    and that it is wider than its window; one line each.
    """

    def run(page: Page) -> list[str]:
        settle(page)
        found = []
        for width, scheme in _LOOKS:
            page.emulate_media(color_scheme=scheme)
            found += [f"{width} {scheme}: {line}" for line in [*_wider(page, width), *_serious(page)]]
        found += _wider(page, _NARROWEST)
        page.emulate_media(color_scheme="light")
        page.set_viewport_size({"width": 1440, "height": 900})
        return found

    return run


_LOOKS: tuple[tuple[int, Literal["light", "dark"]], ...] = ((1440, "light"), (390, "dark"))
_NARROWEST = 360


def _wider(page: Page, width: int) -> list[str]:
    page.set_viewport_size({"width": width, "height": 900})
    for _ in range(100):  # charts are drawn again
        shown = page.evaluate("document.documentElement.scrollWidth")
        if shown <= width:
            return []
        page.wait_for_timeout(50)
    return [f"The page is {shown} wide in a window of {width}."]


def _serious(page: Page) -> list[str]:
    found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    return [
        f"{rule['id']}: {node['html'][:200]}"
        for rule in found
        if rule["impact"] in {"serious", "critical"}
        for node in rule["nodes"]
    ]
