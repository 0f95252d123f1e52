"""The headers of every answer, the static files, and the pages of errors."""

from __future__ import annotations

import re

import pytest
from django.conf import settings as configured
from django.contrib.staticfiles.storage import staticfiles_storage
from django.test import Client
from django.urls import path
from pytest_django import Settings

from inspector import urls

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
STRICT = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "X-Frame-Options": "DENY",
}


def broken(request: object) -> None:
    raise RuntimeError("a fault of the program")


# What a test adds to the site's own routes.
urlpatterns = [path("broken", broken), *urls.urlpatterns]  # type: ignore[arg-type]
handler400, handler403, handler404, handler500 = (
    urls.handler400,
    urls.handler403,
    urls.handler404,
    urls.handler500,
)


@pytest.fixture
def visitor() -> Client:
    """Gets the page of an error, where Django's own client would raise it."""
    return Client(raise_request_exception=False, enforce_csrf_checks=True)


@pytest.mark.django_db
@pytest.mark.urls("tests.inspector.test_middleware")
@pytest.mark.parametrize(
    ("method", "address", "host", "status"),
    [
        ("get", "/healthz", "localhost", 200),
        ("get", "/static/css/base.css", "localhost", 200),
        ("post", "/uploads/", "localhost", 403),
        ("get", "/no-such-page/", "localhost", 404),
        ("get", "/static/none.css", "localhost", 404),
        ("options", "/healthz", "localhost", 405),
        ("get", "/broken", "localhost", 500),
        ("get", "/healthz", "elsewhere.example.com", 400),
    ],
)
def test_every_answer_carries_the_policy(visitor: Client, method: str, address: str, host: str, status: int) -> None:
    answer = getattr(visitor, method)(address, headers={"host": host})
    assert (answer.status_code, {name: answer.headers.get(name) for name in STRICT}) == (status, STRICT)


@pytest.mark.django_db
@pytest.mark.urls("tests.inspector.test_middleware")
def test_a_page_of_an_error_tells_nothing_of_the_program(visitor: Client) -> None:
    text = visitor.get("/broken").content.decode()
    assert ("fault of the program" in text, "Traceback" in text, "RuntimeError" in text) == (False, False, False)


def test_an_error_without_its_template_is_one_sentence(visitor: Client, settings: Settings) -> None:
    settings.TEMPLATES = [{**configured.TEMPLATES[0], "DIRS": []}]
    answer = visitor.get("/no-such-page/")
    assert (answer.status_code, answer.content) == (404, b"There is no such page.\n")


@pytest.mark.django_db
def test_the_health_check_tells_when_the_database_does_not_answer(
    visitor: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (visitor.get("/healthz").status_code, visitor.get("/healthz").content) == (200, b"ok\n")

    def no_database() -> None:
        from django.db import OperationalError  # noqa: PLC0415  # the error that a lost connection gives

        raise OperationalError("secret detail")

    monkeypatch.setattr("django.db.connection.cursor", no_database)
    answer = visitor.get("/healthz")
    assert (answer.status_code, answer.content) == (503, b"The database does not answer.\n")


def test_a_versioned_static_file_may_be_kept_for_ever(visitor: Client) -> None:
    address = staticfiles_storage.url("css/base.css")
    assert re.fullmatch(r"/static/css/base\.css\?v=[0-9a-f]{12}", address)
    kept, plain = visitor.get(address), visitor.get("/static/css/base.css")
    assert kept.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert plain.headers["Cache-Control"] == "max-age=60, public"
    assert kept.content == plain.content
    assert kept.headers["Content-Type"] == 'text/css; charset="utf-8"'


def test_a_static_file_that_did_not_change_is_not_sent_again(visitor: Client) -> None:
    first = visitor.get("/static/css/base.css")
    again = visitor.get("/static/css/base.css", headers={"if-modified-since": first.headers["Last-Modified"]})
    assert (again.status_code, again.content) == (304, b"")


def test_text_is_sent_compressed(visitor: Client) -> None:
    answer = visitor.get("/static/css/base.css", headers={"accept-encoding": "gzip"})
    assert answer.headers["Content-Encoding"] == "gzip"


def test_a_static_file_outside_of_the_folder_is_not_served(visitor: Client) -> None:
    assert visitor.get("/static/../manage.py").status_code == 404
    assert visitor.get("/static/%2e%2e/manage.py").status_code == 404


@pytest.mark.django_db
def test_a_name_that_is_not_in_the_storage_keeps_its_address() -> None:
    assert staticfiles_storage.url("none.css") == "/static/none.css"
