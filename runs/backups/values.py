"""A column's value between a database and a backup, the same for both databases."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

from django.db import connection
from django.db.models import Field, JSONField

__all__ = ["dumped", "loaded", "misfit"]

_NUL_IN_JSON = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")


def dumped(field: Field[Any, Any], value: Any) -> Any:
    """A value as Django reads it, as one that MessagePack can hold."""
    if isinstance(field, JSONField):
        return None if value is None else json.dumps(value)
    return bytes(value) if isinstance(value, memoryview) else value


def loaded(field: Field[Any, Any], value: Any) -> Any:
    """The value as the database's driver takes it."""
    if value is None:
        return None
    if isinstance(field, JSONField):
        value = json.loads(value)
    return field.get_db_prep_save(field.to_python(value), connection)


def misfit(fields: Sequence[Field[Any, Any]], rows: Iterable[Sequence[Any]]) -> str:
    """What of a backup's rows only SQLite takes: the first such row with its key and column, or the empty text."""
    for row in rows:
        named = dict(zip(fields, row, strict=True))
        for field, value in named.items():
            if not isinstance(value, str):
                continue
            key = next(value for field, value in named.items() if field.primary_key)
            if "\0" in value or (isinstance(field, JSONField) and _NUL_IN_JSON.search(value)):
                return f"{field.column} of the row {key} has the character U+0000 in it"
            if field.max_length is not None and len(value) > field.max_length:
                return f"{field.column} of the row {key} has {len(value):,} characters, and {field.max_length:,} fit"
    return ""
