"""Path converters: a task's uid in an address.

A uid is a harness's own text. Slashes, dot segments and control characters do not survive browsers and proxies in a
path, so they are written as `~` and two hexadecimal digits (`~` itself as well); all else is left to the usual
percent-encoding.
"""

from __future__ import annotations

import re

from django.urls import register_converter

_UNSAFE = re.compile(r"[~/\\\x00-\x1f\x7f]")
_ESCAPED = re.compile(r"~([0-9A-F]{2})")


class UidConverter:
    """Any non-empty text to a path and back. A plain slash, as in an address typed by hand, is taken as it stands."""

    regex = r"(?s:.+)"

    def to_python(self, value: str) -> str:
        return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), value)

    def to_url(self, value: str) -> str:
        escaped = _UNSAFE.sub(lambda match: f"~{ord(match[0]):02X}", value)
        if escaped in {".", ".."}:
            return escaped.replace(".", "~2E")
        return escaped


register_converter(UidConverter, "uid")
