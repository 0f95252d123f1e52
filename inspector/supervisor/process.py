"""One process that is kept running."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

FIRST_PAUSE = 0.2
LONGEST_PAUSE = 30.0
STEADY_SECONDS = 60.0
"""A process that ran this long is taken as sound again: its next restart comes at once."""

LOG_BYTES = 5 * 1024 * 1024


@dataclass
class Process:
    """A command in a session of its own: Ctrl-C in the terminal reaches only `up`, and it goes with all it started.

    Times are seconds of a monotonic clock, given by the caller.
    """

    name: str
    command: Sequence[str]
    log: Path
    environment: Mapping[str, str]
    keep_open: Sequence[int] = ()
    failures: int = 0
    """How often it ended by itself since it last ran steadily."""
    restart_at: float | None = None
    _running: subprocess.Popen[bytes] | None = field(default=None, repr=False)
    _started: float = 0.0

    @property
    def pid(self) -> int | None:
        return self._running.pid if self._running else None

    def start(self, now: float) -> None:
        if self.log.exists() and self.log.stat().st_size > LOG_BYTES:
            self.log.replace(self.log.with_name(f"{self.log.name}.1"))
        with self.log.open("ab") as log:
            self._running = subprocess.Popen(
                [sys.executable, *self.command],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                env=self.environment,
                pass_fds=self.keep_open,
                start_new_session=True,
            )
        self._started = now
        self.restart_at = None

    def ended(self, now: float) -> int | None:
        """The exit status, told once, when it ended by itself; else None. Sets when it may be started again."""
        if self._running is None or (status := self._running.poll()) is None:
            return None
        self._forget(self._running)
        steady = now - self._started >= STEADY_SECONDS
        self.failures = 1 if steady else self.failures + 1
        self.restart_at = now + min(FIRST_PAUSE * 4 ** (self.failures - 1), LONGEST_PAUSE)
        return status

    def due(self, now: float) -> bool:
        return self.restart_at is not None and now >= self.restart_at

    def tell(self, number: signal.Signals) -> None:
        if self._running is not None and self._running.poll() is None:
            self._running.send_signal(number)

    def kill(self) -> None:
        """Ends it and everything that it started."""
        if self._running is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._running.pid, signal.SIGKILL)
            self._running.wait()
            self._forget(self._running)

    def is_running(self) -> bool:
        return self._running is not None and self._running.poll() is None

    def _forget(self, running: subprocess.Popen[bytes]) -> None:
        assert running.stdin is not None
        running.stdin.close()
        self._running = None


def how(status: int) -> str:
    """An exit status in words."""
    if status >= 0:
        return f"exit status {status}"
    try:
        return f"signal {signal.Signals(-status).name}"
    except ValueError:
        return f"signal {-status}"


def last_lines(log: Path, count: int = 10) -> str:
    """The end of a log, for a terminal."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - 16_384))
            return b"\n".join(file.read().splitlines()[-count:]).decode(errors="replace")
    except FileNotFoundError:
        return ""
