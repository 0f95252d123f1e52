"""Leaderboards and prices in a browser: pointer, keyboard, no scripts, narrow, dark, printed, as one file."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from runs.access import EVERYTHING
from runs.boards.edit import BoardChanges, create_board
from runs.boards.reference import REFERENCE_SLUG, make_reference
from runs.costs import Price
from runs.models import PriceList, Run
from runs.prices import PricingChoice, create_list, price_run
from tests.tallied import tallied_run

pytestmark = pytest.mark.django_db(transaction=True)
OpenPage = Callable[..., Page]
Barriers = Callable[[Page], list[str]]
HOSTILE = '<img src=x onerror="document.title=1"> \u202e' + "long" * 30


@pytest.fixture(autouse=True)
def board() -> None:
    """A desk with two runs beside a published row, one run with a name that would act if it could."""
    tokens = (1_000_000, 900_000, 1000)
    ash = tallied_run("ash", {f"t{n}": "pppp" for n in range(5)} | {"u": "pffe"}, k=4, tokens=tokens, domain="Retail")
    birch = tallied_run("birch", {f"t{n}": "pfpf" for n in range(6)}, k=4, tokens=tokens, domain="Retail")
    Run.objects.filter(pk=birch.pk).update(model=HOSTILE)
    listed = create_list("Desk", [Price(model="ash", input=Decimal(2), cached=Decimal("0.2"), output=Decimal(9))])
    price_run(ash, PricingChoice(price_list=listed.pk))
    create_board(
        BoardChanges(title="Desk", runs=(ash.slug, birch.slug), published=("o3-pro", "GPT-5.4")), access=EVERYTHING
    )
    make_reference()


def test_a_board_is_made_switched_frozen_and_recomputed_by_pointer(open_page: OpenPage) -> None:
    page = open_page("/leaderboards/")
    page.get_by_role("link", name="New leaderboard").click()
    page.get_by_role("textbox", name="Title").fill("Mine")
    page.get_by_role("checkbox", name="ash on desk, k = 4").check()
    page.get_by_text("Published rows of").click()
    page.get_by_role("checkbox", name="GPT-5.4").check()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Mine")
    page.get_by_role("link", name="Cost per dependable task").first.click()
    expect(page).to_have_url(page.url.partition("?")[0] + "?by=cost")
    expect(page.locator("th[aria-sort=ascending]")).to_contain_text("Cost per dependable task")
    page.get_by_role("button", name="Freeze").click()
    expect(page.locator(".run-facts")).to_contain_text("frozen")
    page.get_by_role("link", name="Recompute and compare").click()
    expect(page.get_by_role("status")).to_contain_text("Nothing is different.")
    page.get_by_role("button", name="Make it live again").click()
    expect(page.get_by_role("link", name="Edit")).to_be_visible()


def test_the_switches_and_the_sort_heads_work_by_keyboard_alone(open_page: OpenPage) -> None:
    page = open_page("/leaderboards/desk/")
    page.get_by_role("link", name="Rank by pass@1").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_url("**/?by=all")
    page.locator("thead a", has_text="pass@1").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/?by=pass")
    page.get_by_role("link", name="Leave them out").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**errors=excluded*")
    expect(page).to_have_url(re.compile("by=pass"))
    page.go_back()
    expect(page.locator(".switches")).to_contain_text("System errors count as not passed.")


def test_a_price_is_changed_by_keyboard_and_the_run_keeps_its_own(open_page: OpenPage) -> None:
    page = open_page("/prices/desk/edit/")
    page.get_by_label("Input, row 1", exact=True).focus()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("3")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text("version 2")
    assert PriceList.objects.count() == 2
    page.goto("/runs/desk-ash/")
    expect(page.locator(".stats")).to_contain_text("for all 24 attempts")
    expect(page.locator("main")).to_contain_text("Priced by Desk.")


def test_all_of_it_works_without_scripts(open_page: OpenPage) -> None:
    page = open_page("/leaderboards/desk/", scripts=False)
    page.get_by_role("link", name="At least once").first.click()
    expect(page.locator("table.lb tbody tr")).to_have_count(4)
    expect(page).to_have_url(re.compile(r"\?by=solved$"))
    page.goto("/prices/desk/edit/")
    page.get_by_label("Model, row 2").fill("birch")
    page.get_by_label("Output, row 2").fill("1")
    page.get_by_role("button", name="Save as version 2").click()
    expect(page).to_have_url(re.compile("/prices/desk/2/$"))


BOARD = f"/leaderboards/{REFERENCE_SLUG}/"
PAGES = (
    BOARD, "/leaderboards/desk/?by=cost", "/leaderboards/", "/leaderboards/desk/edit/", "/prices/", "/prices/desk/",
    "/prices/desk/edit/", "/prices/new/", "/runs/desk-ash/", "/runs/desk-ash/edit/", "/",
)  # fmt: skip


def test_pages_are_accessible_and_fit(open_page: OpenPage, barriers: Barriers) -> None:
    page = open_page("/leaderboards/new/")
    found = {"/leaderboards/new/": barriers(page)}
    for path in PAGES:
        page.goto(path)
        found[path] = barriers(page)
    assert {path: wrong for path, wrong in found.items() if wrong} == {}


def test_a_name_that_would_act_stays_text(open_page: OpenPage) -> None:
    page = open_page("/leaderboards/desk/")
    expect(page.locator("tbody .model").filter(has_text="<img src=x")).to_be_visible()
    assert page.locator("main img").count() == 0
    assert page.title() == "Desk leaderboard · Twentyfold"


def test_it_prints_without_controls_and_with_its_address(open_page: OpenPage, tmp_path: Path) -> None:
    page = open_page(f"/leaderboards/{REFERENCE_SLUG}/", dark=True)
    page.emulate_media(media="print")
    for hidden in ("header.top", ".tbl-head", ".crumbs", ".run-head .btn >> nth=0", "footer.foot"):
        expect(page.locator(hidden)).to_be_hidden()
    expect(page.get_by_text("Printed from http")).to_be_visible()
    expect(page.locator("table.lb tbody tr")).to_have_count(18)
    data = page.pdf(path=tmp_path / "board.pdf", prefer_css_page_size=True)
    assert b"/MediaBox [0 0 841" in data, "A4 landscape"


def test_the_one_file_is_read_without_a_server(open_page: OpenPage, browser: Browser, tmp_path: Path) -> None:
    page = open_page("/leaderboards/desk/")
    with page.expect_download() as waiting:
        page.get_by_role("link", name="One file").click()
    path = tmp_path / "desk.html"
    waiting.value.save_as(path)
    context = browser.new_context(offline=True, java_script_enabled=False, viewport={"width": 1280, "height": 900})
    opened = context.new_page()
    problems: list[str] = []
    opened.on("console", lambda message: problems.append(message.text))
    opened.on("requestfailed", lambda request: problems.append(request.url))
    opened.goto(path.as_uri())
    expect(opened.locator("table.lb tbody tr")).to_have_count(4)
    assert opened.locator("th.model").first.evaluate("e => getComputedStyle(e).fontWeight") == "600"
    assert (problems, opened.locator("a, script, form").count()) == ([], 0)
    context.close()
