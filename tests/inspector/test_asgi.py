"""The ASGI application's own layers, driven without a server."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Coroutine, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from inspector import layers
from inspector.asgi import FORM_FIELDS, BodyLimit, HttpOnly, KeptThreads, ThisMachineOnly, WarmsUp, build, has_session
from inspector.layers import Application, Message, Receive, Scope, Send
from inspector.middleware import STRICT_HEADERS
from inspector.models import ApiToken
from inspector.tokens import make_token, revoke_token
from inspector.views.errors import SENTENCES
from inspector.warming import warm_up
from tests.inspector.server_mode import make_owner

Result = TypeVar("Result")
SCOPE: Scope = {"type": "http", "headers": []}


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers with the number of bytes that it received."""
    size, more = 0, True
    while more:
        message = await receive()
        size += len(message.get("body", b""))
        more = bool(message.get("more_body"))
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": str(size).encode()})


def run_apart(coroutine: Coroutine[Any, Any, Result]) -> Result:
    """Runs a coroutine in a thread of its own: in this one a browser test may have left its loop running."""
    with ThreadPoolExecutor(max_workers=1) as threads:
        return threads.submit(asyncio.run, coroutine).result()


def answer_to(application: Application, scope: Scope, messages: Iterable[Message]) -> list[Message]:
    sent: list[Message] = []
    waiting = iter(messages)

    async def receive() -> Message:
        return next(waiting)

    async def send(message: Message) -> None:
        sent.append(message)

    async def run() -> None:
        await application(scope, receive, send)

    run_apart(run())
    return sent


def parts(*sizes: int) -> list[Message]:
    last = len(sizes) - 1
    return [{"type": "http.request", "body": b"x" * n, "more_body": i < last} for i, n in enumerate(sizes)]


def test_a_body_up_to_the_limit_passes() -> None:
    sent = answer_to(BodyLimit(echo, 100), SCOPE, parts(60, 40))
    assert (sent[0]["status"], sent[1]["body"]) == (200, b"100")


def test_a_body_that_says_it_is_too_large_is_passed_over_and_refused() -> None:
    scope = {**SCOPE, "headers": [(b"content-length", b"101")]}
    left = iter(parts(60, 41))
    sent = answer_to(BodyLimit(echo, 100), scope, left)
    assert list(left) == []
    text, headers = sent[1]["body"].decode(), dict(sent[0]["headers"])
    assert (sent[0]["status"], headers[b"content-length"]) == (413, str(len(sent[1]["body"])).encode())
    assert ("The files are too large" in text, "This server takes" in text) == (True, True)
    strict = {name.lower().encode(): value.encode() for name, value in STRICT_HEADERS.items()}
    assert {name: headers.get(name) for name in strict} == strict


def test_the_refusal_needs_no_template(settings: Settings) -> None:
    settings.TEMPLATES = [{**settings.TEMPLATES[0], "DIRS": []}]
    sent = answer_to(BodyLimit(echo, 100), SCOPE, parts(101))
    assert (sent[0]["status"], sent[1]["body"]) == (413, f"{SENTENCES[413]}\n".encode())


def test_a_body_that_turns_out_too_large_is_refused_on_the_way() -> None:
    left = iter(parts(60, 41, 10))
    assert answer_to(BodyLimit(echo, 100), SCOPE, left)[0]["status"] == 413
    assert list(left) == []


def test_a_sender_that_never_ends_is_waited_for_a_while_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layers, "PATIENCE", 0.05)

    async def endless() -> Message:
        await asyncio.sleep(0.01)
        return {"type": "http.request", "body": b"x", "more_body": True}

    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def run() -> None:
        await BodyLimit(echo, 3)(SCOPE, endless, send)

    run_apart(run())
    assert sent[0]["status"] == 413


def test_a_stranger_sends_no_more_than_a_form() -> None:
    asked: list[Scope] = []

    def nobody(scope: Scope) -> bool:
        asked.append(scope)
        return False

    limited = BodyLimit(echo, 3 * FORM_FIELDS, nobody)
    assert answer_to(limited, SCOPE, parts(FORM_FIELDS))[0]["status"] == 200
    assert asked == []
    said = {**SCOPE, "headers": [(b"content-length", str(FORM_FIELDS + 1).encode())]}
    refused = answer_to(limited, said, [])
    assert (refused[0]["status"], refused[1]["body"]) == (401, f"{SENTENCES[401]}\n".encode())
    assert answer_to(limited, SCOPE, parts(FORM_FIELDS, 1))[0]["status"] == 401
    assert asked == [said, SCOPE]


