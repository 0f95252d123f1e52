"""The tab *Provenance* of a run in a browser."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect

from runs.models import Run
from tests.canonical import make_error, make_result
from tests.e2e.test_pages import OpenPage, worker
from tests.factories import write_jsonl
from tests.runs.test_archives import ingest
from tests.stored import outcomes, store

__all__ = ["worker"]


def mixed_run(folder: Path) -> Run:
    rows = [make_result(repetition=number) for number in range(3)]
    rows[2]["metadata"]["provenance"]["python"] = "3.13.0"
    rows[1] |= {"test_result": {"result": False, "is_system_error": False, "tb": "AssertionError <b>x</b>"}}
    rows.append(make_error(repetition=3))
    ingest(write_jsonl(folder / "results.jsonl", rows))
    return Run.objects.get(model="birch-2")


def test_the_tab_tells_the_verdict_and_what_rows_say(
    open_page: OpenPage, barriers: Callable[[Page], list[str]], tmp_path: Path
) -> None:
    run = mixed_run(tmp_path)
    page = open_page(f"/runs/{run.slug}/")
    page.get_by_role("navigation", name="Parts of the run").get_by_role("link", name="Provenance").click()
    expect(page).to_have_url(f"{page.url.partition('/runs/')[0]}/runs/{run.slug}/provenance/")
    verdict = page.get_by_role("region", name="Verdict")
    expect(verdict).to_contain_text("Incomplete: 3 of 4 results")
    expect(verdict).to_contain_text("Mixed: the rows are not all of one origin.")
    expect(verdict).to_contain_text("python: 3.12.1 (3 rows), 3.13.0 (1 row)")
    expect(verdict).to_contain_text("tb in 1 row")
    expect(page.get_by_role("region", name="Software")).to_contain_text("Python differs")
    expect(page.get_by_role("region", name="Files")).to_contain_text("results.jsonl")
    assert barriers(page) == []


def test_it_fits_narrow_and_dark_and_a_plain_run_says_what_it_cannot(
    open_page: OpenPage, barriers: Callable[[Page], list[str]]
) -> None:
    run = store(outcomes("a.py:test", "pf"))
    page = open_page(f"/runs/{run.slug}/provenance/", width=390, dark=True)
    expect(page.get_by_role("region", name="Verdict")).to_contain_text("Not recorded: the rows do not say")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert barriers(page) == []
