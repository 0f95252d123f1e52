"""The gate of server mode, behind the wall: whether a page is open to who is logged in.

Closed by default: a view that does not say whom it is for is for evaluators, and to send anything needs `writes`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from inspector.access import Need, access_of, has_new_password, may, need_of
from inspector.http import HtmxHttpRequest, redirect_to
from inspector.wall import is_api, is_open

__all__ = ["Gate"]

_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})


class Gate:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self._get_response(request)

    def process_view(
        self, request: HttpRequest, view: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> HttpResponse | None:
        # The API says for each of its operations what it needs.
        if is_api(request.path_info) or is_open(request.path_info):
            return None
        need = need_of(view)
        if need is not Need.OWN and has_new_password(request):
            return redirect_to(cast("HtmxHttpRequest", request), "account")
        access = access_of(request)
        if not may(access, need, sends=False):
            raise PermissionDenied(_SENTENCES[need])
        if not may(access, need, sends=request.method not in _SAFE):
            raise PermissionDenied(_SENTENCES[Need.WRITES])
        return None


_SENTENCES = {
    Need.EVALUATES: "It shows what tasks require, checks, or what is derived from them, and is open to evaluators.",
    Need.WRITES: "It changes something, and your account may only read.",
    Need.ADMINISTERS: "It is open to admins.",
    Need.NOTHING: "It is not open to you.",
    Need.OWN: "It is not open to you.",
}
