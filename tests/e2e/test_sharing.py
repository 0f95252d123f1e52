"""Server mode in a browser: from the login to a shared leaderboard, its reader, and its end. On a server of its own."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.e2e.browser import settle

PROJECT = Path(__file__).resolve().parents[2]
PASSWORD = "a long enough pass phrase"
BOARD = "/leaderboards/thinkingbox-bench-v1-0/"

Visit = Callable[..., Page]


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server in server mode with an owner named ada, and no run."""
    folder = tmp_path_factory.mktemp("server")
    kept = {name: value for name, value in os.environ.items() if name not in {"DATABASE_URL", "CELERY_BROKER_URL"}}
    environment = {**kept, "TWENTYFOLD_DATA_DIR": str(folder), "TWENTYFOLD_AUTH": "required"}
    for arguments in (["migrate", "-v0"], ["createowner", "--name", "ada", "--password-stdin"]):
        subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=PROJECT, env=environment, input=f"{PASSWORD}\n", text=True, check=True, capture_output=True,
        )  # fmt: skip
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = ["-m", "uvicorn", "inspector.asgi:application", "--port", str(port), "--lifespan", "off"]
    with subprocess.Popen(
        [sys.executable, *command], cwd=PROJECT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            yield wait_for(f"http://127.0.0.1:{port}")
        finally:
            process.terminate()


def wait_for(address: str) -> str:
    end = time.monotonic() + 30
    while True:
        try:
            with urllib.request.urlopen(f"{address}/healthz", timeout=5):
                return address
        except OSError:
            assert time.monotonic() < end, "The server does not answer."
            time.sleep(0.1)


@pytest.fixture
def visit(browser: Browser, address: str) -> Iterator[Visit]:
    """`visit(path, width=1440, dark=False, like=None)`: a page of somebody new, or of the visitor whose page is `like`.

    No page may have an error of its own or a violation of the policy; answers that refuse something are asked for here.
    """
    contexts: list[BrowserContext] = []
    problems: list[str] = []

    def go(path: str, *, width: int = 1440, dark: bool = False, like: Page | None = None) -> Page:
        context = browser.new_context(
            base_url=address,
            viewport={"width": width, "height": 900},
            color_scheme="dark" if dark else "light",
            storage_state=like.context.storage_state() if like else None,
            permissions=["clipboard-read", "clipboard-write"],
        )
        contexts.append(context)
        page = context.new_page()
        page.on(
            "console",
            lambda message: (
                problems.append(message.text)
                if message.type == "error" and "the server responded with a status" not in message.text
                else None
            ),
        )
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.goto(path)
        settle(page)
        return page

    yield go
    for context in contexts:
        context.close()
    assert problems == []


def log_in(page: Page) -> None:
    page.get_by_label("Name").fill("ada")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("button", name="Log out")).to_be_visible()


@pytest.fixture
def owner(visit: Visit) -> Page:
    """The owner's page, with the board of the published results there and shared with nobody."""
    page = visit("/leaderboards/")
    log_in(page)
    if page.goto(BOARD).status == 404:  # type: ignore[union-attr]
        page.goto("/leaderboards/")
        page.locator('form[action="/leaderboards/published/"] button').first.click()
        page.wait_for_url(f"**{BOARD}")
    page.goto(f"{BOARD}sharing/")
    choose(page, "Only this server")
    return page


def choose(page: Page, who: str) -> None:
    page.get_by_label(who).check()
    with page.expect_response(lambda answer: answer.request.method == "POST"):
        page.get_by_role("button", name="Save").click()
    settle(page)
    expect(page.get_by_label(who)).to_be_checked()


def share(page: Page) -> str:
    """The link that it is shared by."""
    page.goto(f"{BOARD}sharing/")
    choose(page, "Whoever has the link")
    return page.locator("#share-link").input_value()


def test_from_a_closed_page_over_the_login_and_back(visit: Visit) -> None:
    page = visit("/uploads/?page=1")
    expect(page.get_by_label("Name")).to_be_focused()
    page.get_by_label("Name").fill("ada")
    page.get_by_label("Password").fill("wrong")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("The name or the password is wrong.")
    expect(page.get_by_label("Password")).to_be_focused()
    log_in(page)
    expect(page).to_have_url(re.compile(r"/uploads/\?page=1$"))
    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_role("heading", name="Log in")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("heading", name="Uploads")).to_have_count(0)


def test_htmx_leads_to_the_login_when_the_session_has_ended(owner: Page) -> None:
    owner.goto(BOARD)
    owner.context.clear_cookies()
    owner.evaluate("htmx.ajax('GET', location.pathname, {target: 'main'}).catch(() => {}) && undefined")
    expect(owner.get_by_role("heading", name="Log in")).to_be_visible()
    log_in(owner)
    expect(owner).to_have_url(re.compile(re.escape(BOARD) + "$"))


def test_a_reader_sees_it_by_the_link_until_it_is_withdrawn(owner: Page, visit: Visit) -> None:
    owner.goto(BOARD)
    owner.get_by_role("link", name="Share", exact=True).click()
    link = share(owner)
    owner.locator('[data-copy="share-link"]').click()
    expect(owner.locator('[data-copy="share-link"]')).to_have_text("Copied")
    assert owner.evaluate("navigator.clipboard.readText()") == link

    reader = visit(link)
    expect(reader.locator("table.lb tbody tr").first).to_be_visible()
    expect(reader.locator(".plot svg.main-svg").first).to_be_visible()
    assert reader.context.cookies() == []
    reader.get_by_role("link", name="20 of 20").first.click()
    reader.wait_for_url(re.compile(r"\?by=all$"))
    with reader.expect_download() as download:
        reader.get_by_role("link", name="CSV").click()
    assert download.value.suggested_filename == "thinkingbox-bench-v1-0.csv"

    choose(owner, "Only this server")
    reader.reload()
    expect(reader.get_by_role("heading", name="This link opens nothing")).to_be_visible()
    reader.goto(BOARD)
    expect(reader.get_by_role("heading", name="Log in")).to_be_visible()


def test_another_site_may_show_the_embedded_page_and_no_other(owner: Page, visit: Visit) -> None:
    link = share(owner)

    class Site(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            frames = "".join(
                f'<iframe name="{name}" src="{link.replace("/share/", path)}"></iframe>'
                for name, path in (("embedded", "/embed/"), ("page", "/share/"))
            )
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(f"<!doctype html><title>Another site</title>{frames}".encode())

        def log_message(self, *arguments: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Site) as site:
        threading.Thread(target=site.serve_forever, daemon=True).start()
        context = owner.context.browser.new_context()  # type: ignore[union-attr]
        page = context.new_page()
        # Under another name, so that it is another site.
        page.goto(f"http://localhost:{site.server_port}/")
        expect(page.frame_locator('[name="embedded"]').locator("table.lb tbody tr").first).to_be_visible()
        expect(page.frame_locator('[name="page"]').locator("table.lb")).to_have_count(0)
        context.close()
        site.shutdown()


def test_axe_finds_nothing_serious_and_no_page_is_wider_than_its_window(
    owner: Page, visit: Visit, barriers: Callable[[Page], list[str]]
) -> None:
    link = share(owner)
    for path in ("/login/", link, link.replace("/share/", "/embed/"), "/share/none/"):
        assert (path, barriers(visit(path))) == (path, [])
    owner.goto(f"{BOARD}sharing/")
    assert barriers(owner) == []
