"""The exceptions of the domain.

    RunsError                 anything a person can do something about
    ├── BundleError           a result file as a whole cannot be read
    │   ├── UnknownFormat     no reader knows the file
    │   └── UnsupportedBundle the file is known, and not read (another archive)
    ├── BadRecord             one line cannot be stored; the others can
    ├── BackupError           a backup cannot be made, or is not whole, or would go over what is there
    └── IngestError           the answer to "into which run?" is missing or contradicts what is stored
        ├── DiskFull          there is no room for the file
        └── PreparersEnded    a process that helped to read a file was killed

A message is a full sentence: what was wrong, where (file, line, field), what to do.
"""

from __future__ import annotations

import errno


class RunsError(Exception):
    """Base of all errors whose text is meant for the person who caused the call."""


class BundleError(RunsError):
    """A result file cannot be read as a whole."""


class UnknownFormat(BundleError):
    """No reader recognises the content."""


class UnsupportedBundle(BundleError):
    """The content is recognised, and reading it is not supported."""


class BadRecord(RunsError):
    """One record cannot be stored. `field` is a dotted path, empty when the line as a whole is unreadable."""

    def __init__(self, reason: str, field: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.field = field


class IngestError(RunsError):
    """The target run is not clear: a model's name is missing, or the named run belongs to another benchmark."""


class DiskFull(IngestError):
    """The disk has no room for a file. Nothing of it stays."""

    def __init__(self) -> None:
        super().__init__(
            "The disk of the data folder is full, so the file could not be kept. Make space and send it again."
        )


class PreparersEnded(IngestError):
    """A process that prepared rows ended before its work did. What was stored stays."""

    def __init__(self) -> None:
        super().__init__(
            "A process that helped to read the file was ended from outside, perhaps for want of memory. Run the "
            "command again, with --processes 1 if it happens once more: what is stored is not counted twice."
        )


class BackupError(RunsError):
    """A backup cannot be made, is not whole or not of this product, or would go over what is stored."""


def is_full_disk(error: BaseException) -> bool:
    """Whether an error of the system or of a database says that a disk is full."""
    if getattr(error, "errno", None) in {errno.ENOSPC, errno.EDQUOT}:
        return True
    return any(sign in str(error) for sign in ("disk is full", "No space left on device"))
