"""Files in the data folder that nothing needs any more: what a process left behind that was killed."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings

from runs.models import Chunk, ChunkState, Upload, UploadState

__all__ = ["SETTLED_SECONDS", "left_over_files", "remove_left_over_files"]

SETTLED_SECONDS = 24 * 3600
"""A file that was changed more recently may be on its way in: it is on the disk before the database knows of it."""


def left_over_files() -> list[Path]:
    """Files that no upload names, and parts of files that were stored long ago. The database is asked after the folder
    was read, so that a file which comes in meanwhile is none of them.
    """
    old = time.time() - SETTLED_SECONDS
    found = [path for path in sorted(settings.UPLOADS_DIR.iterdir()) if path.is_file() and _modified(path) < old]
    folders = [path for path in sorted(settings.UPLOADS_DIR.glob("chunks-*")) if path.is_dir()]
    files = [(folder, path) for folder in folders for path in sorted(folder.iterdir())]
    passing = [path for path in sorted(settings.TEMP_DIR.iterdir()) if path.is_file() and _modified(path) < old]
    named = set(Upload.objects.exclude(path="").values_list("path", flat=True))
    left = [path for path in found if path.name not in named]
    needed = _needed_parts()
    left += [
        path
        for folder, path in files
        if f"{folder.name}/{path.name}" not in needed and (_modified(path) < old or _is_over(folder))
    ]
    return left + passing


def remove_left_over_files() -> Iterator[Path]:
    """Removes them, and the folders that are empty then. Yields each file that went."""
    for path in left_over_files():
        path.unlink(missing_ok=True)
        yield path
    for folder in settings.UPLOADS_DIR.glob("chunks-*"):
        if folder.is_dir() and not any(folder.iterdir()) and _is_over(folder):
            folder.rmdir()


def _needed_parts() -> set[str]:
    """Files of chunks that are still to be stored, relative to the folder of uploads."""
    waiting = Chunk.objects.exclude(state=ChunkState.DONE).exclude(path="")
    return set(waiting.values_list("path", flat=True))


def _is_over(folder: Path) -> bool:
    """Whether the upload of a folder of chunks is finished, or is not there."""
    number = folder.name.removeprefix("chunks-")
    if not number.isdecimal():
        return False
    return not Upload.objects.exclude(state__in=[UploadState.DONE, UploadState.FAILED]).filter(pk=int(number)).exists()


def _modified(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except FileNotFoundError:  # somebody else was quicker
        return time.time()
