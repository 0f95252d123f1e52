"""What bodies in JSON are made of. They are read strictly: only addresses write everything as text."""

from __future__ import annotations

from typing import Annotated, Any

from ninja import Field, Schema
from pydantic import AfterValidator, BeforeValidator, field_validator
from pydantic_core import PydanticCustomError

from runs.errors import IngestError
from runs.naming import LONGEST_NAME, MOST_REPETITIONS, UNSTORABLE, checked_name, storable

__all__ = ["WHOLE", "Body", "Name", "Repetitions", "SaidName"]


class Body(Schema):
    """An object that holds nothing else, in which a number is no text, and no yes or no."""

    model_config = {"extra": "forbid", "strict": True}

    @field_validator("*", mode="before")
    @classmethod
    def _storable(cls, value: Any) -> Any:
        texts = [part for pair in value.items() for part in pair] if isinstance(value, dict) else [value]
        if not all(storable(text) for text in texts if isinstance(text, str)):
            raise PydanticCustomError("unstorable", "{words}", {"words": UNSTORABLE.removesuffix(".")})
        return value


def _whole(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _one_line(value: str) -> str:
    try:
        return checked_name("It", value)
    except IngestError as error:
        raise PydanticCustomError("name", "{sentence}", {"sentence": str(error).removesuffix(".")}) from None


def _said(value: str) -> str:
    if not value:
        raise PydanticCustomError("empty", "says nothing. Write at least one letter or digit")
    return value


WHOLE = BeforeValidator(_whole)
"""Of a whole number, behind its limits. JSON knows one kind of numbers: 20.0 is 20."""
Repetitions = Annotated[int, Field(ge=1, le=MOST_REPETITIONS), WHOLE]
_LINE = r"[^\x00-\x1f\x7f-\x9f\u2028\u2029]*"
Name = Annotated[
    str, Field(max_length=LONGEST_NAME, json_schema_extra={"pattern": f"^{_LINE}$"}), AfterValidator(_one_line)
]
"""Of a model, a benchmark or a provider: one line, without blanks around it."""
SaidName = Annotated[
    str,
    Field(max_length=LONGEST_NAME, min_length=1, json_schema_extra={"pattern": rf"^(?=.*\S){_LINE}$"}),
    AfterValidator(_one_line),
    AfterValidator(_said),
]
"""The same where it cannot be left out."""
