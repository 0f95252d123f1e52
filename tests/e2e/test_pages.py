"""The list pages and uploads in a browser: by pointer, by keyboard alone, without scripts, narrow and dark."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from decimal import Decimal
from itertools import pairwise
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, Route, expect
from pytest_django import Settings

from runs.chunking import close, split
from runs.chunks import claim_next
from runs.costs import Price
from runs.models import Run, Upload, UploadState
from runs.prices import PricingChoice, create_list, price_run
from runs.tasks import do_chunk, work
from tests.archives import zip_of
from tests.e2e.browser import settle
from tests.factories import write_jsonl
from tests.stored import outcomes, store

OpenPage = Callable[..., Page]
UID = "rental_desk_group1.py:test_return_001"
COMPANION = "setup_config: {orchestrator: {agent_model: {deployment: birch-2}}}\n"


@pytest.fixture(autouse=True)
def worker(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Own folder and no broker; the fixture is a worker that does all that waits."""
    settings.UPLOADS_DIR = tmp_path / "uploads"
    settings.UPLOADS_DIR.mkdir()
    monkeypatch.setattr(work, "delay", lambda: None)

    def do_all() -> None:
        while (chunk := claim_next()) is not None:
            do_chunk(chunk)

    return do_all


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    path = write_jsonl(tmp_path / "desk.birch.jsonl", [*outcomes(UID, "pfe"), *outcomes("other.py:test_two", "ppp")])
    (tmp_path / "desk.birch_run_metadata.yaml").write_text(COMPANION)
    return path


def several() -> Run:
    rows = [*outcomes(UID, "pfe."), *outcomes("other.py:test_two", "pppp"), *outcomes("other.py:test_three", "ffff")]
    for number in range(3):
        store(outcomes(UID, "pf"), model=f"model {number}", benchmark="depot")
    return store(rows, repetitions=4)


def test_from_a_file_to_a_failed_attempt_and_back_by_pointer(
    open_page: OpenPage, worker: Callable[[], None], bundle: Path
) -> None:
    page = open_page("/")
    page.get_by_role("link", name="Upload a bundle").click()
    companion = bundle.with_name("desk.birch_run_metadata.yaml")
    page.set_input_files("#files", [bundle, companion])
    expect(page.locator("#queue .up")).to_contain_text("Waiting for a worker.")
    worker()
    entry = page.locator("#finished .up")
    expect(entry).to_contain_text("birch-2 on desk: the run has 6 of 6 attempts")
    expect(entry.locator(".counts")).to_contain_text("6 new 4 passed 1 failed 1 error 0 lines not stored")
    entry.get_by_role("link", name="Open run").click()
    expect(page).to_have_title("birch-2 on desk · Twentyfold")
    page.get_by_role("link", name="test_return_001").click()
    page.get_by_role("link", name="Failed", exact=True).click()
    expect(page.locator(".step[aria-current]")).to_have_count(1)
    page.go_back()
    expect(page).to_have_title("test_return_001 · birch-2 · Twentyfold")
    page.go_back()
    page.go_back()
    expect(page.get_by_role("heading", name="Uploads")).to_be_visible()


def test_a_file_chosen_before_the_script_is_there_is_sent(open_page: OpenPage, bundle: Path) -> None:
    page = open_page("/")
    script = re.compile("/js/uploads")
    held: list[Route] = []
    page.route(script, lambda route: held.append(route))
    with page.expect_request(script):
        page.get_by_role("link", name="Upload a bundle").click()
    page.set_input_files("#files", bundle.with_name("desk.birch_run_metadata.yaml"))
    held[0].continue_()
    expect(page.locator("#queue .up")).to_contain_text("This describes a run, and its result file was not sent along.")
    assert page.input_value("#files") == ""


