"""Reading fields of decoded JSON, each with its dotted path, so that a wrong one can be named."""

from __future__ import annotations

import math
from typing import Any

from runs.errors import BadRecord
from runs.wording import counted

__all__ = ["Fields", "describe", "wrong"]

_SHOWN = 60
_MISSING = object()


def describe(value: Any) -> str:
    """A value in words: its JSON type and, where that helps, the value cut short."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int() | float():
            text = str(value)
            return f"the number {text if len(text) <= _SHOWN else text[:_SHOWN] + '…'}"
        case str():
            return f"the text {value[:_SHOWN]!r}{'…' if len(value) > _SHOWN else ''}"
        case list():
            return f"a list of {len(value)}"
        case dict():
            return f"an object of {counted(len(value), 'field')}"
    return "another value"


def wrong(path: str, value: Any, expected: str) -> BadRecord:
    """The error for a field that holds something else than expected. The text leaves it to `field` to say where."""
    found = "it is missing, and" if value is _MISSING else f"found {describe(value)} where"
    return BadRecord(f"{found} {expected} is expected.", path)


class Fields:
    """The fields of one object. Each getter returns the value, or raises `BadRecord` with the field's path.

    Null counts as absent for everything optional, as the harness writes null for what it does not have.
    """

    __slots__ = ("path", "values")

    def __init__(self, values: Any, path: str = "") -> None:
        if not isinstance(values, dict):
            raise wrong(path, values, "an object")
        self.values: dict[str, Any] = values
        self.path = path

    def at(self, name: str) -> str:
        return f"{self.path}.{name}" if self.path else name

    def text(self, name: str) -> str:
        value = self.values.get(name, _MISSING)
        if isinstance(value, str):
            return value
        raise wrong(self.at(name), value, "a text")

    def maybe_text(self, name: str) -> str | None:
        value = self.values.get(name)
        if value is None or isinstance(value, str):
            return value
        raise wrong(self.at(name), value, "a text or null")

    def flag(self, name: str) -> bool:
        """False when absent."""
        value = self.values.get(name)
        if value is None:
            return False
        if isinstance(value, bool):
            return value
        raise wrong(self.at(name), value, "true or false")

    def required_flag(self, name: str) -> bool:
        value = self.values.get(name, _MISSING)
        if isinstance(value, bool):
            return value
        raise wrong(self.at(name), value, "true or false")

    def count(self, name: str, *, highest: int) -> int:
        value = self.values.get(name, _MISSING)
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= highest:
            return value
        raise wrong(self.at(name), value, f"a whole number from 0 to {highest}")

    def maybe_number(self, name: str) -> float | None:
        """None when absent, and for NaN or an infinity, which the reader keeps as texts."""
        value = self.values.get(name)
        if value is None or is_not_finite(value):
            return None
        number = as_number(value)
        if number is None:
            raise wrong(self.at(name), value, "a number or null")
        return number

    def maybe_fields(self, name: str) -> Fields | None:
        value = self.values.get(name)
        return None if value is None else Fields(value, self.at(name))

    def fields_or_empty(self, name: str) -> Fields:
        value = self.values.get(name)
        return Fields({} if value is None else value, self.at(name))

    def maybe_list(self, name: str) -> list[Any] | None:
        value = self.values.get(name)
        if value is None or isinstance(value, list):
            return value
        raise wrong(self.at(name), value, "a list or null")


def as_number(value: Any) -> float | None:
    """A JSON number as a finite float, else None."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:  # a whole number beyond every float
        return None
    return number if math.isfinite(number) else None


def is_not_finite(value: Any) -> bool:
    """Whether a text stands for a number that JSON cannot hold: the reader writes it for NaN, the infinities, 1e400."""
    if not isinstance(value, str):
        return False
    try:
        return not math.isfinite(float(value))
    except ValueError:
        return False
