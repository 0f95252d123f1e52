"""What people may say of a run: names of a model, a benchmark or a provider, and k."""

from __future__ import annotations

import unicodedata

from runs.errors import IngestError

__all__ = ["LONGEST_NAME", "MOST_REPETITIONS", "UNSTORABLE", "checked_name", "storable"]

LONGEST_NAME = 200
MOST_REPETITIONS = 100_000
"""k is never larger, so repetitions go up to one less."""
UNSTORABLE = "holds U+0000 or half of a surrogate pair, which no text here can have. Write it without."
"""What is said of a text that is not `storable`."""


def storable(text: str) -> bool:
    """Whether a database can keep it as it is: PostgreSQL has no U+0000, and half of a surrogate pair is no UTF-8."""
    return "\0" not in text and not any("\ud800" <= character <= "\udfff" for character in text)


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
