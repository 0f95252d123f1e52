"""How an operation is declared: its path, what it gives, what it needs. All that every operation does is here."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Annotated, Any, TypeVar

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from msgspec import Struct
from ninja import Field, Path, Router, Schema

from inspector.api.answers import listed, one
from inspector.api.errors import bad_field, not_found
from inspector.api.pagination import DEFAULT, MOST, Slice

__all__ = ["AttemptId", "Id", "Listing", "Sparse", "operation", "reads", "reads_list"]

View = TypeVar("View", bound=Callable[..., Any])
Check = Callable[[HttpRequest], None]
Schemas = dict[str, Any]
Answers = dict[int, tuple[str, Schemas, Any] | None]
Id = Annotated[int, Path(ge=1, le=2**63 - 1)]
AttemptId = Annotated[int, Path(ge=1, le=2**63 - 1, description="The attempt's id.")]


class Sparse(Schema):
    """Of whatever gives one thing."""

    fields: str | None = Field(
        None, description="Names of the fields to send, with commas between them. All where it is left out."
    )


class Listing(Sparse):
    """Of whatever gives a list."""

    cursor: str | None = Field(
        None, description="`next` of the answer before; none for the beginning.", max_length=4000
    )
    limit: int = Field(DEFAULT, description="The most items to send.", ge=1, le=MOST)


def reads(
    router: Router, path: str, kind: type[Struct], *, check: Check | None = None, example: Any = None
) -> Callable[[View], View]:
    """A GET that gives one `kind`."""
    answers: Answers = {200: ("application/json", {"$struct": kind}, example)}
    return operation(router, ["GET"], path, answers, check=check, fields_of=kind)


def reads_list(
    router: Router, path: str, kind: type[Struct], *, check: Check | None = None, example: Any = None
) -> Callable[[View], View]:
    """A GET that gives a slice of a list of `kind`."""
    schema = {
        "type": "object",
        "required": ["items", "next", "total"],
        "properties": {
            "items": {"type": "array", "items": {"$struct": kind}},
            "next": {"type": ["string", "null"], "description": "The cursor of the next slice; null at the end."},
            "total": {"type": ["integer", "null"], "description": "Items of the whole list, where they are counted."},
        },
    }
    shown = None if example is None else {"items": [example], "next": None, "total": 1}
    return operation(
        router, ["GET"], path, {200: ("application/json", schema, shown)}, check=check, kind=kind, fields_of=kind
    )


def operation(
    router: Router,
    methods: Sequence[str],
    path: str,
    answers: Answers,
    *,
    check: Check | None = None,
    kind: type[Struct] | None = None,
    fields_of: type[Struct] | None = None,
    body: dict[str, Schemas] | None = None,
    extra: Schemas | None = None,
) -> Callable[[View], View]:
    """Any operation. `answers`: status → media type, schema and example, or None for an answer without content.

    `kind` is of the items, where the view gives a slice; `body`: media type → schema, for one that reads it itself.
    """

    def declare(view: View) -> View:
        @wraps(view)
        def checked(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if check is not None:
                check(request)
            _check_names(request, checked, kwargs)
            made = view(request, *args, **kwargs)
            if isinstance(made, HttpResponseBase):
                return made
            if isinstance(made, Slice):
                assert kind is not None
                return listed(request, made, kind)
            return one(request, made)

        # The annotations as types: their names mean nothing here.
        checked.__signature__ = inspect.signature(view, eval_str=True)  # type: ignore[attr-defined]
        del checked.__wrapped__
        # Its beginning is the summary, and need not be said twice.
        checked.__doc__ = None
        declared = {"responses": {"4XX": {"$ref": "#/components/responses/Problem"}}, **(extra or {})}
        for status, answer in answers.items():
            declared["responses"][status] = _answer(status, answer)
        if methods == ["GET"]:
            declared["responses"]["304"] = {"description": "What the sender has (If-None-Match) is still right."}
        if body is not None:
            declared["requestBody"] = {
                "required": True,
                "content": {media: {"schema": schema} for media, schema in body.items()},
            }
        if fields_of is not None:
            declared["x-fields-of"] = fields_of
        summary, _, description = (inspect.getdoc(view) or "").partition("\n\n")
        router.api_operation(
            list(methods),
            path,
            summary=" ".join(summary.split()).rstrip("."),
            description=" ".join(description.split()) or None,
            operation_id=f"{view.__module__.rpartition('.')[2]}_{view.__name__}",
            url_name=f"api_{view.__module__.rpartition('.')[2]}_{view.__name__}",
            openapi_extra=declared,
            response=dict.fromkeys(answers),
        )(checked)
        return view

    return declare


def _answer(status: int, answer: tuple[str, Schemas, Any] | None) -> Schemas:
    if answer is None:
        return {}
    media, schema, example = answer
    content: Schemas = {"schema": schema}
    if example is not None:
        content["examples"] = {"usual": {"value": example}}
    return {"content": {media: content}}


def _check_names(request: HttpRequest, view: Any, path: dict[str, Any]) -> None:
    """A parameter that nobody knows is a mistake: a filter misspelt would quietly show everything."""
    known = {
        name
        for model in view._ninja_operation.models
        if model.__ninja_param_source__ == "query"
        for name in getattr(model, "__ninja_flatten_map__", {})
    }
    for value in path.values():
        if isinstance(value, str) and "\0" in value:
            raise not_found("There is nothing of this name.")
    for name, values in request.GET.lists():
        if name not in known:
            shown = name if len(name) <= 60 else name[:60] + "…"
            there = f"There are: {', '.join(sorted(known))}." if known else "There are none."
            raise bad_field(shown, f"is no parameter of this. {there}")
        if any("\0" in value for value in values):
            raise bad_field(name, "holds U+0000, which no text here has.")
