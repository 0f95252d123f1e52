"""One `up` per data folder."""

from __future__ import annotations

import fcntl
import json
import os
import re
import secrets
from pathlib import Path
from types import TracebackType
from typing import IO


class AlreadyRunning(Exception):
    """Another process holds the data folder. The text says which, and where its pages are."""


class FolderLock:
    """Held while `up` runs. The system takes it from a dead process by itself, so a stale file locks nobody out."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "up.lock"
        self._file: IO[str] | None = None

    def __enter__(self) -> FolderLock:
        file = self._path.open("a+", encoding="utf-8")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            with file:
                raise AlreadyRunning(_who(file, self._path.parent)) from None
        self._file = file
        self.announce("")
        return self

    def announce(self, address: str) -> None:
        """Writes for a second `up` where the pages of this one are."""
        assert self._file is not None
        self._file.seek(0)
        self._file.truncate()
        json.dump({"pid": os.getpid(), "address": address}, self._file)
        self._file.flush()

    def place(self) -> str:
        """The name of this folder's workers, made once: the next `up` finds what those of the last one had claimed."""
        path = self._path.with_name("place")
        known = path.read_text(encoding="ascii", errors="replace") if path.exists() else ""
        if re.fullmatch("[0-9a-f]{8}", known):
            return known
        made = secrets.token_hex(4)
        path.write_text(made, encoding="ascii")
        return made

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._file is not None
        # The file stays: removing it would let two others lock two different files of the same name.
        self._file.truncate(0)
        self._file.close()


def _who(file: IO[str], folder: Path) -> str:
    """A sentence about the holder. Its note may be unreadable, as it is written while we look."""
    file.seek(0)
    try:
        note = json.load(file)
        pid, address = note["pid"], note["address"]
    except (ValueError, KeyError, TypeError):
        return f"Twentyfold is already running on the data folder {folder}."
    where = f"at {address}" if address else "and is just starting"
    return f"Twentyfold is already running on the data folder {folder}, {where} (process {pid})."
