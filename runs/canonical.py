"""Canonical JSON and its SHA-256: the identity of everything that is stored by content.

Keys sorted, no spaces, UTF-8. One encoder only: another prints floats differently, and the digests would part.
"""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec

_ENCODER = msgspec.json.Encoder(order="sorted")


def canonical_json(value: Any) -> bytes:
    """The canonical JSON text of a decoded JSON value."""
    return _ENCODER.encode(value)


def sha256_hex(data: bytes) -> str:
    """The SHA-256 of bytes, as 64 hex digits."""
    return hashlib.sha256(data).hexdigest()


def digest(value: Any) -> str:
    """The SHA-256 of a value's canonical JSON, as 64 hex digits."""
    return sha256_hex(canonical_json(value))
