"""The ASGI application: `uvicorn inspector.asgi:application`."""

from __future__ import annotations

import asyncio
import ipaddress
import os
from collections.abc import Awaitable, Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from threading import Thread

from asgiref.sync import ThreadSensitiveContext, sync_to_async
from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore
from django.core.asgi import get_asgi_application
from django.db import close_old_connections
from django.http import HttpResponse, parse_cookie
from django.utils.module_loading import import_string

from inspector.api.middleware import api_problem
from inspector.bearer import token_in
from inspector.layers import Application, Message, Receive, Scope, Send, pass_over
from inspector.mcp_server.endpoint import McpBeside
from inspector.middleware import STRICT_HEADERS
from inspector.receiving import Receiver
from inspector.views.errors import elsewhere, not_logged_in, too_large

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "inspector.settings")

THREADS = 16
"""Requests at a time. A slow upload holds one, and a browser at most six; a thread that nobody needs never starts."""

FORM_FIELDS = 2 * 1024 * 1024
"""What a form may hold beside its files, in bytes."""


WARM_UP_AFTER = 1.0
"""Seconds after the first page."""


class TooLarge(Exception):
    """The body of a request is over the limit."""


class Stranger(Exception):
    """Somebody without an account sends more than a form."""


class KeptThreads:
    """Runs each request on one of a few threads that stay.

    Django takes a new thread for each request, and a database connection belongs to a thread. Opening one costs more
    than a page's queries, so here a request borrows a thread together with its open connection.
    """

    def __init__(self, application: Application, threads: int) -> None:
        self._application = application
        self._threads = threads
        self._free: asyncio.LifoQueue[Executor] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._free is None:
            # Last in, first out: with little to do, the same warm thread answers.
            self._free = asyncio.LifoQueue()
            for number in range(self._threads):
                self._free.put_nowait(ThreadPoolExecutor(max_workers=1, thread_name_prefix=f"page-{number}"))
        executor = await self._free.get()
        try:
            async with ThreadSensitiveContext(executor=executor):
                await self._application(scope, receive, send)
        finally:
            self._free.put_nowait(executor)


