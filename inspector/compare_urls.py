"""Routes of comparisons, and of what the run page leads to."""

from __future__ import annotations

from django.urls import URLPattern, path

import inspector.paths  # noqa: F401  (the converter `uid`)
from inspector.views import compare

comparison_routes: list[URLPattern] = [
    path("attempts/<int:left>/vs/<int:right>/", compare.attempts, name="compare_attempts"),
]
