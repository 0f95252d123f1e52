"""What the layers round Django have in common: the words of ASGI, and how to pass over a body."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from typing import Any

__all__ = ["PATIENCE", "Application", "Message", "Receive", "Scope", "Send", "pass_over"]

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

PATIENCE = 20.0
"""Seconds for which the rest of a body that is too large is passed over, so that its sender sees the answer."""


async def pass_over(receive: Receive) -> None:
    """Reads what is still on its way and keeps nothing of it, for a while.

    A browser that is cut off while it sends never looks at the answer.
    """
    with suppress(TimeoutError):
        async with asyncio.timeout(PATIENCE):
            while (message := await receive())["type"] == "http.request" and message.get("more_body"):
                pass
