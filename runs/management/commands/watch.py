"""Follows result files that are still being written, and a folder into which such files are put."""

from __future__ import annotations

import argparse
import shutil
import signal
import sys
import time
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError
from kombu.exceptions import OperationalError

from runs.databases import spare_memory
from runs.errors import RunsError
from runs.following import Follower, told
from runs.inbox import Inbox
from runs.management.foreground import ensure_database, not_taken, whole_number
from runs.models import Upload
from runs.naming import MOST_REPETITIONS
from runs.showing import plain
from runs.tasks import work
from runs.uploads import Wishes

_EVERY, _IN_A_LOG = 1.0, 60.0
"""Seconds."""
_EMPTY_LINE = "\r\x1b[K"


class Command(BaseCommand):
    help = "Follow a result file while it is being written, or a folder into which result files are put."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("path", nargs="?", metavar="PATH", help="a result file, or a folder; else TWENTYFOLD_INBOX")
        parser.add_argument("--model", default="", help="the model's name, where no run metadata lies beside the file")
        parser.add_argument("--benchmark", default="", help="the benchmark's name; else taken from the file's name")
        parser.add_argument("--repetitions", type=_repetitions, metavar="K", help="attempts a task should have")
        parser.add_argument("--run", default="", metavar="SLUG", help="the stored run to add to; else a new one")
        parser.add_argument("--mask", action="store_true", help="mask secrets before rows are stored")
        parser.add_argument("--expect", type=_count, metavar="N", help="attempts that the file will have in the end")
        parser.add_argument(
            "--idle",
            type=_seconds,
            metavar="SECONDS",
            help="of a file: end when nothing new came for so long, else go on for ever; of a folder: after how long "
            "without a new line one of its files counts as whole (600)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        self.stderr.style_func = None  # most of what is said there is no error
        ensure_database()
        spare_memory()
        place = options["path"] or settings.INBOX
        if not place:
            raise CommandError("Name a file or a folder to follow, or set TWENTYFOLD_INBOX.")
        signal.signal(signal.SIGTERM, _end)
        path = Path(place)
        if not options["path"]:
            path.mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            self._folder(path, options["idle"])
            return
        wishes = Wishes(
            model=options["model"].strip(),
            benchmark=options["benchmark"].strip(),
            repetitions=options["repetitions"],
            run=options["run"].strip(),
            mask=options["mask"],
        )
        self._file(path, wishes, options["expect"], options["idle"])

    def _folder(self, folder: Path, idle: float | None) -> None:
        inbox = Inbox(folder, _hint, **({} if idle is None else {"idle": idle}))
        self._say(f"Looking for result files in {folder}. End with Ctrl+C.")
        try:
            while True:
                if not inbox.step():
                    time.sleep(_EVERY)
        except KeyboardInterrupt:
            self._say("Ended.")
        finally:
            inbox.close()

    def _file(self, path: Path, wishes: Wishes, expected: int | None, idle: float | None) -> None:
        upload: Upload | None = None
        try:
            follower = Follower(path, wishes, expected=expected)
            there = "" if path.exists() else ", which is not there yet"
            self._say(f"Following {path}{there}. End with Ctrl+C.")
            try:
                whole = self._until_idle(follower, expected, idle)
            except (KeyboardInterrupt, SystemExit):
                follower.close()
                self._say(f"{plain(f'{path} → {told(follower)}')}. Ended; follow it again to read the rest.")
                return
            upload = follower.finish(whole=whole)
        except RunsError as error:
            raise CommandError(f"{path}: {error}") from error
        except DatabaseError as error:
            raise CommandError(f"{path}: {not_taken(error)}") from error
        except OSError as error:
            raise CommandError(f"{path}: the file cannot be read: {error.strerror or error}.") from error
        if upload is None or upload.run is None:
            raise CommandError(f"{path}: no row came.")
        stopped = " It was stopped on the page of uploads." if follower.stopped else ""
        self.stdout.write(plain(f"{path} → {told(follower)}{'.' if stopped else ''}{stopped}"))

    def _until_idle(self, follower: Follower, expected: int | None, idle: float | None) -> bool:
        """Until nothing new came for a while, all that was expected is there, or somebody stopped it. Returns whether a
        last line without an end has to be taken as a whole one.
        """
        grew = time.monotonic()
        with _Progress(self) as tell:
            while not follower.stopped:
                rows = follower.step()
                tell(follower)
                if rows:
                    grew = time.monotonic()
                    continue
                upload = follower.upload
                if expected is not None and upload is not None and upload.stored + upload.same >= expected:
                    return False
                if idle is not None and time.monotonic() - grew > idle:
                    return True
                time.sleep(_EVERY)
        return False

    def _say(self, text: str) -> None:
        self.stderr.write(text)


class _Progress:
    """How far the file is: on a terminal one line that changes, in a log a line a minute."""

    def __init__(self, command: BaseCommand) -> None:
        self._stderr = command.stderr
        self._live = command.stderr.isatty()
        self._told, self._line = float("-inf"), ""

    def __call__(self, follower: Follower) -> None:
        """Also where nothing new came: the last rows may have come too soon after a line to be told of then."""
        now = time.monotonic()
        if follower.upload is None or now - self._told < (_EVERY if self._live else _IN_A_LOG):
            return
        line = plain(told(follower))
        if self._live:
            line = line[: shutil.get_terminal_size().columns - 1]  # only one line can be written over
        if line == self._line:
            return
        self._told, self._line = now, line
        if self._live:
            self._stderr.write(f"{_EMPTY_LINE}{line}", ending="")
        else:
            self._stderr.write(line)

    def __enter__(self) -> _Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._live:
            self._stderr.write(_EMPTY_LINE, ending="")


def _hint() -> None:
    """Tells the workers. Where the broker is away, their next sweep finds the work."""
    try:
        work.delay()
    except (OperationalError, OSError):
        return


def _end(*_: object) -> None:
    # What is done on the way out is not cut off by a second signal.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.exit(0)


def _repetitions(text: str) -> int:
    number = _count(text)
    if number > MOST_REPETITIONS:
        raise argparse.ArgumentTypeError(f"K counts attempts a task, so it is from 1 to {MOST_REPETITIONS:,}.")
    return number


def _count(text: str) -> int:
    number = whole_number(text)
    if number < 1:
        raise argparse.ArgumentTypeError("The number must be at least 1.")
    return number


def _seconds(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds.") from None
    if not number > 0:
        raise argparse.ArgumentTypeError("The seconds must be more than 0.")
    return number