def press_to(page: Page, selector: str, *, most: int = 60) -> None:
    """Tabs until the focus is on the element."""
    for _ in range(most):
        page.keyboard.press("Tab")
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            outline = page.evaluate(
                "() => { const at = document.activeElement; const shown = at.matches('.vh') ? at.closest('.drop') : at;"
                " return getComputedStyle(shown).outlineStyle; }"
            )
            assert outline == "solid"
            return
    raise AssertionError(f"The keyboard does not come to {selector}.")


def test_from_a_file_to_a_failed_attempt_and_back_by_keyboard(
    open_page: OpenPage, worker: Callable[[], None], bundle: Path
) -> None:
    page = open_page("/")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to content"
    press_to(page, 'a[href="/uploads/"]')
    page.keyboard.press("Enter")
    page.wait_for_url("**/uploads/")
    press_to(page, "#files")
    with page.expect_file_chooser() as chooser:
        page.keyboard.press("Space")
    chooser.value.set_files(bundle)
    model = page.locator('#asking input[name="model"]')
    expect(model).to_have_value("birch")
    expect(page.locator("section.panel:visible h2")).to_have_text(["Waiting for you"])
    press_to(page, '#asking input[name="model"]')
    page.keyboard.press("Enter")
    expect(page.locator("#queue .up")).to_contain_text("Waiting for a worker.")
    worker()
    expect(page.locator("#finished .up")).to_contain_text("birch on desk: the run has 6 of 6 attempts")
    expect(page.locator("section.panel:visible h2")).to_have_text(["History"])
    expect(page.locator("#total")).to_have_text("1 file, newest first")
    press_to(page, '#finished a[href^="/runs/"]')
    page.keyboard.press("Enter")
    page.wait_for_url("**/runs/**")
    # The tasks stand low on a long page; its own list of parts leads there.
    press_to(page, 'a[href="#tasks"]')
    page.keyboard.press("Enter")
    press_to(page, 'a[href*="test_return_001"]')
    page.keyboard.press("Enter")
    page.wait_for_url("**/tasks/**")
    press_to(page, "a.badge.failed")
    page.keyboard.press("Enter")
    page.wait_for_url("**/attempts/**")
    expect(page.locator(".step[aria-current]")).to_have_count(1)
    press_to(page, 'a[href*="/tasks/"]')
    page.keyboard.press("Enter")
    page.wait_for_url("**/tasks/**")


def test_dropped_files_are_taken_with_their_companion(open_page: OpenPage) -> None:
    page = open_page("/uploads/")
    rows = json.dumps(outcomes(UID, "p")[0])
    page.evaluate(
        """([rows, companion]) => {
          const data = new DataTransfer();
          data.items.add(new File([rows], "one.jsonl"));
          data.items.add(new File([companion], "one_run_metadata.yaml"));
          data.items.add(new File(["x"], "other_run_metadata.yaml"));
          const how = { dataTransfer: data, bubbles: true, cancelable: true };
          for (const kind of ["dragenter", "dragover", "drop"])
            document.getElementById("drop").dispatchEvent(new DragEvent(kind, how));
        }""",
        [rows, COMPANION],
    )
    expect(page.locator("#queue .up").nth(0)).to_contain_text("Waiting for a worker.")
    expect(page.locator("#queue .up").nth(1)).to_contain_text("its result file was not sent along")
    assert Upload.objects.values_list("file_name", "model", "state").get() == (
        "one.jsonl", "birch-2", UploadState.WAITING,
    )  # fmt: skip
    expect(page.locator("#drop")).not_to_have_class(re.compile("over"))


