"""The token of an `Authorization` header. Needs no models, so that layers before Django can ask too."""

from __future__ import annotations

__all__ = ["token_in"]


def token_in(header: str) -> str | None:
    """What comes along as a token, whether it opens anything or not. None for a header of another kind, or none."""
    kind, _, text = header.strip().partition(" ")
    return text.strip() if kind.lower() == "bearer" else None
