from __future__ import annotations

import csv
import io
import json
import re
from decimal import Decimal
from html.parser import HTMLParser

import pytest
from django.test import Client
from django.urls import reverse
from PIL import Image

from inspector.board_picture import board_line
from inspector.filters import board_view
from runs.access import EVERYTHING
from runs.boards import BoardView, Column, Order
from runs.boards.edit import BoardChanges, BoardError, create_board
from runs.boards.gather import board_now
from runs.boards.reference import REFERENCE_SLUG, make_reference
from runs.costs import Price
from runs.editing import delete_run
from runs.metrics import ErrorRule
from runs.models import Leaderboard, LeaderboardFreeze
from runs.prices import PricingChoice, create_list, price_run
from tests.tallied import tallied_run

pytestmark = pytest.mark.django_db
HOSTILE = '=<script>alert("1")</script> {{ 7|add:7 }} \u202eevil'


@pytest.fixture
def board() -> Leaderboard:
    """Two runs, one of them priced, beside one published row."""
    ash = tallied_run("ash", {"a": "pp", "b": "pe"}, weights="open", domain="Retail", tokens=(1_000_000, 0, 0))
    birch = tallied_run("birch", {"a": "pf", "b": "ff"}, weights="proprietary", domain="Retail")
    listed = create_list("Desk", [Price(model="ash", input=Decimal(2), output=Decimal(1))])
    price_run(ash, PricingChoice(price_list=listed.pk))
    return create_board(
        BoardChanges(
            title="Desk",
            text="For a desk.",
            runs=(ash.slug, birch.slug),
            published=("o3-pro",),
            columns=tuple(Column),
        ),
        access=EVERYTHING,
    )


