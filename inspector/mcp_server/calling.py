"""What every tool shares: who calls, a database connection that is given back, offsets, and the marks of a reader."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from threading import BoundedSemaphore
from typing import Annotated, Any, NamedTuple, ParamSpec, TypeAlias, TypeVar

from django.core.exceptions import PermissionDenied
from django.db import connections
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations
from pydantic import Field

from inspector.mcp_server.auth import access_of_request
from runs.access import Access
from runs.queries.paging import Page

__all__ = ["READS", "AttemptId", "Ctx", "Offset", "RunSlug", "Window", "access_of", "page_number", "reads", "window"]

P = ParamSpec("P")
R = TypeVar("R")

Ctx: TypeAlias = Context[Any, Any]
READS = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
"""Changes nothing, and reads nothing but this server's own store."""

AttemptId = Annotated[int, Field(description="Id of the attempt, as find_attempts and attempt_outline give it.")]
RunSlug = Annotated[str, Field(description="Slug of the run, as list_runs gives it.")]
Offset = Annotated[int, Field(ge=0, le=10**9, description="Entries to skip: the `next_offset` of the answer before.")]

_AT_ONCE = BoundedSemaphore(8)
"""Calls at a time, so that agents never hold all connections that a database gives."""


def access_of(ctx: Ctx) -> Access:
    return access_of_request(ctx.request_context.request)


def reads(tool: Callable[P, R]) -> Callable[P, R]:
    """Gives the thread's connections back: the SDK's threads end when they are idle, and would lose theirs."""

    @functools.wraps(tool)
    def called(*args: P.args, **kwargs: P.kwargs) -> R:
        with _AT_ONCE:
            try:
                return tool(*args, **kwargs)
            except PermissionDenied as error:
                raise ToolError(f"{error} This needs a token with the scope `evaluate` of an evaluator.") from error
            finally:
                connections.close_all()

    return called


class Window(NamedTuple):
    """Which of a page's entries an answer has, and what its fields say of them."""

    start: int
    end: int
    fields: dict[str, Any]

    def of(self, entries: Sequence[Any]) -> Sequence[Any]:
        return entries[self.start : self.end]


def page_number(offset: int, size: int) -> int:
    """The page of `size` entries that the entry behind `offset` is on."""
    return offset // size + 1


def window(page: Page, offset: int, size: int, limit: int) -> Window:
    """Up to `limit` entries from `offset` on, as far as the page reaches. Beyond the end there are none."""
    if page.number != page_number(offset, size) or offset >= page.total:
        return Window(0, 0, {"total": page.total, "offset": offset, "shown": 0, "next_offset": None})
    start = offset % size
    end = min(start + limit, page.last - page.first + 1)
    following = offset + end - start
    return Window(
        start,
        end,
        {
            "total": page.total,
            "offset": offset,
            "shown": end - start,
            "next_offset": following if following < page.total else None,
        },
    )
