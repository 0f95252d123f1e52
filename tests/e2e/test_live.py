"""The page of a run whose file is still being written, in a browser."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect

from runs.following import Follower
from runs.models import Run
from tests.e2e.test_pages import OpenPage, worker
from tests.stored import outcomes

__all__ = ["worker"]

ROWS = [json.dumps(row).encode() + b"\n" for row in outcomes("a.py:test_one", "pfep")]


def test_the_page_follows_the_file_and_ends_whole(
    open_page: OpenPage, barriers: Callable[[Page], list[str]], tmp_path: Path
) -> None:
    path = tmp_path / "desk.birch.jsonl"
    path.write_bytes(ROWS[0])
    follower = Follower(path, expected=4)
    follower.step()
    page = open_page(f"/runs/{Run.objects.get().slug}/")
    live = page.locator("#live")
    expect(live).to_contain_text("This run is still being written: 1 of 4 expected attempts.")
    assert barriers(page) == []
    with path.open("ab") as file:
        file.write(ROWS[1] + ROWS[2])
    follower.step()
    expect(live).to_contain_text("3 of 4 expected attempts.")
    expect(live).to_contain_text("1 passed, 1 failed, 1 error so far.")
    with path.open("ab") as file:
        file.write(ROWS[3])
    follower.finish()
    expect(live).to_have_count(0)
    expect(page.locator(".equation").first).to_contain_text("4 expected")


def test_without_scripts_the_page_says_how_far_it_is(open_page: OpenPage, tmp_path: Path) -> None:
    path = tmp_path / "desk.birch.jsonl"
    path.write_bytes(ROWS[0] + ROWS[1])
    Follower(path).step()
    page = open_page(f"/runs/{Run.objects.get().slug}/", scripts=False, width=390, dark=True)
    expect(page.locator("#live")).to_contain_text("Expected are the tasks seen so far × 2.")
