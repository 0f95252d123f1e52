"""What the sender of a request may see and do: asked by pages, REST API and MCP server alike."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest

from inspector.tokens import access_of_token, role_of
from runs.access import EVERYTHING, NOBODY, Access, access_for

__all__ = ["access_of", "bearer_token"]

_KEPT = "_twentyfold_access"


def access_of(request: HttpRequest) -> Access:
    """Of the token in its `Authorization` header, else of the account that is logged in; `NOBODY` where neither is.

    A request with a token is the token's alone, whoever else is logged in: it may be meant to do less. Everything where
    nobody has to log in. At most two queries, the first time.
    """
    kept = getattr(request, _KEPT, None)
    if kept is None:
        kept = _found(request)
        setattr(request, _KEPT, kept)
    return kept


def bearer_token(request: HttpRequest) -> str | None:
    """What the request brings along as a token, whether it opens anything or not. None where it brings none."""
    kind, _, text = request.headers.get("Authorization", "").partition(" ")
    return text.strip() if kind.lower() == "bearer" else None


def _found(request: HttpRequest) -> Access:
    if not settings.AUTH_REQUIRED:
        return EVERYTHING
    text = bearer_token(request)
    if text is not None:
        return access_of_token(text) or NOBODY
    user = getattr(request, "user", None)
    if user is None or not user.is_authenticated:
        return NOBODY
    return access_for(role_of(user), user=user.pk, name=user.get_username())
