"""Comparisons, the grid of a run and the task across runs in a browser: by pointer, by key, without scripts, narrow."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from runs.models import Attempt, Run
from tests.e2e.browser import settle
from tests.stored import outcomes, store
from tests.trace_rows import HOSTILE, hostile_row, long_row

OpenPage = Callable[..., Page]
Barriers = Callable[[Page], list[str]]
UID = "rental_desk_group1.py:test_return_001"
NAME = HOSTILE.replace(":", "")
TASKS = ("assign_and_reserve_mast_chain", "swap_tripping_generator")


def campaign() -> tuple[Run, Run]:
    rows = [*outcomes(UID, "pffe"), *outcomes("b.py:test_two", "ffff"), *outcomes("b.py:test_three", "pppp")]
    base = store(rows, repetitions=4)
    candidate = store([*outcomes(UID, "ffff"), *outcomes("b.py:test_two", "pfff")], model="cedar", repetitions=4)
    return base, candidate


def compare(left: Attempt, right: Attempt) -> str:
    return reverse("compare_attempts", args=[left.pk, right.pk])


def two(run: Run) -> tuple[Attempt, Attempt]:
    return run.attempts.get(task__uid=UID, repetition=0), run.attempts.get(task__uid=UID, repetition=1)


def test_from_a_failed_attempt_to_the_comparison_by_key_and_on_by_key(open_page: OpenPage) -> None:
    passed, failed = two(campaign()[0])
    page = open_page(failed.get_absolute_url())
    page.keyboard.press("x")
    expect(page).to_have_url(re.compile(f"/attempts/{passed.pk}/vs/{failed.pk}/$"))
    settle(page)
    page.keyboard.press("w")
    expect(page.locator("#first-write")).to_be_focused()
    expect(page).to_have_url(re.compile("#first-write$"))
    page.keyboard.press("s")
    expect(page).to_have_url(re.compile(f"/attempts/{failed.pk}/vs/{passed.pk}/"))
    page.go_back()
    page.go_back()
    expect(page.locator(".step[aria-current]")).to_have_count(1)


def test_the_comparison_by_pointer(open_page: OpenPage) -> None:
    passed, failed = two(campaign()[0])
    page = open_page(failed.get_absolute_url())
    page.get_by_role("link", name="Compare with 0").click()
    expect(page.locator(".cmp-row.diff")).to_have_count(1)
    expect(page.locator(".cmp-row.diff .val.is")).to_have_text("closed")
    expect(page.locator(".cmp-row.diff .val.must")).to_have_text("returned")
    page.get_by_role("link", name="All steps").click()
    expect(page.locator(".cmp-row")).to_have_count(5)
    page.get_by_role("link", name="Writes only").click()
    expect(page.locator(".cmp-row")).to_have_count(1)
    page.get_by_role("link", name="Show thoughts").click()
    expect(page).to_have_url(re.compile("thoughts=1"))
    expect(page).to_have_url(re.compile("show=writes"))
    page.get_by_role("link", name="Repetition 2, failed").first.click()
    expect(page.get_by_role("heading", name="Two attempts at test_return_001")).to_be_visible()
    page.locator(".cmp-row.diff .no a, .cmp-row.same .no a").first.click()
    expect(page).to_have_url(re.compile(rf"/attempts/{passed.pk}/\?step="))


def test_the_pages_fit_and_are_accessible(open_page: OpenPage, barriers: Barriers) -> None:
    base, candidate = campaign()
    passed, failed = two(base)
    addresses = [
        compare(passed, failed),
        reverse("run", args=[base.slug]),
        reverse("run", args=[base.slug]) + "?colour=signature&grid=rep",
        f"{reverse('compare_runs')}?base={base.slug}&candidate={candidate.slug}",
        reverse("task", args=[UID]),
        failed.get_absolute_url() + "?tab=checks",
    ]
    page = open_page("/")
    for address in addresses:
        page.goto(address)
        assert (address, barriers(page)) == (address, [])


def test_the_grid_names_the_cell_under_the_pointer_and_opens_it(open_page: OpenPage) -> None:
    run, _ = campaign()
    page = open_page(reverse("run", args=[run.slug]))
    band = page.locator("svg.band").first
    box = band.bounding_box()
    assert box is not None
    cell = box["width"] / 12, box["height"] / 4
    said = page.locator("[data-cell]")
    # Passed first: test_three passed four times and stands on the left, then the task with one, what passed below.
    band.hover(position={"x": 1.5 * cell[0], "y": 3.5 * cell[1]})
    expect(said).to_have_text("test_return_001 repetition 0: passed")
    band.hover(position={"x": 1.5 * cell[0], "y": 0.5 * cell[1]})
    expect(said).to_have_text("test_return_001 repetition 3: system error or not graded")
    band.hover(position={"x": 11.5 * cell[0], "y": 0.5 * cell[1]})
    expect(said).to_have_text("")
    band.click(position={"x": 1.5 * cell[0], "y": 3.5 * cell[1]})
    expect(page).to_have_url(re.compile(f"/attempts/{two(run)[0].pk}/$"))


def test_the_grid_by_keyboard(open_page: OpenPage) -> None:
    run, _ = campaign()
    page = open_page(reverse("run", args=[run.slug]) + "?grid=rep")
    page.locator("[data-grid]").focus()
    said = page.locator("[data-cell]")
    expect(said).to_have_text("test_three repetition 0: passed")
    page.keyboard.press("End")
    page.keyboard.press("ArrowDown")
    expect(said).to_have_text("test_return_001 repetition 1: failed")
    for key in ("ArrowDown", "ArrowDown", "ArrowDown", "ArrowRight"):
        page.keyboard.press(key)
    expect(said).to_have_text("test_return_001 repetition 3: system error or not graded")
    for key in ("ArrowUp", "ArrowUp"):
        page.keyboard.press(key)
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(f"/attempts/{two(run)[1].pk}/$"))


def test_colour_and_order_of_the_grid_are_links(open_page: OpenPage) -> None:
    run, _ = campaign()
    page = open_page(reverse("run", args=[run.slug]))
    page.get_by_role("link", name="Signature", exact=True).click()
    expect(page.locator(".grid-legend")).to_contain_text("Tool usage 6")
    page.get_by_role("link", name="By repetition").click()
    page.wait_for_url("**grid=rep**")
    expect(page).to_have_url(re.compile("colour=signature"))
    settle(page)
    page.locator("[data-grid]").focus()
    page.keyboard.press("End")
    page.keyboard.press("ArrowDown")
    expect(page.locator("[data-cell]")).to_have_text("test_return_001 repetition 1: failed, Tool usage")
    page.go_back()
    expect(page).not_to_have_url(re.compile("grid=rep"))


def test_without_scripts_the_table_leads_to_the_attempts(open_page: OpenPage) -> None:
    run, candidate = campaign()
    page = open_page(reverse("run", args=[run.slug]), scripts=False)
    expect(page.locator("svg.band")).to_have_count(1)
    expect(page.locator("[data-scripted]")).to_be_hidden()
    page.locator("#tasks").get_by_role("link", name="test_return_001").click()
    page.locator(".strip a").first.click()
    page.get_by_role("link", name="Compare with 1").click()
    expect(page.locator(".cmp-row.diff")).to_have_count(1)
    page.get_by_role("link", name="Compare", exact=True).click()
    page.get_by_label("Baseline").select_option(run.slug)
    page.get_by_label("Candidate").select_option(candidate.slug)
    page.get_by_role("button", name="Compare").click()
    expect(page.locator("#found tbody tr")).to_have_count(2)


def test_two_runs_are_chosen_filtered_and_put_in_order(open_page: OpenPage) -> None:
    base, candidate = campaign()
    page = open_page("/compare/")
    page.get_by_label("Baseline").select_option(base.slug)
    page.get_by_label("Candidate").select_option(candidate.slug)
    page.get_by_role("button", name="Compare").click()
    expect(page.locator("#found tbody tr")).to_have_count(2)
    page.get_by_role("link", name="P(cand. > base)").click()
    expect(page.locator("#found tbody th").first).to_contain_text("test_two")
    page.get_by_role("link", name=re.compile("^Lost")).click()
    expect(page.locator("#found tbody tr")).to_have_count(1)
    expect(page).to_have_url(re.compile("change=lost"))
    page.get_by_label("Filter tasks by name or domain").fill("nothing")
    expect(page.locator("#found")).to_contain_text("No task fits.")
    expect(page).to_have_url(re.compile("q=nothing"))
    page.get_by_role("link", name="Show all").click()
    page.get_by_role("link", name="test_return_001").click()
    expect(page.get_by_role("heading", name="Who solves it")).to_be_visible()
    expect(page.locator(".alike")).to_contain_text("2 models")


def test_hostile_names_do_nothing(open_page: OpenPage) -> None:
    rows = [hostile_row(uid=NAME), hostile_row(uid=NAME, repetition=1, outcome="passed")]
    run = store(rows, model="".join(sign for sign in NAME if sign.isprintable()), benchmark="x")
    other = store([hostile_row(uid=NAME)], model="other", benchmark="x")
    failed, passed = run.attempts.order_by("repetition")
    for address in (
        compare(passed, failed) + "?show=all&thoughts=1",
        reverse("run", args=[run.slug]) + "?colour=signature",
        f"{reverse('compare_runs')}?base={run.slug}&candidate={other.slug}",
        reverse("task", args=[NAME]),
        failed.get_absolute_url() + "?tab=checks",
    ):
        page = open_page(address)
        assert page.evaluate("window.ran") is None
    page = open_page(reverse("run", args=[run.slug]))
    page.locator("[data-grid]").focus()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(rf"/attempts/({failed.pk}|{passed.pk})/$"))


def test_a_comparison_of_two_thousand_steps_stays_small(open_page: OpenPage) -> None:
    run = store([long_row(2000, uid=UID), long_row(1900, uid=UID, repetition=1, outcome="passed")])
    left, right = two(run)
    page = open_page(compare(right, left) + "?show=all")
    assert page.locator(".cmp-row").count() <= 300
    page.keyboard.press("d")
    expect(page.locator("#first, #first-write").first).to_be_focused()


def test_filtering_tasks_keeps_the_view_of_the_grid(open_page: OpenPage) -> None:
    run, _ = campaign()
    page = open_page(reverse("run", args=[run.slug]) + "?grid=rep&colour=signature&show=sometimes")
    page.get_by_label("Filter tasks by name or domain").fill("two")
    expect(page.locator("#tasks")).to_contain_text("No task fits.")
    for part in ("grid=rep", "colour=signature", "show=sometimes", "q=two"):
        expect(page).to_have_url(re.compile(part))


@pytest.mark.parametrize("width", [1440, 1920])
def test_all_columns_of_the_comparison_of_runs_fit_on_a_desk(open_page: OpenPage, width: int) -> None:
    def rows(passed: str) -> list[dict[str, Any]]:
        return [row for name in TASKS for row in outcomes(f"desk.py:test_{name}", passed)]

    base = store(rows("pppppppppppppppppppp"), repetitions=20)
    candidate = store(rows("ffffffffffffffffffff"), model="cedar", repetitions=20)
    page = open_page(f"{reverse('compare_runs')}?base={base.slug}&candidate={candidate.slug}", width=width)
    head = page.locator(".pairs thead th")
    assert [text.strip() for text in head.all_inner_texts()][4:6] == ["Gain, points", "P(cand. > base)"]
    expect(page.locator(".pairs tbody tr").first).to_contain_text("no longer dependable")
    assert page.locator(".scroll-x:has(.pairs)").evaluate("box => box.scrollWidth - box.clientWidth") == 0
    assert b"/MediaBox [0 0 841" in page.pdf(prefer_css_page_size=True), "A4 landscape, else the last column is cut off"
