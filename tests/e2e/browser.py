"""The browser of the end-to-end tests and of the screenshots in the README."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from playwright.sync_api import Browser, Page, Playwright, sync_playwright

__all__ = ["Shot", "chromium_path", "launch", "settle", "take_screens"]

# Started as root, in a container or behind a closed network: without its sandbox and without calling home.
_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # Else V8 reads plotly.js a second time.
    "--js-flags=--no-enable-lazy-source-positions",
]


_PROGRAMS = ("chromium-headless-shell", "chromium", "chromium-browser")


class Shot(NamedTuple):
    """A picture of the page at `path`. `keys` are pressed one after the other before it is taken."""

    name: str
    path: str
    width: int = 1440
    height: int = 900
    dark: bool = False
    keys: tuple[str, ...] = ()
    whole: bool = False
    """The whole page, beyond the window."""


def chromium_path() -> str | None:
    """The Chromium to use: the one named in CHROMIUM, else that on the path; None without any.

    One without windows comes first: it is quicker.
    """
    named = os.environ.get("CHROMIUM")
    return named or next(filter(None, map(shutil.which, _PROGRAMS)), None)


def launch(playwright: Playwright) -> Browser:
    return playwright.chromium.launch(executable_path=chromium_path(), args=_FLAGS)


def settle(page: Page) -> None:
    """Waits until the page and its scripts are there, and what htmx has asked for since."""
    page.wait_for_load_state("load")
    while page.evaluate("document.querySelector('.htmx-request, .htmx-swapping, .htmx-settling') !== null"):
        page.wait_for_timeout(20)


def take_screens(address: str, shots: Iterable[Shot], folder: Path) -> list[Path]:
    """Takes the pictures of a running server at `address` into `folder`, as `<name>.png`."""
    folder.mkdir(parents=True, exist_ok=True)
    taken = []
    with sync_playwright() as playwright:
        browser = launch(playwright)
        for shot in shots:
            context = browser.new_context(
                base_url=address,
                viewport={"width": shot.width, "height": shot.height},
                color_scheme="dark" if shot.dark else "light",
            )
            page = context.new_page()
            page.goto(shot.path)
            page.wait_for_load_state("networkidle")
            for key in shot.keys:
                page.keyboard.press(key)
                page.wait_for_load_state("networkidle")
            page.evaluate("document.fonts.ready")
            path = folder / f"{shot.name}.png"
            page.screenshot(path=path, full_page=shot.whole)
            taken.append(path)
            context.close()
        browser.close()
    return taken
