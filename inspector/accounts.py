"""Accounts of server mode: making, changing and closing them, and checking a password, with a brake on guessing."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from datetime import datetime, timedelta
from typing import NamedTuple

from django.contrib.auth import SESSION_KEY, authenticate
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.core import signing
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone

from inspector.audit import Action, note
from inspector.models import Account, LoginTry
from inspector.tokens import revoke_tokens
from runs.access import Access, Role

WINDOW = timedelta(minutes=15)
MOST_TRIES = 10
"""How many may fail in a window from one address, or from one browser that logged in before."""
MOST_TRIES_AT_A_NAME = 30
"""How many may fail in a window at one account, from all addresses together."""

KNOWN_COOKIE = "twentyfold_known"
KNOWN_AGE = timedelta(days=180)
_KNOWN_SALT = "inspector.accounts"


class LastAdmin(Exception):
    """Nobody would be left to look after the accounts. The message is a sentence."""


class TooManyTries(Exception):
    """The password was not looked at. `minutes`: after how many another try is worth it."""

    def __init__(self, minutes: int) -> None:
        super().__init__(f"Too many tries failed. Try again in {minutes} minute{'s' if minutes > 1 else ''}.")
        self.minutes = minutes


def check_password(request: HttpRequest, name: str, password: str) -> User | None:
    """The account, or None where name or password is wrong. Raises TooManyTries before it looks at either.

    A try is noted before the password is checked, so that many at once are counted too, and taken back when it was
    right. A browser from which the account was used before has a count of its own: strangers who guess at an account
    do not keep its owner out.
    """
    limits = _limits(request, name)
    now = timezone.now()
    LoginTry.objects.filter(at__lte=now - WINDOW).delete()
    noted = [LoginTry.objects.create(key=key, at=now).pk for key in limits]
    ours = LoginTry.objects.filter(pk__in=noted)
    full: list[datetime] = []
    for key, most in limits.items():
        others = LoginTry.objects.filter(key=key).exclude(pk__in=noted).order_by("-at", "-pk")
        times = list(others.values_list("at", flat=True)[:most])
        if len(times) == most:
            full.append(times[-1])
    if full:
        ours.delete()
        # Free again once the oldest of those that fill the window has left it.
        left = max(full) + WINDOW - now
        raise TooManyTries(max(1, -(-int(left.total_seconds()) // 60)))
    user = authenticate(request, username=name, password=password)
    if not isinstance(user, User):
        return None
    ours.delete()
    return user


class GivenPassword(NamedTuple):
    """A password to be used once, and what ended with the one before."""

    name: str
    password: str
    sessions: int
    tokens: int


def make_account(name: str, role: Role, *, access: Access) -> GivenPassword:
    """A new account, with the password with which its owner logs in once, to choose one of their own.

    Raises ValidationError for a name that is taken or cannot be one.
    """
    user = User(username=name)
    user.full_clean(exclude=["password"])
    password = _password()
    user.set_password(password)
    with transaction.atomic():
        user.save()
        Account.objects.create(user=user, role=role.value, password_is_new=True)
        note(access, Action.ACCOUNT_MADE, name, role.value)
    return GivenPassword(name, password, 0, 0)


def give_password(user: User, *, access: Access) -> GivenPassword:
    """Another password to be used once. Whoever had the account has it no more: its sessions end, and its tokens are
    revoked."""
    password = _password()
    user.set_password(password)
    with transaction.atomic():
        user.save(update_fields=["password"])
        Account.objects.update_or_create(user=user, defaults={"password_is_new": True})
        sessions, tokens = end_sessions(user), revoke_tokens(user)
        ended = f"sessions ended: {sessions:,}; tokens revoked: {tokens:,}"
        note(access, Action.PASSWORD, user.get_username(), f"a new one, to be used once; {ended}")
    return GivenPassword(user.get_username(), password, sessions, tokens)


def change_role(user: User, role: Role, *, access: Access) -> None:
    """Raises LastAdmin where nobody would be left to look after the accounts."""
    with transaction.atomic():
        account, _ = Account.objects.select_for_update().get_or_create(user=user)
        if account.role == role.value:
            return
        _keep_an_admin(user, "make one of the others an admin first")
        before, account.role = account.role, role.value
        account.save(update_fields=["role"])
        note(access, Action.ROLE, user.get_username(), f"from {before} to {role.value}")


def close_account(user: User, *, access: Access) -> None:
    """It logs in no more, and its tokens open nothing. What it made stays. Raises LastAdmin."""
    with transaction.atomic():
        if not User.objects.select_for_update().get(pk=user.pk).is_active:
            return
        _keep_an_admin(user, "make one of the others an admin first")
        User.objects.filter(pk=user.pk).update(is_active=False)
        note(access, Action.ACCOUNT_CLOSED, user.get_username())
    end_sessions(user)


def open_account(user: User, *, access: Access) -> None:
    with transaction.atomic():
        if User.objects.filter(pk=user.pk, is_active=False).update(is_active=True):
            note(access, Action.ACCOUNT_OPENED, user.get_username())


def end_sessions(user: User) -> int:
    """Ends all sessions of an account, on the server too: no cookie of them opens anything. Returns how many."""
    ended = 0
    for session in Session.objects.filter(expire_date__gt=timezone.now()).iterator(chunk_size=500):
        if session.get_decoded().get(SESSION_KEY) == str(user.pk):
            session.delete()
            ended += 1
    return ended


def _keep_an_admin(user: User, what: str) -> None:
    admins = Account.objects.filter(role=Role.ADMIN.value, user__is_active=True)
    if admins.filter(user=user).exists() and not admins.exclude(user=user).exists():
        raise LastAdmin(f"{user.get_username()} is the only admin: {what}.")


def _password() -> str:
    return secrets.token_urlsafe(15)


def remember_browser(response: HttpResponse, name: str, *, secure: bool) -> None:
    """Marks a browser from which the account was used. The mark opens nothing: it has a count of tries of its own."""
    response.set_signed_cookie(
        KNOWN_COOKIE,
        _digest("name", name),
        salt=_KNOWN_SALT,
        max_age=KNOWN_AGE,
        secure=secure,
        httponly=True,
        samesite="Lax",
        path=reverse("login"),
    )


def _limits(request: HttpRequest, name: str) -> dict[str, int]:
    """What a try is counted under → how many of them may fail in a window."""
    try:
        known = request.get_signed_cookie(KNOWN_COOKIE, default="", salt=_KNOWN_SALT, max_age=KNOWN_AGE)
    except signing.BadSignature:
        known = ""
    if known and hmac.compare_digest(known, _digest("name", name)):
        return {_digest("browser", request.COOKIES[KNOWN_COOKIE]): MOST_TRIES}
    address = str(request.META.get("REMOTE_ADDR", ""))
    return {_digest("address", address): MOST_TRIES, _digest("name", name): MOST_TRIES_AT_A_NAME}


def _digest(kind: str, text: str) -> str:
    """Neither names nor addresses are kept in the clear."""
    return hashlib.sha256(f"{kind}\0{text}".encode(errors="replace")).hexdigest()
