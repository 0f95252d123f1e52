"""Who asks, and whether they may: every operation begins here."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest
from ninja.utils import check_csrf

from inspector.access import access_of, bearer_token, has_new_password
from inspector.api.errors import FieldError, Problem
from inspector.ratelimit import Turn, note_turn, settle_turn, take_turn
from inspector.receiving import STATE
from runs.access import NOBODY, Access

__all__ = ["TELLS", "Sender", "access", "needs", "refuse_forged"]

_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_SIGNS_OF_A_BROWSER = ("Cookie", "Origin", "Referer", "Sec-Fetch-Site")


class Sender:
    """An account that is logged in, or a token; nobody has to be either where no login is required."""

    def __call__(self, request: HttpRequest) -> Access:
        """Raises `Problem` 429 for who asks too often, 401 for a stranger, and 403 for a
        browser's write without the token against forged requests."""
        refuse_forged(request, request.method)
        if settings.AUTH_REQUIRED:
            _count(request)
        found = access_of(request)
        if settings.AUTH_REQUIRED and found.user is None:
            raise Problem(
                401,
                "Send an API token in the header Authorization (Bearer ...), or log in.",
                headers={"WWW-Authenticate": "Bearer"},
            )
        if bearer_token(request) is None and settings.AUTH_REQUIRED and has_new_password(request):
            raise Problem(403, "Choose a password of your own first, on the page /account/.")
        return found


def _count(request: HttpRequest) -> None:
    """Raises `Problem` 429 for who asks too often: before anybody is looked up, and once it is known who pays.

    A file on its way in is asked about before it is taken (`inspector.receiving`): both are one request.
    """
    state = getattr(request, "scope", {}).get(STATE, {})
    header, address = request.headers.get("Authorization", ""), str(request.META.get("REMOTE_ADDR", ""))
    turn: Turn = state["turn"] if "turn" in state else take_turn(header, address)
    if turn.allowed:
        turn = settle_turn(header, address, turn, live=access_of(request) != NOBODY)
    state["turn"] = turn
    note_turn(request, turn)
    if not turn.allowed:
        raise Problem(429, turn.sentence)


def refuse_forged(request: HttpRequest, method: str | None) -> None:
    """A page of another site can make a browser send a request, with its cookies or from its machine, but cannot give
    it a token to send along. What comes from no browser and has a token of its own cannot be forged."""
    # Of the schemes only this one is never sent by a browser of its own accord.
    if method in _SAFE or request.headers.get("Authorization", "").lower().startswith("bearer "):
        return
    if not any(request.headers.get(name) for name in _SIGNS_OF_A_BROWSER):
        return
    if check_csrf(request) is not None:
        raise Problem(
            403,
            "A browser has to send the header X-CSRFToken with a request that changes something, from a page of this "
            "server. A program sends no cookies, and an API token where a login is required.",
            [FieldError("X-CSRFToken", "header", "is missing or not the one of this browser.")],
        )


def access(request: HttpRequest) -> Access:
    """What the sender may, as found when the request came in."""
    found: Access = request.auth  # type: ignore[attr-defined]  # set by ninja
    return found


TELLS = "shows what the required state tells. It needs the role evaluator, and a token with the scope evaluate."
_WORDS = {
    "evaluates": f"This {TELLS}",
    "writes": "This changes something. It needs the role evaluator, and a token with the scope write.",
    "administers": "This needs the role admin, and a token with the scope admin.",
}


def needs(**what: bool) -> Callable[[HttpRequest], None]:
    """A condition for an operation: `needs(evaluates=True)`. Raises `Problem` 403 with what is missing."""
    wanted = [name for name, on in what.items() if on]
    assert set(wanted) <= _WORDS.keys()

    def check(request: HttpRequest) -> None:
        found = access(request)
        for name in wanted:
            if not getattr(found, name):
                raise Problem(403, _WORDS[name])

    return check
