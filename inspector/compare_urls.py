"""Routes of comparisons, and of what the run page leads to."""

from __future__ import annotations

from django.urls import URLPattern, path

import inspector.paths  # noqa: F401  (the converter `uid`)
from inspector.views import compare, tasks

comparison_routes: list[URLPattern] = [
    # Before the task's own page, whose uid may hold any text.
    path("runs/<slug:slug>/tasks/<uid:uid>/<int:repetition>/", tasks.repetition, name="run_repetition"),
    path("attempts/<int:left>/vs/<int:right>/", compare.attempts, name="compare_attempts"),
    path("compare/", compare.runs, name="compare_runs"),
    path("tasks/<uid:uid>/", tasks.across, name="task"),
]
