"""What people may say of a run: names of a model, a benchmark or a provider, and k."""

from __future__ import annotations

import unicodedata

from runs.errors import IngestError

__all__ = ["LONGEST_NAME", "MOST_REPETITIONS", "checked_name"]

LONGEST_NAME = 200
MOST_REPETITIONS = 100_000
"""k is never larger, so repetitions go up to one less."""


def checked_name(what: str, name: str) -> str:
    """The name without spaces around it. Raises `IngestError` for one that is too long or holds control characters.

    `what` begins the sentence: `The model's name`.
    """
    name = name.strip()
    if len(name) > LONGEST_NAME:
        raise IngestError(f"{what} has {len(name):,} characters, and {LONGEST_NAME} are the most. Shorten it.")
    if any(unicodedata.category(character) in {"Cc", "Cs", "Zl", "Zp"} for character in name):
        raise IngestError(f"{what} holds a line break or another control character. Write it without.")
    return name
