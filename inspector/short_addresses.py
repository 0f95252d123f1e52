"""Addresses without what goes without saying: a form sends its empty fields and its defaults along, nobody needs them.

Without JavaScript the browser is sent on to the short address; for htmx the answer says which one to show.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any
from urllib.parse import urlencode

from django.http import HttpResponse, HttpResponseRedirect

from inspector.http import HtmxHttpRequest, wants_part

__all__ = ["short_address"]

View = Callable[..., HttpResponse]


def short_address(**defaults: str) -> Callable[[View], View]:
    """For views whose forms send parameters: each of `defaults` with this value says the same as none."""

    def decorate(view: View) -> View:
        @wraps(view)
        def short(request: HtmxHttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            given = [(name, value) for name, values in request.GET.lists() for value in values]
            kept = [(name, value) for name, value in given if defaults.get(name) != value]
            if len(kept) == len(given):
                return view(request, *args, **kwargs)
            address = request.path + (f"?{urlencode(kept)}" if kept else "")
            if wants_part(request):
                response = view(request, *args, **kwargs)
                response["HX-Push-Url"] = address
                return response
            return HttpResponseRedirect(address)

        return short

    return decorate
