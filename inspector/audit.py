"""The audit log: who shared, deleted, hid or let in what, and when. Written here, and never changed."""

from __future__ import annotations

from enum import StrEnum

from django.contrib.auth.models import User

from inspector.models import AuditEntry
from runs.access import Access

__all__ = ["TITLES", "Action", "note", "note_login"]

_NOBODY_NAMED = "this machine"
_LONGEST = {"who": 150, "about": 300, "details": 1000}


class Action(StrEnum):
    SHARED = "shared"
    UNSHARED = "unshared"
    LINK_RENEWED = "link_renewed"
    RUN_DELETED = "run_deleted"
    RUN_EXPIRED = "run_expired"
    VISIBILITY = "visibility"
    BOARD_DELETED = "board_deleted"
    TOKEN_MADE = "token_made"
    TOKEN_REVOKED = "token_revoked"
    ACCOUNT_MADE = "account_made"
    ACCOUNT_CLOSED = "account_closed"
    ACCOUNT_OPENED = "account_opened"
    ROLE = "role"
    PASSWORD = "password"
    SIGNED_OUT = "signed_out"
    UNMASKED = "unmasked"
    LOGIN = "login"
    LOGIN_FAILED = "login_failed"


TITLES = {
    Action.SHARED: "shared a leaderboard",
    Action.UNSHARED: "ended the sharing of a leaderboard",
    Action.LINK_RENEWED: "renewed the link of a leaderboard",
    Action.RUN_DELETED: "deleted a run",
    Action.RUN_EXPIRED: "deleted a run whose time was over",
    Action.VISIBILITY: "changed who sees a run",
    Action.BOARD_DELETED: "deleted a leaderboard",
    Action.TOKEN_MADE: "made a token",
    Action.TOKEN_REVOKED: "revoked a token",
    Action.ACCOUNT_MADE: "made an account",
    Action.ACCOUNT_CLOSED: "closed an account",
    Action.ACCOUNT_OPENED: "opened an account again",
    Action.ROLE: "changed a role",
    Action.PASSWORD: "changed a password",
    Action.SIGNED_OUT: "ended all sessions of an account",
    Action.UNMASKED: "downloaded a row with its secrets",
    Action.LOGIN: "logged in",
    Action.LOGIN_FAILED: "failed to log in",
}


def note(access: Access, action: Action, about: str, details: str = "") -> None:
    """Writes an entry; within the transaction of what it tells of, so that neither is there without the other."""
    _write(access.user, access.name or _NOBODY_NAMED, action, about, details)


def note_login(name: str, user: User | None) -> None:
    """A login; without `user` one that failed. A name that no account has is not kept: it may be a password."""
    if user is not None:
        _write(user.pk, user.get_username(), Action.LOGIN, user.get_username())
    elif User.objects.filter(username=name).exists():
        _write(None, "somebody", Action.LOGIN_FAILED, name)
    else:
        _write(None, "somebody", Action.LOGIN_FAILED, "", "with a name that no account has")


def _write(user: int | None, who: str, action: Action, about: str, details: str = "") -> None:
    texts = {"who": who, "about": about, "details": details}
    cut = {name: text.replace("\0", "")[: _LONGEST[name]] for name, text in texts.items()}
    AuditEntry.objects.create(user=user, action=action.value, **cut)
