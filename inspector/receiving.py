"""Files that programs send: written to their place as they arrive, and gone on with after a connection broke.

`PUT /api/v1/uploads/<sha256>` is taken off before Django, which would first write the whole body to a file of its own,
and keep nothing of one that broke off. Django is asked before anything is written (as for a HEAD of the same address),
and answers at the end, with the file in its place.
"""

from __future__ import annotations

import asyncio
import fcntl
import re
import time
from collections.abc import Iterable, MutableMapping
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, cast

import msgspec
from django.conf import settings

from inspector.layers import Application, Message, Receive, Scope, Send, pass_over
from runs.errors import DiskFull, is_full_disk

__all__ = ["STATE", "Receiver", "Refused", "Wanted", "append", "offset_of", "part_path", "sweep_parts", "wanted_of"]

STATE = "twentyfold.upload"
"""Where in the scope the layer and the view tell each other of the file."""
_ADDRESS = re.compile(r"/api/v1/uploads/[0-9a-f]{64}\Z")
_RANGE = re.compile(r"bytes (\d{1,15})-(\d{1,15})/(\d{1,15}|\*)\Z")
_BLOCK = 1 << 20
_OLD = 7 * 24 * 3600


class Refused(Exception):
    """The file cannot be gone on with so. `offset`: the bytes that are here."""

    def __init__(self, status: int, reason: str, offset: int) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason
        self.offset = offset


class Wanted(msgspec.Struct, frozen=True):
    """Where the body belongs in the file."""

    offset: int = 0
    size: int | None = None
    """Of the whole file, where the sender says it."""
    last: bool = True
    """Nothing comes behind this body."""


def wanted_of(content_range: str, upload_offset: str, upload_complete: str) -> Wanted:
    """From the headers Content-Range, or Upload-Offset and Upload-Complete; without them the body is the file.

    Raises `Refused` for what is none.
    """
    if content_range:
        found = _RANGE.match(content_range.strip())
        if found is None:
            raise Refused(422, "Content-Range: write it as `bytes 0-1048575/5242880`.", 0)
        if int(found[1]) > int(found[2]):
            raise Refused(422, "Content-Range: the first byte lies behind the last one.", 0)
        size = None if found[3] == "*" else int(found[3])
        if size is not None and int(found[2]) >= size:
            raise Refused(422, "Content-Range: the last byte lies behind the end of the file.", 0)
        return Wanted(int(found[1]), size, size is not None and int(found[2]) + 1 == size)
    if upload_offset and not (upload_offset.isascii() and upload_offset.isdecimal() and len(upload_offset) < 16):
        raise Refused(422, "Upload-Offset: is no number of bytes.", 0)
    if upload_complete not in {"", "?0", "?1"}:
        raise Refused(422, "Upload-Complete: is ?1 for the last part of a file, and ?0 for any other.", 0)
    return Wanted(int(upload_offset or 0), None, upload_complete != "?0")


def part_path(sha256: str, owner: int | None) -> Path:
    """Where a file is collected. Each account has its own: nobody goes on with what another began."""
    folder: Path = settings.UPLOADS_DIR
    return folder / f"sent-{owner or 0}-{sha256}.part"


