"""Middleware of the site: the headers of every response, and the static files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import patch_cache_control
from whitenoise.middleware import WhiteNoiseMiddleware

_POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data: blob:",
        "connect-src 'self'",
        "font-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
    ]
)
CONTENT_SECURITY_POLICY = f"{_POLICY}; frame-ancestors 'none'"
EMBEDDED_POLICY = f"{_POLICY}; frame-ancestors *"
STRICT_HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}
"""Of every answer. Django's own middleware sets all but the first, for answers that pass it."""

A_YEAR = 365 * 24 * 3600


def security_headers(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    """Comes first, so that errors and static files carry the policy too.

    Only an answer that its view marked with `xframe_options_exempt` may be shown within another site's page.
    """

    def middleware(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        embedded = getattr(response, "xframe_options_exempt", False)
        response.headers["Content-Security-Policy"] = EMBEDDED_POLICY if embedded else CONTENT_SECURITY_POLICY
        return response

    return middleware


class StaticFiles(WhiteNoiseMiddleware):  # type: ignore[misc]  # whitenoise ships no types
    """Serves static files under any server and with DEBUG off."""

    @staticmethod
    def serve(static_file: Any, request: HttpRequest) -> HttpResponse:
        """The file as one answer: an ASGI server would read a file response whole as well, and warn about it.

        An address with a version (`?v=`, see `inspector.staticfiles`) never changes its content.
        """
        found = static_file.get_response(request.method, request.META)
        body = b""
        if found.file is not None:
            with found.file as file:
                body = file.read()
        response = HttpResponse(body, status=int(found.status))
        del response["Content-Type"]
        for name, value in found.headers:
            response[name] = value
        if "v" in request.GET:
            del response["Cache-Control"]
            patch_cache_control(response, public=True, max_age=A_YEAR, immutable=True)
        return response
