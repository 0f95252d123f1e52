"""The configuration in docs/recipes/mcp.md is JSON, starts what it says, and reaches the server."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from inspector.mcp_server.server import TOOLS
from tests.inspector.mcp_server.conftest import PROJECT, apart, environment

RECIPE = (PROJECT / "docs" / "recipes" / "mcp.md").read_text(encoding="utf-8")
ENTRIES: list[dict[str, Any]] = [
    json.loads(text)["mcpServers"]["twentyfold"] for text in re.findall(r"```json\n(.*?)```", RECIPE, re.DOTALL)
]
NAMES = {tool.__name__ for _, tool in TOOLS}


async def names(client: Client) -> set[str]:
    return {tool.name for tool in (await client.list_tools()).tools}


def test_the_recipe_has_the_three_ways() -> None:
    assert [entry.get("command", entry.get("url")) for entry in ENTRIES] == [
        "uv", "http://127.0.0.1:8000/mcp", "https://evals.example.com/mcp",
    ]  # fmt: skip


def test_the_command_is_started_as_it_is_written(stored: Path) -> None:
    entry = ENTRIES[0]
    arguments = [str(PROJECT) if each == "/path/to/twentyfold" else each for each in entry["args"]]
    assert arguments != entry["args"]
    parameters = StdioServerParameters(
        command=entry["command"], args=arguments, env=environment(stored, UV_NO_SYNC="1"), cwd=stored
    )
    assert apart(names, lambda: Client(stdio_client(parameters))) == NAMES


@pytest.mark.parametrize("entry", ENTRIES[1:], ids=["open", "with a token"])
def test_the_address_and_the_header_reach_a_server(server: str, entry: dict[str, Any]) -> None:
    """Where nobody has to log in, a token is not looked at; what it opens is tested by the layer alone."""
    address = re.sub(r"https?://[^/]+", server, entry["url"])
    sent: list[str | None] = []

    async def noted(request: httpx2.Request) -> None:
        sent.append(request.headers.get("Authorization"))

    @asynccontextmanager
    async def client() -> AsyncIterator[Client]:
        headers = entry.get("headers", {})
        async with (
            httpx2.AsyncClient(headers=headers, event_hooks={"request": [noted]}, timeout=60) as http,
            Client(streamable_http_client(address, http_client=http)) as made,
        ):
            yield made

    assert apart(names, client) == NAMES
    assert set(sent) == {entry.get("headers", {}).get("Authorization")}
