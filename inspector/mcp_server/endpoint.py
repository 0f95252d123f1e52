"""`/mcp` beside the pages: who may ask, from where, and the SDK's server behind it, started when first asked."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Mapping, MutableMapping
from typing import Any, Protocol
from urllib.parse import urlsplit

from asgiref.sync import sync_to_async
from django.conf import settings
from django.db import connections
from django.http.request import split_domain_port, validate_host

from inspector.layers import Application, Message, Receive, Scope, Send
from inspector.mcp_server.auth import SCOPE_KEY, access_for_header
from inspector.ratelimit import Turn, settle_turn, take_turn
from runs.access import Access

__all__ = ["PATH", "McpBeside"]

PATH = "/mcp"
_LARGEST = 256 * 1024
"""Bytes of a request: a call has a few arguments."""

_TOO_MANY = -32029
"""The code of the JSON-RPC error: one of those that a server defines itself."""

logger = logging.getLogger(__name__)


class McpBeside:
    """Answers `/mcp`; everything else is the pages'."""

    def __init__(self, pages: Application) -> None:
        self._pages = pages
        self._service = _Service()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"].removesuffix("/") != PATH:
            await self._pages(scope, receive, send)
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        refused = refusal(headers)
        if refused is not None:
            await _say(send, *refused)
            return
        header, address = headers.get("authorization", ""), (scope.get("client") or ("",))[0]
        turn = take_turn(header, address) if settings.AUTH_REQUIRED else None
        if turn is not None and not turn.allowed:
            await _refuse_for_now(send, turn)
            return
        access = await sync_to_async(_access_of, thread_sensitive=False)(header)
        if turn is not None:
            turn = settle_turn(header, address, turn, live=access is not None)
            if not turn.allowed:
                await _refuse_for_now(send, turn)
                return
            send = _with(turn.headers, send)
        if access is None:
            words = "This server asks for a token: send `Authorization: Bearer TOKEN`. An account's page makes tokens."
            await _say(send, 401, "invalid_token", words)
            return
        if scope["method"] != "POST":
            # Nothing is sent that was not asked for, so a stream that a client holds open would stay empty.
            await _say(send, 405, "method_not_allowed", "Send a message of the protocol with POST.")
            return
        manager = await self._service.manager()
        await manager.handle_request({**scope, "path": PATH, SCOPE_KEY: access}, receive, send)

    async def close(self) -> None:
        await self._service.close()


def refusal(headers: MutableMapping[str, str]) -> tuple[int, str, str] | None:
    """Status, kind and words where a request does not come from where it should: a page of another site that got this
    server's name to lead here (DNS rebinding), or that sends to it from a browser."""
    host = headers.get("host", "")
    name, _ = split_domain_port(host)
    if not name or not validate_host(name, settings.ALLOWED_HOSTS):
        return 421, "unknown_host", "This server does not answer under that name. ALLOWED_HOSTS lists its names."
    origin = headers.get("origin")
    if origin is not None and origin not in settings.CSRF_TRUSTED_ORIGINS:
        parts = urlsplit(origin)
        if parts.scheme not in {"http", "https"} or parts.netloc.casefold() != host.casefold():
            return 403, "other_origin", "Pages of other sites may not ask this server."
    return None


def _access_of(header: str) -> Access | None:
    try:
        return access_for_header(header)
    finally:
        connections.close_all()


async def _refuse_for_now(send: Send, turn: Turn) -> None:
    """In the protocol's own words, so that a client hands the sentence on. Whose message it answers is not looked at:
    what is refused for its number costs nothing."""
    error = {"code": _TOO_MANY, "message": turn.sentence, "data": {"limit": turn.limit, "retry_after": turn.wait}}
    await _send_json(send, 429, {"jsonrpc": "2.0", "id": None, "error": error}, turn.headers)


def _with(named: Mapping[str, str], send: Send) -> Send:
    """Adds headers to an answer."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message.get("headers", ()), *_raw(named)]}
        await send(message)

    return sending


def _raw(named: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.lower().encode(), value.encode()) for name, value in named.items()]


async def _say(send: Send, status: int, kind: str, words: str) -> None:
    more = {405: {"Allow": "POST"}, 401: {"WWW-Authenticate": f'Bearer error="{kind}"'}}
    await _send_json(send, status, {"error": kind, "error_description": words}, more.get(status, {}))


async def _send_json(send: Send, status: int, content: object, named: Mapping[str, str]) -> None:
    body = json.dumps(content).encode()
    usual = {
        "Content-Type": "application/json",
        "Content-Length": str(len(body)),
        "Cache-Control": "no-store",
        "X-Content-Type-Options": "nosniff",
    }
    await send({"type": "http.response.start", "status": status, "headers": _raw({**usual, **named})})
    await send({"type": "http.response.body", "body": body})


class _Manager(Protocol):
    async def handle_request(self, scope: Scope, receive: Receive, send: Send) -> None: ...


class _Service:
    """The SDK's session manager in a task of its own, from the first request to the end of the server.

    It lives in a task group, which must be left by the task that entered it; and nobody waits for its import who only
    wants a page.
    """

    def __init__(self) -> None:
        self._task: asyncio.Task[None] | None = None
        self._started: asyncio.Future[_Manager] | None = None
        self._stop = asyncio.Event()

    async def manager(self) -> _Manager:
        if self._started is None or self._started.get_loop() is not asyncio.get_running_loop():
            self._stop = asyncio.Event()
            self._started = asyncio.get_running_loop().create_future()
            self._task = asyncio.create_task(self._run(self._started, self._stop), name="mcp")
        return await asyncio.shield(self._started)

    async def close(self) -> None:
        if self._task is not None:
            self._stop.set()
            await self._task

    async def _run(self, started: asyncio.Future[_Manager], stop: asyncio.Event) -> None:
        try:
            manager = await asyncio.to_thread(_make_manager)
        except Exception as error:
            # The next request tries again.
            self._started = None
            started.set_exception(error)
            raise
        async with manager.run():
            started.set_result(manager)
            await stop.wait()


def _make_manager() -> Any:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager  # noqa: PLC0415 - takes a second
    from mcp.server.transport_security import TransportSecuritySettings  # noqa: PLC0415

    from inspector.mcp_server.server import make_server  # noqa: PLC0415

    return StreamableHTTPSessionManager(
        app=make_server()._lowlevel_server,
        # Each call stands for itself: nothing to keep between calls, and any web process answers any of them.
        stateless=True,
        json_response=True,
        max_request_body_size=_LARGEST,
        # Host and Origin were checked above, by the settings that hold for the pages.
        security_settings=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
