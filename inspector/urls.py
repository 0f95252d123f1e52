"""Routes of the site, grouped by prefix."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, path

from inspector.account_urls import account_routes
from inspector.api.urls import api_routes
from inspector.compare_urls import comparison_routes
from inspector.failure_urls import failure_routes
from inspector.views import attempts, errors, health, leaderboards, login, prices, runs, share, sharing, tasks, uploads

urlpatterns: list[URLPattern | URLResolver] = [
    path("healthz", health.healthz, name="healthz"),
    path("login/", login.login, name="login"),
    path("logout/", login.logout, name="logout"),
    *account_routes,
    *api_routes,
    *comparison_routes,
    # runs
    path("", runs.index, name="runs"),
    path("example/", runs.load_example, name="load_example"),
    path("runs/<slug:slug>/", runs.detail, name="run"),
    path("runs/<slug:slug>/live/", runs.live, name="run_live"),
    path("runs/<slug:slug>/provenance/", runs.provenance, name="run_provenance"),
    path("runs/<slug:slug>/edit/", runs.edit, name="run_edit"),
    path("runs/<slug:slug>/delete/", runs.delete, name="run_delete"),
    path("runs/<slug:slug>/tasks/<uid:uid>/", tasks.detail, name="run_task"),
    # attempts
    path("attempts/<int:pk>/", attempts.detail, name="attempt"),
    path("attempts/<int:pk>/steps/<int:step>/", attempts.step, name="attempt_step"),
    path("attempts/<int:pk>/values/<int:number>/<str:side>/", attempts.value, name="attempt_value"),
    path("attempts/<int:pk>/same/", attempts.same, name="attempt_same"),
    path("attempts/<int:pk>/raw/", attempts.raw, name="attempt_raw"),
    # leaderboards
    path("leaderboards/", leaderboards.index, name="leaderboards"),
    path("leaderboards/new/", leaderboards.new, name="leaderboard_new"),
    path("leaderboards/published/", leaderboards.reference, name="leaderboard_reference"),
    path("leaderboards/<slug:slug>/", leaderboards.detail, name="leaderboard"),
    path("leaderboards/<slug:slug>/edit/", leaderboards.edit, name="leaderboard_edit"),
    path("leaderboards/<slug:slug>/delete/", leaderboards.delete, name="leaderboard_delete"),
    path("leaderboards/<slug:slug>/freeze/", leaderboards.freeze, name="leaderboard_freeze"),
    path("leaderboards/<slug:slug>/unfreeze/", leaderboards.unfreeze, name="leaderboard_unfreeze"),
    path("leaderboards/<slug:slug>/preview.png", leaderboards.picture, name="leaderboard_picture"),
    path("leaderboards/<slug:slug>/file/<str:kind>", leaderboards.file, name="leaderboard_file"),
    path("leaderboards/<slug:slug>/sharing/", sharing.detail, name="leaderboard_sharing"),
    path("leaderboards/<slug:slug>/sharing/renew/", sharing.renew, name="leaderboard_sharing_renew"),
    # what is shared
    path("share/<str:address>/", share.detail, name="share"),
    path("share/<str:address>/preview.png", share.picture, name="share_picture"),
    path("share/<str:address>/file/<str:kind>", share.file, name="share_file"),
    path("embed/<str:address>/", share.embed, name="embed"),
    # prices
    path("prices/", prices.index, name="prices"),
    path("prices/new/", prices.new, name="price_list_new"),
    path("prices/<slug:slug>/", prices.detail, name="price_list"),
    path("prices/<slug:slug>/edit/", prices.edit, name="price_list_edit"),
    path("prices/<slug:slug>/<int:version>/", prices.detail, name="price_list_version"),
    path("prices/<slug:slug>/<int:version>.csv", prices.export, name="price_list_csv"),
    *failure_routes,
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
