"""How many requests a minute somebody may send: a bucket for each token or address, in this process's memory.

In memory, since a count in the database would cost each reading request a write. So several web server processes each
count by themselves.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import NamedTuple

from django.conf import settings
from django.http import HttpRequest

from inspector.bearer import token_in

__all__ = ["Buckets", "Turn", "note_turn", "noted_turn", "settle_turn", "take_turn"]

_NOTED = "_twentyfold_turn"

_MOST_KNOWN = 10_000
"""Of more, those that asked longest ago are forgotten: they had their buckets full again."""


class Turn(NamedTuple):
    """Whether a request may be answered, and what its sender is told."""

    allowed: bool
    limit: int
    """Requests a minute; 0: as many as they like."""
    left: int
    """That may follow at once."""
    wait: int
    """Seconds until the next one is answered, at least 1 where this one is not."""
    reset: int
    """Seconds until `limit` may follow at once again."""

    @property
    def sentence(self) -> str:
        seconds = f"{self.wait} second{'s' if self.wait != 1 else ''}"
        return f"More than {self.limit:,} requests a minute came from here. Send the next one in {seconds}."

    @property
    def headers(self) -> dict[str, str]:
        """For the answer, whether the request is allowed or not."""
        if not self.limit:
            return {}
        told = {
            "RateLimit-Limit": str(self.limit),
            "RateLimit-Remaining": str(self.left),
            "RateLimit-Reset": str(self.reset),
        }
        return told if self.allowed else {**told, "Retry-After": str(self.wait)}


class Buckets:
    """Each sender has a bucket of `limit` turns that fills up again within a minute."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = Lock()
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()
        """Sender → turns left, and when that was."""

    def take(self, sender: str, limit: int) -> Turn:
        """One turn. Of a sender whose bucket is empty nothing is taken."""
        if limit <= 0:
            return Turn(True, 0, 0, 0, 0)
        now, rate = self._clock(), limit / 60
        with self._lock:
            left, then = self._buckets.pop(sender, (float(limit), now))
            left = min(float(limit), left + (now - then) * rate)
            allowed = left >= 1
            if allowed:
                left -= 1
            self._buckets[sender] = left, now
            while len(self._buckets) > _MOST_KNOWN:
                self._buckets.popitem(last=False)
        wait = 0 if allowed else max(1, math.ceil((1 - left) * 60 / limit))
        return Turn(allowed, limit, int(left), wait, math.ceil((limit - left) * 60 / limit))

    def give_back(self, sender: str, limit: int) -> None:
        """A turn that somebody else pays for."""
        with self._lock:
            if sender in self._buckets:
                left, then = self._buckets[sender]
                self._buckets[sender] = min(float(limit), left + 1), then


class _Known:
    """Tokens that opened something when they were last looked up, by their digests: none is kept in the clear."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._known: OrderedDict[str, None] = OrderedDict()

    def __contains__(self, sender: str) -> bool:
        with self._lock:
            return sender in self._known

    def note(self, sender: str, *, live: bool) -> None:
        with self._lock:
            self._known.pop(sender, None)
            if live:
                self._known[sender] = None
                while len(self._known) > _MOST_KNOWN:
                    self._known.popitem(last=False)


_buckets = Buckets()
_live = _Known()


def take_turn(authorization: str, address: str) -> Turn:
    """A turn of who sends a request: of its token where that is known to be live, else of the address that it comes
    from, so that made-up tokens have no buckets of their own. No query. REST API and MCP server take from one bucket.

    Once a token was looked up, say it to `settle_turn`.
    """
    token = _token(authorization)
    return _buckets.take(token if token is not None and token in _live else _address(address), settings.API_RATE)


def settle_turn(authorization: str, address: str, turn: Turn, *, live: bool) -> Turn:
    """Who pays for `turn` now that it is known whether the token opens something: a live token itself, and for any
    other the address. Doing it again changes nothing."""
    token = _token(authorization)
    if token is None or (token in _live) is live:
        return turn
    _live.note(token, live=live)
    if live:
        _buckets.give_back(_address(address), settings.API_RATE)
    return _buckets.take(token if live else _address(address), settings.API_RATE)


def _token(authorization: str) -> str | None:
    text = token_in(authorization)
    return None if text is None else _digest(f"token {text}")


def _address(address: str) -> str:
    return _digest(f"address {address}")


def _digest(sender: str) -> str:
    return hashlib.sha256(sender.encode(errors="replace")).hexdigest()


def note_turn(request: HttpRequest, turn: Turn) -> None:
    """For whoever writes the headers of the answer."""
    setattr(request, _NOTED, turn)


def noted_turn(request: HttpRequest) -> Turn | None:
    """None: the request was not counted."""
    return getattr(request, _NOTED, None)
