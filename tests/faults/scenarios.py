"""What goes wrong, each while files are being stored. Whatever it is: in the end the same rows and the same numbers."""

from __future__ import annotations

import os
import pwd
import random
import shutil
import subprocess
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path

from tests.faults.site import (
    Cluster,
    Given,
    Numbers,
    Redis,
    Site,
    answers,
    free_port,
    kill_process,
    program_of,
    temporary,
    until,
)

__all__ = ["SCENARIOS", "Scenario", "missing_for"]

Scenario = Callable[[Given, Numbers, random.Random], int]
_MOST_FAULTS = 4
_PATIENCE = 900
"""Seconds. A loaded machine is no fault."""


def _disturbed(site: Site, disturb: Callable[[], object], chance: random.Random, expected: Numbers) -> int:
    """Disturbs until everything is stored, at most four times, and compares. Returns how often."""
    faults = 0
    end = time.monotonic() + _PATIENCE
    while not site.is_done():
        if time.monotonic() > end:
            raise TimeoutError(f"Not stored within {_PATIENCE} seconds: {site.states()}.")
        time.sleep(chance.uniform(0.1, 1.5))
        if faults < _MOST_FAULTS:
            disturb()
            faults += 1
    _compare(site.numbers(), expected)
    return faults


def _compare(found: Numbers, expected: Numbers) -> None:
    assert found["wrong"] == [], found["wrong"][:5]
    for name in expected:
        assert found[name] == expected[name], f"{name} differ"


def _with_workers(site: Site, chance: random.Random, expected: Numbers) -> int:
    workers = [site.start_worker() for _ in range(2)]

    def kill() -> None:
        number = chance.randrange(2)
        site.kill(workers[number])
        workers[number] = site.start_worker()

    return _disturbed(site, kill, chance, expected)


def workers(given: Given, expected: Numbers, chance: random.Random) -> int:
    """kill -9 of workers; SQLite and the embedded broker."""
    with ExitStack() as stack:
        site = given.on_sqlite(stack.enter_context(temporary()))
        stack.callback(site.end)
        return _with_workers(site, chance, expected)


def workers_postgres(given: Given, expected: Numbers, chance: random.Random) -> int:
    """kill -9 of workers; PostgreSQL and Redis."""
    with ExitStack() as stack:
        site, _, _ = _services(stack, given)
        return _with_workers(site, chance, expected)


def _services(stack: ExitStack, given: Given) -> tuple[Site, Cluster, Redis]:
    folder = stack.enter_context(temporary())
    site, cluster = given.on_postgres(folder)
    stack.callback(cluster.end)
    redis = Redis(folder)
    stack.callback(redis.end)
    site.environment["CELERY_BROKER_URL"] = redis.url
    stack.callback(site.end)
    return site, cluster, redis


def broker(given: Given, expected: Numbers, chance: random.Random) -> int:
    """Redis is killed and comes back without its messages."""
    with ExitStack() as stack:
        site, _, redis = _services(stack, given)
        for _ in range(2):
            site.start_worker()
        return _disturbed(site, redis.restart, chance, expected)


def database(given: Given, expected: Numbers, chance: random.Random) -> int:
    """PostgreSQL is restarted at once, as after a crash. A worker that ends by that is started again, as `up` does."""
    with ExitStack() as stack:
        site, cluster, _ = _services(stack, given)
        for _ in range(2):
            site.start_worker()

        def restart() -> None:
            cluster.restart()
            site.replace_ended()

        return _disturbed(site, restart, chance, expected)


def web(given: Given, expected: Numbers, chance: random.Random) -> int:
    """kill -9 of the web process, of a worker, or of `up` itself, which is then started again."""
    with ExitStack() as stack:
        site = given.on_sqlite(stack.enter_context(temporary()))
        stack.callback(site.end)
        port = free_port()
        running = [site.start_up(port)]

        def kill() -> None:
            kind = chance.choice(["web", "worker", "up"])
            if kind == "up":
                site.kill(running[0])
                until(lambda: not answers(port), "the orphans of `up` end", 60)
                running[0] = site.start_up(port)
            elif child := site.child(running[0], kind):
                kill_process(child)

        faults = _disturbed(site, kill, chance, expected)
        until(lambda: answers(port), "the pages are there again", 60)
        return faults


def disk(given: Given, expected: Numbers, chance: random.Random) -> int:
    """A small file system fills up. Work stops or goes on by itself once there is space, and nothing is damaged.

    A worker that cannot even start on a full disk is started again, as `up` does.
    """
    with ExitStack() as stack:
        folder = stack.enter_context(temporary())
        small = folder / "small"
        small.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=96m", "tmpfs", str(small)], check=True)
        stack.callback(subprocess.run, ["umount", str(small)], check=False)
        site = given.on_sqlite(small)
        stack.callback(site.end)
        filler = small / "filler"
        _fill(filler, chance.randrange(0, 6) * 256 * 1024)
        for _ in range(2):
            site.start_worker()
        time.sleep(chance.uniform(8, 15))
        # Nothing more is asked while it is full: what can be said has to be readable.
        _told_of_full_disk(site)
        filler.unlink()

        def again() -> bool:
            """A part may have used up its tries while others of its file still wait: the file stops after them."""
            site.replace_ended()
            if _told_of_full_disk(site):
                site.django(_RETRY)
            return site.is_done()

        until(again, "all is stored once there is space")
        _compare(site.numbers(), expected)
        return 1


_RETRY = """
from runs.models import Upload
from runs.uploads import retry_upload
for upload in Upload.objects.filter(state='stopped'):
    retry_upload(upload)
"""


def _told_of_full_disk(site: Site) -> int:
    """How many uploads have stopped; each has to say why."""
    told = [error for _, state, _, error in site.states() if state == "stopped"]
    assert all("full" in error or "No space" in error for error in told), told
    return len(told)


def _fill(path: Path, left: int) -> None:
    """Fills the file system but for `left` bytes."""
    with path.open("wb") as file:
        try:
            while True:
                file.write(b"\0" * (1 << 16))
                file.flush()
        except OSError:
            size = path.stat().st_size
    with path.open("r+b") as file:
        file.truncate(max(0, size - left))


SCENARIOS: dict[str, Scenario] = {
    "workers": workers,
    "workers-postgres": workers_postgres,
    "broker": broker,
    "database": database,
    "web": web,
    "disk": disk,
}


def missing_for(name: str) -> str:
    """What a scenario needs and this machine lacks, or the empty text."""
    if name == "disk":
        return "" if _can_mount() else "the right to mount a file system"
    if name in {"workers-postgres", "broker", "database"}:
        if program_of("initdb") is None or (os.geteuid() == 0 and not _has_user("postgres")):
            return "PostgreSQL's server, with its user"
        return "" if shutil.which("redis-server") else "redis-server"
    return ""


def _can_mount() -> bool:
    if os.geteuid() != 0 or shutil.which("mount") is None:
        return False
    with temporary() as folder:
        if subprocess.run(["mount", "-t", "tmpfs", "tmpfs", str(folder)], check=False, capture_output=True).returncode:
            return False
        subprocess.run(["umount", str(folder)], check=True)
    return True


def _has_user(name: str) -> bool:
    with suppress(KeyError):
        return bool(pwd.getpwnam(name))
    return False
