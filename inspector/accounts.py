"""Accounts of server mode: checking a password, with a brake on guessing."""

from __future__ import annotations

import hashlib
import hmac
from datetime import datetime, timedelta

from django.contrib.auth import authenticate
from django.contrib.auth.models import User
from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone

from inspector.models import LoginTry

WINDOW = timedelta(minutes=15)
MOST_TRIES = 10
"""How many may fail in a window from one address, or from one browser that logged in before."""
MOST_TRIES_AT_A_NAME = 30
"""How many may fail in a window at one account, from all addresses together."""

KNOWN_COOKIE = "twentyfold_known"
KNOWN_AGE = timedelta(days=180)
_KNOWN_SALT = "inspector.accounts"


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
