"""`/account/`, `/accounts/` and `/audit/`: passwords, sessions, tokens, roles, and what is written down about them."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.test import Client
from pytest_django import DjangoAssertNumQueries, Settings

from inspector.audit import Action, note
from inspector.models import Account, ApiToken, AuditEntry
from inspector.tokens import find_token, make_token, revoke_token
from runs.access import EVERYTHING, Role
from tests.inspector.server_mode import PASSWORD, make_account, turn_login_on

pytestmark = pytest.mark.django_db
OTHER = "another long pass phrase"


@pytest.fixture(autouse=True)
def server_mode(settings: Settings) -> None:
    turn_login_on(settings)


def browser(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def ada() -> User:
    return make_account("ada", Role.ADMIN)


@pytest.fixture
def vera() -> User:
    return make_account("vera", Role.VIEWER)


def written() -> list[tuple[str, str, str]]:
    return list(AuditEntry.objects.order_by("pk").values_list("who", "action", "about"))


def test_a_new_password_ends_all_other_sessions(vera: User) -> None:
    here, there, elsewhere = browser(vera), browser(vera), browser(make_account("bob", Role.VIEWER))
    sent = {"old_password": PASSWORD, "new_password1": OTHER, "new_password2": OTHER}
    assert here.post("/account/password/", sent).status_code == 303
    assert [client.get("/account/").status_code for client in (here, there, elsewhere)] == [200, 303, 200]
    assert User.objects.get(pk=vera.pk).check_password(OTHER)
    assert written() == [("vera", "password", "vera")]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"old_password": "wrong"}, "Your old password was entered incorrectly. Please enter it again."),
        ({"new_password2": "something else"}, "The two password fields didn’t match."),
        ({"new_password1": "short", "new_password2": "short"}, "This password is too short."),
    ],
)
def test_a_password_that_is_refused(vera: User, changes: dict[str, str], sentence: str) -> None:
    sent = {"old_password": PASSWORD, "new_password1": OTHER, "new_password2": OTHER} | changes
    answer = browser(vera).post("/account/password/", sent)
    assert (answer.status_code, sentence in answer.content.decode().replace("&#x27;", "'")) == (422, True)
    assert User.objects.get(pk=vera.pk).check_password(PASSWORD)


def test_signing_out_everywhere_leaves_no_session(vera: User, ada: User) -> None:
    here, there, admin = browser(vera), browser(vera), browser(ada)
    assert here.post("/account/sign-out/").headers["Location"] == "/login/"
    assert [client.get("/account/").status_code for client in (here, there, admin)] == [303, 303, 200]
    assert Session.objects.count() == 1
    assert written() == [("vera", "signed_out", "vera")]


def test_a_token_is_shown_once_and_revoked(vera: User) -> None:
    client = browser(vera)
    answer = client.post("/account/tokens/", {"name": "ci", "lasts": "30", "scopes": ["evaluate", "admin"]})
    text = re.findall(r"tf_[\w-]{43}", answer.content.decode())
    token = ApiToken.objects.get()
    assert (answer.status_code, len(text), token.scopes) == (201, 1, ["read"])
    assert find_token(text[0]) == token
    page = client.get("/account/").content.decode()
    assert (text[0] in page, "ci" in page) == (False, True)
    client.post(f"/account/tokens/{token.pk}/revoke/")
    assert find_token(text[0]) is None
    assert written() == [("vera", "token_made", "ci"), ("vera", "token_revoked", "ci")]


def test_a_token_without_a_name_or_an_end_is_refused(vera: User) -> None:
    answer = browser(vera).post("/account/tokens/", {"name": "", "lasts": "3"})
    page = answer.content.decode()
    assert (answer.status_code, "Say what the token is for" in page, "Choose one of these." in page) == (
        422,
        True,
        True,
    )
    assert not ApiToken.objects.exists()


def test_an_admin_makes_an_account_whose_password_is_good_once(ada: User) -> None:
    answer = browser(ada).post("/accounts/", {"name": "bob", "role": "evaluator"})
    given = re.search(r'id="given-password" readonly value="([^"]+)"', answer.content.decode())
    assert given is not None
    bob = User.objects.get(username="bob")
    assert (answer.status_code, bob.account.role, bob.is_superuser) == (201, "evaluator", False)
    client = Client()
    assert client.post("/login/", {"name": "bob", "password": given[1]}).headers["Location"] == "/"
    assert client.get("/").headers["Location"] == "/account/"
    assert "Choose a password of your own." in client.get("/account/").content.decode()
    sent = {"old_password": given[1], "new_password1": OTHER, "new_password2": OTHER}
    assert client.post("/account/password/", sent).status_code == 303
    assert client.get("/failures/").status_code == 200
    assert written() == [("ada", "account_made", "bob"), ("bob", "login", "bob"), ("bob", "password", "bob")]


@pytest.mark.parametrize("name", ["", "ada", "a b"])
def test_a_name_that_cannot_be_an_account(ada: User, name: str) -> None:
    answer = browser(ada).post("/accounts/", {"name": name, "role": "viewer"})
    assert (answer.status_code, User.objects.count(), Account.objects.count()) == (422, 1, 1)


def test_a_role_is_changed_and_holds_at_once(ada: User, vera: User) -> None:
    client = browser(vera)
    assert client.get("/failures/").status_code == 403
    browser(ada).post(f"/accounts/{vera.pk}/", {"do": "role", "role": "evaluator"})
    assert client.get("/failures/").status_code == 200
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.about, entry.details) == ("role", "vera", "from viewer to evaluator")


def test_a_closed_account_is_out_at_once_and_can_be_opened_again(ada: User, vera: User) -> None:
    client, admin = browser(vera), browser(ada)
    admin.post(f"/accounts/{vera.pk}/", {"do": "close"})
    assert client.get("/").status_code == 303
    assert Client().post("/login/", {"name": "vera", "password": PASSWORD}).status_code == 422
    admin.post(f"/accounts/{vera.pk}/", {"do": "open"})
    assert Client().post("/login/", {"name": "vera", "password": PASSWORD}).status_code == 303
    actions = [action for _, action, _ in written()]
    assert actions == ["account_closed", "login_failed", "account_opened", "login"]


@pytest.mark.parametrize("sent", [{"do": "close"}, {"do": "role", "role": "viewer"}])
def test_the_last_admin_stays(ada: User, vera: User, sent: dict[str, str]) -> None:
    answer = browser(ada).post(f"/accounts/{ada.pk}/", sent)
    assert (answer.status_code, "ada is the only admin" in answer.content.decode()) == (409, True)
    ada.refresh_from_db()
    assert (ada.is_active, ada.account.role, AuditEntry.objects.count()) == (True, "admin", 0)


def test_a_new_password_by_an_admin_takes_the_account_back(ada: User, vera: User) -> None:
    """Whoever had it has it no more: neither by a session nor by a token."""
    clients, admin = [browser(vera), browser(vera)], browser(ada)
    revoked = make_token(vera, "old").token
    revoke_token(revoked)
    revoked.refresh_from_db()
    texts, own = [make_token(vera, name).text for name in ("ci", "nightly", "laptop")], make_token(ada, "ci").text
    answer = admin.post(f"/accounts/{vera.pk}/", {"do": "password"})
    page = " ".join(answer.content.decode().split())
    assert "given-password" in page
    assert "2 sessions of the account ended, and 3 tokens of it were revoked." in page
    assert "its sessions end and its tokens are revoked" in page
    assert [client.get("/").status_code for client in clients] == [303, 303]
    assert Account.objects.get(user=vera).password_is_new
    assert [find_token(text) for text in texts] == [None] * 3
    assert [
        Client(headers={"Authorization": f"Bearer {text}"}).get("/api/v1/access").status_code for text in [*texts, own]
    ] == [401, 401, 401, 200]
    # What was revoked before keeps its day, and the admin their own.
    assert ApiToken.objects.get(pk=revoked.pk).revoked_at == revoked.revoked_at
    assert admin.get("/accounts/").status_code == 200
    entry = AuditEntry.objects.get()
    assert (entry.who, entry.action, entry.about, entry.details) == (
        "ada", "password", "vera", "a new one, to be used once; sessions ended: 2; tokens revoked: 3",
    )  # fmt: skip


def test_ones_own_new_password_leaves_the_tokens_and_says_so(vera: User) -> None:
    client, token = browser(vera), make_token(vera, "ci").text
    page = " ".join(client.get("/account/").content.decode().split())
    assert "Tokens stay: revoke above those that somebody else may have." in page
    assert "Sign out everywhere" in page
    sent = {"old_password": PASSWORD, "new_password1": OTHER, "new_password2": OTHER}
    assert client.post("/account/password/", sent).status_code == 303
    assert find_token(token) is not None
    assert client.post("/account/sign-out/").status_code == 303
    assert find_token(token) is not None


def test_a_failed_login_keeps_no_name_that_no_account_has(vera: User) -> None:
    for name in ("vera", "my secret password"):
        Client().post("/login/", {"name": name, "password": "x"})
    assert written() == [("somebody", "login_failed", "vera"), ("somebody", "login_failed", "")]


def test_the_log_is_filtered_and_taken_away(ada: User, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    client = browser(ada)
    note(EVERYTHING, Action.RUN_DELETED, "a-run", "=1+1")
    note(EVERYTHING, Action.SHARED, "a-board")
    page = client.get("/audit/").content.decode()
    assert ("a-run" in page, "a-board" in page) == (True, True)
    page = client.get("/audit/?action=shared&who=machine").content.decode()
    assert ("a-run" in page, "a-board" in page) == (False, True)
    lines = b"".join(client.get("/audit/log.csv?action=run_deleted")).decode().splitlines()
    assert [line.partition(",")[2] for line in lines] == [
        "who,action,about,details",
        "this machine,run_deleted,a-run,'=1+1",
    ]
    for _ in range(2):
        with django_assert_num_queries(5):
            client.get("/audit/")
        note(EVERYTHING, Action.SHARED, "more")


def test_an_entry_is_never_changed_or_deleted() -> None:
    note(EVERYTHING, Action.SHARED, "a-board")
    entry = AuditEntry.objects.get()
    for change in (
        entry.save,
        entry.delete,
        AuditEntry.objects.all().delete,
        lambda: AuditEntry.objects.update(about="x"),
    ):
        with pytest.raises(TypeError):
            change()
    assert AuditEntry.objects.get().about == "a-board"


def test_the_list_of_accounts_costs_the_same_for_three_as_for_one(
    ada: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    client = browser(ada)
    with django_assert_num_queries(4):
        client.get("/accounts/")
    make_account("bob", Role.VIEWER)
    User.objects.create_user("without-a-role")
    with django_assert_num_queries(4):
        client.get("/accounts/")


def test_where_nobody_logs_in_there_are_no_accounts(settings: Settings, client: Client) -> None:
    settings.AUTH_REQUIRED = False
    settings.MIDDLEWARE = [name for name in settings.MIDDLEWARE if name not in settings.LOGIN_MIDDLEWARE]
    assert [client.get(path).status_code for path in ("/account/", "/accounts/", "/audit/")] == [404, 404, 200]