def text_of(client: Client, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200
    return " ".join(answer.content.decode().split())


def test_the_board_shows_rows_intervals_costs_and_its_method(client: Client, board: Leaderboard) -> None:
    text = text_of(client, "/leaderboards/desk/")
    assert "<h1><bdi>Desk</bdi></h1>" in text
    assert "For a desk." in text
    assert f'<a class="quiet" href="{reverse("run", args=["desk-ash"])}"><bdi>ash</bdi></a>' in text
    assert '<span class="tag own">this server</span>' in text
    assert 'title="published, not measured here">published</span>' in text
    assert "$8.00" in text  # four million tokens at 2, of one dependable task
    assert "No price list is chosen for this run." in text
    assert "<b>Ranks</b> go by pass@1." in text
    assert text.count('class="whisk') == 4  # the scale and three rows


def test_every_row_that_was_published_says_so(client: Client) -> None:
    make_reference()
    text = text_of(client, f"/leaderboards/{REFERENCE_SLUG}/")
    assert text.count('title="published, not measured here">published</span>') == 18
    assert "this server</span>" not in text
    assert "&amp;#x27;" not in text


def test_the_switches_are_in_the_address(client: Client, board: Leaderboard) -> None:
    assert "Rank by pass@1</a>" in text_of(client, "/leaderboards/desk/")
    by_cost = text_of(client, "/leaderboards/desk/?by=cost")
    assert 'by=cost" aria-current="true">Cost per dependable task</a>' in by_cost
    assert "No interval is made of a cost" in by_cost
    assert "o3-pro" not in text_of(client, "/leaderboards/desk/?published=no")
    assert "<bdi>birch</bdi>" not in text_of(client, "/leaderboards/desk/?weights=open")
    counted = '<td class="num p1">75.0</td>'
    left_out = '<td class="num p1">100.0</td>'
    assert counted in text_of(client, "/leaderboards/desk/")
    switched = text_of(client, "/leaderboards/desk/?errors=excluded")
    assert left_out in switched
    assert counted not in switched
    assert "System errors are left out of pass@1." in switched


def test_models_are_left_out_of_the_charts_by_the_address(client: Client) -> None:
    make_reference()
    whole = text_of(client, f"/leaderboards/{REFERENCE_SLUG}/")
    part = text_of(client, f"/leaderboards/{REFERENCE_SLUG}/?charts=25")
    assert 'aria-current="true">All</a><a href="?charts=10#charts">from 10% pass@1</a>' in whole
    assert 'href="?charts=25#charts" aria-current="true">from 25% pass@1</a>' in part
    left_out = "Left out, 4 models under 25% pass@1: o3-pro, Grok-4.3, Qwen3.5-9B, Mistral-Large-3."
    assert (whole.count(left_out), part.count(left_out)) == (0, 5)
    assert "Mistral-Large-3" in part.split('id="charts"')[0]  # the ranking keeps all
    assert text_of(client, f"/leaderboards/{REFERENCE_SLUG}/?charts=26").count("Left out,") == 0


def test_runs_of_other_tasks_are_named(client: Client, board: Leaderboard) -> None:
    text = text_of(client, "/leaderboards/desk/")
    assert "not all rows are of the same 507 tasks" in text
    assert "<b>Rows of different tasks.</b>" in text
    assert "Most dependable" not in text
    assert "(ash: 2; birch: 2)" in text
    assert "not all rows are of" not in text_of(client, "/leaderboards/desk/?published=no")


def test_rows_of_different_tasks_are_not_said_to_be_of_one_number(client: Client, board: Leaderboard) -> None:
    text = text_of(client, "/leaderboards/desk/")
    assert "<span>rows of different tasks, <b>20</b> repetitions</span>" in text
    assert text.count("3 models, rows of different tasks, 20 repetitions.") == 3  # description, preview, picture
    assert (text.count("pass@1 by domain</"), "Mean of the models" in text, "Means are over" in text) == (
        1,
        False,
        False,
    )
    assert (
        board_line(board_now(board, access=EVERYTHING))
        == "rows of different tasks, 20 repetitions, 3 models, by pass@1"
    )
    alike = text_of(client, "/leaderboards/desk/?published=no")
    assert "<span><b>2</b> tasks" in alike
    assert "2 models, 2 tasks, 20 repetitions." in alike


def test_the_best_of_a_domain_stands_out(client: Client) -> None:
    make_reference()
    text = text_of(client, f"/leaderboards/{REFERENCE_SLUG}/")
    assert re.findall(r'<span class="h\d strong">([\d.]+)</span>', text) == ["68.4", "71.2", "66.2", "68.1", "82.2"]


def test_an_address_with_other_words_is_as_good_as_none(client: Client, board: Leaderboard, rf) -> None:  # type: ignore[no-untyped-def]
    query = rf.get("/?by=all&errors=excluded&weights=open&published=no").GET
    assert board_view(query) == BoardView(
        order=Order.ALL_K, error_rule=ErrorRule.LEFT_OUT, weights="open", with_published=False
    )
    assert board_view(rf.get("/?by=x&errors=y&weights=z&published=maybe").GET) == BoardView()
    assert "<bdi>ash</bdi>" in text_of(client, "/leaderboards/desk/?by=%00&x=%3Cscript%3E")


def test_the_order_of_requests_never_mixes_boards_up(client: Client, board: Leaderboard) -> None:
    other = create_board(BoardChanges(title="Other", text="Another text.", runs=("desk-ash",)), access=EVERYTHING)
    for _ in range(2):
        assert "For a desk." in text_of(client, "/leaderboards/desk/")
        assert "Another text." in text_of(client, other.get_absolute_url())
    Leaderboard.objects.filter(pk=board.pk).update(text="Newer.")
    assert "Newer." in text_of(client, "/leaderboards/desk/")


def test_hostile_names_are_text_everywhere(client: Client) -> None:
    run = tallied_run("x", {"a": "pf"})
    type(run).objects.filter(pk=run.pk).update(model=HOSTILE)
    create_board(BoardChanges(title=HOSTILE, text=HOSTILE, runs=(run.slug,), published=("o3-pro",)), access=EVERYTHING)
    slug = Leaderboard.objects.latest("pk").slug
    pages = [f"/leaderboards/{slug}/", f"/leaderboards/{slug}/edit/", f"/leaderboards/{slug}/delete/", "/leaderboards/"]
    for address in [*pages, f"/leaderboards/{slug}/file/html"]:
        text = client.get(address).content.decode()
        assert "<script>alert" not in text
        assert "&lt;script&gt;alert" in text
        assert "{{ 7|add:7 }}" in text
        assert "⟨U+202E⟩evil" in text or "edit" in address
    (row, _) = csv.DictReader(io.StringIO(client.get(f"/leaderboards/{slug}/file/csv").content.decode()))
    assert row["model"] == f"'{HOSTILE}"
    assert client.get(f"/leaderboards/{slug}/preview.png").status_code == 200


def test_the_files_hold_the_same_values(client: Client, board: Leaderboard) -> None:
    answer = client.get("/leaderboards/desk/file/json")
    assert answer.headers["Content-Disposition"] == 'attachment; filename="desk.json"'
    document = json.loads(answer.content)
    rows = {row["model"]: row for row in document["rows"]}
    assert (document["title"], document["k"], document["ranked_by"], document["frozen_at"]) == (
        "Desk",
        20,
        "pass@1",
        None,
    )
    assert rows["ash"]["origin"] == "measured here"
    assert rows["o3-pro"]["origin"] == "published, not measured here"
    assert (rows["ash"]["pass_at_1"]["count"], rows["ash"]["pass_at_1"]["of"]) == (3, 4)
    assert rows["birch"]["cost_per_success"] is None
    lines = {
        line["model"]: line
        for line in csv.DictReader(io.StringIO(client.get("/leaderboards/desk/file/csv").content.decode()))
    }
    assert [lines[name]["rank"] for name in ("ash", "birch", "o3-pro")] == [
        str(rows[name]["rank"]) for name in ("ash", "birch", "o3-pro")
    ]
    assert lines["ash"]["pass_at_1.share"] == "0.75"
    assert (lines["ash"]["cost_per_success"], lines["birch"]["cost_per_success"]) == (
        rows["ash"]["cost_per_success"],
        "",
    )
    assert client.get("/leaderboards/desk/file/xml").status_code == 404


def test_a_file_tells_no_cost_that_the_page_does_not_show(client: Client, board: Leaderboard) -> None:
    create_board(BoardChanges(title="Plain", runs=("desk-ash",), columns=(Column.SOLVED,)), access=EVERYTHING)
    for kind in ("csv", "json", "html"):
        text = client.get(f"/leaderboards/plain/file/{kind}").content.decode()
        assert "cost" not in text.lower().replace("cost per", "cost") or kind == "html"
        assert "$8" not in text
        assert "8.00" not in text
    assert "$8.00" not in text_of(client, "/leaderboards/plain/")


class _Loads(HTMLParser):
    """What a document would load, and what it links to."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        self.found += [(tag, name) for name in ("src", "href", "action", "srcset", "style") if name in named]
        self.found += [(tag, name) for name in named if name.startswith(("on", "hx-"))]
        if tag in {"script", "link", "iframe", "object", "form", "img", "button", "input"}:
            self.found.append((tag, ""))


def test_the_one_file_needs_nothing_and_leads_nowhere(client: Client, board: Leaderboard) -> None:
    answer = client.get("/leaderboards/desk/file/html?by=all")
    assert answer.headers["Content-Disposition"] == 'attachment; filename="desk.html"'
    text = answer.content.decode()
    reader = _Loads()
    reader.feed(text)
    assert reader.found == []
    assert re.findall(r"url\(|@import", text) == []
    assert "<bdi>ash</bdi>" in text
    assert "passed 20 of 20" in text
    assert "desk-ash" not in text, "the address of a run"


def test_a_link_preview_says_what_the_page_says(client: Client, board: Leaderboard) -> None:
    text = text_of(client, "/leaderboards/desk/")
    assert '<meta property="og:title" content="Desk">' in text
    described = re.search(r'<meta property="og:description" content="([^"]*)">', text)
    assert described is not None
    assert described[1].startswith("ash is first by pass@1 with 75.0%")
    assert '<meta property="og:image" content="http://testserver/leaderboards/desk/preview.png">' in text
    answer = client.get("/leaderboards/desk/preview.png")
    assert answer.headers["Content-Type"] == "image/png"
    with Image.open(io.BytesIO(answer.content)) as image:
        assert image.size == (1200, 630)
        assert len(image.getcolors(maxcolors=1 << 20) or []) > 3, "something is drawn"


def test_a_board_is_made_and_edited_by_its_form(client: Client) -> None:
    tallied_run("ash", {"a": "pp"})
    assert 'value="desk-ash" checked' in text_of(client, "/leaderboards/new/?run=desk-ash")
    facts = {
        "title": "Mine",
        "runs": ["desk-ash"],
        "columns": ["solved", "all_k"],
        "order": "all_k",
        "error_rule": "excluded",
    }
    answer = client.post("/leaderboards/new/", facts)
    assert (answer.status_code, answer.headers["Location"]) == (303, "/leaderboards/mine/")
    stored = Leaderboard.objects.get(slug="mine")
    assert (stored.order, stored.error_rule, stored.columns, stored.k) == (
        "all_k",
        "excluded",
        ["solved", "all_k"],
        None,
    )
    answer = client.post(
        "/leaderboards/mine/edit/", facts | {"title": "Ours", "published": ["o3-pro"], "k": "5", "by_weights": "on"}
    )
    assert answer.status_code == 303
    stored.refresh_from_db()
    assert (stored.slug, stored.title, stored.published, stored.k, stored.by_weights) == (
        "mine",
        "Ours",
        ["o3-pro"],
        5,
        True,
    )


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"title": ""}, "The leaderboard has no title."),
        ({"runs": []}, "The leaderboard has no row."),
        ({"k": "0"}, "Give at least 1"),
        ({"k": "many"}, "This is not a whole number."),
        ({"price_list": "7"}, "7 is none of the choices."),
        ({"order": "luck"}, "luck is none of the choices."),
    ],
)
def test_a_form_that_cannot_be_is_given_back_with_the_reason(
    client: Client, changes: dict[str, object], says: str
) -> None:
    tallied_run("ash", {"a": "pp"})
    facts = {"title": "Mine", "runs": ["desk-ash"], "order": "all_k", "error_rule": "failed"}
    answer = client.post("/leaderboards/new/", facts | changes)
    assert answer.status_code == 422
    assert says in answer.content.decode()
    assert not Leaderboard.objects.filter(slug="mine").exists()


def test_a_run_that_was_deleted_meanwhile_is_named_and_the_rest_stays_chosen(client: Client) -> None:
    tallied_run("ash", {"a": "pp"})
    gone = tallied_run("birch", {"a": "pp"})
    delete_run(gone)
    facts = {"title": "Mine", "runs": ["desk-ash", "desk-birch"], "order": "all_k", "error_rule": "failed"}
    answer = client.post("/leaderboards/new/", facts)
    text = answer.content.decode()
    assert (answer.status_code, Leaderboard.objects.filter(slug="mine").exists()) == (422, False)
    assert "There is no run desk-birch on this server." in text
    assert re.findall(r'name="runs" value="([^"]+)" checked', text) == ["desk-ash"]
    assert client.post("/leaderboards/new/", facts | {"runs": ["desk-ash"]}).status_code == 303
    answer = client.post("/leaderboards/mine/edit/", facts | {"runs": ["nope"]})
    assert (answer.status_code, "There is no run nope on this server." in answer.content.decode()) == (422, True)
    with pytest.raises(BoardError, match="There is no run nope on this server"):
        create_board(BoardChanges(title="Other", runs=("desk-ash", "nope")), access=EVERYTHING)
    assert not Leaderboard.objects.filter(slug="other").exists()


def test_freezing_recomputing_and_making_live_again(client: Client, board: Leaderboard) -> None:
    assert client.get("/leaderboards/desk/freeze/").status_code == 405
    assert client.post("/leaderboards/desk/freeze/").status_code == 303
    before = text_of(client, "/leaderboards/desk/")
    assert "the counts of every task, prices and error rule are kept here" in before
    assert 'href="/leaderboards/desk/edit/"' not in before
    same = text_of(client, "/leaderboards/desk/?recompute=1")
    assert same.count("Nothing is different.") == 2
    facts = {"title": "Mine", "published": ["o3-pro"], "order": "all_k", "error_rule": "failed"}
    refused = client.post("/leaderboards/desk/edit/", facts)
    assert (refused.status_code, "The leaderboard is frozen" in refused.content.decode()) == (422, True)
    for entry in board.entries.select_related("run"):
        delete_run(entry.run)
    table = re.compile(r"<table class=\"data lb\">.*?</table>", re.DOTALL)
    again = text_of(client, "/leaderboards/desk/")
    linked = re.compile(r'<a class="quiet" href="/runs/[^"]*">(.*?)</a>')
    assert "/runs/desk-ash/" in before
    assert table.findall(again) == [linked.sub(r"\1", found) for found in table.findall(before)]
    assert "/runs/desk-" not in again, "a link, or where a click in a chart leads"
    tallied_run("ash", {"a": "ff"})
    assert "/runs/desk-" not in text_of(client, "/leaderboards/desk/"), "another run under the same address"
    gone = text_of(client, "/leaderboards/desk/?recompute=1")
    assert "2 runs of it are no longer stored: desk-ash, desk-birch" in gone
    assert client.post("/leaderboards/desk/unfreeze/").status_code == 303
    assert not LeaderboardFreeze.objects.exists()
    assert "<bdi>ash</bdi>" not in text_of(client, "/leaderboards/desk/")


def test_a_board_is_deleted_after_asking_and_its_runs_stay(client: Client, board: Leaderboard) -> None:
    assert "Runs and price lists stay." in text_of(client, "/leaderboards/desk/delete/")
    assert Leaderboard.objects.filter(pk=board.pk).exists()
    answer = client.post("/leaderboards/desk/delete/")
    assert (answer.status_code, answer.headers["Location"]) == (303, "/leaderboards/")
    assert not Leaderboard.objects.filter(pk=board.pk).exists()
    assert client.get("/runs/desk-ash/").status_code == 200


def test_the_published_board_can_be_brought_back(client: Client) -> None:
    Leaderboard.objects.all().delete()
    assert "No leaderboard is stored." in text_of(client, "/leaderboards/")
    answer = client.post("/leaderboards/published/")
    assert answer.headers["Location"] == f"/leaderboards/{REFERENCE_SLUG}/"
    assert "published, not measured here" in text_of(client, "/leaderboards/")


@pytest.mark.parametrize("address", ["", "edit/", "delete/", "file/csv", "preview.png"])
def test_an_unknown_board_is_not_found(client: Client, address: str) -> None:
    assert client.get(f"/leaderboards/nothing/{address}").status_code == 404


def test_a_board_without_a_row_says_so(client: Client) -> None:
    run = tallied_run("ash", {"a": "pp"})
    create_board(BoardChanges(title="Empty", runs=(run.slug,)), access=EVERYTHING)
    delete_run(run)
    assert "The leaderboard has no row" in text_of(client, "/leaderboards/empty/")
    for kind in ("csv", "json", "html"):
        assert client.get(f"/leaderboards/empty/file/{kind}").status_code == 200
    assert client.get("/leaderboards/empty/preview.png").status_code == 200
