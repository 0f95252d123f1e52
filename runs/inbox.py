"""A folder into which result files are put: those that grow are followed, whole ones go the way of an upload.

Nothing in the folder is ever changed or removed, and links in it are not followed.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from runs.access import EVERYTHING
from runs.bundles.archives import is_junk
from runs.bundles.opening import archive_kind, is_compressed
from runs.bundles.run_metadata import COMPANION_END, read_beside
from runs.errors import DiskFull, RunsError
from runs.following import Follower
from runs.models import Upload, UploadState
from runs.upload_files import blocks_of, hash_stream
from runs.uploads import accept_upload, new_upload, refuse

__all__ = ["Inbox"]

logger = logging.getLogger(__name__)

_MOST_FILES = 5000


class _Seen(msgspec.Struct):
    """A file that is waited for until it does not change any more."""

    size: int
    modified: int
    since: float


class Inbox:
    """Looks through a folder, again and again."""

    def __init__(self, folder: Path, hint: Callable[[], object], *, settle: float = 5.0, idle: float = 600.0) -> None:
        """`settle`: seconds without a change after which a compressed file counts as whole; `idle`: after which one
        that is followed does. `hint` is called when workers have something to do."""
        self.folder = folder
        self._hint = hint
        self._settle, self._idle = settle, idle
        self._followed: dict[Path, Follower] = {}
        self._grew: dict[Path, float] = {}
        self._waiting: dict[Path, _Seen] = {}
        self._done: dict[Path, tuple[int, int]] = {}
        """Whole files that were taken in or refused: size and time of change."""

    def step(self) -> int:
        """Looks once at every file. Returns how many rows and files were taken in."""
        return sum(self._look(path) for path in self._files())

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
        try:
            there = path.stat()
            if self._done.get(path) == (there.st_size, there.st_mtime_ns):
                return 0
            if path not in self._followed and _is_packed(path):
                return self._take_whole(path, there.st_size, there.st_mtime_ns)
            return self._follow(path, there.st_size, there.st_mtime_ns)
        except DiskFull as error:
            logger.warning("%s: %s", path, error)
            self._done.pop(path, None)
        except RunsError as error:
            logger.warning("%s: %s", path, error)
            self._set_aside(path, str(error))
        except OSError as error:
            logger.warning("%s cannot be read: %s", path, error.strerror or error)
        return 0

    def _follow(self, path: Path, size: int, modified: int) -> int:
        follower = self._followed.get(path)
        if follower is None:
            if not size:
                return 0
            follower = self._followed[path] = Follower(path)
            self._grew[path] = time.monotonic()
        rows = follower.step()
        if rows:
            self._grew[path] = time.monotonic()
        elif follower.stopped or time.monotonic() - self._grew[path] > self._idle:
            if not follower.stopped:
                follower.finish()
            self._done[path] = (size, modified)
            del self._followed[path]
        return rows

    def _take_whole(self, path: Path, size: int, modified: int) -> int:
        """Takes in a compressed file or an archive once nobody writes it any more."""
        now = time.monotonic()
        seen = self._waiting.get(path)
        if seen is None or (seen.size, seen.modified) != (size, modified):
            self._waiting[path] = _Seen(size, modified, now)
            return 0
        if now - seen.since < self._settle:
            return 0
        self._waiting.pop(path)
        self._done[path] = (size, modified)
        with path.open("rb") as stream:
            kept = hash_stream(stream)
            if Upload.objects.filter(sha256=kept.sha256).exclude(state=UploadState.FAILED).exists():
                return 0  # taken in before this process began
            upload = accept_upload(
                path.name, blocks_of(stream), companion=read_beside(path, links=False), access=EVERYTHING
            )
        if upload.state == UploadState.WAITING:
            self._hint()
        return 1

    def _set_aside(self, path: Path, error: str) -> None:
        """A file that cannot be read is listed with what is wrong, and looked at again when it has changed."""
        there = path.stat()
        self._done[path] = (there.st_size, there.st_mtime_ns)
        follower = self._followed.pop(path, None)
        if follower is not None:
            follower.close(error)
        if follower is None or follower.upload is None:
            _list_refused(path, error)


def _list_refused(path: Path, error: str) -> None:
    """One entry for a path, however often its file has grown, or a process has begun to look."""
    with path.open("rb") as stream:
        upload = new_upload(path.name, hash_stream(stream), access=EVERYTHING)
    upload.followed_path = str(path)
    before = Upload.objects.filter(followed_path=upload.followed_path, state=UploadState.FAILED)
    if not before.filter(sha256=upload.sha256).exists():
        before.delete()
        refuse(upload, error)


def _is_packed(path: Path) -> bool:
    with path.open("rb") as file:
        head = file.read(512)
    return is_compressed(head) or bool(archive_kind(head))
