"""Who may ask `/mcp`, by the layer alone."""

from __future__ import annotations

import json

import pytest
from mcp_types import JSONRPCError, jsonrpc_message_adapter
from pytest_django import Settings

from inspector.layers import Message, Receive, Scope, Send
from inspector.mcp_server import auth
from inspector.mcp_server.auth import SCOPE_KEY, access_of_request
from inspector.mcp_server.endpoint import McpBeside, refusal
from inspector.ratelimit import settle_turn, take_turn
from runs.access import EVERYTHING, Access
from tests.inspector.test_asgi import answer_to, parts

VERA = Access(evaluates=True, user=7, name="vera")


async def page(scope: Scope, receive: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": scope["path"].encode()})


def asked(beside: McpBeside, path: str = "/mcp", **headers: str) -> list[Message]:
    named = [(name.encode(), value.encode()) for name, value in {"host": "localhost", **headers}.items()]
    scope: Scope = {"type": "http", "method": "POST", "path": path, "headers": named}
    return answer_to(beside, scope, parts(2))


class Manager:
    """Stands for the SDK's: says who was let in."""

    async def handle_request(self, scope: Scope, receive: Receive, send: Send) -> None:
        access = scope[SCOPE_KEY]
        await page({"path": f"{access.name} {access.evaluates}"}, receive, send)


@pytest.fixture
def beside(monkeypatch: pytest.MonkeyPatch) -> McpBeside:
    made = McpBeside(page)

    async def manager() -> Manager:
        return Manager()

    monkeypatch.setattr(made._service, "manager", manager)
    return made


@pytest.mark.parametrize("path", ["/", "/mcpx", "/mcp/x", "/share/mcp"])
def test_other_paths_are_pages(beside: McpBeside, path: str) -> None:
    assert asked(beside, path)[1]["body"] == path.encode()


def test_a_token_tells_who_asks_in_server_mode(
    beside: McpBeside, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.AUTH_REQUIRED = True
    monkeypatch.setattr(auth, "access_of_token", {"good": VERA}.get)
    assert asked(beside, authorization="Bearer good")[1]["body"] == b"vera True"
    assert asked(beside, authorization="bearer  good ")[1]["body"] == b"vera True"
    for header in ("Bearer bad", "Bearer", "", "good", "Basic good"):
        sent = asked(beside, authorization=header)
        assert (sent[0]["status"], json.loads(sent[1]["body"])["error"]) == (401, "invalid_token")
        assert dict(sent[0]["headers"])[b"www-authenticate"] == b'Bearer error="invalid_token"'


def test_who_asks_too_often_is_told_so_in_the_protocols_words(
    beside: McpBeside, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.AUTH_REQUIRED, settings.API_RATE = True, 2
    looked_up: list[str] = []

    def look_up(text: str) -> Access:
        looked_up.append(text)
        return VERA

    monkeypatch.setattr(auth, "access_of_token", look_up)
    busy, other = "Bearer of the busy", "Bearer of another"
    allowed = [asked(beside, authorization=busy)[0] for _ in range(2)]
    left = [dict(answer["headers"])[b"ratelimit-remaining"] for answer in allowed]
    assert ([answer["status"] for answer in allowed], left) == ([200, 200], [b"1", b"0"])
    refused, content = asked(beside, authorization=busy)
    headers = dict(refused["headers"])
    assert (refused["status"], headers[b"content-type"]) == (429, b"application/json")
    wait = int(headers[b"retry-after"])
    assert (25 <= wait <= 30, headers[b"ratelimit-limit"], headers[b"ratelimit-remaining"]) == (True, b"2", b"0")
    message = jsonrpc_message_adapter.validate_json(content["body"], by_name=False)
    assert isinstance(message, JSONRPCError)
    assert (message.id, message.error.data) == (None, {"limit": 2, "retry_after": wait})
    assert message.error.message == (
        f"More than 2 requests a minute came from here. Send the next one in {wait} seconds."
    )
    assert asked(beside, authorization=other)[0]["status"] == 200
    # Nobody is looked up who is refused.
    assert looked_up == ["of the busy", "of the busy", "of another"]


def test_the_rest_api_and_mcp_take_from_one_bucket(
    beside: McpBeside, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.AUTH_REQUIRED, settings.API_RATE = True, 2
    monkeypatch.setattr(auth, "access_of_token", {"shared": VERA}.get)
    turn = settle_turn("Bearer shared", "192.0.2.71", take_turn("Bearer shared", "192.0.2.71"), live=True)
    assert turn.allowed
    assert [asked(beside, authorization="Bearer shared")[0]["status"] for _ in range(2)] == [200, 429]


def test_made_up_tokens_are_counted_by_address_and_then_not_looked_up(
    beside: McpBeside, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.AUTH_REQUIRED, settings.API_RATE = True, 3
    looked_up: list[str] = []
    monkeypatch.setattr(auth, "access_of_token", looked_up.append)
    told = [asked(beside, authorization=f"Bearer bad{number}")[0]["status"] for number in range(5)]
    assert (told, looked_up) == ([401, 401, 401, 429, 429], ["bad0", "bad1", "bad2"])


def test_without_login_nobody_is_counted(beside: McpBeside, settings: Settings) -> None:
    settings.API_RATE = 1
    answers = [asked(beside)[0] for _ in range(3)]
    assert [(answer["status"], answer["headers"]) for answer in answers] == [(200, [])] * 3


def test_without_login_a_token_is_not_looked_at(beside: McpBeside) -> None:
    assert asked(beside)[1]["body"] == b" True"
    assert asked(beside, authorization="Bearer bad")[1]["body"] == b" True"


def test_a_request_that_did_not_pass_the_layer_has_no_access() -> None:
    class Bare:
        scope: Scope = {}

    assert access_of_request(None) == EVERYTHING
    with pytest.raises(KeyError):
        access_of_request(Bare())


@pytest.mark.parametrize(
    ("host", "origin", "status"),
    [
        ("localhost:8000", None, None),
        ("localhost:8000", "http://localhost:8000", None),
        ("evals.example.com", "https://evals.example.com", None),
        ("evals.example.com", "https://proxy.example.com", None),
        ("localhost:8000", "http://localhost:9000", 403),
        ("localhost:8000", "file://localhost:8000", 403),
        ("localhost:8000", "", 403),
        ("other.example.com", None, 421),
        ("", None, 421),
    ],
)
def test_host_and_origin_are_those_of_the_pages(
    settings: Settings, host: str, origin: str | None, status: int | None
) -> None:
    settings.ALLOWED_HOSTS = ["localhost", "evals.example.com"]
    settings.CSRF_TRUSTED_ORIGINS = ["https://proxy.example.com"]
    found = refusal({"host": host} | ({} if origin is None else {"origin": origin}))
    assert (None if found is None else found[0]) == status