def offset_of(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def sweep_parts() -> None:
    """Removes what was begun and not gone on with for a week."""
    for path in settings.UPLOADS_DIR.glob("sent-*.part"):
        with suppress(FileNotFoundError):  # another request has just taken it up
            if time.time() - path.stat().st_mtime > _OLD:
                path.unlink()


def open_part(path: Path, wanted: Wanted) -> BinaryIO:
    """The file at the place where the body belongs. Raises `Refused` 409 where that is another, or it is in use."""
    file = path.open("ab", buffering=0)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        raise Refused(409, "Another request is sending this file now. Wait until it has ended.", 0) from None
    here = file.seek(0, 2)
    if wanted.offset == 0:
        file.truncate(0)
    elif wanted.offset != here:
        file.close()
        if not here:
            path.unlink(missing_ok=True)
        raise Refused(409, f"The next byte to send is {here:,}, not {wanted.offset:,}.", here)
    return file


def append(path: Path, wanted: Wanted, blocks: Iterable[bytes]) -> int:
    """Writes a body to its place, and returns the bytes that are here now. Raises `Refused`."""
    with open_part(path, wanted) as file:
        for block in blocks:
            _write(file, block)
        return file.tell()


def _write(file: BinaryIO, block: bytes) -> None:
    if file.tell() + len(block) > settings.UPLOAD_LIMIT:
        file.truncate(0)
        raise Refused(413, "The file is larger than this server takes (TWENTYFOLD_UPLOAD_LIMIT). Nothing was kept.", 0)
    rest = memoryview(block)
    try:
        while rest:
            rest = rest[file.write(rest) :]
    except OSError as error:
        if not is_full_disk(error):
            raise
        file.truncate(0)  # what came would keep the disk full
        raise Refused(507, str(DiskFull()), 0) from error


class Receiver:
    """Takes the bodies of such requests off."""

    def __init__(self, application: Application) -> None:
        self._application = application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "PUT" or not _ADDRESS.match(scope["path"]):
            await self._application(scope, receive, send)
            return
        state: dict[str, Any] = {}
        if await self._may(scope, state) and "path" in state:
            try:
                if not await _receive_file(scope, receive, state):
                    return  # broken off: what came stays, and nobody waits for an answer
            except Refused as refusal:
                state["refused"] = refusal
                if not state.get("ended"):
                    await pass_over(receive)
        else:
            # Django says to the real request what is wrong with it.
            await pass_over(receive)
        await self._application({**scope, STATE: state, "headers": _without_body(scope)}, _Nothing(receive), send)

    async def _may(self, scope: Scope, state: dict[str, Any]) -> bool:
        """Asks as the same sender would ask how much is here: all that decides who may is Django's."""
        status = 0

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]

        question = {**scope, "method": "HEAD", STATE: state, "headers": _without_body(scope)}
        await self._application(question, _Nothing(), noted)
        return status == 200


async def _receive_file(scope: Scope, receive: Receive, state: MutableMapping[str, Any]) -> bool:
    """False where the sender went away before the end. Raises `Refused`."""
    headers = dict(scope["headers"])
    names = (b"content-range", b"upload-offset", b"upload-complete")
    wanted = wanted_of(*(headers.get(name, b"").decode("latin-1") for name in names))
    file = await asyncio.to_thread(open_part, cast(Path, state["path"]), wanted)
    try:
        waiting = bytearray()
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                with suppress(Refused):  # nobody is there to hear it
                    await asyncio.to_thread(_write, file, bytes(waiting))
                return False
            waiting += message.get("body", b"")
            more = bool(message.get("more_body"))
            state["ended"] = not more
            if len(waiting) >= _BLOCK or not more:
                await asyncio.to_thread(_write, file, bytes(waiting))
                waiting.clear()
            if not more:
                break
        state["received"] = file.tell()
    finally:
        await asyncio.to_thread(file.close)
    return True


def _without_body(scope: Scope) -> list[tuple[bytes, bytes]]:
    """The headers of a request that has no body."""
    gone = {b"content-length", b"transfer-encoding", b"content-type", b"expect"}
    return [(name, value) for name, value in scope["headers"] if name not in gone]


class _Nothing:
    """The body of a request that has none; then whatever its connection still tells, for a question nothing."""

    def __init__(self, receive: Receive | None = None) -> None:
        self._receive = receive
        self._told = False

    async def __call__(self) -> Message:
        if not self._told:
            self._told = True
            return {"type": "http.request", "body": b"", "more_body": False}
        if self._receive is not None:
            return await self._receive()
        await asyncio.Event().wait()
        raise AssertionError
