"""Who a share opens for, until when, and what it shows; and the page on which its owner says so."""

from __future__ import annotations

import html
import math
import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings

from inspector.models import Share
from inspector.sharing import (
    EVERY_PART,
    Part,
    find_share,
    make_public,
    renew_link,
    seen,
    share_by_link,
    token_of,
    visible_parts,
    withdraw,
)
from runs.access import EVERYTHING
from runs.boards.edit import BoardChanges, create_board
from runs.boards.freeze import freeze_board
from runs.models import Leaderboard
from runs.queries.leaderboards import page_of
from tests.inspector.server_mode import make_owner, turn_login_on
from tests.stored import outcomes, store

NOW = timezone.now()
SECOND = timedelta(seconds=1)
UID = "rental_desk_group1.py:test_return_001"


def board(title: str = "Depot") -> Leaderboard:
    return create_board(BoardChanges(title=title, published=("GPT-5.4", "Kimi-K3")), access=EVERYTHING)


def token(share: Share) -> str:
    found = token_of(share)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("share", "parts"),
    [
        (None, EVERY_PART),
        (Share(), {Part.SCORES}),
        (Share(expires_at=NOW + SECOND), {Part.SCORES}),
        (Share(expires_at=NOW), set()),
        (Share(expires_at=NOW - SECOND), set()),
        (Share(public=True), {Part.SCORES, Part.LISTED}),
        (Share(public=True, expires_at=NOW - SECOND), {Part.SCORES, Part.LISTED}),
    ],
)
def test_what_is_visible(share: Share | None, parts: set[Part]) -> None:
    assert visible_parts(share, NOW) == parts


def test_no_share_tells_the_runs() -> None:
    shares = [Share(public=public, expires_at=end) for public in (False, True) for end in (None, NOW, NOW + SECOND)]
    assert [Part.RUNS in visible_parts(share, NOW) for share in shares] == [False] * 6


@pytest.mark.django_db
def test_what_is_seen_of_a_board_names_no_run() -> None:
    run = store(outcomes(UID, "pfe"))
    page = page_of(
        create_board(BoardChanges(title="Depot", runs=(run.slug,), published=("GPT-5.4",)), access=EVERYTHING),
        access=EVERYTHING,
    )
    assert seen(page, EVERY_PART) == page
    assert {row.slug for row in page.board.rows} == {run.slug, ""}
    shown = seen(page, frozenset({Part.SCORES}))
    assert {row.slug for row in shown.board.rows} == {""}
    assert [row.pass_at_1 for row in shown.board.rows] == [row.pass_at_1 for row in page.board.rows]


@pytest.mark.django_db
def test_a_link_opens_its_own_board_only() -> None:
    first, second = board("One"), board("Two")
    by_first, by_second = share_by_link(first, None, access=EVERYTHING), share_by_link(second, None, access=EVERYTHING)
    assert find_share(token(by_first)) == by_first
    assert find_share(token(by_second)) == by_second
    for address in (
        "",
        "one",
        "One",
        token(by_first)[:-1],
        token(by_first).swapcase(),
        by_first.token_hash,
        "\0",
        "é" * 999,
    ):
        assert find_share(address) is None


@pytest.mark.django_db
def test_a_token_cannot_be_guessed_and_is_not_stored() -> None:
    tokens = [token(share_by_link(board(f"Board {number}"), None, access=EVERYTHING)) for number in range(50)]
    assert len(set(tokens)) == 50
    assert [re.fullmatch(r"[A-Za-z0-9_-]{32}", one) is not None for one in tokens] == [True] * 50
    assert 32 * math.log2(64) >= 128
    with connection.cursor() as cursor:
        cursor.execute("SELECT * FROM inspector_share")
        stored = repr(cursor.fetchall())
    assert [one for one in tokens if one in stored] == []


@pytest.mark.django_db
def test_a_link_ends() -> None:
    share = share_by_link(board(), timezone.now() + timedelta(hours=1), access=EVERYTHING)
    assert find_share(token(share)) == share
    Share.objects.update(expires_at=timezone.now())
    assert find_share(token(share)) is None
    share_by_link(share.leaderboard, None, access=EVERYTHING)
    assert find_share(token(share)) == share


@pytest.mark.django_db
def test_a_renewed_link_replaces_the_old_one() -> None:
    share = share_by_link(board(), None, access=EVERYTHING)
    old = token(share)
    renew_link(share.leaderboard, access=EVERYTHING)
    share.refresh_from_db()
    assert (find_share(old), find_share(token(share)), token(share) == old) == (None, share, False)


@pytest.mark.django_db
def test_a_withdrawn_link_opens_nothing_even_when_shared_again() -> None:
    share = share_by_link(board(), None, access=EVERYTHING)
    old = token(share)
    withdraw(share.leaderboard, access=EVERYTHING)
    assert (find_share(old), Share.objects.count()) == (None, 0)
    again = share_by_link(share.leaderboard, None, access=EVERYTHING)
    assert (find_share(old), find_share(token(again))) == (None, again)


@pytest.mark.django_db
def test_a_public_board_is_found_by_its_name_and_by_an_old_link() -> None:
    share = share_by_link(board(), timezone.now() + SECOND, access=EVERYTHING)
    old = token(share)
    assert find_share("depot") is None
    public = make_public(share.leaderboard, access=EVERYTHING)
    assert [find_share(address) for address in ("depot", old, "Depot")] == [public, public, None]
    assert share_by_link(share.leaderboard, None, access=EVERYTHING) == share
    assert (find_share("depot"), find_share(old)) == (None, share)


