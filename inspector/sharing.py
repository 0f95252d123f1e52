"""Sharing a leaderboard: its link, who it opens for, and what it shows. `visible_parts` is the trust boundary."""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import secrets
from datetime import datetime
from enum import StrEnum

import msgspec
from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.crypto import salted_hmac

from inspector.audit import Action, note
from inspector.models import Share
from runs.access import Access
from runs.models import Leaderboard
from runs.queries.leaderboards import BoardPage

__all__ = [
    "EVERY_PART", "Part", "audience_of", "delete_board", "find_share", "make_public", "public_boards", "renew_link",
    "seen", "share_by_link", "token_of", "visible_parts", "withdraw",
]  # fmt: skip

_SALT = "inspector.sharing"
_ADDRESS = re.compile(r"[A-Za-z0-9_-]{1,100}")
"""What a token or a leaderboard's name can be. A database may refuse to look for other signs."""

_MOST_LISTED = 100
TOKEN_BYTES = 24
"""192 bits: 32 characters in a link."""


class Part(StrEnum):
    SCORES = "scores"
    """The leaderboard: title, text, rows with their figures and costs, charts, method; as a page and as files."""
    LISTED = "listed"
    """Search engines may keep the page."""
    RUNS = "runs"
    """The addresses of the runs behind the rows, and of all that belongs to them."""


EVERY_PART = frozenset(Part)


def visible_parts(share: Share | None, now: datetime) -> frozenset[Part]:
    """What somebody sees of a leaderboard who comes by a share; None is somebody who may see the whole server.

    Traces, required states, checks, private context and whatever is derived from them belong to no leaderboard, and a
    share leads to no page but its own: all of that stays closed by leading nowhere near it.
    """
    if share is None:
        return EVERY_PART
    if share.public:
        return frozenset({Part.SCORES, Part.LISTED})
    if share.expires_at is not None and share.expires_at <= now:
        return frozenset()
    return frozenset({Part.SCORES})


def seen(page: BoardPage, parts: frozenset[Part]) -> BoardPage:
    """The page's data with nothing in it but those parts: what is left out here comes into no page, chart or file."""
    if Part.RUNS in parts:
        return page
    replace = msgspec.structs.replace
    sections = tuple(
        # Nor the provider, which is in the files and not on the page.
        replace(section, rows=tuple(replace(row, slug="", provider="") for row in section.rows))
        for section in page.board.sections
    )
    return msgspec.structs.replace(page, board=msgspec.structs.replace(page.board, sections=sections), recomputed=None)


def find_share(address: str) -> Share | None:
    """The share that an address opens: by the token of its link, or by the name of a public leaderboard.

    None for one that never was, was withdrawn or has expired: they cannot be told apart. At most one query.
    """
    if _ADDRESS.fullmatch(address) is None:
        return None
    digest = _hash(address)
    by_name = Q(public=True, leaderboard__slug=address)
    for share in Share.objects.select_related("leaderboard__price_list").filter(Q(token_hash=digest) | by_name):
        by_link = hmac.compare_digest(share.token_hash, digest)
        if (by_link or share.public) and Part.SCORES in visible_parts(share, timezone.now()):
            return share
    return None


def audience_of(leaderboard: int) -> str:
    """Who may read it without an account, in a word or two; empty: nobody. One query."""
    share = Share.objects.filter(leaderboard=leaderboard).first()
    if share is None:
        return ""
    if not visible_parts(share, timezone.now()):
        return "link has ended"
    return "public" if share.public else "shared by link"


def public_boards() -> list[Leaderboard]:
    """By title, at most a hundred. One query."""
    boards = Leaderboard.objects.filter(share__public=True).only("slug", "title")
    return list(boards.order_by("title", "pk")[:_MOST_LISTED])


def token_of(share: Share) -> str | None:
    """The token of its link; None where the server's secret key has changed since: the link works, unknown to us."""
    token = _token(share.nonce)
    return token if hmac.compare_digest(_hash(token), share.token_hash) else None


@transaction.atomic
def share_by_link(leaderboard: Leaderboard, expires_at: datetime | None, *, access: Access) -> Share:
    """Opens it to those who have the link. An existing link stays as it is, but for its end."""
    share = _shared(leaderboard)
    share.public, share.expires_at = False, expires_at
    share.save()
    ends = "without an end" if expires_at is None else f"until {expires_at:%Y-%m-%d %H:%M} UTC"
    note(access, Action.SHARED, leaderboard.slug, f"by link, {ends}")
    return share


@transaction.atomic
def make_public(leaderboard: Leaderboard, *, access: Access) -> Share:
    """Opens it to everybody, under its name. A link that was given away leads there as well."""
    share = _shared(leaderboard)
    share.public, share.expires_at = True, None
    share.save()
    note(access, Action.SHARED, leaderboard.slug, "public")
    return share


@transaction.atomic
def renew_link(leaderboard: Leaderboard, *, access: Access) -> None:
    """Another link; the old one opens nothing from now on. Nothing where it is not shared."""
    share = Share.objects.select_for_update(of=("self",)).filter(leaderboard=leaderboard).first()
    if share is not None:
        _give_token(share)
        share.save()
        note(access, Action.LINK_RENEWED, leaderboard.slug)


@transaction.atomic
def withdraw(leaderboard: Leaderboard, *, access: Access) -> None:
    """Closes it, whichever way it was open. Sharing it again makes another link."""
    if Share.objects.filter(leaderboard=leaderboard).delete()[0]:
        note(access, Action.UNSHARED, leaderboard.slug)


@transaction.atomic
def delete_board(leaderboard: Leaderboard, access: Access) -> None:
    """With its share. Runs and price lists stay."""
    withdraw(leaderboard, access=access)
    note(access, Action.BOARD_DELETED, leaderboard.slug, leaderboard.title)
    leaderboard.delete()


def _shared(leaderboard: Leaderboard) -> Share:
    """Its share, a new one with a link of its own if there is none. Two at once make one."""
    Leaderboard.objects.select_for_update(of=("self",)).get(pk=leaderboard.pk)
    found = Share.objects.filter(leaderboard=leaderboard).first()
    if found is not None:
        return found
    share = Share(leaderboard=leaderboard)
    _give_token(share)
    return share


def _give_token(share: Share) -> None:
    share.nonce = secrets.token_hex(16)
    share.token_hash = _hash(_token(share.nonce))
    share.renewed_at = timezone.now()


def _token(nonce: str) -> str:
    """From the secret key, so that the owner can look the link up again while the database alone opens nothing."""
    digest = salted_hmac(_SALT, nonce, algorithm="sha256").digest()
    return base64.urlsafe_b64encode(digest[:TOKEN_BYTES]).decode()


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode(errors="replace")).hexdigest()
