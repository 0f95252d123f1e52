"""API tokens: made, found and revoked. Only a hash is stored: who reads the database can open nothing with it."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Collection
from datetime import datetime, timedelta
from typing import NamedTuple

from django.contrib.auth.models import User
from django.db.models import Q
from django.utils import timezone

from inspector.models import ApiToken
from runs.access import Access, Role, Scope, access_for

__all__ = [
    "PREFIX", "NewToken", "access_of_token", "find_token", "is_live", "make_token", "revoke_token", "revoke_tokens",
    "role_of",
]  # fmt: skip

PREFIX = "tf_"
"""By which a person, and a program that looks for secrets in files, knows one."""
_TOKEN = re.compile(r"tf_[A-Za-z0-9_-]{43}")
_BYTES = 32
USED_EVERY = timedelta(minutes=1)
"""How often the last use is written down at most: a busy program must not write at each request."""


class NewToken(NamedTuple):
    token: ApiToken
    text: str
    """To be shown once; nobody can look it up again."""


def make_token(
    owner: User, name: str, scopes: Collection[Scope] = (Scope.READ,), *, expires_at: datetime | None = None
) -> NewToken:
    """A token of the account. It may read in any case, and never more than the account itself may."""
    text = PREFIX + secrets.token_urlsafe(_BYTES)
    wanted = [scope.value for scope in Scope if scope in scopes or scope is Scope.READ]
    made = ApiToken.objects.create(owner=owner, name=name, digest=_digest(text), scopes=wanted, expires_at=expires_at)
    return NewToken(made, text)


def find_token(text: str) -> ApiToken | None:
    """The live token, with its owner and their role; notes its use.

    None for one that never was, was revoked, has expired, or whose account is closed: they cannot be told apart. One
    query, and once a minute a second one.
    """
    if _TOKEN.fullmatch(text) is None:
        return None
    digest = _digest(text)
    found = ApiToken.objects.select_related("owner__account").filter(digest=digest).first()
    now = timezone.now()
    if found is None or not hmac.compare_digest(found.digest, digest) or not is_live(found, now):
        return None
    if found.used_at is None or found.used_at <= now - USED_EVERY:
        late = Q(used_at__isnull=True) | Q(used_at__lte=now - USED_EVERY)
        ApiToken.objects.filter(late, pk=found.pk).update(used_at=now)
    return found


def is_live(token: ApiToken, now: datetime) -> bool:
    """Whether it opens anything; asks for its owner."""
    expired = token.expires_at is not None and token.expires_at <= now
    return token.revoked_at is None and not expired and token.owner.is_active


def access_of_token(text: str) -> Access | None:
    """What the bearer of a token may see and do; None where it opens nothing."""
    token = find_token(text)
    if token is None:
        return None
    known = {scope.value for scope in Scope}
    scopes = [Scope(scope) for scope in token.scopes if scope in known]
    return access_for(role_of(token.owner), scopes, user=token.owner_id, name=token.owner.get_username())


def revoke_token(token: ApiToken) -> None:
    """It opens nothing from now on, and stays in the list."""
    ApiToken.objects.filter(pk=token.pk, revoked_at__isnull=True).update(revoked_at=timezone.now())


def revoke_tokens(owner: User) -> int:
    """All of the account that are not revoked yet. Returns how many."""
    return ApiToken.objects.filter(owner=owner, revoked_at__isnull=True).update(revoked_at=timezone.now())


def role_of(user: User) -> Role:
    """Of an account that nobody gave a role: the least. A query unless the account came along."""
    account = getattr(user, "account", None)
    return Role(account.role) if account is not None else Role.VIEWER


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()