@pytest.mark.django_db
def test_sharing_goes_with_the_board() -> None:
    share = make_public(board(), access=EVERYTHING)
    share.leaderboard.delete()
    assert (Share.objects.count(), find_share("depot"), find_share(token(share))) == (0, None, None)


@pytest.mark.django_db
def test_one_query_finds_it_or_not(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    share = share_by_link(board(), None, access=EVERYTHING)
    for address in (token(share), "unknown"):
        with django_assert_num_queries(1):
            find_share(address)


@pytest.mark.django_db
def test_with_another_secret_key_a_link_works_and_cannot_be_shown(settings: Settings) -> None:
    share = share_by_link(board(), None, access=EVERYTHING)
    link = token(share)
    settings.SECRET_KEY = "another key that has at least fifty characters in it, as asked for"
    assert (token_of(share), find_share(link)) == (None, share)


@pytest.mark.django_db
def test_renewing_what_is_not_shared_shares_nothing() -> None:
    renew_link(board(), access=EVERYTHING)
    assert Share.objects.count() == 0


def shown_link(client: Client) -> str | None:
    found = re.search(r'id="share-link" readonly value="([^"]+)"', client.get(ADDRESS).content.decode())
    return found[1] if found else None


ADDRESS = "/leaderboards/depot/sharing/"


@pytest.mark.django_db
def test_the_owner_shares_renews_and_withdraws(client: Client) -> None:
    board()
    assert shown_link(client) is None
    answer = client.post(ADDRESS, {"audience": "link", "lasts": "30"})
    assert (answer.status_code, answer.headers["Location"]) == (303, ADDRESS)
    share = Share.objects.get()
    assert share.expires_at is not None
    assert timedelta(days=29, hours=23) < share.expires_at - timezone.now() <= timedelta(days=30)
    first = shown_link(client)
    assert first == f"http://testserver/share/{token_of(share)}/"
    client.post(ADDRESS, {"audience": "link", "lasts": "keep"})
    assert (shown_link(client), Share.objects.get().expires_at) == (first, share.expires_at)
    client.post(f"{ADDRESS}renew/")
    second = shown_link(client)
    assert second not in {first, None}
    client.post(ADDRESS, {"audience": "public"})
    assert shown_link(client) == "http://testserver/share/depot/"
    client.post(ADDRESS, {"audience": "link", "lasts": "never"})
    assert (shown_link(client), Share.objects.get().expires_at) == (second, None)
    client.post(ADDRESS, {"audience": "private"})
    assert (shown_link(client), Share.objects.count()) == (None, 0)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("form", "sentence"),
    [
        ({}, "Choose who may read it."),
        ({"audience": "nobody"}, "Choose who may read it."),
        ({"audience": "link", "lasts": "-1"}, "Choose one of these."),
    ],
)
def test_what_is_not_understood_changes_nothing(client: Client, form: dict[str, str], sentence: str) -> None:
    board()
    answer = client.post(ADDRESS, form)
    assert (answer.status_code, sentence in answer.content.decode(), Share.objects.count()) == (422, True, 0)


@pytest.mark.django_db
def test_an_ended_link_is_said_to_be_one(client: Client) -> None:
    share_by_link(board(), timezone.now(), access=EVERYTHING)
    page = client.get(ADDRESS).content.decode()
    assert ("opens nothing" in page, "&lt;iframe" in page) == (True, False)


@pytest.mark.django_db
def test_what_to_embed_is_shown(client: Client) -> None:
    share = share_by_link(board('A "title"'), None, access=EVERYTHING)
    page = client.get("/leaderboards/a-title/sharing/").content.decode()
    shown = re.search(r'id="share-embed"[^>]*>([^<]+)</textarea>', page)
    assert shown is not None
    assert html.unescape(shown[1]) == (
        f'<iframe src="http://testserver/embed/{token_of(share)}/" title="A &quot;title&quot;" width="100%" '
        'height="720" loading="lazy"></iframe>'
    )


HERE_ONLY = "This server answers this machine only"
OWN_NAME = "Open it under the server's own name"


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("host", "login", "said"),
    [
        ("localhost:8000", False, {HERE_ONLY}),
        ("127.0.0.1:8000", False, {HERE_ONLY}),
        ("[::1]:8000", False, {HERE_ONLY}),
        ("localhost", True, {OWN_NAME}),
        ("evals.example.com", True, set()),
    ],
)
def test_an_address_for_this_machine_alone_is_said_to_be_one(
    client: Client, settings: Settings, host: str, login: bool, said: set[str]
) -> None:
    settings.ALLOWED_HOSTS = ["localhost", "127.0.0.1", "[::1]", "evals.example.com"]
    if login:
        turn_login_on(settings)
        client.force_login(make_owner())
    share_by_link(board(), None, access=EVERYTHING)
    page = client.get(ADDRESS, headers={"host": host}).content.decode()
    assert {sentence for sentence in (HERE_ONLY, OWN_NAME) if sentence in page} == said


@pytest.mark.django_db
def test_a_live_board_is_said_to_follow_its_runs(client: Client) -> None:
    shared = board()
    assert "It is live" in client.get(ADDRESS).content.decode()
    freeze_board(shared)
    assert "It is live" not in client.get(ADDRESS).content.decode()


@pytest.mark.django_db
def test_only_forms_of_this_site_share() -> None:
    board()
    client = Client(enforce_csrf_checks=True)
    answers = [client.post(ADDRESS, {"audience": "public"}), client.post(f"{ADDRESS}renew/")]
    assert ([answer.status_code for answer in answers], Share.objects.count()) == ([403, 403], 0)


@pytest.mark.django_db
def test_what_is_not_there_cannot_be_shared(client: Client) -> None:
    assert [client.get(ADDRESS).status_code, client.post(f"{ADDRESS}renew/").status_code] == [404, 404]
