"""Routes of the site, grouped by prefix."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, path, register_converter

from inspector.paths import UidConverter
from inspector.views import attempts, errors, health, login, runs, tasks, uploads

register_converter(UidConverter, "uid")

urlpatterns: list[URLPattern | URLResolver] = [
    path("healthz", health.healthz, name="healthz"),
    path("login/", login.login, name="login"),
    path("logout/", login.logout, name="logout"),
    # runs
    path("", runs.index, name="runs"),
    path("example/", runs.load_example, name="load_example"),
    path("runs/<slug:slug>/", runs.detail, name="run"),
    path("runs/<slug:slug>/edit/", runs.edit, name="run_edit"),
    path("runs/<slug:slug>/delete/", runs.delete, name="run_delete"),
    path("runs/<slug:slug>/tasks/<uid:uid>/", tasks.detail, name="run_task"),
    # attempts
    path("attempts/<int:pk>/", attempts.detail, name="attempt"),
    path("attempts/<int:pk>/steps/<int:step>/", attempts.step, name="attempt_step"),
    path("attempts/<int:pk>/values/<int:number>/<str:side>/", attempts.value, name="attempt_value"),
    path("attempts/<int:pk>/same/", attempts.same, name="attempt_same"),
    path("attempts/<int:pk>/raw/", attempts.raw, name="attempt_raw"),
    # uploads
    path("uploads/", uploads.index, name="uploads"),
    path("uploads/<int:pk>/", uploads.detail, name="upload"),
    path("uploads/<int:pk>/answer/", uploads.answer, name="upload_answer"),
    path("uploads/<int:pk>/stop/", uploads.stop, name="upload_stop"),
    path("uploads/<int:pk>/retry/", uploads.retry, name="upload_retry"),
    path("uploads/<int:pk>/lines.csv", uploads.problems, name="upload_problems"),
]

handler400 = errors.bad_request
handler403 = errors.permission_denied
handler404 = errors.page_not_found
handler500 = errors.server_error