class BodyLimit:
    """Refuses a request with a body of more than `limit` bytes before Django has written all of it to the disk.

    With `logged_in`, a body of more than a form holds is also refused from whoever that says no to: a stranger must not
    fill the disk with what no page will take.
    """

    def __init__(self, application: Application, limit: int, logged_in: Callable[[Scope], bool] | None = None) -> None:
        self._application = application
        self._limit = limit
        self._logged_in = logged_in

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        received = 0
        begun = False
        more = True
        is_known = self._logged_in is None

        async def check(size: int) -> None:
            nonlocal is_known
            if size > FORM_FIELDS and not is_known and self._logged_in is not None:
                # Not on the request's own thread: there may be none yet, or no more.
                if not await sync_to_async(self._logged_in, thread_sensitive=False)(scope):
                    raise Stranger
                is_known = True
            if size > self._limit:
                raise TooLarge

        async def counted() -> Message:
            nonlocal received, more
            message = await receive()
            more = bool(message.get("more_body"))
            received += len(message.get("body", b""))
            await check(received)
            return message

        async def noted(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        length = dict(scope["headers"]).get(b"content-length", b"")
        try:
            await check(int(length) if length.isdigit() else 0)
            await self._application(scope, counted, noted)
        except TooLarge:
            if not begun:
                if more:
                    await pass_over(receive)
                refusal = sync_to_async(_too_large, thread_sensitive=False)
                await answer(send, await refusal(scope))
        except Stranger:
            if not begun:
                await answer(send, _not_logged_in(scope))


def _too_large(scope: Scope) -> HttpResponse:
    return api_problem(413) if _is_api(scope) else too_large(settings.UPLOAD_LIMIT)


def _not_logged_in(scope: Scope) -> HttpResponse:
    return api_problem(401) if _is_api(scope) else not_logged_in()


def _is_api(scope: Scope) -> bool:
    return str(scope.get("path", "")).startswith("/api/")


class ThisMachineOnly:
    """Where nobody has to log in, refuses who comes from another machine, however the web server was started.

    The names in `ALLOWED_HOSTS` alone would not do: a stranger can send any name.
    """

    def __init__(self, application: Application) -> None:
        self._application = application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # Without an address it is a socket in the file system.
        client = scope.get("client")
        if scope["type"] == "http" and client and not is_loopback(client[0]):
            await answer(send, elsewhere())
        else:
            await self._application(scope, receive, send)


def is_loopback(host: str) -> bool:
    """False for what is no address: nobody knows where that is."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return (mapped or address).is_loopback


async def answer(send: Send, response: HttpResponse) -> None:
    """An answer of ours before there is a request."""
    named = {**dict(response.items()), **STRICT_HEADERS, "Content-Length": str(len(response.content))}
    headers = [(name.lower().encode(), value.encode()) for name, value in (*named.items(), ("Connection", "close"))]
    await send({"type": "http.response.start", "status": response.status_code, "headers": headers})
    await send({"type": "http.response.body", "body": response.content})


class HttpOnly:
    """Django answers HTTP alone; a server that offers start and stop events or web sockets is told so quietly.

    `close` is called at the end of a server that says when it ends.
    """

    def __init__(self, application: Application, close: Callable[[], Awaitable[None]] | None = None) -> None:
        self._application = application
        self._close = close

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self._application(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close"})
        else:
            while (event := await receive())["type"] != "lifespan.shutdown":
                await send({"type": f"{event['type']}.complete"})
            if self._close is not None:
                await self._close()
            await send({"type": "lifespan.shutdown.complete"})


class WarmsUp:
    """Once a server has answered its first page, prepares in the background what later ones would wait for.

    Only under a server, which says that it starts, and a moment after that page, whose style sheets go first.
    """

    def __init__(self, application: Application, prepare: Callable[[], None], after: float = WARM_UP_AFTER) -> None:
        self._application = application
        self._prepare = prepare
        self._after = after
        self._is_due = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            self._is_due = True
        await self._application(scope, receive, send)
        if self._is_due and scope["type"] == "http" and scope["path"] != "/healthz":
            self._is_due = False
            asyncio.get_running_loop().call_later(self._after, self._begin)

    def _begin(self) -> None:
        Thread(target=self._prepare, name="warm-up", daemon=True).start()


def has_session(scope: Scope) -> bool:
    """Whether the request comes from a browser that is logged in, or with a live token.

    The page itself asks again, and more closely.
    """
    headers = dict(scope["headers"])
    close_old_connections()
    token = token_in(headers.get(b"authorization", b"").decode("latin-1"))
    if token is not None:
        # By its name: models can be imported only once Django has been set up.
        return import_string("inspector.tokens.find_token")(token) is not None
    cookies = parse_cookie(headers.get(b"cookie", b"").decode("latin-1"))
    return SESSION_KEY in SessionStore(cookies.get(settings.SESSION_COOKIE_NAME))


def warm_up() -> None:
    # Its models need Django to be set up.
    from inspector.warming import warm_up as prepare  # noqa: PLC0415

    prepare()


def build() -> Application:
    """All layers, for the mode that the settings say."""
    pages: Application = get_asgi_application()  # type: ignore[assignment]  # Django types a narrower message
    threads, limit = Receiver(KeptThreads(pages, THREADS)), settings.UPLOAD_LIMIT + FORM_FIELDS
    if settings.AUTH_REQUIRED:
        beside = McpBeside(BodyLimit(threads, limit, has_session))
        return WarmsUp(HttpOnly(beside, beside.close), warm_up)
    beside = McpBeside(BodyLimit(threads, limit))
    return WarmsUp(HttpOnly(ThisMachineOnly(beside), beside.close), warm_up)


application = build()
