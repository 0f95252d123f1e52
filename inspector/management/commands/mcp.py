"""`mcp`: the stored runs for a coding agent, over standard input and output."""

from __future__ import annotations

import logging
import sys
from typing import Any

from django.core.management import BaseCommand


class Command(BaseCommand):
    help = (
        "Speaks MCP over standard input and output, so that a coding agent can ask about the stored runs. Reads only."
    )
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        from inspector.mcp_server.server import make_server  # noqa: PLC0415 - the SDK takes a second to import

        if sys.stdin.isatty():
            self.stderr.write("This command is started by an MCP client, and waits for its messages. Ctrl-C ends it.")
        # Standard output belongs to the protocol, and a client shows standard error as trouble.
        logging.getLogger().setLevel(logging.WARNING)
        make_server().run("stdio")
