"""What was made of objects that many rows share, found by the object itself: nothing is hashed or compared.

A reader gives equal states and equal tool lists of several rows as one object, which nobody changes. So what is made of
one of them is made once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

__all__ = ["ByObject"]

_Object = TypeVar("_Object")
_Value = TypeVar("_Value")


class ByObject(Generic[_Object, _Value]):
    """Values by object, the last `most` of them at least, and twice as many at most."""

    def __init__(self, make: Callable[[_Object], _Value], most: int) -> None:
        self._make = make
        self._most = most
        self._young: dict[int, tuple[Any, _Value]] = {}
        self._old: dict[int, tuple[Any, _Value]] = {}

    def __call__(self, one: _Object) -> _Value:
        number = id(one)
        # The object is kept beside its value, so no other can have its number meanwhile.
        found = self._young.get(number) or self._old.get(number)
        if found is None:
            found = one, self._make(one)
        elif number in self._young:
            return found[1]
        if len(self._young) >= self._most:
            self._old, self._young = self._young, {}
        self._young[number] = found
        return found[1]
