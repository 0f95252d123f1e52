"""Rows compressed against another row of the same task: instructions, policy and prompts are the same in all of them.

The first row of a task is the dictionary of all others of its file, and is stored as a payload. So the dictionary is as
safe as the states are: it goes only when no row needs it any more.
"""

from __future__ import annotations

from collections import OrderedDict

import zstandard

from runs.canonical import sha256_hex

__all__ = ["Dictionaries", "Dictionary", "decompress_with"]

_LEVEL = 1
"""Against a dictionary the next levels cost twice the time, for a third of what is left."""
_LEAST, _MOST = 4 << 10, 512 << 10
"""Bytes of a row that is worth being one."""
_HELD_BYTES = 24 << 20


class Dictionary:
    """The text that rows are compressed against."""

    __slots__ = ("compressor", "data", "digest", "text")

    def __init__(self, text: bytes) -> None:
        self.text = text
        self.digest = sha256_hex(text)
        self.data = _raw(text)
        self.compressor: zstandard.ZstdCompressor | None = None


class Dictionaries:
    """The dictionaries of one file, by task; the longest unused go first. For one thread."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, Dictionary] = OrderedDict()
        self._held = 0
        self._last: Dictionary | None = None
        """The one whose compressor is kept: rows of a task mostly follow each other, and compressors are large."""

    def of(self, uid: str, text: bytes) -> Dictionary | None:
        """The task's dictionary, for its first row the row itself; None where the row is too small or large for one."""
        found = self._known.get(uid)
        if found is not None:
            self._known.move_to_end(uid)
            return found if len(text) >= _LEAST else None
        if not _LEAST <= len(text) <= _MOST:
            return None
        found = self._known[uid] = Dictionary(text)
        self._held += len(text)
        while self._held > _HELD_BYTES:
            _, oldest = self._known.popitem(last=False)
            self._held -= len(oldest.text)
        return found

    def compress(self, dictionary: Dictionary, data: bytes) -> bytes:
        """The data against one of these dictionaries."""
        if self._last is not dictionary:
            if self._last is not None:
                self._last.compressor = None
            self._last = dictionary
        if dictionary.compressor is None:
            dictionary.compressor = zstandard.ZstdCompressor(level=_LEVEL, dict_data=dictionary.data)
        return dictionary.compressor.compress(data)


def decompress_with(dictionary: bytes, data: bytes) -> bytes:
    return zstandard.ZstdDecompressor(dict_data=_raw(dictionary)).decompress(data)


def _raw(text: bytes) -> zstandard.ZstdCompressionDict:
    return zstandard.ZstdCompressionDict(text, dict_type=zstandard.DICT_TYPE_RAWCONTENT)
