"""Figures as drawings for a file: whole, in the theme's colours, and with every text escaped."""

from __future__ import annotations

import re
from collections.abc import Callable
from xml.etree import ElementTree

import pytest
from django.test import Client

from inspector.charts.data import BoardRow, Chart
from inspector.charts.leaderboard import breadth_consistency, cost_dependable, cost_success, domain_heat, survival
from inspector.charts.svg import drawing
from runs.access import EVERYTHING
from runs.boards.edit import BoardChanges, create_board
from runs.boards.reference import REFERENCE_SLUG
from tests.chart_rows import K, measured_row, published_rows, with_standings

SVG = "{http://www.w3.org/2000/svg}"
Make = Callable[[list[BoardRow], int], Chart]
CHARTS: list[Make] = [breadth_consistency, survival, cost_success, cost_dependable, domain_heat]
EVIL = '</svg><script>alert("1")</script>&amp;'


def drawn(chart: Chart, label: str = "A chart") -> ElementTree.Element:
    assert chart.figure is not None
    return ElementTree.fromstring(drawing(chart.figure, label).replace("<svg ", f'<svg xmlns="{SVG[1:-1]}" ', 1))


def texts(picture: ElementTree.Element) -> list[str]:
    return ["".join(text.itertext()) for text in picture.iter(f"{SVG}text")]


@pytest.mark.parametrize("make", CHARTS)
def test_a_drawing_is_whole_and_lies_within_its_frame(make: Make) -> None:
    chart = make(with_standings([*published_rows(), measured_row()]), K)
    assert chart.figure is not None
    picture = drawn(chart)
    _, _, width, height = map(float, picture.attrib["viewBox"].split())
    assert (width, height) == (560, chart.figure["layout"]["height"])
    for place in [each for text in picture.iter(f"{SVG}text") for each in [(text.attrib["x"], text.attrib["y"])]]:
        assert (0 <= float(place[0]) <= width, 0 <= float(place[1]) <= height) == (True, True)
    ends = [re.findall(r"-?[\d.]+", path.attrib["d"]) for path in picture.iter(f"{SVG}path")]
    assert all(-1 <= float(x) <= width + 1 for way in ends for x in way[::2])
    assert all(-1 <= float(y) <= height + 1 for way in ends for y in way[1::2])
    title = chart.figure["layout"]["xaxis"].get("title", {}).get("text")
    assert title is None or title in texts(picture)


@pytest.mark.parametrize("make", CHARTS)
def test_colours_follow_the_theme_and_nothing_is_loaded(make: Make) -> None:
    chart = make(with_standings([*published_rows(), measured_row()]), K)
    picture = drawn(chart)
    colours = {part.attrib[name] for part in picture.iter() for name in ("fill", "stroke") if name in part.attrib}
    mixed = {colour for colour in colours if colour.startswith("color-mix(")}
    assert [c for c in colours - mixed - {"none"} if re.fullmatch(r"var\(--[a-z0-9-]+\)", c) is None] == []
    assert {name for part in picture.iter() for name in part.attrib} & {"style", "href", "class", "onload"} == {"class"}
    assert [part for part in picture.iter() if part.tag.removeprefix(SVG) in {"script", "image", "style", "a"}] == []


@pytest.mark.parametrize("make", CHARTS)
def test_a_name_stays_a_text(make: Make) -> None:
    picture = drawn(make(with_standings([measured_row(name=EVIL), measured_row(name="oak")]), K), EVIL)
    assert picture.attrib["aria-label"] == EVIL
    assert any(EVIL[:20] in text for text in texts(picture)) or make is not survival


def test_points_bars_and_cells_are_where_their_values_are() -> None:
    rows = with_standings([measured_row(), *published_rows()[:1]])
    heat = drawn(domain_heat(rows, K))
    assert [text for text in texts(heat) if text == "74.3"] == ["74.3"]
    assert len(list(heat.iter(f"{SVG}rect"))) == 5 * 3
    bars = [float(bar.attrib["width"]) for bar in drawn(survival(rows[:1], K)).iter(f"{SVG}rect")]
    assert bars[1] / bars[0] == pytest.approx(123 / 507 / 0.638, abs=0.01)
    points = drawn(cost_success(rows[:1], K)).iter(f"{SVG}circle")
    assert any("cost per success $0.115" in "".join(point.itertext()) for point in points)


@pytest.mark.django_db
def test_the_file_holds_the_charts_of_its_page_and_no_script(client: Client) -> None:
    page = client.get(f"/leaderboards/{REFERENCE_SLUG}/").content.decode()
    text = client.get(f"/leaderboards/{REFERENCE_SLUG}/file/html").content.decode()
    titles = re.compile(r'<h2 id="chart-[a-z-]+-title">(.*?)</h2>')
    assert titles.findall(text) == titles.findall(page)
    assert (text.count('<svg class="drawing"'), "<script" in text, "src=" in text) == (5, False, False)
    some = client.get(f"/leaderboards/{REFERENCE_SLUG}/file/html?charts=50").content.decode()
    assert "Left out, 10 models under 50% pass@1" in some
    create_board(BoardChanges(title="Bare", published=("GPT-5.4", "o3-pro"), columns=()), access=EVERYTHING)
    assert '<svg class="drawing"' not in client.get("/leaderboards/bare/file/html").content.decode()