def test_the_members_of_an_archive_appear_in_their_lists_while_the_page_is_open(
    open_page: OpenPage, worker: Callable[[], None], bundle: Path, barriers: Callable[[Page], list[str]]
) -> None:
    files = {"a/desk.birch.jsonl": bundle.read_bytes(), "a/desk.birch_run_metadata.yaml": COMPANION.encode()}
    archive = bundle.with_name("campaign.zip")
    archive.write_bytes(zip_of({**files, "b/rows.jsonl": bundle.read_bytes()}))
    page = open_page("/uploads/")
    page.set_input_files("#files", archive)
    queue, asking, finished = (page.locator(f'[data-list="{kind}"] > .up') for kind in ("moving", "asking", "finished"))
    expect(queue).to_contain_text("Waiting for a worker.")
    chunk = claim_next()
    assert chunk is not None
    split(chunk, hint=lambda: None)
    expect(queue.locator("h3")).to_have_text(["campaign.zip", "a/desk.birch.jsonl in campaign.zip"])
    expect(asking.locator("h3")).to_have_text(["b/rows.jsonl in campaign.zip"])
    assert barriers(page) == []
    close(chunk.upload_id)
    worker()
    expect(queue).to_have_count(0)
    expect(finished.filter(has_text="birch-2 on desk: the run has 6 of 6 attempts")).to_have_count(1)
    expect(finished.filter(has_text="An archive of 2 result files")).to_have_count(1)
    expect(page.locator("#total")).to_have_text("2 files, newest first")
    asking.get_by_label("Model").fill("cedar")
    asking.get_by_role("button", name="Read the file").click()
    expect(queue.locator("h3")).to_have_text(["b/rows.jsonl in campaign.zip"])
    worker()
    expect(finished).to_have_count(3)
    # Each entry is there once, as after loading the page.
    shown = sorted(page.locator(".up h3").all_inner_texts())
    page.reload()
    assert sorted(page.locator(".up h3").all_inner_texts()) == shown


def test_a_file_beyond_the_limit_is_not_sent(open_page: OpenPage, settings: Settings, bundle: Path) -> None:
    settings.UPLOAD_LIMIT = 1000
    page = open_page("/uploads/")
    page.set_input_files("#files", bundle)
    expect(page.locator("#queue .up")).to_contain_text("this server takes 1000 B. Nothing was sent.")
    assert Upload.objects.count() == 0


def test_uploads_work_without_scripts(open_page: OpenPage, worker: Callable[[], None], bundle: Path) -> None:
    page = open_page("/uploads/", scripts=False)
    page.set_input_files("#files", [bundle, bundle.with_name("desk.birch_run_metadata.yaml")])
    page.get_by_role("button", name="Upload").click()
    expect(page.locator(".up")).to_contain_text("Waiting for a worker.")
    worker()
    page.reload()
    page.get_by_role("link", name="Open run").click()
    page.locator("#find").fill("two")
    page.get_by_role("button", name="Filter").click()
    expect(page.locator("table.tasks tbody tr")).to_have_count(1)


def test_filtering_keeps_the_focus_and_back_brings_the_list_again(open_page: OpenPage) -> None:
    several()
    page = open_page("/")
    expect(page.locator("table.runs tbody tr")).to_have_count(4)
    page.locator("#find").click()
    page.keyboard.type("model 1")
    expect(page.locator("table.runs tbody tr")).to_have_count(1)
    assert page.evaluate("document.activeElement.id") == "find"
    page.wait_for_url(re.compile(r"/\?q=model(\+|%20)1$"))
    page.get_by_role("link", name="model 1").click()
    page.wait_for_url("**/runs/**")
    page.go_back()
    expect(page.locator("table.runs tbody tr")).to_have_count(1)
    expect(page.locator("#find")).to_have_value("model 1")
    page.get_by_role("link", name="pass@1").click()
    expect(page.locator('th[aria-sort="descending"]')).to_have_text("pass@1")
    expect(page).to_have_url(re.compile(r"q=model(\+|%20)1&sort=-pass$"))


