"""`/api/v1/leaderboards`, `/published` and `/price-lists`."""

from __future__ import annotations

from decimal import Decimal

from runs.access import EVERYTHING
from runs.boards.reference import make_reference
from runs.costs import Price
from runs.prices import add_version, create_list
from runs.published import THINKINGBOX_BENCH_RESULTS
from runs.queries.leaderboards import board_page
from runs.queries.prices import price_page
from tests.inspector.api.conftest import Get


def test_a_leaderboard_is_what_its_page_shows(db: None, get: Get) -> None:
    board = make_reference()
    page = board_page(board.slug, access=EVERYTHING)
    assert [link["slug"] for link in get("/leaderboards")["items"]] == [board.slug]
    found = get(f"/leaderboards/{board.slug}")
    rows = [row for section in found["board"]["sections"] for row in section["rows"]]
    assert [(row["name"], row["position"], row["pass_at_1"]["value"], row["money"]["campaign"]) for row in rows] == [
        (row.name, row.position, row.pass_at_1.value, None if (c := row.money.campaign) is None else str(c))
        for row in page.board.rows
    ]
    assert get(f"/leaderboards/{board.slug}", weights="open", fields="view")["view"]["weights"] == "open"
    assert get("/leaderboards/none", 404)["status"] == 404


def test_the_published_rows(db: None, get: Get) -> None:
    found = get("/published")
    assert [row["name"] for row in found["models"]] == [row.name for row in THINKINGBOX_BENCH_RESULTS.models]


def test_price_lists_and_their_versions(db: None, get: Get) -> None:
    prices = [Price(model="birch", input=Decimal("1.25"), output=Decimal(10))]
    made = create_list("Own", prices)
    add_version(made.slug, [Price(model="birch", input=Decimal(1), output=Decimal(9))], based_on=1, note="lower")
    assert [(row["slug"], row["version"]) for row in get("/price-lists")["items"]] == [("own", 2)]
    page = price_page("own", 1, access=EVERYTHING)
    found = get("/price-lists/own/1")
    assert (found["version"], found["is_newest"], found["prices"][0]["model"]) == (1, page.is_newest, "birch")
    assert get("/price-lists/own")["version"] == 2
    assert get("/price-lists/own/3", 404)["status"] == 404
