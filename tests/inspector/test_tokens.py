"""Tokens, and what a request may see and do: by a token, by an account, and where nobody logs in."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import AnonymousUser, User
from django.test import RequestFactory
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings

from inspector.access import access_of
from inspector.models import ApiToken
from inspector.tokens import access_of_token, find_token, make_token, revoke_token
from runs.access import EVERYTHING, NOBODY, Access, Role, Scope
from tests.inspector.server_mode import make_account, turn_login_on

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def server_mode(settings: Settings) -> None:
    turn_login_on(settings)


def asked(user: User | AnonymousUser, **headers: str) -> Access:
    request = RequestFactory().get("/", headers=headers)
    request.user = user
    return access_of(request)


def test_of_a_token_only_a_hash_is_stored() -> None:
    token, text = make_token(make_account("ada", Role.ADMIN), "ci", [Scope.WRITE])
    row = ApiToken.objects.values().get()
    assert (len(text), text[:3], text[3:] in str(row), row["scopes"]) == (46, "tf_", False, ["read", "write"])
    assert find_token(text) == token


@pytest.mark.parametrize("damage", ["tf_", "x", "", "tf_" + "a" * 43, "tf_\x00" + "a" * 42])
def test_what_is_no_token_opens_nothing(damage: str) -> None:
    make_token(make_account("ada", Role.ADMIN), "ci")
    assert find_token(damage) is None


def test_a_token_ends_when_it_is_revoked_expires_or_its_account_is_closed() -> None:
    ada = make_account("ada", Role.ADMIN)
    soon = timezone.now() + timedelta(hours=1)
    texts = [make_token(ada, "ci", expires_at=soon).text for _ in range(3)]
    tokens = list(ApiToken.objects.order_by("pk"))
    assert [find_token(text) is not None for text in texts] == [True, True, True]
    revoke_token(tokens[0])
    ApiToken.objects.filter(pk=tokens[1].pk).update(expires_at=timezone.now())
    assert [find_token(text) is not None for text in texts] == [False, False, True]
    User.objects.update(is_active=False)
    assert find_token(texts[2]) is None


def test_its_last_use_is_written_at_most_once_a_minute(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    _, text = make_token(make_account("ada", Role.ADMIN), "ci")
    with django_assert_num_queries(2):
        find_token(text)
    with django_assert_num_queries(1):
        find_token(text)
    before = timezone.now() - timedelta(minutes=2)
    ApiToken.objects.update(used_at=before)
    with django_assert_num_queries(2):
        find_token(text)
    assert ApiToken.objects.get().used_at > before  # type: ignore[operator]  # it was just used


def test_a_token_may_never_do_more_than_its_account() -> None:
    accounts = {role: make_account(role.value, role) for role in Role}
    texts = {role: make_token(accounts[role], "ci", list(Scope)).text for role in Role}
    found = {role: access_of_token(texts[role]) for role in Role}
    assert found == {
        Role.VIEWER: Access(user=accounts[Role.VIEWER].pk, name="viewer"),
        Role.EVALUATOR: Access(evaluates=True, writes=True, user=accounts[Role.EVALUATOR].pk, name="evaluator"),
        Role.ADMIN: Access(True, True, True, accounts[Role.ADMIN].pk, "admin"),
    }


def test_a_request_is_its_tokens_whoever_is_logged_in() -> None:
    ada = make_account("ada", Role.ADMIN)
    text = make_token(ada, "ci").text
    assert asked(ada).administers
    assert asked(ada, Authorization=f"Bearer {text}") == Access(user=ada.pk, name="ada")
    assert asked(ada, Authorization="Bearer tf_no") == NOBODY
    assert asked(AnonymousUser()) == NOBODY


def test_an_account_without_a_role_is_a_viewer() -> None:
    user = User.objects.create_user("x")
    assert asked(user) == Access(user=user.pk, name="x")


def test_where_nobody_logs_in_everybody_may_do_everything(settings: Settings) -> None:
    settings.AUTH_REQUIRED = False
    assert asked(AnonymousUser(), Authorization="Bearer tf_no") is EVERYTHING


def test_what_a_request_may_is_asked_once(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    text = make_token(make_account("ada", Role.ADMIN), "ci").text
    find_token(text)
    request = RequestFactory().get("/", headers={"Authorization": f"Bearer {text}"})
    with django_assert_num_queries(1):
        assert access_of(request) is access_of(request)
