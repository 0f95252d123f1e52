"""What all answers of the API have: refusals made outside the operations (a wrong method, a foreign host) as problems,
and how many requests are left."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from inspector.api.errors import MEDIA_TYPE, Problem, answer
from inspector.ratelimit import noted_turn

__all__ = ["api_problem", "api_problems"]

_PREFIX = "/api/"
_SENTENCES = {
    400: "The request could not be understood.",
    401: "Send an API token that is live in the header Authorization (Bearer ...). Nothing was stored.",
    403: "This was refused.",
    404: "There is nothing at this address. What there is stands in /api/v1/openapi.json.",
    405: "The address is there, and does not take this method. The header Allow names those that it takes.",
    413: "The body is larger than this server takes (TWENTYFOLD_UPLOAD_LIMIT). Nothing was stored.",
    507: "The disk of the data folder is full. Make space there, and send it again.",
    500: "The answer could not be made. The server's log says why.",
}
_KEPT = ("Allow", "Retry-After", "WWW-Authenticate")


def api_problem(status: int) -> HttpResponse:
    """For a request that was refused before Django saw it."""
    return answer(Problem(status, _SENTENCES[status], headers={"WWW-Authenticate": "Bearer"} if status == 401 else {}))


def api_problems(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    def middleware(request: HttpRequest) -> HttpResponseBase:
        if not request.path_info.startswith(_PREFIX) or request.path_info == "/api/v1/docs":
            return get_response(request)
        if request.method == "HEAD" and "/uploads/" not in request.path_info:
            # Where an operation gives something, what it would give can be asked about.
            request.method = "GET"
        response = _as_problem(get_response(request))
        turn = noted_turn(request)
        for name, value in ({} if turn is None else turn.headers).items():
            response[name] = value
        return response

    return middleware


def _as_problem(response: HttpResponseBase) -> HttpResponseBase:
    if response.status_code < 400 or response.headers.get("Content-Type", "").startswith(MEDIA_TYPE):
        return response
    detail = _SENTENCES.get(response.status_code, "The request was refused.")
    headers = {name: response.headers[name] for name in _KEPT if name in response.headers}
    return answer(Problem(response.status_code, detail, headers=headers))
