"""A folder into which result files are put: those that grow are followed, whole ones go the way of an upload.

Nothing in the folder is ever changed or removed, and links in it are not followed.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import msgspec
from django.db import DatabaseError

from runs.access import EVERYTHING
from runs.bundles.archives import is_junk
from runs.bundles.opening import archive_kind, is_compressed
from runs.bundles.run_metadata import COMPANION_END, read_beside
from runs.errors import DiskFull, RunsError
from runs.following import Follower, forget_refused, known_as, told
from runs.models import Upload, UploadState
from runs.upload_files import KeptFile, blocks_of, hash_stream
from runs.uploads import accept_upload, new_upload, refuse

__all__ = ["Inbox"]

logger = logging.getLogger(__name__)

_MOST_FILES = 5000
_EMPTY = "The file is empty: no row came. It is read once something is in it."
_GONE = "The file has gone from the inbox. What was read of it is stored; put it back to have the rest."


class _Signs(NamedTuple):
    """By which a file is known to be as it was."""

    size: int
    modified: int
    changed: int
    """Of its rights and its name, too."""


class _Seen(msgspec.Struct):
    """A file that is waited for until it does not change any more."""

    signs: _Signs
    since: float


class Inbox:
    """Looks through a folder, again and again."""

    def __init__(self, folder: Path, hint: Callable[[], object], *, settle: float = 5.0, idle: float = 600.0) -> None:
        """`settle`: seconds without a change after which a compressed file counts as whole; `idle`: after which one
        that is followed does. `hint` is called when workers have something to do."""
        self.folder = folder.absolute()
        self._hint = hint
        self._settle, self._idle = settle, idle
        self._followed: dict[Path, Follower] = {}
        self._grew: dict[Path, float] = {}
        """When something last came; of a file that is empty, when it was first seen."""
        self._waiting: dict[Path, _Seen] = {}
        self._done: dict[Path, _Signs] = {}
        """Whole files that were taken in or refused."""
        self._warned: dict[Path, str] = {}

    def step(self) -> int:
        """Looks once at every file. Returns how many rows and files were taken in."""
        files = self._files()
        for gone in self._grew.keys() - self._followed.keys() - set(files):
            del self._grew[gone]  # another file of this name has its own time
        for gone in [path for path in self._followed if not path.exists()]:
            self._followed.pop(gone).close(_GONE)
            self._grew.pop(gone, None)
        return sum(self._look(path) for path in files)

    def close(self) -> None:
        for follower in self._followed.values():
            follower.close()

    def _files(self) -> list[Path]:
        found = []
        for path in sorted(self.folder.rglob("*")):
            name = str(path.relative_to(self.folder))
            if is_junk(name) or name.endswith(COMPANION_END) or path.is_symlink() or not path.is_file():
                continue
            if path.resolve().is_relative_to(self.folder.resolve()):
                found.append(path)
            if len(found) == _MOST_FILES:
                logger.warning("The inbox %s has more than %s files; the others wait.", self.folder, _MOST_FILES)
                break
        return found

    def _look(self, path: Path) -> int:
        """Takes in what is new of a file. Whatever is wrong with one holds up no other."""
        try:
            there = _signs(path)
            if self._done.get(path) == there:
                return 0
            if path not in self._followed and _is_packed(path):
                return self._take_whole(path, there)
            return self._follow(path, there)
        except DiskFull as error:
            self._warn(path, str(error))
            self._done.pop(path, None)
        except RunsError as error:
            self._set_aside(path, str(error))
        except FileNotFoundError:
            self._done.pop(path, None)
        except PermissionError:
            self._set_aside(path, "The file cannot be read: permission denied. Let the user of the server read it.")
        except OSError as error:
            self._warn(path, f"It cannot be read: {error.strerror or error}. It is tried again.")
        except DatabaseError:
            raise  # nothing of this file's
        except Exception:
            # A fault of our own at one file, whatever it is: without this the folder is read no further, and again and
            # again up to this file when the process is started anew. The log has where it was.
            logger.exception("%s: reading it failed.", known_as(path))
            self._set_aside(path, "Reading it failed by a fault of this program, which the log of the inbox tells of.")
        return 0

    def _warn(self, path: Path, text: str) -> None:
        """Once, and not at each look."""
        if self._warned.get(path) != text:
            self._warned[path] = text
            logger.warning("%s: %s", known_as(path), text)

    def _follow(self, path: Path, there: _Signs) -> int:
        follower = self._followed.get(path)
        if follower is None:
            if not there.size:
                if time.monotonic() - self._grew.setdefault(path, time.monotonic()) > self._idle:
                    self._set_aside(path, _EMPTY)
                return 0
            follower = self._followed[path] = Follower(path)
            self._grew[path] = time.monotonic()
            logger.info("%s: followed from now on.", known_as(path))
        rows = follower.step()
        if rows:
            self._grew[path] = time.monotonic()
        elif follower.stopped or time.monotonic() - self._grew[path] > self._idle:
            if not follower.stopped:
                follower.finish()
            if follower.upload is None and not there.size:
                self._set_aside(path, _EMPTY)  # it was cut to nothing
                return 0
            self._done[path] = there
            del self._followed[path], self._grew[path]
            logger.info("%s → %s", known_as(path), told(follower))
        return rows

    def _take_whole(self, path: Path, there: _Signs) -> int:
        """Takes in a compressed file or an archive once nobody writes it any more."""
        now = time.monotonic()
        seen = self._waiting.get(path)
        if seen is None or seen.signs != there:
            self._waiting[path] = _Seen(there, now)
            return 0
        if now - seen.since < self._settle:
            return 0
        self._waiting.pop(path)
        self._done[path] = there
        with path.open("rb") as stream:
            kept = hash_stream(stream)
            if Upload.objects.filter(sha256=kept.sha256).exclude(state=UploadState.FAILED).exists():
                return 0  # taken in before this process began
            upload = accept_upload(
                path.name, blocks_of(stream), companion=read_beside(path, links=False), access=EVERYTHING
            )
        forget_refused(path)
        logger.info("%s: taken in; the workers of `up` read it.", known_as(path))
        if upload.state == UploadState.WAITING:
            self._hint()
        return 1

    def _set_aside(self, path: Path, error: str) -> None:
        """A file that cannot be read is listed with what is wrong, and looked at again when it has changed."""
        self._warn(path, error)
        follower = self._followed.pop(path, None)
        self._grew.pop(path, None)
        self._done.pop(path, None)
        if follower is not None:
            follower.close(error)
        try:
            there = _signs(path)
            if follower is None or follower.upload is None:
                _list_refused(path, error)
        except OSError:
            return  # it went meanwhile; what is still there is looked at again
        self._done[path] = there


def _list_refused(path: Path, error: str) -> None:
    """One entry for a path, however often its file has grown, or a process has begun to look."""
    try:
        with path.open("rb") as stream:
            kept = hash_stream(stream)
    except PermissionError:
        kept = KeptFile("", "", path.stat().st_size)
    upload = new_upload(path.name, kept, access=EVERYTHING)
    upload.followed_path = known_as(path)
    before = Upload.objects.filter(followed_path=upload.followed_path, state=UploadState.FAILED)
    if not before.filter(sha256=upload.sha256).exists():
        before.delete()
        refuse(upload, error)


def _signs(path: Path) -> _Signs:
    there = path.stat()
    return _Signs(there.st_size, there.st_mtime_ns, there.st_ctime_ns)


def _is_packed(path: Path) -> bool:
    with path.open("rb") as file:
        head = file.read(512)
    return is_compressed(head) or bool(archive_kind(head))
