"""Routes of the site, grouped by prefix."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, path

from inspector.views import errors, health

urlpatterns: list[URLPattern | URLResolver] = [
    path("healthz", health.healthz, name="healthz"),
]

handler400 = errors.bad_request
handler403 = errors.permission_denied
handler404 = errors.page_not_found
handler500 = errors.server_error
