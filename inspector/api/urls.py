"""Where the API is: all below `/api/v1/` but the page that describes it."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, URLResolver, path, re_path
from django.views.decorators.csrf import csrf_exempt

from inspector.api.app import api
from inspector.api.errors import Problem, answer
from inspector.views import api_docs

__all__ = ["api_routes"]


@csrf_exempt
def unknown(request: HttpRequest) -> HttpResponse:
    return answer(Problem(404, "There is nothing at this address. What there is stands in /api/v1/openapi.json."))


operations, app_name, namespace = api.urls


def _opened(patterns: list[URLResolver | URLPattern]) -> list[URLResolver | URLPattern]:
    """Marks the operations as open for the wall of the pages: they ask for a token or a session themselves."""
    for pattern in patterns:
        if isinstance(pattern, URLPattern):
            setattr(pattern.callback, "login_required", False)  # noqa: B010  # a mark that no type knows
    return patterns


unknown.login_required = False  # type: ignore[attr-defined]

api_routes: list[URLPattern | URLResolver] = [
    path("api/v1/docs", api_docs.reference, name="api_docs"),
    path("api/v1/", (_opened(operations), app_name, namespace)),
    re_path(r"^api/", unknown, name="api_unknown"),
]
