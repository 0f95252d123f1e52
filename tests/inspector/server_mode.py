"""Server mode for tests: the middleware as with TWENTYFOLD_AUTH=required, an owner, and every route there is."""

from __future__ import annotations

import re
from collections.abc import Iterator

from django.contrib.auth.models import User
from django.urls import URLPattern, URLResolver
from pytest_django import Settings

from inspector import urls
from inspector.models import Account
from runs.access import Role

__all__ = ["PASSWORD", "addresses", "make_account", "make_owner", "routes", "turn_login_on"]

PASSWORD = "a long enough pass phrase"


def turn_login_on(settings: Settings) -> None:
    settings.AUTH_REQUIRED = True
    settings.MIDDLEWARE = [*settings.MIDDLEWARE, *settings.LOGIN_MIDDLEWARE]
    # The real one takes half a second a password, on purpose.
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


def make_owner(name: str = "ada") -> User:
    """An admin, as `createowner` makes one."""
    return make_account(name, Role.ADMIN)


def make_account(name: str, role: Role) -> User:
    user = User.objects.create_user(name, password=PASSWORD)
    Account.objects.create(user=user, role=role)
    return user


def routes(patterns: list[URLPattern | URLResolver] | None = None, before: str = "/") -> Iterator[tuple[str, str]]:
    """Name and pattern of each route, such as `run` and `/runs/<slug:slug>/`."""
    for entry in urls.urlpatterns if patterns is None else patterns:
        if isinstance(entry, URLResolver):
            yield from routes(entry.url_patterns, f"{before}{entry.pattern}")
        else:
            yield entry.name or "", f"{before}{entry.pattern}"


VALUES = {"slug": "birch-on-desk", "uid": "a.py:test", "int": "1", "str": "required"}
"""A parameter of a route → something that it takes."""


def addresses() -> dict[str, str]:
    """Each route's pattern → an address of it."""
    typed = {
        pattern: re.sub(r"<([^:>]+):[^>]+>", lambda found: VALUES[str(found[1])], pattern) for _, pattern in routes()
    }
    # A parameter without a converter takes any text without a slash; `^` begins a pattern of regular expressions.
    return {pattern: re.sub(r"<[^>]+>", "1", address).replace("^", "") for pattern, address in typed.items()}
