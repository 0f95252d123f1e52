"""What a tool says when it cannot answer: what was wrong, and which call helps."""

from __future__ import annotations

import difflib
from collections.abc import Collection

from mcp.server.mcpserver.exceptions import ToolError

from inspector.mcp_server.quoting import quote
from runs.access import Access

__all__ = ["must_evaluate", "no_attempt", "unknown", "unknown_run"]

_SIMILAR = 8


def unknown_run(slug: str, slugs: Collection[str]) -> ToolError:
    return unknown("run", slug, slugs, "list_runs() lists all runs with their slugs.")


def unknown(noun: str, given: str, known: Collection[str], how: str) -> ToolError:
    """With the names that are most like the given one."""
    like = difflib.get_close_matches(given[:200], list(known), n=_SIMILAR, cutoff=0.3)
    holding = [name for name in known if given and given.casefold() in name.casefold()]
    near = list(dict.fromkeys([*like, *holding]))[:_SIMILAR] or list(known)[:_SIMILAR]
    told = f" Similar ones: {', '.join(quote(name[:200]) for name in near)}." if near else f" There is no {noun} yet."
    return ToolError(f"There is no {noun} {quote(given[:200])}.{told} {how}")


def no_attempt(attempt: int) -> ToolError:
    return ToolError(
        f"There is no attempt {attempt}. find_attempts(run=…) lists failed attempts with their ids; "
        "attempt_outline names the other attempts at the same task."
    )


def must_evaluate(access: Access, tool: str, instead: str) -> None:
    """Raises ToolError for who may not see required states and what is derived from them."""
    if not access.evaluates:
        raise ToolError(
            f"{tool} shows required states, checks or what follows from them, which this token may not see: it needs "
            f"the scope `evaluate`, and an account that is an evaluator's. Without it: {instead}"
        )
