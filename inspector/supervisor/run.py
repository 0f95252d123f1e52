"""Keeps the web server and the workers running until somebody ends it, and then leaves no process behind."""

from __future__ import annotations

import http.client
import os
import select
import shutil
import signal
import socket
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from inspector.supervisor.address import local_address
from inspector.supervisor.process import Process, how, last_lines

STOP_SECONDS = 8.0
"""How long a worker may take to finish its chunk. A killed one loses nothing: another takes the chunk over later."""

READY_SECONDS = 60.0
FIRST_SECONDS = 6.0
"""How long the first page waits for the first job."""

WEB_FAILURES = 4
_LEAST_ROOM = 4 << 20
"""Bytes of a disk with fewer of which no process can be kept running."""

CHILD = ("-m", "inspector.supervisor.child")
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Supervisor:
    """One web server and some workers. Use an instance once."""

    def __init__(
        self,
        listening: socket.socket,
        workers: int,
        place: str,
        logs: Path,
        environment: Mapping[str, str],
        say: Callable[[str], None],
        first: Sequence[str] = (),
        inbox: bool = False,
    ) -> None:
        """`place`: a name that only the workers of this data folder have. `first`: arguments for Python of a job that
        should be done before the first page is shown. `inbox`: whether a folder is followed.
        """
        self._listening = listening
        self._say = say
        fd = listening.fileno()
        self._web = Process("The web server", (*CHILD, "web", str(fd)), logs / "web.log", environment, (fd,))
        self._workers = [
            Process(
                f"Worker {number}",
                # The last argument is the place that it has, and after it each that is started when it died.
                (*CHILD, "worker", str(number), f"{place}-{number}"),
                logs / f"worker-{number}.log",
                environment,
            )
            for number in range(1, workers + 1)
        ]
        if inbox:
            self._workers.append(Process("The inbox", (*CHILD, "inbox"), logs / "inbox.log", environment))
        self._first = Process("The first job", first, logs / "first.log", environment) if first else None
        self._asked = 0
        """How many times somebody asked to end."""
        self._wake, self._waker = socket.socketpair()

    def run(self, ready: Callable[[], None], first_done: Callable[[int], None] = lambda status: None) -> int:
        """0 after it was asked to end, 1 when the web server cannot be kept running.

        `ready` is called once, when the first page can be shown, `first_done` with the exit status of the first job.
        """
        with self._signals():
            try:
                self._web.start(time.monotonic())
                if self._first:
                    self._first.start(time.monotonic())
                if self._wait_for_first_page(first_done):
                    for worker in self._workers:
                        worker.start(time.monotonic())
                    ready()
                while not self._asked and self._web.failures < WEB_FAILURES:
                    self._sleep(1.0)
                    self._look(first_done)
                if self._asked:
                    return 0
                self._say(f"The web server ended {WEB_FAILURES} times. The last lines of its log {self._web.log}:")
                self._say(last_lines(self._web.log))
                return 1
            finally:
                self._stop()

    @property
    def first_job_runs(self) -> bool:
        return self._first is not None

    def _look(self, first_done: Callable[[int], None]) -> None:
        """Starts again what ended, and notes the end of the first job."""
        now = time.monotonic()
        for process in (self._web, *self._workers):
            if (status := process.ended(now)) is not None:
                self._say(
                    f"{process.name} ended unexpectedly ({how(status)}). It is started again; its log is {process.log}."
                )
                if shutil.disk_usage(process.log.parent).free < _LEAST_ROOM:
                    self._say("The disk of the data folder is full. Make space there; then all goes on by itself.")
            if process.due(now):
                process.start(now)
        if self._first and (status := self._first.ended(now)) is not None:
            self._first = None
            first_done(status)

    def _wait_for_first_page(self, first_done: Callable[[int], None]) -> bool:
        begun = time.monotonic()
        while not self._asked and self._web.failures < WEB_FAILURES:
            waited = time.monotonic() - begun
            if waited > READY_SECONDS:
                self._say(f"The web server has not answered for {waited:.0f} seconds. Its log is {self._web.log}.")
                return True
            if (self._first is None or waited > FIRST_SECONDS) and self._answers():
                return True
            self._sleep(0.05)
            self._look(first_done)
        return False

    def _processes(self) -> list[Process]:
        return [self._web, *self._workers, *([self._first] if self._first else [])]

    def _answers(self) -> bool:
        host, port = local_address(self._listening)
        connection = http.client.HTTPConnection(host, port, timeout=0.5)
        try:
            connection.request("GET", "/healthz")
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def _stop(self) -> None:
        """Asks all to end, waits, and kills what is left. Asking a second time kills at once."""
        for process in self._processes():
            process.tell(signal.SIGTERM)
        deadline = time.monotonic() + STOP_SECONDS
        asked = self._asked
        while any(process.is_running() for process in self._processes()):
            if time.monotonic() > deadline or self._asked > max(asked, 1):
                break
            self._sleep(0.1)
        for process in self._processes():
            process.kill()

    def _sleep(self, seconds: float) -> None:
        """Sleeps, and wakes at once when a signal comes or a process ends."""
        if select.select([self._wake], [], [], seconds)[0]:
            self._wake.recv(4096)

    @contextmanager
    def _signals(self) -> Iterator[None]:
        def ask(number: int, frame: object) -> None:
            self._asked += 1

        self._wake.setblocking(False)
        self._waker.setblocking(False)
        before = {number: signal.signal(number, ask) for number in STOP_SIGNALS}
        before[signal.SIGCHLD] = signal.signal(signal.SIGCHLD, lambda number, frame: None)
        wakeup = signal.set_wakeup_fd(self._waker.fileno(), warn_on_full_buffer=False)
        try:
            yield
        finally:
            signal.set_wakeup_fd(wakeup)
            for number, handler in before.items():
                signal.signal(number, handler)
            self._wake.close()
            self._waker.close()


def child_environment(project: Path, temp_dir: Path, allowed_hosts: Sequence[str]) -> dict[str, str]:
    """The environment of the processes, which run in the caller's folder.

    They find the project from anywhere, put temporary files into the data folder, and always answer under the loopback
    names.
    """
    path = [str(project), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(path),
        "TMPDIR": str(temp_dir),
        "ALLOWED_HOSTS": ",".join(dict.fromkeys([*allowed_hosts, "localhost", "127.0.0.1", "[::1]"])),
    }
