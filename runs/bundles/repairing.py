"""The slow second look at a line that the fast decoder refuses: what the standard library reads is made valid JSON.

Nothing is guessed: a value that JSON cannot hold becomes a text of its source, a number keeps its digits, of two equal
keys the last one counts as everywhere in JSON, and each such change is a note.
"""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec
from msgspec import Raw

from runs.errors import BadRecord

__all__ = ["CUT_HINT", "broken_json", "diagnose", "repair", "repeated_keys", "too_deep"]

CUT_HINT = (
    "The line has no line end, so the copy is probably cut off. "
    "Ingest the whole file again; what is stored will not be counted twice."
)
_LONGEST_NUMBER = 4000  # digits; a few more are refused by the decoders that read the stored row
_SURROGATE = re.compile("[\ud800-\udfff]")
_TOO_DEEP = "The JSON is nested too deeply to be read."
_NAMED = 5


def repair(text: bytes) -> tuple[bytes, list[str]]:
    """The line as JSON that every decoder accepts, and what was changed. Raises `BadRecord` when it is no JSON."""
    changes = _Changes()
    decoded = _decode_utf8(text)
    try:
        value = json.loads(
            decoded,
            parse_constant=changes.constant,
            parse_float=changes.number,
            parse_int=changes.number,
            object_pairs_hook=changes.pairs,
        )
        if _SURROGATE.search(decoded) or "\\u" in decoded:
            value = changes.without_surrogates(value)
        return msgspec.json.encode(value), changes.notes()
    except json.JSONDecodeError as error:
        raise broken_json(decoded, error) from error
    except RecursionError as error:
        raise BadRecord(_TOO_DEEP) from error


def repeated_keys(text: bytes) -> bool:
    """Whether an object of the line, at any depth, holds one key twice. The line has to be JSON."""
    changes = _Changes()
    json.loads(text.decode("utf-8"), object_pairs_hook=changes.pairs)
    return bool(changes.repeated)


def broken_json(decoded: str, error: json.JSONDecodeError, *, ended: bool = True) -> BadRecord:
    """Where the JSON of a line stops being JSON, in a sentence. Characters count from 1."""
    hint = "" if ended else f" {CUT_HINT}"
    if error.msg.startswith("Unterminated string"):
        where = f"the text breaks off at character {len(decoded)} (inside a string)"
    elif error.pos >= len(decoded.rstrip()):
        where = f"the text breaks off at character {len(decoded)}"
    elif error.msg == "Extra data" and "\r" in decoded[error.pos - 1 : error.pos]:
        where = f"another value begins behind the carriage return before character {error.pos + 1}"
        hint = " Save the file with line feeds as line ends."
    else:
        said = error.msg.removesuffix(" at")
        where = f"{said[:1].lower()}{said[1:]} at character {error.pos + 1}"
    return BadRecord(f"Not valid JSON: {where}.{hint}")


def diagnose(text: bytes, *, ended: bool = True) -> BadRecord | None:
    """What is wrong with a line as a whole; None when it is a JSON object."""
    try:
        decoded = text.decode("utf-8")
    except UnicodeDecodeError as error:
        if ended or error.end < len(text) or "unexpected end" not in error.reason:
            return _not_utf8(text, error)
        decoded = text[: error.start].decode("utf-8")  # cut inside a character
    try:
        value = json.loads(decoded, parse_int=float)
    except json.JSONDecodeError as error:
        return broken_json(decoded, error, ended=ended)
    except RecursionError:
        return BadRecord(_TOO_DEEP)
    if isinstance(value, dict):
        return None
    kind = {list: "a list", str: "a text", bool: "true or false", type(None): "null"}.get(type(value), "a number")
    return BadRecord(f"The line is {kind}, not a JSON object.")


def too_deep() -> BadRecord:
    return BadRecord(_TOO_DEEP)


def _decode_utf8(text: bytes) -> str:
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _not_utf8(text, error) from error


def _not_utf8(text: bytes, error: UnicodeDecodeError) -> BadRecord:
    return BadRecord(
        f"Not valid UTF-8: byte 0x{text[error.start]:02x} at position {error.start + 1} of the line "
        f"({error.reason}). Save the file as UTF-8."
    )


class _Changes:
    def __init__(self) -> None:
        self.constants: dict[str, int] = {}
        self.beyond: list[str] = []
        self.repeated: dict[str, int] = {}
        self.surrogates = 0

    def constant(self, name: str) -> str:
        self.constants[name] = self.constants.get(name, 0) + 1
        return name

    def number(self, digits: str) -> Raw | str:
        is_whole = digits.lstrip("-").isdigit()
        if len(digits) > _LONGEST_NUMBER or (not is_whole and abs(float(digits)) == float("inf")):
            self.beyond.append(digits)
            return digits
        return Raw(digits.encode())

    def pairs(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) < len(pairs):
            seen: set[str] = set()
            for key, _ in pairs:
                if key in seen:
                    self.repeated[key] = self.repeated.get(key, 0) + 1
                seen.add(key)
        return made

    def without_surrogates(self, value: Any) -> Any:
        match value:
            case str():
                return self._escaped(value)
            case list():
                return [self.without_surrogates(item) for item in value]
            case dict():
                return {self._escaped(key): self.without_surrogates(item) for key, item in value.items()}
        return value

    def _escaped(self, text: str) -> str:
        escaped, count = _SURROGATE.subn(lambda found: f"\\u{ord(found.group()):04x}", text)
        self.surrogates += count
        return escaped

    def notes(self) -> list[str]:
        notes = []
        if self.constants:
            kinds = ", ".join(f"{name} ({count} ×)" for name, count in sorted(self.constants.items()))
            notes.append(f"JSON has no such number, so it is kept as a text: {kinds}.")
        if self.beyond:
            shown = ", ".join(d if len(d) <= 40 else f"one of {len(d)} digits" for d in self.beyond[:_NAMED])
            notes.append(f"Too large for a number, so it is kept as a text of its digits: {shown}.")
        if self.repeated:
            named = ", ".join(
                _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", key[:40]) for key in sorted(self.repeated)[:_NAMED]
            )
            notes.append(f"Occurs more than once in one object, and the last value counts: {named}.")
        if self.surrogates:
            notes.append(f"Half a character ({self.surrogates} ×) is kept as the text of its escape, such as \\ud800.")
        return notes
