"""What every view answers with: a whole page or one part of it, or the way to another page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render, resolve_url
from django.utils.cache import patch_vary_headers
from django_htmx.http import HttpResponseClientRedirect
from django_htmx.middleware import HtmxDetails


class HtmxHttpRequest(HttpRequest):
    """A request as the middleware leaves it."""

    htmx: HtmxDetails


def wants_part(request: HtmxHttpRequest) -> bool:
    """Whether htmx asks for a part of a page. When it restores its history it needs the whole page."""
    return bool(request.htmx) and not request.htmx.boosted and not request.htmx.history_restore_request


def render_page(
    request: HtmxHttpRequest,
    template: str,
    context: Mapping[str, Any] | None = None,
    partial: str | None = None,
    status: int = 200,
) -> HttpResponse:
    """`template`, or for htmx only its `{% partialdef %}` named `partial`.

    Says that the answer hangs on the header, so that no cache shows a naked part as a page.
    """
    name = f"{template}#{partial}" if partial and wants_part(request) else template
    response = render(request, name, dict(context or {}), status=status)
    if partial:
        patch_vary_headers(response, ["HX-Request", "HX-Boosted", "HX-History-Restore-Request"])
    return response


def redirect_to(request: HtmxHttpRequest, to: Any, *args: Any, **kwargs: Any) -> HttpResponse:
    """To a model object, a view's name or an address: 303, and for htmx its own header, which loads a whole page."""
    address = resolve_url(to, *args, **kwargs)
    if wants_part(request):
        return HttpResponseClientRedirect(address)
    response = HttpResponseRedirect(address)
    response.status_code = 303
    return response
