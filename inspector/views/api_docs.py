"""`/api/v1/docs`: the API described operation by operation, with a form to try each."""

from __future__ import annotations

from django.http import HttpResponse
from django.views.decorators.http import require_safe

from inspector.http import HtmxHttpRequest


@require_safe
def reference(request: HtmxHttpRequest) -> HttpResponse:
    return HttpResponse("soon")