def test_a_request_that_fails_says_so_until_one_works(open_page: OpenPage) -> None:
    several()
    page = open_page("/")
    # The browser notes a request that really fails as an error, which the fixture forbids.
    page.evaluate("htmx.trigger(document.body, 'htmx:sendError', {})")
    expect(page.locator("#trouble")).to_contain_text("The server did not answer.")
    page.get_by_role("button", name="Close").click()
    expect(page.locator("#trouble")).to_be_hidden()
    page.evaluate("htmx.trigger(document.body, 'htmx:responseError', { xhr: { status: 503 } })")
    expect(page.locator("#trouble")).to_contain_text("The server could not answer. Its log says why.")
    page.locator("#find").fill("model 2")
    expect(page.locator("#trouble")).to_be_hidden()


def test_the_theme_is_kept(open_page: OpenPage) -> None:
    page = open_page("/uploads/")
    toggle = page.locator("[data-theme-toggle]")
    expect(toggle).to_have_attribute("aria-label", "Theme: automatic")
    toggle.click()
    toggle.click()
    expect(toggle).to_have_attribute("aria-label", "Theme: dark")
    page.goto("/")
    assert page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "dark"
    expect(page.locator("[data-theme-toggle]")).to_have_attribute("aria-label", "Theme: dark")


def test_on_a_phone_all_entries_of_the_top_bar_are_in_sight(open_page: OpenPage) -> None:
    page = open_page("/uploads/", width=360, height=800)
    entries = page.get_by_role("navigation", name="Main").get_by_role("link")
    places = [box for box in (entry.bounding_box() for entry in entries.all()) if box is not None]
    assert len(places) == 6
    assert all(place["x"] >= 0 and place["x"] + place["width"] <= 360 for place in places), places
    assert all(one["x"] + one["width"] < other["x"] for one, other in pairwise(places)), places


def test_no_page_is_wider_than_its_window_and_axe_finds_nothing_serious(
    open_page: OpenPage, barriers: Callable[[Page], list[str]]
) -> None:
    page = open_page("/")
    assert barriers(page) == []
    run = several()
    Upload.objects.create(file_name="asks.birch.jsonl", sha256="0", size=10, state=UploadState.ASKING)
    Upload.objects.create(file_name="reads.jsonl", sha256="0", size=10, state=UploadState.READING)
    conflicts = [*outcomes(UID, "p"), *outcomes(UID, "f")]
    store(conflicts, model="conflicts")
    addresses = [
        "/",
        f"/runs/{run.slug}/",
        f"/runs/{run.slug}/edit/",
        f"/runs/{run.slug}/delete/",
        f"/runs/{run.slug}/tasks/{UID}/",
        "/uploads/",
        f"/uploads/{Upload.objects.order_by('-pk').values_list('pk', flat=True)[0]}/",
    ]
    for address in addresses:
        page.goto(address)
        assert (address, barriers(page)) == (address, [])


def test_hostile_names_run_nothing(open_page: OpenPage) -> None:
    name = '<img src=x onerror="window.ran=1"><script>window.ran=1</script>\u202e'
    run = store(outcomes(f"a/../{name}:b%2F", "pf"), model=name, benchmark=name)
    Upload.objects.update(file_name=f"{name}\x1b[31m")
    page = open_page("/")
    for address in ("/", f"/runs/{run.slug}/", "/uploads/", f"/runs/{run.slug}/edit/", f"/runs/{run.slug}/delete/"):
        page.goto(address)
        assert page.evaluate("window.ran") is None
        expect(page.locator("body")).to_contain_text("<script>")
    page.goto(f"/runs/{run.slug}/")
    page.locator("table.tasks tbody th a").click()
    expect(page.locator("h1")).to_contain_text("b%2F")
    assert page.evaluate("window.ran") is None


