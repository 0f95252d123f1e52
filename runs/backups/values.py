"""A column's value between a database and a backup, the same for both databases."""

from __future__ import annotations

import json
from typing import Any

from django.db import connection
from django.db.models import Field, JSONField

__all__ = ["dumped", "loaded"]


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
