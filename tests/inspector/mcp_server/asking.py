"""Tools as a client would call them, without a client: arguments in, the checked answer and its size out."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, NamedTuple

from mcp.server.mcpserver.tools.base import Tool
from mcp_types import CallToolResult, TextContent

from inspector.mcp_server.auth import SCOPE_KEY
from inspector.mcp_server.budget import size_of
from runs.access import EVERYTHING, Access

__all__ = ["NO_EVALUATOR", "PROMISED", "Asked", "ask"]

PROMISED = 16_000
"""Bytes of an answer, structured content and text together."""
NO_EVALUATOR = Access(user=1, name="vera")


class Asked(NamedTuple):
    data: dict[str, Any]
    text: str
    size: int


def ask(tool: Callable[..., Any], access: Access = EVERYTHING, /, **arguments: Any) -> Asked:
    """Arguments are checked and filled up as the SDK does it, and the answer against the schema that clients get.

    The test's own connection stays open: the tool is called without what gives it back.
    """
    request = SimpleNamespace(scope={SCOPE_KEY: access})
    context = SimpleNamespace(request_context=SimpleNamespace(request=request))
    known = Tool.from_function(tool, structured_output=True)
    whole = known.fn_metadata.validate_arguments(arguments)
    result = tool.__wrapped__(context, **whole)  # type: ignore[attr-defined]  # set by functools.wraps
    sent = known.fn_metadata.convert_result(result)
    assert isinstance(sent, CallToolResult)
    assert sent.structured_content is not None
    [content] = sent.content
    assert isinstance(content, TextContent)
    size = size_of(sent)
    assert size < PROMISED
    return Asked(sent.structured_content, content.text, size)
