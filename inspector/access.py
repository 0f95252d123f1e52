"""What the sender of a request may see and do."""

from __future__ import annotations

from dataclasses import replace

from django.conf import settings
from django.http import HttpRequest

from runs.access import EVERYTHING, Access

__all__ = ["access_of"]


def access_of(request: HttpRequest) -> Access:
    """Everything where nobody has to log in, and for an account that is logged in; else nothing."""
    if not settings.AUTH_REQUIRED:
        return EVERYTHING
    user = getattr(request, "user", None)
    if user is None or not user.is_authenticated:
        return Access()
    return replace(EVERYTHING, user=user.pk, name=user.get_username())