def test_an_account_is_looked_for_once_a_request() -> None:
    asked: list[Scope] = []

    def owner(scope: Scope) -> bool:
        asked.append(scope)
        return True

    limited = BodyLimit(echo, 3 * FORM_FIELDS, owner)
    assert answer_to(limited, SCOPE, parts(FORM_FIELDS, FORM_FIELDS, 1))[0]["status"] == 200
    assert asked == [SCOPE]
    assert answer_to(limited, SCOPE, parts(3 * FORM_FIELDS + 1))[0]["status"] == 413


@pytest.mark.django_db(transaction=True)
def test_a_session_is_known_by_its_cookie(client: Client) -> None:
    # Not within a transaction: Django takes a connection that is in the middle of one for a leftover, and closes it.
    client.force_login(make_owner())
    key = client.cookies["twentyfold_session"].value
    cookies = {
        b"": False,
        b"twentyfold_session=": False,
        b"twentyfold_session=unknown": False,
        f"a=b; twentyfold_session={key}".encode(): True,
    }
    assert {cookie: has_session({**SCOPE, "headers": [(b"cookie", cookie)]}) for cookie in cookies} == cookies
    assert has_session(SCOPE) is False


@pytest.mark.django_db(transaction=True)
def test_a_live_token_sends_more_than_a_form_and_any_other_does_not() -> None:
    ada = make_owner()
    live, revoked, expired, closed = (make_token(ada, name) for name in ("live", "revoked", "expired", "closed"))
    revoke_token(revoked.token)
    ApiToken.objects.filter(pk=expired.token.pk).update(expires_at=timezone.now())
    ApiToken.objects.filter(pk=closed.token.pk).update(owner=User.objects.create_user("gone", is_active=False))

    def known(scope: Scope) -> bool:
        try:
            return has_session(scope)
        finally:
            # A thread of its own asks; with its connection open the test database could not be removed.
            connection.close()

    limited = BodyLimit(echo, 3 * FORM_FIELDS, known)
    told = {}
    for name, header in {
        "live": f"Bearer {live.text}",
        "live, otherwise written": f"bearer  {live.text} ",
        "revoked": f"Bearer {revoked.text}",
        "expired": f"Bearer {expired.text}",
        "closed": f"Bearer {closed.text}",
        "unknown": f"Bearer tf_{'a' * 43}",
        "no bearer": f"Basic {live.text}",
        "no text": "Bearer \u00ff\u00fe",
    }.items():
        scope = {**SCOPE, "headers": [(b"authorization", header.encode("latin-1"))], "path": "/api/v1/runs/a/attempts"}
        told[name] = answer_to(limited, scope, parts(FORM_FIELDS, 1))[0]["status"]
    assert told == dict.fromkeys(told, 401) | {"live": 200, "live, otherwise written": 200}


@pytest.mark.parametrize(("size", "status"), [(FORM_FIELDS + 1, 401), (3 * FORM_FIELDS + 1, 413)])
def test_a_program_is_refused_with_a_problem(size: int, status: int) -> None:
    limited = BodyLimit(echo, 3 * FORM_FIELDS, lambda scope: status == 413)
    sent = answer_to(limited, {**SCOPE, "path": "/api/v1/runs/a/attempts"}, parts(size))
    headers = dict(sent[0]["headers"])
    assert (sent[0]["status"], headers[b"content-type"]) == (status, b"application/problem+json")
    assert (json.loads(sent[1]["body"])["status"], headers.get(b"www-authenticate")) == (
        status, b"Bearer" if status == 401 else None,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("client", "status"),
    [
        (("127.0.0.1", 40000), 200),
        (("127.1.2.3", 40000), 200),
        (("::1", 40000, 0, 0), 200),
        (("::ffff:127.0.0.1", 40000), 200),
        (None, 200),
        (("192.0.2.7", 40000), 403),
        (("::ffff:192.0.2.7", 40000), 403),
        (("2001:db8::7", 40000), 403),
        (("testclient", 40000), 403),
        (("0.0.0.0", 40000), 403),
    ],
)
def test_without_a_login_only_this_machine_is_answered(client: tuple[Any, ...] | None, status: int) -> None:
    # Whatever name it asks for.
    scope = {**SCOPE, "client": client, "headers": [(b"host", b"localhost")]}
    sent = answer_to(ThisMachineOnly(echo), scope, parts(3))
    headers = dict(sent[0]["headers"])
    assert (sent[0]["status"], b"content-security-policy" in headers) == (status, status == 403)
    assert (b"TWENTYFOLD_AUTH=required" in sent[1]["body"]) is (status == 403)


