"""Numbers with their nouns, for sentences on pages, in answers and in logs."""

from __future__ import annotations

__all__ = ["counted"]


def counted(number: int, noun: str) -> str:
    """`1 row`, `1,204 rows`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
