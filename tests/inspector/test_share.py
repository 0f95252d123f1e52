"""What a stranger with a share link can see of a server, by whatever address: the leaderboard, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import pytest
from django.http.response import HttpResponseBase
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from inspector.models import Share
from inspector.sharing import make_public, renew_link, share_by_link, token_of, withdraw
from runs.access import EVERYTHING
from runs.boards.edit import BoardChanges, create_board
from runs.boards.freeze import freeze_board
from runs.models import Attempt, Leaderboard, Run
from tests.factories import SERVER, make_row, state_hash
from tests.inspector.server_mode import make_owner, routes, turn_login_on
from tests.stored import upload_of

pytestmark = pytest.mark.django_db

GOLDEN = "golden-returned-4711"
PRIVATE = "private-context-4712"
SAID = "said-by-the-agent-4713"
RECORD = "record-before-4714"
CHECK = "check-text-4715"
NOTE = "note-of-the-run-4716"
FILE = "file-name-4717"
OTHER = "other-board-4718"
ELSEWHERE = "other-model-4719"
TOOL_DATA = "tool-response-4720"
CLOSED = (GOLDEN, PRIVATE, SAID, RECORD, CHECK, NOTE, FILE, OTHER, ELSEWHERE, TOOL_DATA)
"""Texts that stand in traces, states, checks, other leaderboards and the like."""


class Server(NamedTuple):
    run: Run
    attempt: Attempt
    upload: int
    shared: Leaderboard
    other: Leaderboard


def golden_row(repetition: int) -> dict[str, Any]:
    """A failed attempt whose closed parts each hold a text of their own."""
    row = make_row(repetition=repetition)
    effects = row["test_context"]["effects"][SERVER]
    before, after, required = (effects[f"{name}_db_state"] for name in ("initial", "result", "golden"))
    required["rentals"][0]["status"] = GOLDEN
    for state in (before, after, required):
        state["customers"][0]["name"] = RECORD
    effects["golden_db_hash"], effects["result_db_hash"] = state_hash(required), state_hash(after)
    effects["diff"][0]["golden"] = GOLDEN
    row["messages"][-1]["content"] = f"{SAID} <DONE>"
    row["messages"][5]["content"] = f'{{"rentals": [{{"id": 7, "item": "{TOOL_DATA}"}}]}}'
    row["test_result"]["tb"] = f"AssertionError: {CHECK}"
    row["user_llm_history"] = [[{"role": "user", "content": PRIVATE}]]
    return row


@pytest.fixture
def server() -> Server:
    upload = upload_of([golden_row(0), golden_row(1)], file_name=f"{FILE}.jsonl")
    run, elsewhere = upload.run, upload_of([golden_row(0)], model=ELSEWHERE).run
    assert run is not None
    assert elsewhere is not None
    Run.objects.filter(pk=run.pk).update(note=NOTE)
    shared = create_board(
        BoardChanges(
            title="Refund desk", text="Which model to take.", runs=(run.slug,), published=("GPT-5.4", "Kimi-K3")
        ),
        access=EVERYTHING,
    )
    other = create_board(BoardChanges(title=OTHER, runs=(elsewhere.slug,), published=("GPT-5.4",)), access=EVERYTHING)
    attempt = Attempt.objects.filter(run=run)[0]
    return Server(Run.objects.get(pk=run.pk), attempt, upload.pk, shared, other)


@pytest.fixture
def stranger(settings: Settings) -> Client:
    turn_login_on(settings)
    return Client(enforce_csrf_checks=True)


@pytest.fixture
def owner(stranger: Client) -> Client:
    client = Client()
    client.force_login(make_owner())
    return client


def link(share: Share) -> str:
    token = token_of(share)
    assert token is not None
    return token


def every_address(server: Server, *tokens: str) -> Iterator[str]:
    """Every route with the ids of real data in it; where a route takes several, with each."""
    boards = [server.shared.slug, server.other.slug]
    runs = list(Run.objects.values_list("slug", flat=True))
    choices: dict[tuple[str, str], list[str]] = {
        ("runs", "slug"): runs,
        ("runs", "uid"): [server.attempt.task.uid],
        ("attempts", "pk"): [str(pk) for pk in Attempt.objects.values_list("pk", flat=True)],
        ("attempts", "step"): [str(number) for number in range(1, 10)],
        ("attempts", "number"): ["0", "1", "2"],
        ("attempts", "side"): ["before", "after", "required"],
        ("uploads", "pk"): [str(server.upload)],
        ("leaderboards", "slug"): boards,
        ("leaderboards", "kind"): ["csv", "json", "html"],
        ("prices", "slug"): ["list"],
        ("prices", "version"): ["1"],
        ("share", "address"): [*tokens, *boards, *runs],
        ("share", "kind"): ["csv", "json", "html"],
        ("embed", "address"): [*tokens, *boards, *runs],
    }
    by_kind = {
        "int": choices["attempts", "pk"],
        "slug": [*boards, *runs],
        "uid": choices["runs", "uid"],
        "str": [*runs, "a"],
    }
    for _, pattern in routes():
        first = pattern.split("/")[1]
        made = [pattern]
        for whole, kind, parameter in re.findall(r"(<([^:>]+):([^>]+)>)", pattern):
            values = choices.get((first, parameter), by_kind[kind])
            made = [address.replace(whole, value) for address in made for value in values]
        yield from made


QUERIES = ("", "?tab=checks", "?tab=task", "?tab=raw", "?effects=all&unchanged=1")
MORE_QUERIES = (
    *QUERIES, "?recompute=1", "?by=all&errors=excluded", "?next=/runs/", "?format=json", "?text=payload", "?links=1",
    "?table=customers&server=rental_desk", "?page=2",
)  # fmt: skip


def text_of(answer: HttpResponseBase) -> str:
    """Body and headers."""
    body = b"".join(answer) if answer.streaming else answer.content  # type: ignore[attr-defined]
    return body.decode(errors="replace") + repr(dict(answer.headers))


def found_in(
    client: Client, addresses: Iterable[str], queries: Iterable[str] = MORE_QUERIES, **headers: str
) -> dict[str, set[str]]:
    """Closed text → the addresses whose answers hold it, but for what the address itself says."""
    found: dict[str, set[str]] = {}
    for address in addresses:
        for query in queries:
            text = text_of(client.get(address + query, headers=headers))
            for closed in CLOSED:
                if closed in text and closed not in address:
                    found.setdefault(closed, set()).add(address)
    return found


def test_a_stranger_with_a_link_sees_the_leaderboard_and_nothing_that_is_closed(
    server: Server, owner: Client, stranger: Client
) -> None:
    token = link(share_by_link(server.shared, None, access=EVERYTHING))
    addresses = list(dict.fromkeys(every_address(server, token)))
    assert set(found_in(owner, addresses, QUERIES)) == set(CLOSED)

    page = stranger.get(f"/share/{token}/")
    text = page.content.decode()
    assert (page.status_code, "Refund desk" in text, "birch" in text, "Kimi-K3" in text) == (200, True, True, True)
    assert found_in(stranger, addresses) == {}
    assert found_in(stranger, addresses, QUERIES, **{"HX-Request": "true"}) == {}

    opened = {address for address in addresses if stranger.get(address).status_code == 200}
    files = {f"/share/{token}/file/{kind}" for kind in ("csv", "json", "html")}
    assert opened == {
        "/healthz",
        "/login/",
        f"/share/{token}/",
        f"/share/{token}/preview.png",
        f"/embed/{token}/",
        *files,
    }


def test_in_open_mode_a_share_shows_no_more_than_in_server_mode(server: Server, client: Client) -> None:
    token = link(share_by_link(server.shared, None, access=EVERYTHING))
    shared = [address for address in every_address(server, token) if address.startswith(("/share/", "/embed/"))]
    assert found_in(client, shared) == {}


def test_the_owner_sees_the_shared_page_as_everybody_does(server: Server, owner: Client, stranger: Client) -> None:
    token = link(share_by_link(server.shared, None, access=EVERYTHING))
    for address in (f"/share/{token}/", f"/embed/{token}/", f"/share/{token}/file/json", f"/share/{token}/file/csv"):
        assert owner.get(address).content == stranger.get(address).content


@pytest.mark.parametrize("frozen", [False, True])
@pytest.mark.parametrize("public", [False, True])
def test_no_link_of_a_shared_page_leads_into_closed_ones(
    server: Server, stranger: Client, public: bool, frozen: bool
) -> None:
    if frozen:
        freeze_board(server.shared)
    share = (
        make_public(server.shared, access=EVERYTHING)
        if public
        else share_by_link(server.shared, None, access=EVERYTHING)
    )
    at = server.shared.slug if public else link(share)
    for address in (f"/share/{at}/", f"/embed/{at}/", f"/share/{at}/file/html"):
        text = text_of(stranger.get(address))
        assert server.run.slug not in text
        leads = set(re.findall(r'(?:href|src|action|data-[a-z-]+|content)="(?:http://testserver)?(/[^"]*)"', text))
        own = ("/static/", f"/share/{at}/", f"/embed/{at}/")
        assert {lead for lead in leads if not lead.startswith(own)} == set()
        assert {lead: stranger.get(lead).status_code for lead in leads} == dict.fromkeys(leads, 200)


def test_the_files_hold_what_the_page_shows(server: Server, owner: Client, stranger: Client) -> None:
    token = link(share_by_link(server.shared, None, access=EVERYTHING))
    for query in ("", "?by=all", "?published=no"):
        for kind in ("csv", "json"):
            ours = stranger.get(f"/share/{token}/file/{kind}{query}").content
            assert ours == owner.get(f"/leaderboards/{server.shared.slug}/file/{kind}{query}").content
    assert b"Kimi-K3" not in stranger.get(f"/share/{token}/file/csv?published=no").content


@pytest.mark.parametrize(
    "path", ["/share/{}/", "/embed/{}/", "/share/{}/file/csv", "/share/{}/file/html", "/share/{}/preview.png"]
)
def test_a_link_that_opens_nothing_answers_like_one_that_never_was(server: Server, stranger: Client, path: str) -> None:
    share = share_by_link(server.shared, None, access=EVERYTHING)
    old = link(share)
    assert stranger.get(path.format(old)).status_code == 200
    never = stranger.get(path.format("A" * 32))
    answers = [never]
    renew_link(server.shared, access=EVERYTHING)
    answers.append(stranger.get(path.format(old)))
    share.refresh_from_db()
    newer = link(share)
    Share.objects.update(expires_at=timezone.now())
    answers.append(stranger.get(path.format(newer)))
    withdraw(server.shared, access=EVERYTHING)
    answers.append(stranger.get(path.format(newer)))
    answers.append(stranger.get(path.format(server.shared.slug)))
    assert [answer.status_code for answer in answers] == [404] * 5
    assert {(answer.content, repr(sorted(answer.headers.items()))) for answer in answers} == {
        (never.content, repr(sorted(never.headers.items())))
    }


def test_the_login_page_names_public_leaderboards_only(server: Server, stranger: Client) -> None:
    def named() -> list[str]:
        return re.findall(r'href="(/share/[^"]+)"', stranger.get("/login/").content.decode())

    share_by_link(server.shared, None, access=EVERYTHING)
    assert named() == []
    make_public(server.shared, access=EVERYTHING)
    assert named() == ["/share/refund-desk/"]
    share_by_link(server.shared, None, access=EVERYTHING)
    assert named() == []


def test_the_owners_page_says_who_else_reads_it(server: Server, owner: Client) -> None:
    def said() -> list[str]:
        page = owner.get(f"/leaderboards/{server.shared.slug}/").content.decode()
        return re.findall(r'<a class="tag noprint" href="[^"]+">([^<]+)</a>', page)

    found = [said()]
    share_by_link(server.shared, None, access=EVERYTHING)
    found.append(said())
    make_public(server.shared, access=EVERYTHING)
    found.append(said())
    share_by_link(server.shared, timezone.now(), access=EVERYTHING)
    found.append(said())
    assert found == [[], ["shared by link"], ["public"], ["link has ended"]]


def test_headers_of_a_shared_page(server: Server, stranger: Client) -> None:
    token = link(share_by_link(server.shared, None, access=EVERYTHING))
    by_link = stranger.get(f"/share/{token}/")
    make_public(server.shared, access=EVERYTHING)
    public = stranger.get(f"/share/{server.shared.slug}/")
    names = ("Referrer-Policy", "X-Robots-Tag", "Cache-Control", "X-Frame-Options", "Vary")
    shown = [[answer.headers.get(name) for name in names] for answer in (by_link, public)]
    assert shown == [
        ["no-referrer", "noindex, nofollow, noarchive", "private, no-store", "DENY", "Accept-Encoding"],
        ["no-referrer", None, "private, no-store", "DENY", "Accept-Encoding"],
    ]
    assert ("noindex" in by_link.content.decode(), "noindex" in public.content.decode()) == (True, False)
    assert [dict(answer.cookies) for answer in (by_link, public)] == [{}, {}]


def ancestors(answer: HttpResponseBase) -> tuple[str, str | None]:
    policy = answer.headers["Content-Security-Policy"]
    return policy.partition("frame-ancestors ")[2], answer.headers.get("X-Frame-Options")


def test_only_the_embedded_page_may_stand_in_another_sites_page(server: Server, owner: Client) -> None:
    token = link(share_by_link(server.shared, None, access=EVERYTHING))
    framed = {
        address: ancestors(owner.get(address))
        for address in every_address(server, token)
        if not address.startswith("/embed/")
    }
    assert set(framed.values()) == {("'none'", "DENY")}
    inside = owner.get(f"/embed/{token}/")
    assert (ancestors(inside), ancestors(owner.get("/embed/none/"))) == (("*", None), ("*", None))
    before = [part for part in inside.headers["Content-Security-Policy"].split("; ") if "frame-ancestors" not in part]
    assert before == [
        part for part in owner.get("/").headers["Content-Security-Policy"].split("; ") if "frame-ancestors" not in part
    ]


def test_a_shared_page_takes_nothing_in(server: Server, stranger: Client) -> None:
    token = link(share_by_link(server.shared, None, access=EVERYTHING))
    for address in (f"/share/{token}/", f"/embed/{token}/", f"/share/{token}/file/csv"):
        assert {getattr(stranger, method)(address).status_code for method in ("post", "put", "delete")} <= {403, 405}


def test_a_shared_page_is_previewed_by_its_title_and_picture(server: Server, stranger: Client) -> None:
    token = link(share_by_link(server.shared, None, access=EVERYTHING))
    text = stranger.get(f"/share/{token}/").content.decode()
    shown = dict(re.findall(r'<meta (?:property|name)="(og:[a-z:]+)" content="([^"]*)"', text))
    assert (shown["og:title"], shown["og:image"]) == (
        "Refund desk",
        f"http://testserver/share/{token}/preview.png",
    )
    picture = stranger.get(f"/share/{token}/preview.png")
    assert (picture.headers["Content-Type"], picture.content[:8]) == ("image/png", b"\x89PNG\r\n\x1a\n")
