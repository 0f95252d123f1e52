"""The members of an archive, one after the other. Their names are labels for people, and never a place on a disk.

A zip archive is read from a seekable file by the directory at its end, a tar archive as a stream. Everything that an
archive says of itself (sizes, places, sums, counts) is checked, since whoever packed it may have meant harm.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from runs.errors import BundleError

__all__ = ["BrokenArchive", "BrokenMember", "Member", "is_junk", "safe_label"]

_LONGEST_LABEL = 400
_JUNK_NAMES = frozenset({".ds_store", "thumbs.db", "desktop.ini", "icon\r", ".localized", ".directory"})
_JUNK_FOLDERS = frozenset(
    {"__macosx", ".appledouble", ".spotlight-v100", ".trashes", ".fseventsd", ".git", ".svn", ".idea", ".vscode"}
)
_JUNK = re.compile(r"\._.*|.*~|\.#.*|#.*#|.*\.sw[a-p]|~\$.*|\.nfs[0-9a-f]+|.*\.(?:bak|tmp|part|crdownload)", re.DOTALL)
_DRIVE = re.compile(r"^[A-Za-z]:")


class BrokenArchive(BundleError):
    """The archive cannot be read any further. Members before it have been read."""


class BrokenMember(BundleError):
    """This member is damaged, or cannot be read; the others can."""


class Member(msgspec.Struct, frozen=True, kw_only=True):
    """One file of an archive."""

    number: int
    """Its place in the archive, from 1."""
    name: str
    """As the archive has it, whatever that is."""
    content: Iterator[bytes] = iter(())
    """Read it before the next member is asked for. Raises `BrokenMember` where it is damaged."""
    problem: str = ""
    """Why it cannot be read, in a sentence: encrypted, a link."""


def is_junk(name: str) -> bool:
    """Whether a member is what a system or an editor left behind, which nobody wants to hear of."""
    parts = [part for part in name.replace("\\", "/").lower().split("/") if part]
    if not parts:
        return True
    return parts[-1] in _JUNK_NAMES or not _JUNK_FOLDERS.isdisjoint(parts[:-1]) or bool(_JUNK.fullmatch(parts[-1]))


def safe_label(name: str) -> str:
    """A member's path to be shown: relative, with plain slashes, without steps up and control characters."""
    printable = "".join(character if character.isprintable() else "\ufffd" for character in name.replace("\\", "/"))
    parts = [part for part in _DRIVE.sub("", printable).split("/") if part not in {"", ".", ".."}]
    return "/".join(parts)[-_LONGEST_LABEL:] or "without a name"
