"""What the sender of a request may see and do: asked by pages, REST API and MCP server alike.

And the marks by which a view says whom it is for; `inspector.gate` keeps everybody else out.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Any, TypeVar

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.functional import SimpleLazyObject

from inspector.bearer import token_in
from inspector.tokens import access_of_token, role_of
from runs.access import EVERYTHING, NOBODY, Access, access_for

__all__ = [
    "Need", "access_of", "admins_only", "bearer_token", "evaluators_only", "has_new_password", "in_templates", "may",
    "need_of",    "own_account", "viewers_too", "writers_only",
]  # fmt: skip

_KEPT = "_twentyfold_access"
_MARK = "_twentyfold_need"


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


def has_new_password(request: HttpRequest) -> bool:
    """Whether an admin gave the account's password: it is to be used once, to choose another. No query of its own."""
    account = getattr(request.user, "account", None)
    return account is not None and account.password_is_new


def bearer_token(request: HttpRequest) -> str | None:
    """What the request brings along as a token, whether it opens anything or not. None where it brings none."""
    return token_in(request.headers.get("Authorization", ""))


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


# --- Whom a view is for -----------------------------------------------------------------------------------------------


class Need(StrEnum):
    """What a view asks of who is logged in. `inspector.gate` asks it; a view that says nothing is for evaluators."""

    NOTHING = "nothing"
    """Any account. Sending something needs `writes` all the same."""
    OWN = "own"
    """Any account, also to send something: it is about the account itself."""
    EVALUATES = "evaluates"
    WRITES = "writes"
    ADMINISTERS = "administers"


_View = TypeVar("_View", bound=Callable[..., HttpResponseBase])


def viewers_too(view: _View) -> _View:
    """A page of scores, or one that leaves out what a viewer may not see."""
    return _marked(view, Need.NOTHING)


def evaluators_only(view: _View) -> _View:
    """A page of required states, checks, private context, or what is derived from them."""
    return _marked(view, Need.EVALUATES)


def writers_only(view: _View) -> _View:
    """A form that changes something, also while it is only looked at."""
    return _marked(view, Need.WRITES)


def admins_only(view: _View) -> _View:
    return _marked(view, Need.ADMINISTERS)


def own_account(view: _View) -> _View:
    return _marked(view, Need.OWN)


def need_of(view: Callable[..., Any]) -> Need:
    found = getattr(view, _MARK, None)
    return found if isinstance(found, Need) else Need.EVALUATES


def may(access: Access, need: Need, *, sends: bool) -> bool:
    """Whether the view opens; `sends`: for a request that changes something."""
    if access == NOBODY:
        return False
    allowed = {
        Need.NOTHING: True,
        Need.OWN: True,
        Need.EVALUATES: access.evaluates,
        Need.WRITES: access.writes,
        Need.ADMINISTERS: access.administers,
    }[need]
    return allowed and (access.writes or not sends or need is Need.OWN)


def in_templates(request: HttpRequest) -> dict[str, Any]:
    """`access` in every template; asked for only where a template asks for it."""
    return {"access": SimpleLazyObject(lambda: access_of(request))}


def _marked(view: _View, need: Need) -> _View:
    setattr(view, _MARK, need)
    return view
