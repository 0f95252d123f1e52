"""The SDK's own client over standard input and HTTP: lists and calls every tool, reads resources, gets the prompt."""

from __future__ import annotations

import http.client
import json
from typing import Any
from urllib.parse import urlsplit

import jsonschema
import pytest
from mcp import Client

from inspector.mcp_server.server import TOOLS
from tests.inspector.mcp_server.asking import PROMISED

NAMES = sorted(tool.__name__ for _, tool in TOOLS)
TRANSPORTS = ("over_stdio", "over_http", "over_http_as_before")


async def call_all(client: Client) -> dict[str, tuple[bool, int]]:
    """Tool → whether it answered, and the size in bytes; each answer fits its published schema."""
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    failed = await client.call_tool("find_attempts", {})
    assert failed.structured_content is not None
    attempt = failed.structured_content["found"][0]["attempt"]
    run, other = "desk-birch", "desk-oak"
    arguments: dict[str, dict[str, Any]] = {
        "list_runs": {}, "run_report": {"run": run}, "compare_runs": {"base": run, "candidate": other},
        "run_failures": {"run": run}, "find_attempts": {}, "attempt_outline": {"attempt": attempt},
        "attempt_steps": {"attempt": attempt}, "attempt_text": {"attempt": attempt, "step": 1, "part": "text"},
        "attempt_checks": {"attempt": attempt}, "first_divergence": {"attempt": attempt}, "leaderboard": {},
        "metric_definition": {},
    }  # fmt: skip
    slugs = (await client.call_tool("list_runs", {})).structured_content
    assert slugs is not None
    assert sorted(row["slug"] for row in slugs["runs"]) == [run, other]
    called = {}
    for name, tool in tools.items():
        result = await client.call_tool(name, arguments[name])
        assert tool.output_schema is not None
        jsonschema.validate(result.structured_content, tool.output_schema)
        size = len(result.model_dump_json(by_alias=True, exclude_none=True).encode())
        called[name] = (not result.is_error, size)
    return called


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_every_tool_is_listed_and_answers(transport: str, request: pytest.FixtureRequest) -> None:
    called = request.getfixturevalue(transport)(call_all)
    assert sorted(called) == NAMES
    assert {name: size for name, (ok, size) in called.items() if not ok or size >= PROMISED} == {}


@pytest.mark.parametrize("transport", ["over_stdio", "over_http"])
def test_tools_only_read_and_each_field_of_their_schemas_is_described(
    transport: str, request: pytest.FixtureRequest
) -> None:
    async def session(client: Client) -> list[Any]:
        return list((await client.list_tools()).tools)

    tools = request.getfixturevalue(transport)(session)
    assert {tool.annotations.read_only_hint for tool in tools} == {True}
    undescribed = [
        f"{tool.name}.{name}"
        for tool in tools
        for name, field in tool.input_schema["properties"].items()
        if "description" not in field
    ]
    assert undescribed == []
    assert [tool.name for tool in tools if "When to call:" not in tool.description or len(tool.description) > 600] == []


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_resources_prompt_and_errors(transport: str, request: pytest.FixtureRequest) -> None:
    async def session(client: Client) -> tuple[list[str], str, str, str, list[str]]:
        templates = [each.uri_template for each in (await client.list_resource_templates()).resource_templates]
        found = (await client.call_tool("find_attempts", {})).structured_content
        assert found is not None
        contents = (await client.read_resource(f"twentyfold://attempts/{found['found'][0]['attempt']}")).contents
        board = (await client.read_resource("twentyfold://leaderboards/thinkingbox-bench-v1-0")).contents
        prompt = await client.get_prompt("diagnose_failures", {"run": "desk-birch"})
        wrong = await client.call_tool("run_report", {"run": "desk-birc"})
        assert wrong.is_error
        texts = [getattr(each[0], "text", "") for each in (contents, board, wrong.content)]
        return templates, texts[0], texts[1], getattr(prompt.messages[0].content, "text", ""), texts[2:]

    templates, attempt, board, prompt, errors = request.getfixturevalue(transport)(session)
    assert templates == ["twentyfold://attempts/{attempt}", "twentyfold://leaderboards/{slug}"]
    assert ("first difference:" in attempt, "ThinkingBox-Bench v1.0" in board) == (True, True)
    assert "run_failures(run='desk-birch')" in prompt
    assert ['"desk-birch"' in error and "list_runs()" in error for error in errors] == [True]


PING = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}


def post(
    address: str, body: bytes | None = None, method: str = "POST", headers: dict[str, str] | None = None
) -> tuple[int, str]:
    """Status and body."""
    parts = urlsplit(address)
    connection = http.client.HTTPConnection(parts.netloc, timeout=60)
    sent = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    sent |= headers or {}
    connection.request(method, "/mcp", json.dumps(PING).encode() if body is None else body, sent)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text


def test_without_login_this_machine_needs_no_token(server: str) -> None:
    status, text = post(server)
    assert (status, len(json.loads(text)["result"]["tools"])) == (200, len(NAMES))


def test_in_server_mode_nobody_is_let_in_without_a_token(closed_server: str) -> None:
    tokens = ("Bearer nothing", "Basic YTpi", "Bearer", "nothing")
    for headers in (None, *({"Authorization": text} for text in tokens)):
        status, text = post(closed_server, headers=headers)
        assert (status, json.loads(text)["error"]) == (401, "invalid_token")


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Host": ""}, 421),
        ({"Host": "127.0.0.1.evil.example"}, 421),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://127.0.0.1:1"}, 403),
    ],
)
def test_pages_of_other_sites_cannot_ask(server: str, headers: dict[str, str], status: int) -> None:
    assert post(server, headers=headers)[0] == status
    assert post(server, headers={"Origin": server})[0] == 200


def test_a_body_that_is_too_large_and_other_methods_are_refused(server: str) -> None:
    assert post(server, b"x" * 300_000)[0] == 413
    assert post(server, b"{")[0] == 400
    assert [post(server, b"", method)[0] for method in ("GET", "DELETE", "PUT")] == [405, 405, 405]
