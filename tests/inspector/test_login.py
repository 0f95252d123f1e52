"""Logging in and out, and guessing at it."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from inspector.accounts import KNOWN_COOKIE, MOST_TRIES, MOST_TRIES_AT_A_NAME, WINDOW
from inspector.models import LoginTry
from tests.inspector.server_mode import PASSWORD, make_owner, turn_login_on

pytestmark = pytest.mark.django_db
WRONG = "The name or the password is wrong."


@pytest.fixture(autouse=True)
def server_mode(settings: Settings) -> None:
    turn_login_on(settings)


@pytest.fixture
def ada() -> User:
    return make_owner("ada")


def try_it(client: Client, name: str = "ada", password: str = PASSWORD, **more: str) -> int:
    address = more.pop("address", "192.0.2.1")
    return client.post("/login/", {"name": name, "password": password, **more}, REMOTE_ADDR=address).status_code


def test_in_and_out_again(client: Client, ada: User) -> None:
    answer = client.post("/login/", {"name": " ada ", "password": PASSWORD, "next": "/uploads/?page=2"})
    assert (answer.status_code, answer.headers["Location"]) == (303, "/uploads/?page=2")
    assert client.get("/uploads/").status_code == 200
    assert client.get("/login/?next=/uploads/").headers["Location"] == "/uploads/"
    stolen = client.cookies["twentyfold_session"].value
    assert client.get("/logout/").status_code == 405
    assert client.post("/logout/").headers["Location"] == "/login/"
    client.cookies["twentyfold_session"] = stolen
    assert client.get("/uploads/").status_code == 303


def test_the_session_is_a_new_one_and_its_cookie_out_of_reach(client: Client, ada: User) -> None:
    client.cookies["twentyfold_session"] = "a" * 32
    assert try_it(client) == 303
    cookie = client.cookies["twentyfold_session"]
    assert (cookie.value == "a" * 32, cookie["httponly"], cookie["samesite"], cookie["max-age"]) == (
        False,
        True,
        "Lax",
        14 * 24 * 3600,
    )


def test_old_sessions_are_removed(client: Client, ada: User) -> None:
    Session.objects.create(session_key="old", session_data="", expire_date=timezone.now() - timedelta(days=1))
    try_it(client)
    assert Session.objects.count() == 1


@pytest.mark.parametrize(
    ("name", "password", "sentence"),
    [
        ("ada", "wrong", WRONG),
        ("nobody", PASSWORD, WRONG),
        ("", PASSWORD, "Give the account's name."),
        ("ada", "", "Give the account's password."),
        ("a" * 151, PASSWORD, "This is longer than 150 characters. Shorten it."),
        ("ada\0", PASSWORD, "Null characters are not allowed."),
    ],
)
def test_what_is_not_let_in(client: Client, ada: User, name: str, password: str, sentence: str) -> None:
    answer = client.post("/login/", {"name": name, "password": password, "next": "/uploads/"})
    text = answer.content.decode()
    assert (answer.status_code, sentence.replace("'", "&#x27;") in text, "twentyfold_session" in answer.cookies) == (
        422,
        True,
        False,
    )
    assert ('name="next" value="/uploads/"' in text, PASSWORD in text) == (True, False)


def test_an_account_that_was_closed(client: Client, ada: User) -> None:
    User.objects.update(is_active=False)
    assert try_it(client) == 422


def test_the_form_needs_its_token(ada: User) -> None:
    client = Client(enforce_csrf_checks=True)
    form = {"name": "ada", "password": PASSWORD}
    assert client.post("/login/", form).status_code == 403
    token = re.findall(r'name="csrfmiddlewaretoken" value="([^"]+)"', client.get("/login/").content.decode())[0]
    assert client.post("/login/", {**form, "csrfmiddlewaretoken": token}).status_code == 303
    assert client.post("/logout/").status_code == 403
    assert client.get("/uploads/").status_code == 200


@pytest.mark.parametrize(
    "wanted", ["https://evil.example.com/", "//evil.example.com/", "/\\evil.example.com", "/logout/"]
)
def test_no_link_to_the_login_leads_elsewhere(client: Client, ada: User, wanted: str) -> None:
    page = client.get("/login/", {"next": wanted}).content.decode()
    assert 'name="next" value="/"' in page
    answer = client.post(f"/login/?next={wanted}", {"name": "ada", "password": PASSWORD, "next": wanted})
    assert answer.headers["Location"] == "/"


def test_another_host_name_is_refused(client: Client, ada: User) -> None:
    for address in ("/login/", "/healthz", "/"):
        assert client.get(address, headers={"host": "evil.example.com"}).status_code == 400


def test_without_any_account_the_page_says_how_to_make_one(client: Client) -> None:
    assert "No account exists yet." in client.get("/login/").content.decode()
    make_owner()
    assert "No account exists yet." not in client.get("/login/").content.decode()


def test_guessing_from_one_address_comes_to_an_end(client: Client, ada: User) -> None:
    assert [try_it(client, password="wrong") for _ in range(MOST_TRIES)] == [422] * MOST_TRIES
    answer = client.post("/login/", {"name": "ada", "password": PASSWORD}, REMOTE_ADDR="192.0.2.1")
    assert (answer.status_code, answer.headers["Retry-After"]) == (429, "900")
    assert "Too many tries failed. Try again in 15 minutes." in answer.content.decode()
    assert try_it(client, name="somebody-else") == 429
    assert try_it(client, address="192.0.2.2") == 303
    LoginTry.objects.update(at=timezone.now() - WINDOW)
    assert try_it(client) == 303


def test_refused_tries_do_not_prolong_the_wait(client: Client, ada: User) -> None:
    for _ in range(MOST_TRIES):
        try_it(client, password="wrong")
    LoginTry.objects.update(at=timezone.now() - WINDOW + timedelta(minutes=1))
    answer = client.post("/login/", {"name": "ada", "password": PASSWORD}, REMOTE_ADDR="192.0.2.1")
    assert (answer.status_code, answer.headers["Retry-After"]) == (429, "60")
    assert LoginTry.objects.filter(at__gt=timezone.now() - timedelta(minutes=1)).count() == 0


def test_guessing_at_one_account_from_many_addresses_comes_to_an_end(client: Client, ada: User) -> None:
    for number in range(MOST_TRIES_AT_A_NAME):
        assert try_it(client, password="wrong", address=f"192.0.2.{number}") == 422
    assert try_it(client, address="198.51.100.1") == 429
    assert try_it(client, name="other", address="198.51.100.1") == 422


def test_strangers_do_not_lock_out_who_was_logged_in_before(ada: User) -> None:
    owner, stranger = Client(), Client()
    assert try_it(owner) == 303
    owner.post("/logout/")
    for number in range(MOST_TRIES_AT_A_NAME):
        try_it(stranger, password="wrong", address=f"192.0.2.{number % 3}")
    assert (try_it(stranger), try_it(owner)) == (429, 303)
    # The mark is signed, and good for its account alone.
    stranger.cookies[KNOWN_COOKIE] = "made-up"
    assert try_it(stranger) == 429
    make_owner("bob")
    stranger.cookies[KNOWN_COOKIE] = owner.cookies[KNOWN_COOKIE].value
    assert try_it(stranger, name="bob", password="wrong") == 429


def test_a_known_browser_may_not_guess_for_ever_either(ada: User) -> None:
    client = Client()
    try_it(client)
    client.post("/logout/")
    assert [try_it(client, password="wrong") for _ in range(MOST_TRIES)] == [422] * MOST_TRIES
    assert try_it(client) == 429


def test_a_right_password_is_no_failed_try(client: Client, ada: User) -> None:
    for _ in range(MOST_TRIES + 1):
        assert try_it(Client()) == 303
    assert LoginTry.objects.count() == 0


def test_neither_names_nor_addresses_are_kept_in_the_clear(client: Client, ada: User) -> None:
    try_it(client, password="wrong")
    assert [re.fullmatch("[0-9a-f]{64}", one.key) is not None for one in LoginTry.objects.all()] == [True, True]
