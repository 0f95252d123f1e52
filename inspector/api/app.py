"""Assembles the API: routers, refusals, who may ask. Nothing else is decided here."""

from __future__ import annotations

from functools import cache
from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from ninja import NinjaAPI
from ninja.errors import HttpError, ValidationError
from ninja.openapi.schema import OpenAPISchema

from inspector.api.answers import Unchanged, unchanged
from inspector.api.auth import Sender
from inspector.api.errors import Problem, answer, log_failure, of_validation
from inspector.api.openapi import describe
from inspector.api.parsing import JsonBodies
from inspector.api.routers import (
    about,
    attempts,
    compare,
    failures,
    leaderboards,
    metrics,
    notes,
    prices,
    runs,
    tasks,
    uploads,
)
from runs.errors import DiskFull, RunsError

__all__ = ["api"]

VERSION = "1.0.0"


class Api(NinjaAPI):
    def get_openapi_schema(self, **_: Any) -> OpenAPISchema:
        """Made once: it hangs on the code, and on whether a login is required."""
        return _described(self, required=settings.AUTH_REQUIRED)

    def own_schema(self) -> OpenAPISchema:
        """What ninja knows."""
        return super().get_openapi_schema(path_prefix="/api/v1")


@cache
def _described(api: Api, *, required: bool) -> OpenAPISchema:
    return describe(api.own_schema(), required=required)


api = Api(
    title="Twentyfold",
    version=VERSION,
    description=(
        "What the pages show, as JSON: runs, comparisons, tasks, attempts step by step, leaderboards, prices, uploads. "
        "Lists come in slices with a cursor. What is refused is a problem (RFC 9457) that names the field."
    ),
    docs_url=None,
    openapi_url=None,
    auth=Sender(),
    parser=JsonBodies(),
    urls_namespace="api",
)
for name, module in {
    "runs": runs,
    "compare": compare,
    "tasks": tasks,
    "attempts": attempts,
    "failures": failures,
    "leaderboards": leaderboards,
    "prices": prices,
    "uploads": uploads,
    "notes": notes,
    "metrics": metrics,
    "about": about,
}.items():
    api.add_router("", module.router, tags=[name])


@api.exception_handler(Problem)
def _problem(request: HttpRequest, error: Problem) -> HttpResponse:
    return answer(error)


@api.exception_handler(Unchanged)
def _unchanged(request: HttpRequest, error: Unchanged) -> HttpResponse:
    return unchanged(error)


@api.exception_handler(ValidationError)
def _wrong(request: HttpRequest, error: ValidationError) -> HttpResponse:
    return answer(of_validation(error.errors))


@api.exception_handler(Http404)
def _absent(request: HttpRequest, error: Http404) -> HttpResponse:
    return answer(Problem(404, str(error) or "There is nothing of this name."))


@api.exception_handler(HttpError)
def _refused(request: HttpRequest, error: HttpError) -> HttpResponse:
    # What the parser says is wrong with a body, ninja hides behind a sentence of its own.
    reason = error.__cause__
    return answer(reason if isinstance(reason, Problem) else Problem(error.status_code, error.message))


@api.exception_handler(RunsError)
def _contradiction(request: HttpRequest, error: RunsError) -> HttpResponse:
    return answer(Problem(507 if isinstance(error, DiskFull) else 409, str(error)))


@api.exception_handler(Exception)
def _failed(request: HttpRequest, error: Exception) -> HttpResponse:
    return log_failure(request, error)
