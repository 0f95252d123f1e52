"""Who asks, and what they may see and do: the one value that pages, REST API and MCP server hand to the queries."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

__all__ = ["EVERYTHING", "NOBODY", "THE_TEAM", "Access", "Role", "Scope", "access_for"]


class Role(StrEnum):
    """Of an account. Each may do what the one before it may, and more."""

    VIEWER = "viewer"
    """Reads scores, and traces without anything that tells the required state."""
    EVALUATOR = "evaluator"
    """Sees required states, checks and private user context as well, and uploads, edits and notes."""
    ADMIN = "admin"
    """Sees every run, and looks after accounts, tokens, sharing and deletion."""


class Scope(StrEnum):
    """Of an API token. Each is asked for by itself; none brings another, but every one may read."""

    READ = "read"
    EVALUATE = "evaluate"
    WRITE = "write"
    ADMIN = "admin"


@dataclass(frozen=True, slots=True)
class Access:
    evaluates: bool = False
    """Sees required states, checks, private user context, and all that is derived from them."""
    writes: bool = False
    """Uploads, edits, deletes what is theirs, writes notes, leaderboards and price lists."""
    administers: bool = False
    """Sees and deletes the runs of others too, and looks after accounts, tokens and the audit log."""
    user: int | None = None
    """The account's key; None where nobody has to log in."""
    name: str = ""
    """As the audit log and notes call them."""


EVERYTHING = Access(evaluates=True, writes=True, administers=True)
"""Of the person at the keyboard: a command, or a server that asks for no login."""

NOBODY = Access()
"""Of who is not logged in, and of a token that is none. Sees no run at all."""

THE_TEAM = Access(user=0, name="the team")
"""Of what is the same for everybody, such as a shared leaderboard: sees what every account sees, and owns nothing."""


def access_for(role: Role, scopes: Collection[Scope] | None = None, *, user: int | None, name: str = "") -> Access:
    """What an account may do; with `scopes`, what a token of that account may: never more than both allow."""
    asked = frozenset(Scope) if scopes is None else frozenset(scopes)
    evaluator = role in {Role.EVALUATOR, Role.ADMIN}
    return Access(
        evaluates=evaluator and Scope.EVALUATE in asked,
        writes=evaluator and Scope.WRITE in asked,
        administers=role is Role.ADMIN and Scope.ADMIN in asked,
        user=user,
        name=name,
    )
