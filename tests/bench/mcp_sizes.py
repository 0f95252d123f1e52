"""Bytes and milliseconds of every MCP answer over a filled database: `uv run python -m tests.bench.mcp_sizes`.

The database is the one of the settings: TWENTYFOLD_DATA_DIR, or DATABASE_URL for PostgreSQL. Bytes are those of the
whole result as JSON, structured content and text together; half of them is about what a client that shows only one of
the two hands to its model. The attempts are those with the most steps, the most differences, and the first failed one.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from typing import Any

LIMIT = 16_000
"""Bytes that no answer may have."""


def main() -> int:
    """0 when every answer is within the limit."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "inspector.settings")
    import django  # noqa: PLC0415

    django.setup()
    calls = _calls()
    sizes = asyncio.run(_measured(calls))
    print(f"{'tool':18} {'calls':>5} {'least':>7} {'most':>7} {'text':>7} {'ms':>6}   (bytes; ms of the slowest)")
    for name in dict.fromkeys(name for name, _ in calls):
        mine = [entry for entry in sizes if entry[0] == name]
        largest = max(mine, key=lambda entry: entry[1])
        slowest = max(entry[3] for entry in mine)
        least = min(entry[1] for entry in mine)
        print(f"{name:18} {len(mine):5} {least:7,} {largest[1]:7,} {largest[2]:7,} {slowest * 1000:6.0f}")
    over = [entry for entry in sizes if entry[1] >= LIMIT]
    print(f"{len(over)} of {len(sizes)} answers have {LIMIT:,} bytes or more.")
    return 1 if over else 0


def _calls() -> list[tuple[str, dict[str, Any]]]:
    from runs.models import Attempt, Leaderboard, Run  # noqa: PLC0415

    slugs = list(Run.objects.order_by("-pk").values_list("slug", flat=True)[:5])
    failed = Attempt.objects.filter(verdict="failed", current=True)
    orders = ("pk", "-steps", "-differences", "-characters")
    attempts = list(
        dict.fromkeys(pk for order in orders for pk in failed.order_by(order).values_list("pk", flat=True)[:3])
    )
    calls: list[tuple[str, dict[str, Any]]] = [("list_runs", {}), ("metric_definition", {}), ("leaderboard", {})]
    calls += [("leaderboard", {"slug": slug}) for slug in Leaderboard.objects.values_list("slug", flat=True)[:5]]
    for slug in slugs:
        calls += [("run_report", {"run": slug}), ("run_failures", {"run": slug}), ("find_attempts", {"run": slug})]
        calls += [("find_attempts", {"run": slug, "group": "same", "values_of": "task"})]
    calls += [("compare_runs", {"base": slugs[0], "candidate": slug}) for slug in slugs[1:]]
    for pk in attempts:
        calls += [("attempt_outline", {"attempt": pk}), ("attempt_steps", {"attempt": pk})]
        calls += [("attempt_steps", {"attempt": pk, "count": 40, "characters": 4000})]
        calls += [("attempt_text", {"attempt": pk, "step": 1, "part": "text"})]
        calls += [("attempt_checks", {"attempt": pk, "everything": True}), ("first_divergence", {"attempt": pk})]
    return calls


async def _measured(calls: list[tuple[str, dict[str, Any]]]) -> list[tuple[str, int, int, float]]:
    """Tool, bytes of the result, bytes of its text, seconds; through the SDK's own client, in this process."""
    from mcp import Client  # noqa: PLC0415

    from inspector.mcp_server.server import make_server  # noqa: PLC0415

    found = []
    async with Client(make_server()) as client:
        listed = await client.list_tools()
        whole = len(listed.model_dump_json(by_alias=True, exclude_none=True).encode())
        bare = sum(
            len(tool.model_dump_json(by_alias=True, exclude_none=True, exclude={"output_schema"}).encode())
            for tool in listed.tools
        )
        print(f"the list of {len(listed.tools)} tools: {whole:,} bytes, {bare:,} without output schemas")
        for name, arguments in calls:
            begun = time.perf_counter()
            result = await client.call_tool(name, arguments)
            taken = time.perf_counter() - begun
            size = len(result.model_dump_json(by_alias=True, exclude_none=True).encode())
            text = sum(len(getattr(part, "text", "").encode()) for part in result.content)
            found.append((name, size, text, taken))
    return found


if __name__ == "__main__":
    sys.exit(main())
