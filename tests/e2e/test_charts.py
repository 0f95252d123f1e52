"""Charts in a browser: drawn under the policy, in the theme, clicked, saved, printed, and without scripts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import plotly
import pytest
from playwright.sync_api import Browser, Page, expect

from inspector.charts.leaderboard import breadth_consistency, cost_dependable, cost_success, domain_heat, survival
from inspector.charts.run import TaskLinks, distribution, reliability
from runs.metrics import TaskOutcome, summarise
from tests.chart_rows import K, measured_row, published_rows, with_standings
from tests.e2e import chart_pages
from tests.e2e.browser import settle
from tests.stored import outcomes, store

OpenPage = Callable[..., Page]
PASS = {False: "rgb(11, 107, 96)", True: "rgb(88, 201, 183)"}
SCRIPT = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"
SHEET = Path(__file__).parents[2] / "static" / "css" / "plotly.css"
MAP_STYLES = "9f215cf04c5486422605d13261cb87401f4e7763b6296af81e98efbc0130da53"


@pytest.fixture
def gallery() -> Iterator[int]:
    """A page of all charts; a click on this server's run leads to the uploads. Gives their number."""
    rows = with_standings([*published_rows(), measured_row(name="<b>own</b> run", url="/uploads/")])
    tasks = [TaskOutcome(uid=f"t{at}", n=4, passed=at % 5) for at in range(40)]
    figures = summarise(tasks, 4, resamples=200).overall
    chart_pages.SHOWN[:] = [
        *(board(rows, K) for board in (breadth_consistency, survival, cost_success, cost_dependable, domain_heat)),
        distribution(figures, TaskLinks(always="/uploads/")),
        reliability(figures),
    ]
    yield len(chart_pages.SHOWN)
    chart_pages.SHOWN.clear()


@pytest.fixture
def show(gallery: int) -> Callable[[str], None]:
    """Leaves one chart on that page: drawing all of them costs seconds."""

    def only(key: str) -> None:
        chart_pages.SHOWN[:] = [chart for chart in chart_pages.SHOWN if chart.key == key]
        assert len(chart_pages.SHOWN) == 1

    return only


def drawn(page: Page, key: str) -> None:
    expect(page.locator(f".chart[data-drawn] [data-name={key}] .main-svg").first).to_be_visible()


def bar_colour(page: Page) -> str:
    """Of the bar of tasks that always pass."""
    bar = page.locator("[data-name=distribution] .bars .point path").last
    return str(bar.evaluate("bar => getComputedStyle(bar).fill"))


@pytest.mark.urls("tests.e2e.chart_pages")
@pytest.mark.parametrize("dark", [False, True])
def test_every_chart_is_drawn_in_the_theme(open_page: OpenPage, gallery: int, dark: bool) -> None:
    page = open_page("/charts/", dark=dark)
    for chart in chart_pages.SHOWN:
        drawn(page, chart.key)
    expect(page.locator(".chart[data-drawn]")).to_have_count(gallery)
    assert bar_colour(page) == PASS[dark]
    expect(page.locator(".chart details[open]")).to_have_count(0)
    expect(page.locator(".chart summary > svg:visible")).to_have_count(gallery)
    # A name is text, whatever it is made of.
    expect(page.locator("[data-name=breadth-consistency]")).to_contain_text("<b>own</b> run")


@pytest.mark.urls("tests.e2e.chart_pages")
def test_what_is_drawn_is_laid_where_plotly_means_it(open_page: OpenPage, show: Callable[[str], None]) -> None:
    show("distribution")
    page = open_page("/charts/")
    drawn(page, "distribution")
    layers = page.locator("[data-name=distribution] .main-svg")
    assert layers.evaluate_all("all => all.map(svg => getComputedStyle(svg).position)") == ["absolute"] * layers.count()
    assert len(set(layers.evaluate_all("all => all.map(svg => svg.getBoundingClientRect().top)"))) == 1


@pytest.mark.urls("tests.e2e.chart_pages")
def test_the_theme_button_recolours(open_page: OpenPage, show: Callable[[str], None]) -> None:
    show("distribution")
    page = open_page("/charts/", dark=False)
    drawn(page, "distribution")
    page.get_by_role("button", name="Theme").click()  # light
    page.get_by_role("button", name="Theme").click()  # dark
    bar = page.locator("[data-name=distribution] .bars .point path").last
    expect(bar).to_have_css("fill", PASS[True])
    page.emulate_media(color_scheme="dark")
    page.get_by_role("button", name="Theme").click()  # automatic, dark by the system
    expect(bar).to_have_css("fill", PASS[True])
    page.emulate_media(color_scheme="light")
    expect(bar).to_have_css("fill", PASS[False])


def middle(page: Page, selector: str) -> tuple[float, float]:
    place = page.locator(selector).last
    place.scroll_into_view_if_needed()
    box = place.bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


