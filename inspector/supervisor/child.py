"""What `up` runs as its own processes: `python -m inspector.supervisor.child web 5` or `… worker 2 PLACE`.

Standard input is a pipe whose other end only `up` holds. When `up` ends in whatever way, even by `kill -9`, the pipe
closes, and this process ends too. That works on every system, where a death signal would be Linux only.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
import time
from typing import Any

GRACE_SECONDS = 5.0


def end_with_parent() -> None:
    def watch() -> None:
        while os.read(0, 1024):
            pass
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(GRACE_SECONDS)
        os.kill(os.getpid(), signal.SIGKILL)

    threading.Thread(target=watch, name="parent-watch", daemon=True).start()


def serve(listening: int) -> None:
    """The web server on a socket that `up` has bound: a restarted server takes over the waiting requests."""
    import uvicorn  # noqa: PLC0415  # a worker needs no web server, and each import delays a start

    config = uvicorn.Config(
        "inspector.asgi:application",
        log_config=None,
        access_log=False,
        lifespan="on",  # it tells the application that a server runs it
        ws="none",
        server_header=False,
        timeout_graceful_shutdown=int(GRACE_SECONDS) - 1,
    )
    uvicorn.Server(config).run(sockets=[socket.socket(fileno=listening)])


def work(number: int, place: str) -> None:
    """A Celery worker that does one thing at a time. A killed one dies whole, and `up` starts it again.

    Whatever was claimed in its `place` before is nobody's any more, or of one that ends together with an `up` that
    died: what that one still stores after its claim was given back is not kept.
    """
    from celery.signals import worker_ready  # noqa: PLC0415  # as above

    from inspector.celery import app  # noqa: PLC0415  # as above

    def take_place(**_: Any) -> None:
        from runs.tasks import succeed_in  # noqa: PLC0415  # Django is set up by now

        succeed_in(place)

    worker_ready.connect(take_place, weak=False)
    app.worker_main(
        [
            "--quiet", "worker", "--pool", "solo", "--hostname", f"worker-{number}@%h", "--loglevel", "INFO",
            "--without-gossip", "--without-mingle", "--without-heartbeat",
        ]
    )  # fmt: skip


def watch_inbox() -> None:
    """Follows the folder that TWENTYFOLD_INBOX names."""
    import django  # noqa: PLC0415  # as above
    from django.core.management import call_command  # noqa: PLC0415

    django.setup()
    call_command("watch")


def main(arguments: list[str]) -> None:
    end_with_parent()
    match arguments:
        case ["web", listening]:
            serve(int(listening))
        case ["inbox"]:
            watch_inbox()
        case ["worker", number, place]:
            work(int(number), place)
        case _:
            sys.exit("Usage: python -m inspector.supervisor.child web FILE_DESCRIPTOR | worker NUMBER PLACE | inbox")


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "inspector.settings")
    main(sys.argv[1:])
