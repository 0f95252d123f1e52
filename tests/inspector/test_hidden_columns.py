"""What the owner of a leaderboard hid reaches nobody, by whatever page or file."""

from __future__ import annotations

import html
import json
import re
from decimal import Decimal

import pytest
from django.test import Client
from pytest_django import Settings

from inspector.sharing import make_public
from runs.access import EVERYTHING
from runs.boards import Column, Order
from runs.boards.edit import BoardChanges, create_board
from runs.boards.freeze import freeze_board
from runs.costs import Price
from runs.metrics import ErrorRule
from runs.models import Leaderboard, Task
from runs.prices import PricingChoice, create_list, price_run
from tests.inspector.server_mode import turn_login_on
from tests.tallied import tallied_run

pytestmark = pytest.mark.django_db

ALWAYS = 137  # of 211 tasks; 36 more passed once, 38 never
SECRETS: dict[Column, tuple[str, ...]] = {
    Column.DOMAINS: ("Greenhouse", "by_domain", "pass@1 by domain"),
    Column.SOLVED: ("173", "solved_at_least_once", "Breadth and consistency"),
    Column.ALL_K: ("137", "observed_all_k", "pass_hat_k_plug_in", "What of pass@1 survives", "Most dependable"),
    Column.RETENTION: ("88%", "0.8838709677419355", "What of pass@1 survives"),
    Column.ERRORS: ("112", '"errors": 112'),
    Column.COST_PER_SUCCESS: ("$2.72", "cost_per_success"),
    Column.COST_PER_DEPENDABLE: ("$6.16", "cost_per_dependable_task", "Cheapest dependable task"),
    Column.CAMPAIGN: ("844", "$844.00", "cost_campaign", "cost_per_run"),
}
"""Of each column: what tells it, as it is written on a page or in a file."""


@pytest.fixture
def stranger(settings: Settings) -> Client:
    turn_login_on(settings)
    return Client()


def shared_board(
    *columns: Column, order: Order = Order.PASS_AT_1, frozen: bool = False, rule: ErrorRule = ErrorRule.AS_FAILED
) -> Leaderboard:
    letters = ["pp"] * ALWAYS + ["pe"] * 36 + ["ee"] * 38
    ash = tallied_run(
        "ash", {f"t{n}": each for n, each in enumerate(letters)}, domain="Greenhouse", tokens=(1_000_000, 0, 0)
    )
    birch = tallied_run("birch", {f"t{n}": "pf" for n in range(211)}, domain="Greenhouse", tokens=(500_000, 0, 0))
    Task.objects.filter(uid="t0").update(domain="Harbour")
    listed = create_list("Desk", [Price(model=name, input=Decimal(2), output=Decimal(1)) for name in ("ash", "birch")])
    for run in (ash, birch):
        price_run(run, PricingChoice(price_list=listed.pk))
    board = create_board(
        BoardChanges(title="Desk", runs=(ash.slug, birch.slug), columns=columns, k=2, order=order, error_rule=rule),
        access=EVERYTHING,
    )
    if frozen:
        freeze_board(board)
    make_public(board, access=EVERYTHING)
    return board


def all_that_is_told(client: Client, query: str = "") -> str:
    texts = []
    for address in ("share/desk/", "embed/desk/", *(f"share/desk/file/{kind}" for kind in ("csv", "json", "html"))):
        answer = client.get(f"/{address}{query}")
        assert answer.status_code == 200
        texts.append(re.sub(r"<style>.*?</style>", "", html.unescape(answer.content.decode()), flags=re.DOTALL))
    return "\n".join(texts)


def told(text: str, secret: str) -> bool:
    """As a word or a number of its own, not as a part of one."""
    return re.search(rf"(?<![\w.]){re.escape(secret)}(?!\w|\.\d)", text) is not None


def test_what_is_shown_is_told(stranger: Client) -> None:
    shared_board(*Column)
    text = all_that_is_told(stranger)
    assert [secret for secrets in SECRETS.values() for secret in secrets if not told(text, secret)] == []
    assert told(text, "What the money buys")


@pytest.mark.parametrize("query", ["", "?by=cost", "?by=all", "?by=solved"])
@pytest.mark.parametrize("frozen", [False, True])
def test_nothing_of_the_hidden_columns_is_told(stranger: Client, query: str, frozen: bool) -> None:
    shared_board(Column.INTERVAL, frozen=frozen)
    text = all_that_is_told(stranger, query)
    assert [secret for secrets in SECRETS.values() for secret in secrets if told(text, secret)] == []
    assert [word for word in ("$", "What the money buys", "by cost", "Retention", "USD") if word in text] == []
    assert query or "?by=" not in text.replace("?by=pass", "")
    assert "ash is first by pass@1 with 73.5%" in text


@pytest.mark.parametrize("hidden", list(SECRETS))
def test_a_column_that_is_hidden_alone_is_told_nowhere(stranger: Client, hidden: Column) -> None:
    shared_board(*(column for column in Column if column is not hidden))
    text = all_that_is_told(stranger, "?by=cost")
    assert [secret for secret in SECRETS[hidden] if told(text, secret)] == []


def test_a_hidden_number_of_errors_cannot_be_worked_out(stranger: Client) -> None:
    """pass@1 with and without them would tell it."""
    shared_board(*(column for column in Column if column is not Column.ERRORS))
    asked = all_that_is_told(stranger, "?errors=excluded")
    assert asked.replace("errors=excluded&", "").replace("?errors=excluded", "") == all_that_is_told(stranger)
    assert "errors=" not in all_that_is_told(stranger)
    assert "Leave them out" not in all_that_is_told(stranger, "?by=all")


@pytest.mark.parametrize("frozen", [False, True])
def test_where_errors_are_shown_a_reader_may_leave_them_out(stranger: Client, frozen: bool) -> None:
    shared_board(*Column, frozen=frozen)
    text = all_that_is_told(stranger, "?errors=excluded")
    assert "Count them as not passed" in text
    assert text != all_that_is_told(stranger)


def test_a_hidden_number_of_errors_that_the_owner_leaves_out_is_in_no_file(stranger: Client) -> None:
    shared_board(*(column for column in Column if column is not Column.ERRORS), rule=ErrorRule.LEFT_OUT)
    rows = json.loads(stranger.get("/share/desk/file/json").content)["rows"]
    ash = next(row for row in rows if row["model"] == "ash")
    # 310 of 310: 112 of 422 attempts were errors.
    assert (ash["pass_at_1"]["count"], ash["pass_at_1"]["of"], ash.get("errors", "–")) == (
        None, None, "–",
    )  # fmt: skip


def test_a_hidden_interval_is_in_no_file(stranger: Client) -> None:
    shared_board(*(column for column in Column if column is not Column.INTERVAL))
    text = all_that_is_told(stranger)
    assert [word for word in ("pass_at_1.low", '"high"', "task_bootstrap", "task bootstrap") if word in text] == []


def test_the_owners_order_stays_without_its_values(stranger: Client) -> None:
    shared_board(Column.INTERVAL, order=Order.COST)
    text = all_that_is_told(stranger, "?by=all")
    assert "is first by cost per dependable task. 2 models" in text
    assert "$" not in text


def test_the_note_of_a_published_row_tells_no_hidden_count(stranger: Client) -> None:
    make_public(
        create_board(BoardChanges(title="Desk", published=("o3-pro",), columns=(Column.INTERVAL,)), access=EVERYTHING),
        access=EVERYTHING,
    )
    text = all_that_is_told(stranger)
    assert "system errors count as not passed here" in text
    assert not told(text, "636")