@pytest.mark.urls("tests.e2e.chart_pages")
def test_pointing_says_the_numbers_and_clicking_leads_to_the_run(
    open_page: OpenPage, show: Callable[[str], None]
) -> None:
    show("breadth-consistency")
    page = open_page("/charts/")
    drawn(page, "breadth-consistency")
    page.mouse.move(*middle(page, "[data-name=breadth-consistency] .scatterlayer .trace.scatter .point"))
    hover = page.locator("[data-name=breadth-consistency] .hovertext")
    expect(hover).to_contain_text("solved at least once 92.5%, 469 of 507 tasks")
    expect(hover).to_contain_text("gap 68.2 points")
    expect(page.locator("[data-name=breadth-consistency]")).to_have_class(re.compile(r"\bleads\b"))
    page.mouse.click(*middle(page, "[data-name=breadth-consistency] .scatterlayer .trace.scatter .point"))
    expect(page).to_have_title("Uploads · Twentyfold")


@pytest.mark.urls("tests.e2e.chart_pages")
def test_without_scripts_the_tables_are_there(open_page: OpenPage, gallery: int) -> None:
    page = open_page("/charts/", scripts=False)
    expect(page.locator(".chart table")).to_have_count(gallery)
    for table in page.locator(".chart table").all():
        expect(table).to_be_visible()
    row = page.locator(".chart table").first.get_by_role("row", name="<b>own</b> run")
    assert row.locator("td").all_inner_texts() == ["92.5%", "24.3%", "68.2", "90.1% to 94.6%", "20.6% to 28.0%"]
    expect(page.locator(".plot").first).to_be_hidden()
    expect(page.locator("[data-picture]").first).to_be_hidden()


@pytest.mark.urls("tests.e2e.chart_pages")
def test_the_table_opens_by_keyboard(open_page: OpenPage, show: Callable[[str], None]) -> None:
    show("reliability")
    page = open_page("/charts/")
    drawn(page, "reliability")
    foot = page.locator(".chart").filter(has=page.locator("[data-name=reliability]")).locator(".chart-foot")
    foot.locator("summary").focus()
    page.keyboard.press("Enter")
    expect(foot.get_by_role("table")).to_be_visible()
    assert foot.locator("tbody tr").count() == 4


@pytest.mark.urls("tests.e2e.chart_pages")
@pytest.mark.parametrize("kind", ["png", "svg"])
def test_a_chart_is_saved_as_a_picture_that_stands_alone(
    open_page: OpenPage, show: Callable[[str], None], kind: str
) -> None:
    show("survival")
    page = open_page("/charts/")
    drawn(page, "survival")
    chart = page.locator(".chart").filter(has=page.locator("[data-name=survival]"))
    with page.expect_download() as started:
        chart.get_by_role("button", name=kind.upper()).click()
    assert started.value.suggested_filename == f"survival.{kind}"
    content = started.value.path().read_bytes()
    if kind == "png":
        assert content[:8] == b"\x89PNG\r\n\x1a\n"
        assert int.from_bytes(content[16:20], "big") >= 1120
    else:
        text = content.decode()
        assert "What of pass@1 survives 20 repetitions" in text
        assert "507 tasks, 20 repetitions. 18 published, not measured here. 17 of 19 models placed." in text
        assert "var(--" not in text


@pytest.mark.urls("tests.e2e.chart_pages")
def test_on_paper_a_chart_is_light_and_afterwards_dark_again(open_page: OpenPage, show: Callable[[str], None]) -> None:
    show("distribution")
    page = open_page("/charts/", dark=True)
    drawn(page, "distribution")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert bar_colour(page) == PASS[False]
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    expect(page.locator("[data-name=distribution] .bars .point path").last).to_have_css("fill", PASS[True])
    assert page.evaluate("document.documentElement.dataset.theme ?? null") is None
    assert page.pdf(format="A4", landscape=True)[:5] == b"%PDF-"


@pytest.mark.urls("tests.e2e.chart_pages")
@pytest.mark.parametrize("width", [1440, 390, 360])
def test_a_narrow_page_scrolls_the_chart_and_not_itself(
    open_page: OpenPage, show: Callable[[str], None], width: int
) -> None:
    show("survival")
    page = open_page("/charts/", width=width)
    drawn(page, "survival")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    box = page.locator("[data-name=survival]").bounding_box()
    assert box is not None
    assert box["width"] >= 560
    page.set_viewport_size({"width": 1100, "height": 900})
    svg = page.locator("[data-name=survival] .main-svg").first
    expect(svg).to_have_attribute(
        "width", str(int(page.locator("[data-name=survival]").evaluate("b => b.clientWidth")))
    )


@pytest.mark.urls("tests.e2e.chart_pages")
def test_axe_finds_nothing_serious(open_page: OpenPage, gallery: int, barriers: Callable[[Page], list[str]]) -> None:
    page = open_page("/charts/")
    drawn(page, "domains")
    for summary in page.locator(".chart summary").all():
        summary.click()
    assert barriers(page) == []


