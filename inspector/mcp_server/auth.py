"""Who asks over MCP: the person who started the command, this machine, or the owner of a token."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.utils.module_loading import import_string

from inspector.bearer import token_in
from runs.access import EVERYTHING, Access

__all__ = ["SCOPE_KEY", "access_for_header", "access_of_request"]

SCOPE_KEY = "twentyfold.access"
"""Where the endpoint leaves the access in a request's ASGI scope."""


def access_of_token(text: str) -> Access | None:
    """What the bearer of a token may see; None for one that opens nothing."""
    # By its name: models can be imported only once Django has been set up.
    access: Access | None = import_string("inspector.tokens.access_of_token")(text)
    return access


def access_for_header(header: str) -> Access | None:
    """None: nobody who may ask. Where nobody has to log in, the machine's own users may see everything."""
    if not settings.AUTH_REQUIRED:
        return EVERYTHING
    token = token_in(header)
    return access_of_token(token) if token else None


def access_of_request(request: Any) -> Access:
    """Of a request that passed the endpoint. Without one it came over standard input, from who started the command.

    A request that did not pass the endpoint has no access to look up, and fails with KeyError.
    """
    if request is None:
        return EVERYTHING
    access = request.scope[SCOPE_KEY]
    assert isinstance(access, Access)
    return access
