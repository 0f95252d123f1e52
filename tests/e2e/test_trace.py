"""The trace page in a browser: what pointer, keyboard and addresses do."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from runs.access import EVERYTHING
from runs.ingest import ingest_file
from runs.models import Attempt
from runs.upload_files import KeptFile
from runs.uploads import Wishes, new_upload
from tests.e2e.browser import settle
from tests.stored import outcomes, store
from tests.trace_rows import hostile_row, long_row

OpenPage = Callable[..., Page]
UID = "rental_desk_group1.py:test_return_001"
# The steps of a row of the factory: 1 user, 2 thought, 3 call, 4 write, 5 failed call, 6 agent.


def address(repetition: int = 0, query: str = "") -> str:
    return f"/attempts/{Attempt.objects.get(repetition=repetition, current=True).pk}/{query}"


def at_step(page: Page, step: int) -> None:
    expect(page.locator(".step[aria-current]")).to_have_attribute("id", f"s{step}")
    expect(page.locator("[data-now]")).to_have_text(f"Step {step}")


def test_keys_move_through_the_steps(open_page: OpenPage) -> None:
    store(outcomes(UID, "f"))
    page = open_page(address())
    at_step(page, 4)
    for key, step in [("j", 5), ("k", 4), ("g", 1), ("n", 4), ("e", 5), ("p", 4), ("G", 6), ("f", 4), ("j", 5)]:
        page.keyboard.press(key)
        at_step(page, step)
    expect(page).to_have_url(re.compile(r"\?step=5$"))


def test_keys_change_panes_and_attempts(open_page: OpenPage) -> None:
    store(outcomes(UID, "fpf.f"), repetitions=5)
    page = open_page(address(0))
    for key, name in [("2", "checks"), ("3", "task"), ("4", "raw"), ("1", "state")]:
        page.keyboard.press(key)
        expect(page.locator(f'[data-panel="{name}"]')).to_be_visible()
        expect(page.locator('.tabbar [aria-current="true"]')).to_contain_text(name.capitalize())
    expect(page.locator('[data-panel="raw"] [download]')).to_have_count(1)
    page.keyboard.press("u")
    expect(page.locator("tr.same").first).to_be_visible()
    page.keyboard.press("u")
    expect(page.locator("tr.same")).to_have_count(0)
    for key, repetition in [("]", 1), ("[", 0), ("J", 2), ("J", 4), ("K", 2)]:
        page.keyboard.press(key)
        page.wait_for_url(f"**{address(repetition)}*")
    page.go_back()
    page.wait_for_url(f"**{address(4)}*")


def test_keys_for_help_theme_link_and_find(open_page: OpenPage) -> None:
    store(outcomes(UID, "f"))
    page = open_page(address())
    page.keyboard.press("?")
    expect(page.locator("#help")).to_be_visible()
    page.keyboard.press("j")
    page.keyboard.press("Escape")
    expect(page.locator("#help")).to_be_hidden()
    at_step(page, 4)
    page.keyboard.press("t")
    assert page.evaluate("document.documentElement.dataset.theme") == "light"
    page.keyboard.press("y")
    expect(page.locator("[data-status]")).to_have_text("The link to this step is copied.")
    assert page.evaluate("navigator.clipboard.readText()").endswith(address(query="?step=4"))
    page.keyboard.press("/")
    expect(page.locator(".find")).to_be_focused()
    page.keyboard.type("jknpef")
    expect(page.locator(".found")).to_contain_text("0 steps with jknpef")
    assert page.evaluate("document.activeElement.value") == "jknpef"
    expect(page.locator("[data-now]")).to_have_text("Step 4")
    page.locator(".find").fill("No notes")
    expect(page.locator(".step")).to_have_count(1)
    page.keyboard.press("Enter")
    at_step(page, 5)
    page.keyboard.press("Escape")
    page.locator(".found a").click()
    expect(page.locator(".step")).to_have_count(6)


def test_no_key_acts_with_a_modifier_or_while_composing(open_page: OpenPage) -> None:
    store(outcomes(UID, "f"))
    page = open_page(address())
    for key in ["Alt+j", "Control+k", "Meta+g"]:
        page.keyboard.press(key)
    page.evaluate(
        "document.body.dispatchEvent(new KeyboardEvent('keydown', {key: 'j', isComposing: true, bubbles: true}))"
    )
    at_step(page, 4)
    expect(page).to_have_url(re.compile(r"/attempts/\d+/$"))


def test_selecting_a_step_shows_the_state_as_of_it(open_page: OpenPage) -> None:
    store(outcomes(UID, "f"))
    page = open_page(address())
    after = page.locator("tr.wrong td.after > div:not([hidden])")
    expect(after).to_contain_text("closed")
    expect(page.locator("[data-asof]")).to_be_hidden()
    page.locator("#s1 .line").click()
    expect(after).to_have_text("out")
    expect(page.locator("[data-asof]")).to_contain_text("State as of step 1")
    expect(page.locator("[data-after-head]").first).to_have_text("At step 1")
    page.locator("[data-end]").click()
    at_step(page, 6)
    expect(after).to_contain_text("closed")


def test_a_field_leads_to_its_step_and_the_thread_is_drawn(open_page: OpenPage) -> None:
    store(outcomes(UID, "f"))
    page = open_page(address(query="?step=1"))
    assert page.locator(".thread path").get_attribute("d") == ""
    page.locator("tr.wrong th").click()
    at_step(page, 4)
    expect(page.locator(".thread path")).to_have_attribute("d", re.compile("^M[0-9.]+ "))
    expect(page.locator("#s4 .payload")).to_contain_text("item.status")
    page.locator(".ce a").first.click()
    at_step(page, 6)


def test_a_payload_is_loaded_on_first_opening(open_page: OpenPage) -> None:
    store(outcomes(UID, "f"))
    page = open_page(address())
    expect(page.locator("#s3 .payload .kv")).to_have_count(0)
    page.locator("#s3 .line").click()
    expect(page.locator("#s3 .payload .kv")).to_have_count(2)
    expect(page.locator("#s3 .payload")).to_contain_text("ada@example.com")
    page.locator("#s3 .copy").first.click()
    expect(page.locator("[data-status]")).to_have_text("Copied.")
    assert page.evaluate("navigator.clipboard.readText()") == '{\n  "customer": "ada@example.com"\n}'


def test_scrubbing_replaces_the_address_and_back_returns_to_the_list(open_page: OpenPage) -> None:
    run = store(outcomes(UID, "f"))
    page = open_page(f"/runs/{run.slug}/")
    page.goto(address())
    page.locator("[data-scrub]").focus()
    for _ in range(3):
        page.keyboard.press("ArrowLeft")
    at_step(page, 1)
    expect(page).to_have_url(re.compile(r"\?step=1$"))
    page.go_back()
    expect(page).to_have_url(re.compile(f"/runs/{run.slug}/$"))


def test_an_address_names_step_and_tab(open_page: OpenPage) -> None:
    store(outcomes(UID, "f"))
    page = open_page(address(query="?step=3&tab=checks"))
    at_step(page, 3)
    expect(page.locator('[data-panel="checks"]')).to_be_visible()
    expect(page.locator("#s3 .payload .kv")).to_have_count(2)


def test_it_works_without_scripts(open_page: OpenPage) -> None:
    store(outcomes(UID, "ff"))
    page = open_page(address(), scripts=False)
    page.click('.tabbar a:has-text("Checks")')
    expect(page.locator('[data-panel="checks"]')).to_be_visible()
    page.click("#s1 .no a")
    expect(page).to_have_url(re.compile(r"\?step=1$"))
    expect(page.locator("tr.wrong td.after > div:not([hidden])")).to_have_text("out")
    expect(page.locator("[data-asof]")).to_contain_text("State as of step 1")
    page.click("a:has-text('Show unchanged fields')")
    expect(page.locator("tr.same").first).to_be_visible()
    page.click(".seg a:has-text('Errors')")
    expect(page.locator(".step")).to_have_count(1)
    page.click("[rel=next]")
    expect(page).to_have_url(re.compile(re.escape(address(1)) + "$"))


def test_panes_are_tabs_on_a_narrow_screen(open_page: OpenPage) -> None:
    store(outcomes(UID, "f"))
    page = open_page(address(), width=390, height=800)
    expect(page.locator('[data-pane="steps"]')).to_be_visible()
    expect(page.locator('[data-pane="side"]')).to_be_hidden()
    page.click('.panetabs a:has-text("State")')
    expect(page.locator("tr.wrong")).to_be_visible()
    expect(page.locator('[data-pane="steps"]')).to_be_hidden()
    page.wait_for_url(re.compile("tab=state"))
    page.locator("tr.wrong .sl").first.click()
    expect(page.locator("#s4")).to_be_visible()
    for width in (360, 390):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") == width


def test_a_link_to_a_step_shows_it_on_a_narrow_screen(open_page: OpenPage) -> None:
    store([long_row(60, uid=UID)])
    page = open_page(address(query="?step=40"), width=390, height=844)
    expect(page.locator("#s40 .line")).to_be_in_viewport(ratio=1)
    assert page.evaluate("Math.abs(document.querySelector('#s40 .line').getBoundingClientRect().top - 422)") < 60
    assert page.evaluate("document.activeElement === document.body")
    for query in ("", "?step=40&tab=state", "?step=no"):
        page.goto(address(query=query))
        settle(page)
        assert (query, page.evaluate("scrollY")) == (query, 0)
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(address(query="?step=40"))
    settle(page)
    expect(page.locator("#s40 .line")).to_be_in_viewport(ratio=1)
    assert page.evaluate("scrollY") == 0


def test_the_strip_of_repetitions_stays_where_it_is(open_page: OpenPage) -> None:
    store(outcomes(UID, "fp" + "f" * 17 + "e"), repetitions=20)
    page = open_page(address(0))
    places = set()
    for repetition in (0, 1, 19):
        page.goto(address(repetition))
        settle(page)
        box = page.locator(".att .strip").bounding_box()
        assert box is not None
        places.add((box["x"], box["y"], page.locator(".att").evaluate("at => at.offsetHeight")))
    assert len(places) == 1, places


# Pixels between the ring of focus and the next edge of the strip.
ROOM = """() => {
  const strip = document.querySelector(".att .strip").getBoundingClientRect();
  const at = document.activeElement.getBoundingClientRect();
  const ring = getComputedStyle(document.activeElement);
  const sides = [at.top - strip.top, strip.bottom - at.bottom, at.left - strip.left, strip.right - at.right];
  return Math.min(...sides) - parseFloat(ring.outlineWidth) - parseFloat(ring.outlineOffset);
}"""


def test_the_ring_of_focus_fits_into_the_strip_of_repetitions(open_page: OpenPage) -> None:
    store(outcomes(UID, "fp" * 6))
    for width in (1440, 390):
        page = open_page(address(5), width=width, height=844)
        page.keyboard.press("Tab")
        for place in ("first", "last"):
            page.locator(f".att .strip a:{place}-of-type").focus()
            assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
            room = page.evaluate(ROOM)
            assert room >= 0, (width, place, room)


def test_controls_are_not_printed(open_page: OpenPage) -> None:
    store(outcomes(UID, "fp"))
    page = open_page(address())
    controls = page.locator(
        ".btn:visible, .seg:visible, input:visible, .copy:visible, [data-unchanged]:visible, .tabs a:visible"
    )
    assert controls.count() > 10
    page.emulate_media(media="print")
    expect(controls).to_have_text(["State1"])
    for shown in (".att h1", ".att .strip", "#s4", "tr.wrong"):
        expect(page.locator(shown)).to_be_visible()


@pytest.mark.parametrize("query", ["", "?tab=checks", "?tab=task", "?tab=raw", "?step=1&unchanged=1", "?show=writes"])
def test_axe_finds_nothing_serious(open_page: OpenPage, barriers: Callable[[Page], list[str]], query: str) -> None:
    store([*outcomes(UID, "fpe.n"), *outcomes("b.py:two", "f", states=False)], repetitions=6)
    page = open_page(first(UID) + query)
    assert barriers(page) == []


@pytest.mark.parametrize("letter", ["p", "e", "n"])
def test_axe_finds_nothing_serious_whatever_the_verdict(
    open_page: OpenPage, barriers: Callable[[Page], list[str]], letter: str
) -> None:
    store(outcomes(UID, letter))
    page = open_page(address())
    page.keyboard.press("?")
    assert barriers(page) == []


def first(uid: str) -> str:
    return f"/attempts/{Attempt.objects.get(task__uid=uid, repetition=0).pk}/"


def test_text_of_a_bundle_never_runs(open_page: OpenPage) -> None:
    store([hostile_row()])
    for query in ["", "?tab=checks", "?tab=task", "?tab=raw", "?unchanged=1", "?find=neila"]:
        page = open_page(address(query=query))
        for step in page.locator(".step").all():
            step.locator(".line").click(position={"x": 300, "y": 8})
        settle(page)
        assert page.evaluate("window.ran") is None
        shown = page.locator("main").inner_text()
        assert "<script>window.ran=1</script><img src=x onerror=window.ran=1>" in shown
        assert "{{ 7|add:7 }}{% now" in shown
        assert "␛[31mred" in shown
        assert "⟨U+202E⟩neila⟨U+202C⟩" in shown
        assert (
            page.evaluate("[...document.querySelectorAll('a')].filter(a => a.protocol === 'javascript:').length") == 0
        )


@pytest.mark.shared
def test_the_ticket_left_solved_is_on_top(open_page: OpenPage, shared: Path) -> None:
    path = shared / "bundles" / "smoke" / "smoke.jsonl.gz"
    kept = KeptFile("", "0" * 64, path.stat().st_size)
    with path.open("rb") as stream:
        ingest_file(
            new_upload(path.name, kept, wishes=Wishes(model="stub", benchmark="smoke"), access=EVERYTHING), stream
        )
    uid = "sandbox_external_retail_group1.py:test_case_ST003_006"
    for attempt in Attempt.objects.filter(task__uid=uid, verdict="failed"):
        page = open_page(attempt.get_absolute_url())
        row = page.locator(".st tbody tr").first
        assert row.locator("th bdi").inner_text().split("\n")[0] == "status"
        assert [row.locator(cell).inner_text().split("\n")[0] for cell in ("td:nth-child(2)", "td.req")] == [
            "solved",
            "hold",
        ]
        writes = [int(link) for link in row.locator("td.after .sl:visible").all_inner_texts()]
        assert len(writes) == 2
        assert writes == sorted(writes, reverse=True)
        for step in writes:
            expect(page.locator(f"#s{step} .tool")).to_have_text("zendesk_update_item")
        expect(page.locator(".ce a").nth(1)).to_contain_text(f"last written by {writes[0]}")
        at_step(page, writes[0])