@pytest.mark.urls("tests.e2e.chart_pages")
def test_where_the_script_does_not_come_the_table_opens(browser: Browser, live_server: object, gallery: int) -> None:
    context = browser.new_context(base_url=getattr(live_server, "url", ""))
    page = context.new_page()
    page.route("**/plotly.min.js*", lambda route: route.abort())
    page.goto("/charts/")
    expect(page.get_by_text("The chart could not be drawn. Its values are in the table below.").first).to_be_visible()
    expect(page.locator(".chart table").first).to_be_visible()
    context.close()


@pytest.mark.urls("tests.e2e.chart_pages")
def test_a_chart_that_is_not_drawn_yet_prints_as_its_values(
    browser: Browser, live_server: object, gallery: int
) -> None:
    context = browser.new_context(base_url=getattr(live_server, "url", ""))
    page = context.new_page()
    # On its way for as long as the test looks.
    page.route("**/plotly.min.js*", lambda route: None)
    page.goto("/charts/", wait_until="domcontentloaded")
    expect(page.locator(".chart details[open]")).to_have_count(0)
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    for table in page.locator(".chart table").all():
        expect(table).to_be_visible()
    assert page.locator(".chart .plot:visible, .chart summary:visible").count() == 0
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    expect(page.locator(".chart details[open]")).to_have_count(0)
    context.close()


@pytest.mark.urls("tests.e2e.chart_pages")
@pytest.mark.parametrize(("width", "scrolls"), [(390, True), (1200, False), (1310, False)])
def test_a_chart_says_that_it_scrolls_where_it_does(
    open_page: OpenPage, show: Callable[[str], None], width: int, scrolls: bool
) -> None:
    show("survival")
    page = open_page("/charts/", width=width)
    drawn(page, "survival")
    box = page.locator(".chart:has([data-name=survival])")
    wider = box.locator(".scroll-x").first.evaluate("e => e.scrollWidth > e.clientWidth")
    assert (wider, box.get_by_text("scroll sideways").is_visible()) == (scrolls, scrolls)


@pytest.mark.urls("tests.e2e.chart_pages")
def test_on_paper_a_drawn_chart_stands_without_its_table(open_page: OpenPage, show: Callable[[str], None]) -> None:
    show("domains")
    page = open_page("/charts/")
    drawn(page, "domains")
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    expect(page.locator("[data-name=domains] .main-svg").first).to_be_visible()
    assert page.locator(".chart table:visible, .chart .wider:visible").count() == 0


def test_the_shipped_styles_are_those_of_the_installed_version(browser: Browser) -> None:
    """They stand in for what plotly.js would write into the page, rule by rule, in its order."""
    page = browser.new_page()
    page.set_content("<div id=chart></div>")
    page.add_script_tag(path=SCRIPT)
    page.evaluate("Plotly.newPlot('chart', [{y: [1, 2]}], {})")
    rules = "sheet => [...sheet.cssRules].map(rule => rule.cssText)"
    written = page.evaluate(f"({rules})(document.getElementById('plotly.js-style-global').sheet)")
    page.add_style_tag(content=SHEET.read_text(encoding="utf-8"))
    shipped = page.evaluate(f"({rules})([...document.styleSheets].at(-1))")
    others = page.evaluate("[...document.querySelectorAll('style[id]')].map(style => style.id)")
    page.close()
    assert shipped == written
    assert len(written) > 50
    assert set(others) == {"plotly.js-style-global", MAP_STYLES}


def test_a_run_shows_its_charts_and_a_bar_leads_to_its_tasks(open_page: OpenPage) -> None:
    run = store(
        [*outcomes("a.py:test_one", "ppp"), *outcomes("a.py:test_two", "pff"), *outcomes("a.py:test_six", "fff")]
    )
    page = open_page(f"/runs/{run.slug}/")
    drawn(page, "distribution")
    drawn(page, "reliability")
    page.mouse.click(*middle(page, "[data-name=distribution] .bars .point path"))
    page.wait_for_url(f"**/runs/{run.slug}/?show=always#tasks")
    expect(page.locator("#tasks tbody tr")).to_have_count(1)
    drawn(page, "reliability")


def test_filtering_the_tasks_leaves_the_charts_alone(open_page: OpenPage) -> None:
    run = store([*outcomes("a.py:test_one", "ppp"), *outcomes("a.py:test_two", "pff")])
    page = open_page(f"/runs/{run.slug}/")
    drawn(page, "distribution")
    page.fill("#find", "two")
    expect(page.locator("#tasks tbody tr")).to_have_count(1)
    drawn(page, "distribution")
    expect(page.locator("[data-name=distribution] .bars .point path")).to_have_count(4)


def test_a_picture_of_the_page_loads_nothing_from_elsewhere(open_page: OpenPage) -> None:
    run = store(outcomes("a.py:test_one", "ppp"))
    page = open_page("/")
    hosts: set[str] = set()
    page.on("request", lambda request: hosts.add(re.sub(r"^(\w+:(?://[^/]*)?).*", r"\1", request.url)))
    page.goto(f"/runs/{run.slug}/")
    drawn(page, "distribution")
    settle(page)
    origin = page.evaluate("location.origin")
    assert hosts <= {origin, "data:", f"blob:{origin}"}
