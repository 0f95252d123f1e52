"""`up`: everything on this machine, with one command."""

from __future__ import annotations

import os
import sys
import time
import webbrowser
from argparse import ArgumentParser
from contextlib import suppress
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.management import BaseCommand, CommandError, get_commands
from django.db import OperationalError

from inspector.supervisor.address import AddressError, listen, names_of, url_of
from inspector.supervisor.lock import AlreadyRunning, FolderLock
from inspector.supervisor.run import Supervisor, child_environment
from runs.management.foreground import ensure_database
from runs.models import Run

A_DAY = 24 * 3600


class Command(BaseCommand):
    help = "Starts the web server and the workers, and ends them all on Ctrl-C."
    # The checks run with the migration, once.
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--host",
            default="127.0.0.1",
            help="where to listen; in server mode (TWENTYFOLD_AUTH=required) also 0.0.0.0",
        )
        parser.add_argument(
            "--port", type=int, help="a port that must be free; without it the first free one from 8000"
        )
        parser.add_argument("--workers", type=int, default=settings.WORKERS, help="how many (default: one a core)")
        parser.add_argument("--no-demo", action="store_true", help="load no demo runs at the first start")
        parser.add_argument("--no-browser", action="store_true", help="open no browser")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["workers"] < 1:
            raise CommandError("--workers must be at least 1.", returncode=2)
        try:
            with (
                FolderLock(settings.DATA_DIR) as lock,
                listen(options["host"], options["port"], login=settings.AUTH_REQUIRED) as listening,
            ):
                status = self._run(lock, listening, options)
        except AlreadyRunning as error:
            raise CommandError(str(error)) from error
        except AddressError as error:
            raise CommandError(str(error), returncode=2) from error
        except OperationalError as error:
            raise CommandError(f"The database cannot be used: {str(error).strip()}") from error
        except KeyboardInterrupt:
            status = 0
        sys.exit(status)

    def _run(self, lock: FolderLock, listening: Any, options: dict[str, Any]) -> int:
        url, names = url_of(listening), names_of(listening)
        lock.announce(url)
        remove_old_files(settings.TEMP_DIR)
        ensure_database()
        demo = DemoNote(settings.DATA_DIR / "demo")
        first = self._demo_job(demo, options)
        supervisor = Supervisor(
            listening,
            options["workers"],
            lock.place(),
            settings.LOGS_DIR,
            child_environment(settings.BASE_DIR, settings.TEMP_DIR, [*settings.ALLOWED_HOSTS, *names]),
            self._say,
            first,
            inbox=bool(settings.INBOX),
        )

        def ready() -> None:
            if options["port"] is None and not url.endswith(":8000/"):
                self._say("Port 8000 is taken, so another one was chosen.")
            self._say(f"Twentyfold is running at {url}")
            if names:
                port = listening.getsockname()[1]
                self._say(f"Others reach it at {', '.join(f'http://{name}:{port}/' for name in names)}")
                self._say(
                    "Passwords and pages travel there unencrypted: put an HTTPS proxy before it, or trust the net."
                )
            if settings.AUTH_REQUIRED and not User.objects.exists():
                self._say("Nobody has an account yet. Make one: uv run manage.py createowner")
            self._say(f"{options['workers']} workers. Data and logs are in {settings.DATA_DIR}. Ctrl-C ends it.")
            if supervisor.first_job_runs:
                self._say("The demo runs are still being loaded, and appear when that is done.")
            if not options["no_browser"] and has_desktop():
                webbrowser.open(url)

        def first_done(status: int) -> None:
            if status == 0:
                demo.write("loaded")
            else:
                self._say(f"The demo runs could not be loaded. The log is {settings.LOGS_DIR / 'first.log'}.")

        status = supervisor.run(ready, first_done)
        self._say("Twentyfold has ended.")
        return status

    def _demo_job(self, demo: DemoNote, options: dict[str, Any]) -> list[str]:
        if options["no_demo"] or "demo" not in get_commands() or not demo.is_wanted():
            return []
        demo.write("loading")
        return [str(settings.BASE_DIR / "manage.py"), "demo"]

    def _say(self, text: str) -> None:
        # The terminal may be gone already (SIGHUP): that must not keep the processes from being ended.
        with suppress(OSError):
            self.stdout.write(text)
            self.stdout.flush()


class DemoNote:
    """Remembers in the data folder that the demo was loaded, so that deleted demo runs do not come back."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def is_wanted(self) -> bool:
        """At the first start with an empty database, and again when the first loading was cut off."""
        try:
            return self._path.read_text(encoding="ascii") == "loading"
        except FileNotFoundError:
            return not Run.objects.exists()

    def write(self, state: str) -> None:
        self._path.write_text(state, encoding="ascii")


def remove_old_files(folder: Path) -> None:
    """What cut off uploads left behind."""
    old = time.time() - A_DAY
    for path in folder.iterdir():
        with suppress(OSError):
            if path.is_file() and path.stat().st_mtime < old:
                path.unlink()


def has_desktop() -> bool:
    """Whether somebody sits before a screen that a browser can open on."""
    if os.environ.get("CI") or os.environ.get("SSH_CONNECTION") or not sys.stdout.isatty():
        return False
    return sys.platform in {"darwin", "win32"} or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
