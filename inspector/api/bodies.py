"""What bodies in JSON are made of. They are read strictly: only addresses write everything as text."""

from __future__ import annotations

from typing import Annotated, Any

from ninja import Field, Schema
from pydantic import BeforeValidator

from runs.naming import MOST_REPETITIONS

__all__ = ["WHOLE", "Body", "Repetitions"]


class Body(Schema):
    """An object that holds nothing else, in which a number is no text, and no yes or no."""

    model_config = {"extra": "forbid", "strict": True}


def _whole(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


WHOLE = BeforeValidator(_whole)
"""Of a whole number, behind its limits. JSON knows one kind of numbers: 20.0 is 20."""
Repetitions = Annotated[int, Field(ge=1, le=MOST_REPETITIONS), WHOLE]
