"""Server mode: nothing is answered to who is not logged in, but the few views that are marked as open."""

from __future__ import annotations

import pytest
from django.http import HttpRequest, HttpResponse
from django.test import Client
from django.urls import path
from pytest_django import Settings

from inspector import urls
from inspector.wall import way_back
from tests.inspector.server_mode import addresses, make_owner, routes, turn_login_on

OPEN = {"healthz", "login", "share", "share_file", "share_picture", "embed"}
"""Names of the routes that ask for no account."""


def unmarked(request: HttpRequest) -> HttpResponse:
    return HttpResponse("a page whose author thought of nothing")


# A page that a later change adds.
urlpatterns = [path("later/", unmarked), *urls.urlpatterns]
handler400, handler403, handler404, handler500 = urls.handler400, urls.handler403, urls.handler404, urls.handler500


@pytest.fixture
def stranger(settings: Settings) -> Client:
    """Somebody without an account, in server mode."""
    turn_login_on(settings)
    return Client(enforce_csrf_checks=True)


@pytest.fixture
def owner(stranger: Client) -> Client:
    client = Client()
    client.force_login(make_owner())
    return client


def is_api(pattern: str) -> bool:
    """Whether programs are answered there, who are told to send a token and not led to the login."""
    return pattern.replace("^", "").startswith("/api/") and pattern != "/api/v1/docs"


@pytest.mark.django_db
@pytest.mark.parametrize("method", ["get", "head", "post", "put", "delete", "options"])
def test_the_api_tells_a_stranger_nothing(stranger: Client, method: str) -> None:
    answers = {
        pattern: (answer.status_code, answer.headers["Content-Type"], answer.has_header("Location"))
        for pattern, address in addresses().items()
        if is_api(pattern)
        for answer in [getattr(stranger, method)(address)]
    }
    refused = {(status, "application/problem+json", False) for status in (401, 403, 404, 405)}
    assert set(answers.values()) <= refused
    assert len(answers) > 40


@pytest.mark.django_db
@pytest.mark.parametrize("method", ["get", "head", "post", "put", "delete", "options"])
def test_every_route_leads_a_stranger_to_the_login(stranger: Client, method: str) -> None:
    closed = {pattern for name, pattern in routes() if name not in OPEN and not is_api(pattern)}
    answers = {
        pattern: (answer.status_code, answer.headers["Location"].partition("?")[0], answer.content)
        for pattern, address in addresses().items()
        if pattern in closed
        for answer in [getattr(stranger, method)(address)]
    }
    assert answers == dict.fromkeys(closed, (303, "/login/", b""))
    assert len(closed) > 15


@pytest.mark.django_db
@pytest.mark.parametrize("address", ["/share/a-token", "/embed/a-token?by=all", "/share/no-such-token"])
def test_a_link_without_its_last_slash_goes_where_it_should(stranger: Client, address: str) -> None:
    answer = stranger.get(address)
    path, _, query = address.partition("?")
    assert (answer.status_code, answer.headers["Location"]) == (301, f"{path}/?{query}".rstrip("?"))
    assert stranger.get(answer.headers["Location"]).status_code == 404


@pytest.mark.django_db
@pytest.mark.parametrize("address", ["/runs/birch", "/leaderboards/a", "/share", "/share/a-token/file", "/no-such"])
def test_a_closed_page_without_its_last_slash_stays_closed(stranger: Client, address: str) -> None:
    answer = stranger.get(address)
    assert (answer.status_code, answer.headers["Location"].partition("?")[0]) == (303, "/login/")


@pytest.mark.django_db
@pytest.mark.urls("tests.inspector.test_wall")
@pytest.mark.parametrize("address", ["/later/", "/no-such-page/", "/static/none.css", "/admin/", "/runs/%00/", "//x/"])
def test_what_nobody_thought_of_is_closed(stranger: Client, address: str) -> None:
    answer = stranger.get(address)
    assert (answer.status_code, answer.headers["Location"].partition("?")[0]) == (303, "/login/")


@pytest.mark.django_db
def test_what_is_open(stranger: Client) -> None:
    assert [stranger.get(address).status_code for address in ("/healthz", "/login/", "/static/css/base.css")] == [
        200
    ] * 3


@pytest.mark.django_db
def test_the_owner_sees_pages_which_no_cache_keeps(owner: Client) -> None:
    answer = owner.get("/")
    assert (answer.status_code, "Log out" in answer.content.decode()) == (200, True)
    assert answer.headers["Cache-Control"] == "private, no-store"
    assert owner.get("/no-such-page/").status_code == 404


@pytest.mark.django_db
def test_the_way_to_the_login_keeps_the_page(stranger: Client) -> None:
    assert (
        stranger.get("/uploads/?page=2&a=b c").headers["Location"] == "/login/?next=/uploads/%3Fpage%3D2%26a%3Db%2520c"
    )
    assert stranger.get("/").headers["Location"] == "/login/"
    assert stranger.post("/uploads/").headers["Location"] == "/login/"


@pytest.mark.django_db
def test_htmx_loads_the_login_as_a_page_of_its_own(stranger: Client) -> None:
    headers = {"HX-Request": "true", "HX-Current-URL": "http://testserver/runs/birch/?q=a"}
    answer = stranger.get("/runs/birch/?q=ab", headers=headers)
    assert (answer.status_code, answer.content, answer.headers["HX-Redirect"]) == (
        401,
        b"",
        "/login/?next=/runs/birch/%3Fq%3Da",
    )
    elsewhere = stranger.post("/uploads/", headers={**headers, "HX-Current-URL": "https://evil.example.com/x"})
    assert elsewhere.headers["HX-Redirect"] == "/login/?next=/x"


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ("/uploads/?page=2", "/uploads/?page=2"),
        ("/runs/birch/tasks/a%20b.py:t/", "/runs/birch/tasks/a%20b.py:t/"),
        ("/", "/"),
        ("", "/"),
        ("//evil.example.com/", "/"),
        ("///evil.example.com/", "/"),
        ("/\\evil.example.com/", "/"),
        ("/\\/evil.example.com/", "/"),
        ("https://evil.example.com/", "/"),
        ("http:///evil.example.com/", "/"),
        ("javascript:alert(1)", "/"),
        ("\t//evil.example.com/", "/"),
        ("/\t/evil.example.com/", "/"),
        ("/uploads/\r\nX: y", "/"),
        ("/login/?next=/", "/"),
        ("/logout/", "/"),
        ("/no-such-page/", "/"),
        ("uploads/", "/"),
        ("/[", "/"),
        ("//[", "/"),
    ],
)
def test_the_way_back_stays_on_this_site(wanted: str, expected: str) -> None:
    assert way_back(wanted) == expected


@pytest.mark.django_db
def test_open_mode_has_no_session_and_no_login(client: Client) -> None:
    answer = client.get("/")
    assert (answer.status_code, "Log out" in answer.content.decode()) == (200, False)
    assert sorted(answer.cookies) == ["twentyfold_csrf"]
    assert (client.get("/login/").status_code, client.post("/logout/").status_code) == (404, 404)
