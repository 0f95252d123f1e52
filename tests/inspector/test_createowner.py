"""`createowner`, by hand and from a script."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client
from pytest_django import Settings

from tests.inspector.server_mode import PASSWORD, turn_login_on

pytestmark = pytest.mark.django_db
OTHER = "another long pass phrase"


@pytest.fixture(autouse=True)
def server_mode(settings: Settings) -> None:
    turn_login_on(settings)


def from_script(monkeypatch: pytest.MonkeyPatch, password: str, name: str = "ada") -> str:
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{password}\nmore\n"))
    said = io.StringIO()
    call_command("createowner", name=name, password_stdin=True, stdout=said)
    return said.getvalue()


def answers(*texts: str) -> Callable[..., str]:
    left = list(texts)
    return lambda *arguments: left.pop(0)


def test_an_account_from_a_script_logs_in(monkeypatch: pytest.MonkeyPatch, client: Client) -> None:
    assert from_script(monkeypatch, PASSWORD) == "The account 'ada' was made.\n"
    assert client.post("/login/", {"name": "ada", "password": PASSWORD}).status_code == 303


def test_a_new_password_ends_all_sessions(monkeypatch: pytest.MonkeyPatch, client: Client) -> None:
    from_script(monkeypatch, PASSWORD)
    client.post("/login/", {"name": "ada", "password": PASSWORD})
    assert client.get("/").status_code == 200
    assert "has its new password" in from_script(monkeypatch, OTHER)
    assert client.get("/").status_code == 303
    assert client.post("/login/", {"name": "ada", "password": PASSWORD}).status_code == 422
    assert client.post("/login/", {"name": "ada", "password": OTHER}).status_code == 303
    assert User.objects.count() == 1


def test_by_hand_the_name_and_twice_the_password_are_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("builtins.input", answers(""))
    monkeypatch.setattr("getpass.getpass", answers(PASSWORD, PASSWORD))
    said = io.StringIO()
    call_command("createowner", stdout=said)
    assert (said.getvalue(), User.objects.get().username) == ("The account 'owner' was made.\n", "owner")


def test_in_open_mode_it_says_when_the_account_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    settings.AUTH_REQUIRED = False
    assert "once TWENTYFOLD_AUTH=required is set" in from_script(monkeypatch, PASSWORD)


@pytest.mark.parametrize(
    ("options", "passwords", "sentence"),
    [
        ({"name": "ada"}, (PASSWORD, OTHER), "The two passwords differ. Nothing was changed."),
        ({"name": "ada"}, ("short", "short"), "This password is too short. It must contain at least 12 characters."),
        ({"name": "ada"}, ("123456789012345", "123456789012345"), "This password is entirely numeric."),
        ({"name": "ada-winter-at-depot"}, ("ada-winter-at-depot",) * 2, "The password is too similar to the username."),
        ({"name": "a b"}, (), "Enter a valid username."),
        ({"password_stdin": True}, (), "--password-stdin needs --name too."),
    ],
)
def test_what_is_refused(
    monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], passwords: tuple[str, ...], sentence: str
) -> None:
    monkeypatch.setattr("getpass.getpass", answers(*passwords))
    with pytest.raises(CommandError) as refused:
        call_command("createowner", stdout=io.StringIO(), **options)
    assert (sentence in str(refused.value), refused.value.returncode, User.objects.count()) == (True, 2, 0)
