from __future__ import annotations

import msgspec

__all__ = ["Finding"]


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is wrong."""

    text: str
    """What, where, and what to do where it was not repaired, in sentences."""
    repaired: bool = False
    repairable: bool = False
    """`--repair` would mend it, or did."""
