"""A whole page or a part of it."""

from __future__ import annotations

from typing import Any, cast

import pytest
from django.http import HttpResponse
from django.test import RequestFactory
from django_htmx.middleware import HtmxMiddleware
from pytest_django import Settings

from inspector.http import HtmxHttpRequest, redirect_to, render_page

PAGE = "<h1>Page</h1>{% partialdef rows inline %}<p>{{ count }} rows</p>{% endpartialdef %}"
WHOLE, PART = "<h1>Page</h1><p>3 rows</p>", "<p>3 rows</p>"


@pytest.fixture
def request_with(rf: RequestFactory) -> Any:
    def make(**headers: str) -> HtmxHttpRequest:
        request = rf.get("/", headers={name.replace("_", "-"): value for name, value in headers.items()})
        HtmxMiddleware(lambda _: HttpResponse())(request)
        return cast(HtmxHttpRequest, request)

    return make


@pytest.fixture(autouse=True)
def _page(settings: Settings) -> None:
    template = dict(settings.TEMPLATES[0])
    loader = ("template_partials.loader.Loader", [("django.template.loaders.locmem.Loader", {"page.html": PAGE})])
    settings.TEMPLATES = [{**template, "DIRS": [], "OPTIONS": {**template["OPTIONS"], "loaders": [loader]}}]


@pytest.mark.parametrize(
    ("headers", "content"),
    [
        ({}, WHOLE),
        ({"hx_request": "true"}, PART),
        ({"hx_request": "true", "hx_boosted": "true"}, WHOLE),
        ({"hx_request": "true", "hx_history_restore_request": "true"}, WHOLE),
    ],
)
def test_htmx_gets_the_part_and_all_others_the_page(request_with: Any, headers: dict[str, str], content: str) -> None:
    answer = render_page(request_with(**headers), "page.html", {"count": 3}, "rows")
    assert (answer.content.decode(), answer.status_code) == (content, 200)
    assert answer.headers["Vary"] == "HX-Request, HX-Boosted, HX-History-Restore-Request"


def test_a_page_without_parts_hangs_on_no_header(request_with: Any) -> None:
    answer = render_page(request_with(hx_request="true"), "page.html", {"count": 3}, status=422)
    assert (answer.content.decode(), answer.status_code, "Vary" in answer.headers) == (WHOLE, 422, False)


def test_the_way_to_another_page(request_with: Any) -> None:
    plain, htmx = redirect_to(request_with(), "healthz"), redirect_to(request_with(hx_request="true"), "healthz")
    assert (plain.status_code, plain.headers["Location"]) == (303, "/healthz")
    assert (htmx.status_code, htmx.headers["HX-Redirect"]) == (200, "/healthz")