@pytest.mark.parametrize("dark", [False, True])
def test_a_table_wider_than_its_box_has_a_shade_at_the_edge_behind_which_it_goes_on(
    open_page: OpenPage, dark: bool
) -> None:
    several()
    page = open_page("/", width=900, dark=dark)
    table = page.get_by_role("region", name="Table of runs")
    assert table.evaluate("box => box.scrollWidth > box.clientWidth + 40")
    assert shaded(page, table) == (False, True)
    table.evaluate("box => { box.scrollLeft = 20; }")
    assert shaded(page, table) == (True, True)
    table.evaluate("box => { box.scrollLeft = box.scrollWidth; }")
    assert shaded(page, table) == (True, False)
    page.set_viewport_size({"width": 1800, "height": 900})
    assert shaded(page, table) == (False, False)
    page.set_viewport_size({"width": 900, "height": 900})
    page.emulate_media(media="print")
    assert shaded(page, table) == (False, False)


def test_runs_stand_in_line_with_their_heads_and_fit_on_a_desk(open_page: OpenPage) -> None:
    several()
    page = open_page("/", width=1440)
    box = page.get_by_role("region", name="Table of runs")
    assert box.evaluate("box => box.scrollWidth - box.clientWidth") == 0
    paddings = page.locator(".runs tr").evaluate_all(
        """rows => rows.map(row => [getComputedStyle(row.cells[0]).paddingLeft,
                                    getComputedStyle(row.cells[row.cells.length - 1]).paddingRight])"""
    )
    assert paddings == [["16px", "16px"]] * 5


def test_the_table_of_tasks_says_why_they_fail_and_fits_on_a_desk(open_page: OpenPage) -> None:
    run = store(
        [*outcomes(UID, "pfffepppppfffffppppp"), *outcomes("other.py:test_assign_and_reserve_mast_chain", "p" * 19)],
        repetitions=20,
    )
    prices = create_list("Desk", [Price(model=run.model, input=Decimal(2), output=Decimal(8))])
    price_run(run, PricingChoice(price_list=prices.pk))
    page = open_page(run.get_absolute_url(), width=1440)
    table = page.locator("table.tasks")
    assert [" ".join(text.split()) for text in table.locator("thead th").all_inner_texts()] == [
        "Task", "Domain", "Repetitions 0 to 19", "Passed", "Failed", "Errors", "Not recorded", "Differences",
        "Most common difference", "Signature", "Mean cost",
    ]  # fmt: skip
    assert page.locator(".scroll-x:has(> .tasks)").evaluate("box => box.scrollWidth - box.clientWidth") == 0
    row = table.locator("tbody tr", has_text="test_return_001")
    expect(row.locator(".usual")).to_have_text("≠wrong rentals.status in 8")
    expect(row).to_contain_text("Tool usage")
    expect(row).to_contain_text("$0.00304")
    page.get_by_role("link", name="Mean cost").click()
    expect(table.locator("th[aria-sort]")).to_have_text(re.compile("Mean cost"))
    row.locator(".usual a").click()
    expect(page.locator(".tbl-head").get_by_role("status")).to_have_text("8 attempts at 1 task")


def test_on_paper_the_tables_of_a_run_stand_one_below_the_other(open_page: OpenPage) -> None:
    run = several()
    page = open_page(run.get_absolute_url())
    page.emulate_media(media="print")
    left, right = (box.bounding_box() for box in page.locator(".half:has(#sig) > .panel").all())
    assert left is not None
    assert right is not None
    assert (left["x"], left["width"]) == (right["x"], right["width"])


def shaded(page: Page, box: Locator) -> tuple[bool, bool]:
    """Whether the left and the right edge of the box look otherwise than on the bare ground of a panel."""
    page.mouse.move(0, 0)
    settle(page)

    def edges() -> list[bytes]:
        at = box.bounding_box()
        assert at is not None
        return [
            page.screenshot(clip={"x": x, "y": at["y"] + 2, "width": 4, "height": 20}, animations="disabled")
            for x in (at["x"], at["x"] + at["width"] - 4)
        ]

    left, right = edges()
    box.evaluate("box => { box.style.background = 'none'; }")
    bare = edges()
    box.evaluate("box => { box.style.background = ''; }")
    return left != bare[0], right != bare[1]
