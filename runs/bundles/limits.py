"""How much a compressed file or an archive may become. What goes beyond is a bomb, or needs somebody to say yes."""

from __future__ import annotations

import msgspec

from runs.errors import BundleError

__all__ = ["Limits", "TooLarge", "check_size"]

_RATIO_FROM = 256 << 20
"""A ratio says nothing of little data: a megabyte of zeros is no attack."""


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    members: int = 20_000
    """Files, folders and links in one archive."""
    unpacked: int = 64 << 30
    """Bytes of all that is unpacked of one file."""
    ratio: int = 2_000
    """Unpacked bytes a packed byte. Results with recorded states reach some hundreds."""


class TooLarge(BundleError):
    """The file unpacks to more than is allowed."""


def check_size(unpacked: int, packed: int, limits: Limits) -> None:
    """Raises `TooLarge` where `packed` bytes became too many."""
    if unpacked > limits.unpacked:
        raise TooLarge(
            f"It unpacks to more than {limits.unpacked:,} bytes (TWENTYFOLD_MAX_UNPACKED). "
            "Give it in parts, or raise the limit if it is yours."
        )
    if unpacked > _RATIO_FROM and unpacked > limits.ratio * max(packed, 1):
        raise TooLarge(
            f"It unpacks to more than {limits.ratio:,} times its size (TWENTYFOLD_MAX_RATIO), as no result file does. "
            "Raise the limit if it is yours."
        )
