"""The embedded broker: messages are files in a folder of the data folder. No service is needed.

kombu brings such a transport, which is not safe as it is: a message is written in place, so that a consumer can pick
it up half written, and one empty file ends the worker that reads it. Here a message appears whole or not at all, and a
file that cannot be read is set aside. As a message is only a hint (the database says what is to do), a lost one does no
harm.
"""

from __future__ import annotations

import fcntl
import json
import logging
import os
import time
import uuid
from pathlib import Path
from queue import Empty
from typing import Any

from kombu.exceptions import ChannelError
from kombu.transport import TRANSPORT_ALIASES, filesystem, virtual
from kombu.utils.json import dumps, loads

logger = logging.getLogger(__name__)

SCHEME = "twentyfold"
"""The broker's address is `twentyfold://localhost/`; the folder is in the transport options."""

POLL_SECONDS = 0.15
LONGEST_WAIT_SECONDS = 0.5
"""How long a worker waits for messages before it looks whether it should stop."""

TAKEN_SECONDS = 3600
UNREADABLE_KEPT = 100


def register() -> None:
    """Makes kombu know the scheme. Doing it twice changes nothing."""
    TRANSPORT_ALIASES[SCHEME] = f"{__name__}:Transport"


def broker_options(folder: Path) -> dict[str, Any]:
    """The transport options of a broker in `folder`; makes the folder and what belongs into it."""
    folders = {name: folder / name for name in ("queue", "taken", "unreadable", "control")}
    for path in folders.values():
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    return {
        "data_folder_in": str(folders["queue"]),
        "data_folder_out": str(folders["queue"]),
        "store_processed": True,
        "processed_folder": str(folders["taken"]),
        "control_folder": str(folders["control"]),
        "unreadable_folder": str(folders["unreadable"]),
        "polling_interval": POLL_SECONDS,
    }


def sweep_folder(folder: Path) -> int:
    """Removes what a killed process left behind, and all but the newest unreadable files. Returns how many went."""
    old = time.time() - TAKEN_SECONDS
    left = [*(folder / "taken").glob("*.msg"), *(folder / "queue").glob("*.tmp"), *(folder / "control").glob("*.tmp")]
    gone = [path for path in left if _modified(path) < old]
    gone += sorted((folder / "unreadable").glob("*"), key=_modified)[:-UNREADABLE_KEPT]
    for path in gone:
        path.unlink(missing_ok=True)
    return len(gone)


def _modified(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return 0.0


def _write_whole(path: Path, content: str) -> None:
    """Puts `content` at `path` in one step, on the same file system."""
    aside = path.with_name(f"{path.name}.{uuid.uuid4().hex}.tmp")
    try:
        aside.write_text(content, encoding="utf-8")
        aside.replace(path)
    except OSError:
        aside.unlink(missing_ok=True)
        raise


def _read_message(path: Path) -> dict[str, Any] | None:
    """The message in a file, or None when it is none that a consumer can be given."""
    try:
        payload = loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        return None
    properties = payload.get("properties") if isinstance(payload, dict) else None
    if not isinstance(properties, dict) or not isinstance(properties.get("delivery_info"), dict):
        return None
    return payload if properties.get("delivery_tag") and isinstance(payload.get("body"), str) else None


class Channel(filesystem.Channel):  # type: ignore[misc]  # kombu ships no types
    """Whole messages only. The rest (`_size`, `_purge`, fan-out) is kombu's."""

    def _put(self, queue: str, payload: dict[str, Any], **kwargs: Any) -> None:
        path = Path(self.data_folder_out) / f"{time.time_ns():020}_{uuid.uuid4().hex}.{queue}.msg"
        try:
            _write_whole(path, dumps(payload))
        except OSError as error:
            raise ChannelError(f"The message cannot be written to {path.parent}: {error.strerror}.") from error

    def _get(self, queue: str) -> dict[str, Any]:
        folder = Path(self.data_folder_in)
        for name in sorted(os.listdir(folder)):  # noqa: PTH208  # a poll must not build a Path a file
            if name.partition(".")[2] != f"{queue}.msg":
                continue
            taken = Path(self.processed_folder) / name
            try:
                # Of several consumers only one can move the file away: the message is its own.
                (folder / name).rename(taken)
            except FileNotFoundError:
                continue
            message = _read_message(taken)
            if message is not None:
                taken.unlink(missing_ok=True)
                return message
            taken.rename(self._unreadable_folder / name)
            logger.warning("The message file %s cannot be read. It was set aside in %s.", name, self._unreadable_folder)
        raise Empty

    @property
    def _unreadable_folder(self) -> Path:
        return Path(self.transport_options["unreadable_folder"])

    def get_table(self, exchange: str) -> list[filesystem.exchange_queue_t]:
        """The queues bound to an exchange. An unreadable table counts as none: everybody binds anew when starting."""
        try:
            rows = json.loads(self._exchange_file(exchange).read_text(encoding="utf-8"))
            return [filesystem.exchange_queue_t(*row) for row in rows]
        except (FileNotFoundError, ValueError, TypeError):
            return []

    def _queue_bind(self, exchange: str, routing_key: str, pattern: str, queue: str) -> None:
        bound = filesystem.exchange_queue_t(routing_key or "", pattern or "", queue or "")
        with (Path(self.control_folder) / "lock").open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            table = self.get_table(exchange)
            if bound not in table:
                _write_whole(self._exchange_file(exchange), json.dumps([bound, *table]))


class Transport(filesystem.Transport):  # type: ignore[misc]  # kombu ships no types
    Channel = Channel
    driver_type = SCHEME
    driver_name = SCHEME

    def __init__(self, client: Any, **kwargs: Any) -> None:
        super().__init__(client, **kwargs)
        # kombu's is shared by the whole process: a second folder's queues would count as bound already.
        self.state = virtual.BrokerState()

    def drain_events(self, connection: Any, timeout: float | None = None) -> None:
        """As kombu's, with short waits: a worker that is told to stop stops within half a second."""
        super().drain_events(connection, timeout=min(timeout or LONGEST_WAIT_SECONDS, LONGEST_WAIT_SECONDS))
