"""The pages of 400, 403, 404, 500, 507 and a refused form, each from `<status>.html` without a request's data.

Each falls back to one plain sentence, since an error page must not be able to fail.
"""

from __future__ import annotations

import sys

from django.conf import settings
from django.core.exceptions import DisallowedHost, TooManyFilesSent
from django.http import HttpRequest, HttpResponse
from django.http.multipartparser import MultiPartParserError
from django.template import TemplateDoesNotExist, TemplateSyntaxError, loader

from runs.errors import is_full_disk

SENTENCES = {
    400: "The request could not be understood.",
    401: "Log in before you send a file. Nothing was stored.",
    403: "This page may not be opened.",
    404: "There is no such page.",
    413: "The upload is larger than this server takes (TWENTYFOLD_UPLOAD_LIMIT). Nothing was stored.",
    500: "The page could not be made. The server's log says why.",
    507: "The disk of the data folder is full. Make space there, and try again.",
}


def _page(request: HttpRequest, status: int, template: str, **context: str) -> HttpResponse:
    try:
        content = loader.get_template(template).render(context, request if status < 500 else None)
    except (TemplateDoesNotExist, TemplateSyntaxError):
        return HttpResponse(f"{SENTENCES[status]}\n", status=status, content_type="text/plain; charset=utf-8")
    return HttpResponse(content, status=status)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Says which of the things that can be wrong with a request it was, where that is known."""
    return _page(request, 400, "400.html", **_fault(exception))


def _fault(exception: Exception) -> dict[str, str]:
    """A title and a sentence; none where nothing more is known than that the request is wrong."""
    if isinstance(exception, TooManyFilesSent):
        most = settings.DATA_UPLOAD_MAX_NUMBER_FILES
        return {
            "title": "Too many files at once",
            "sentence": f"More than {most} files came in one form, and {most} are the most. Nothing was stored. "
            "Send them in several goes, or read them with the command ingest, which takes any number.",
        }
    if isinstance(exception, MultiPartParserError):
        return {
            "title": "The form came in damaged",
            "sentence": "Its parts could not be told apart, as when a connection breaks off or a program writes the "
            "form wrongly. Nothing was stored. Go back and send it again.",
        }
    if isinstance(exception, DisallowedHost):
        return {
            "title": "The server does not go by this name",
            "sentence": "The host name in the address is not one that this server answers to. Use the address that "
            "it printed when it started, or add the name to ALLOWED_HOSTS.",
        }
    return {}


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    """With the sentence of whoever refused, where it is one of ours."""
    return _page(request, 403, "403.html", sentence=str(exception))


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _page(request, 404, "404.html")


def server_error(request: HttpRequest) -> HttpResponse:
    """Needs no database and no context. A full disk is told: whoever has a page open can have it mended."""
    error = sys.exc_info()[1]
    if error is not None and is_full_disk(error):
        return _page(request, 507, "507.html")
    return _page(request, 500, "500.html")


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """`csrf_failure.html`; `reason` is Django's, for the log and DEBUG only."""
    return _page(request, 403, "csrf_failure.html")


def too_large(limit: int) -> HttpResponse:
    """For a body of more than `limit` bytes, refused before there is a request. Asks the database for nothing."""
    try:
        return HttpResponse(loader.get_template("uploads/too_large.html").render({"limit": limit}), status=413)
    except (TemplateDoesNotExist, TemplateSyntaxError):
        return HttpResponse(f"{SENTENCES[413]}\n", status=413, content_type="text/plain; charset=utf-8")


def not_logged_in() -> HttpResponse:
    """For a body that is larger than a form, refused before there is a request."""
    return HttpResponse(f"{SENTENCES[401]}\n", status=401, content_type="text/plain; charset=utf-8")


def elsewhere() -> HttpResponse:
    """For who comes from another machine where nobody has to log in."""
    text = (
        "This server answers its own machine only, since it asks nobody to log in. For others to reach it, set "
        "TWENTYFOLD_AUTH=required and make an account with `manage.py createowner`.\n"
    )
    return HttpResponse(text, status=403, content_type="text/plain; charset=utf-8")
