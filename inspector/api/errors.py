"""Refusals as RFC 9457 problems: each says what was wrong, where, and what to do."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

import msgspec
from django.http import HttpRequest, HttpResponse

from runs.errors import is_full_disk

__all__ = [
    "FieldError",
    "Problem",
    "ProblemBody",
    "answer",
    "bad_field",
    "not_found",
    "of_validation",
    "saying",
    "sorted_by",
]

MEDIA_TYPE = "application/problem+json"
_MOST_ERRORS = 50


class FieldError(msgspec.Struct, frozen=True):
    """One thing that is wrong with one field."""

    field: str
    """Its name; dotted within a body."""
    place: str
    """Where it stands: `query`, `path`, `header` or `body`."""
    message: str


class ProblemBody(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Why a request was refused (RFC 9457)."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    errors: list[FieldError] = []
    """The fields that are wrong, where it hangs on fields."""


class Problem(Exception):
    """A refusal."""

    def __init__(
        self,
        status: int,
        detail: str,
        errors: Sequence[FieldError] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.errors = list(errors)
        self.headers = dict(headers or {})


def bad_field(field: str, message: str, *, place: str = "query", status: int = 422) -> Problem:
    return Problem(status, f"{field}: {message}", [FieldError(field, place, message)])


def not_found(what: str) -> Problem:
    """`what` is a sentence: `There is no such run.`"""
    return Problem(404, what)


def answer(problem: Problem) -> HttpResponse:
    body = ProblemBody(
        title=HTTPStatus(problem.status).phrase,
        status=problem.status,
        detail=problem.detail,
        errors=problem.errors,
    )
    # `type` is a member even where it says nothing more than the status.
    content = {"type": body.type, **msgspec.to_builtins(body)}
    return HttpResponse(
        msgspec.json.encode(content),
        status=problem.status,
        content_type=MEDIA_TYPE,
        headers={"Cache-Control": "no-store", **problem.headers},
    )


_WORDS: dict[str, str] = {}
"""Pattern → what is said of a text that is not of it."""


def saying(pattern: str, words: str) -> str:
    """The pattern of a field; `words` are for people, in place of it: `is no SHA-256.`"""
    _WORDS[pattern] = words
    return pattern


def sorted_by(*names: str) -> str:
    """The pattern of what a list can be ordered by, either way."""
    words = f"is none of {', '.join(names)}, nor one of them with a hyphen before it."
    return saying(f"^-?({'|'.join(names)})$", words)


def _message(error: Mapping[str, Any]) -> str:
    pattern = error.get("ctx", {}).get("pattern")
    return _WORDS.get(str(pattern)) or f"{error.get('msg', 'is wrong')}."


_SOURCES = {"query", "path", "header", "body", "form", "cookie"}


def of_validation(errors: Sequence[Mapping[str, Any]]) -> Problem:
    """What pydantic says of a request's fields, without what was sent."""
    found = []
    for error in errors[:_MOST_ERRORS]:
        place, *names = [str(part) for part in error.get("loc", ())] or ["query"]
        # The first name is the function's own, for a parameter that is made of several.
        field = ".".join(names[1:] or names)
        found.append(FieldError(field, place if place in _SOURCES else "query", _message(error)))
    detail = "; ".join(f"{error.field}: {error.message}" for error in found[:3]) or "The request has a wrong field."
    return Problem(422, detail, found)


def log_failure(request: HttpRequest, error: Exception) -> HttpResponse:
    """For an error of the server's own: written down there, told without detail."""
    logging.getLogger("django.request").error("%s %s failed.", request.method, request.path, exc_info=error)
    if is_full_disk(error):
        return answer(Problem(507, "The disk of the data folder is full. Make space there, and send it again."))
    return answer(Problem(500, "The answer could not be made. The server's log says why."))