def test_the_application_without_a_login_refuses_others_first() -> None:
    scope = {**SCOPE, "client": ("192.0.2.7", 40000), "headers": [(b"host", b"localhost")]}
    assert answer_to(build(), scope, [])[0]["status"] == 403


def test_what_is_no_page_is_answered_quietly() -> None:
    application = HttpOnly(echo)
    events: list[Message] = [{"type": "lifespan.startup"}, {"type": "lifespan.shutdown"}]
    assert answer_to(application, {"type": "lifespan"}, events) == [
        {"type": "lifespan.startup.complete"},
        {"type": "lifespan.shutdown.complete"},
    ]
    assert answer_to(application, {"type": "websocket"}, []) == [{"type": "websocket.close"}]


def test_a_server_prepares_once_after_its_first_page() -> None:
    prepared = threading.Semaphore(0)

    async def visits() -> list[bool]:
        application = WarmsUp(HttpOnly(echo), prepared.release, after=0)
        begun = asyncio.Event()

        async def receive() -> Message:
            if begun.is_set():
                await asyncio.sleep(60)
            begun.set()
            return {"type": "lifespan.startup"}

        async def nothing() -> Message:
            return {"type": "http.request"}

        async def send(message: Message) -> None:
            """Nobody listens."""

        async def ask(path: str) -> bool:
            await application({**SCOPE, "path": path}, nothing, send)
            await asyncio.sleep(0)
            await asyncio.sleep(0.01)
            return prepared.acquire(timeout=5 if path == "/" else 0)

        before = await ask("/runs/")
        life = asyncio.create_task(application({"type": "lifespan"}, receive, send))
        await begun.wait()
        asked = [before, await ask("/healthz"), await ask("/"), await ask("/runs/")]
        life.cancel()
        return asked

    assert run_apart(visits()) == [False, False, True, False]


def test_what_is_prepared_is_what_the_first_chart_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[bytes] = []

    def check(figure: bytes) -> dict[str, object]:
        drawn.append(figure)
        return {}

    monkeypatch.setattr("inspector.charts.theme._checked", check)
    warm_up()
    assert len(drawn) == 5


def test_requests_share_a_few_threads_that_stay() -> None:
    used: list[int] = []
    together, most = 0, 0
    counting = threading.Lock()
    pause = threading.Event()

    def page() -> None:
        nonlocal together, most
        with counting:
            together += 1
            most = max(most, together)
            used.append(threading.get_ident())
        pause.wait(0.01)
        with counting:
            together -= 1

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        await sync_to_async(page, thread_sensitive=True)()
        await sync_to_async(page, thread_sensitive=True)()

    async def all_at_once() -> None:
        kept = KeptThreads(application, 3)
        nothing: Any = None
        await asyncio.gather(*(kept(SCOPE, nothing, nothing) for _ in range(20)))

    run_apart(all_at_once())
    assert (len(used), len(set(used)), most) == (40, 3, 3)


def test_a_thread_comes_back_after_an_error() -> None:
    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        raise RuntimeError

    async def more_than_there_are_threads() -> list[BaseException | None]:
        kept = KeptThreads(application, 1)
        nothing: Any = None
        calls = [kept(SCOPE, nothing, nothing) for _ in range(3)]
        return await asyncio.wait_for(asyncio.gather(*calls, return_exceptions=True), 10)

    assert [type(error) for error in run_apart(more_than_there_are_threads())] == [RuntimeError] * 3
