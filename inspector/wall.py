"""The wall of server mode: who is not logged in sees the login page, shared leaderboards and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast
from urllib.parse import unquote, urlencode, urlsplit

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.http.response import HttpResponseBase
from django.urls import Resolver404, resolve, reverse
from django.utils.cache import patch_cache_control
from django.utils.http import url_has_allowed_host_and_scheme

from inspector.access import access_of, bearer_token
from inspector.http import HtmxHttpRequest
from runs.access import NOBODY

API = "/api/"
API_REFERENCE = "/api/v1/docs"


class LoginWall:
    """Answers nobody who is not logged in, unless the view is marked `login_not_required`.

    Closed by default: a new view, an unknown address and a view that forgot its mark all lead to the login.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if is_open(request.path_info):
            return self._get_response(request)
        if is_api(request.path_info) and (bearer_token(request) is not None or not _browses(request)):
            # A program has nothing to fill a form in with. Which token opens what, the API says.
            return self._get_response(request) if access_of(request) != NOBODY else _unknown_token()
        if not request.user.is_authenticated:
            return to_login(cast("HtmxHttpRequest", request))
        response = self._get_response(request)
        if not response.has_header("Cache-Control"):
            # Neither a proxy nor the browser's history shows a page after the logout.
            patch_cache_control(response, private=True, no_store=True)
        return response


def is_open(path: str) -> bool:
    """Whether the view at the path asks for no account; a path that only lacks its last slash is as open as with it."""
    try:
        view = resolve(path).func
    except Resolver404:
        return not path.endswith("/") and is_open(f"{path}/")
    return not getattr(view, "login_required", True)


def is_api(path: str) -> bool:
    """Whether programs with a token are answered here. The reference of the API is a page like others."""
    return path.startswith(API) and path != API_REFERENCE


def _browses(request: HttpRequest) -> bool:
    return "text/html" in request.headers.get("Accept", "")


def _unknown_token() -> JsonResponse:
    problem = {
        "type": "about:blank",
        "title": "Not logged in",
        "status": 401,
        "detail": "Send a token that is live: `Authorization: Bearer tf_...`. Tokens are made on the page /account/.",
    }
    headers = {"WWW-Authenticate": "Bearer", "Cache-Control": "private, no-store"}
    return JsonResponse(problem, status=401, content_type="application/problem+json", headers=headers)


def to_login(request: HtmxHttpRequest) -> HttpResponse:
    """To the login page, and from there back to the page that was asked for.

    htmx would show the login page within the page it is on, so it is told to load it, and to come back to that page.
    What a form sent is not kept.
    """
    if request.htmx:
        page = urlsplit(request.headers.get("HX-Current-URL", ""))
        response = HttpResponse(status=401, headers={"HX-Redirect": _login_address(page.path, page.query)})
    else:
        wanted = urlsplit(request.get_full_path()) if request.method in {"GET", "HEAD"} else urlsplit("")
        response = HttpResponseRedirect(_login_address(wanted.path, wanted.query))
        response.status_code = 303
    patch_cache_control(response, private=True, no_store=True)
    return response


def way_back(wanted: str) -> str:
    """Where to go after the login: the wanted address if it is a page of this site, else the first page.

    Only a path is taken, so that no link to the login page leads to another site.
    """
    first = reverse("runs")
    if not wanted.startswith("/") or not url_has_allowed_host_and_scheme(wanted, allowed_hosts=None):
        return first
    try:
        name = resolve(unquote(urlsplit(wanted).path)).view_name
    except (Resolver404, ValueError):
        return first
    return first if name in {"login", "logout"} else wanted


def _login_address(path: str, query: str) -> str:
    login = reverse("login")
    wanted = f"{path}?{query}" if query else path
    return f"{login}?{urlencode({'next': wanted}, safe='/')}" if wanted not in {"", "/"} else login
