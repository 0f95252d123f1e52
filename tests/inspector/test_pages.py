"""The frame that every page shares, and the pages of errors."""

from __future__ import annotations

import errno
import re
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import OperationalError
from django.test import Client, RequestFactory
from django.urls import reverse
from pytest_django import DjangoDbBlocker, Settings

from inspector.views import errors
from tests.stored import outcomes, store

INLINE = re.compile(r"<style|<script(?![^>]*\ssrc=)|\sstyle=|\son[a-z]+=|javascript:", re.IGNORECASE)
FILE = "leaderboards/file.html"
"""No page of the server: it is taken away, and has its style sheets inside."""
TEMPLATES = sorted(
    path
    for path in (Path(__file__).resolve().parents[2] / "templates").rglob("*.html")
    if not path.as_posix().endswith(FILE)
)


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.name)
def test_no_template_has_inline_script_or_style_or_trusts_a_text(template: Path) -> None:
    text = template.read_text(encoding="utf-8")
    assert INLINE.findall(text) == []
    assert re.findall(r"\|\s*safe\b|\|\s*safeseq\b|autoescape off", text) == []


@pytest.mark.django_db
def test_each_page_has_its_title_a_main_and_one_heading(client: Client) -> None:
    run = store(outcomes("a.py:one", "pf"))
    titles = {
        "/": "Runs · Twentyfold",
        reverse("run", args=[run.slug]): "birch on desk · Twentyfold",
        reverse("run_edit", args=[run.slug]): "Edit birch · Twentyfold",
        reverse("run_delete", args=[run.slug]): "Delete birch · Twentyfold",
        reverse("run_task", args=[run.slug, "a.py:one"]): "one · birch · Twentyfold",
        "/uploads/": "Uploads · Twentyfold",
    }
    for address, title in titles.items():
        text = client.get(address).content.decode()
        assert f"<title>{title}</title>" in text
        assert (text.count("<h1"), text.count('<main id="main"'), text.count('href="#main"')) == (1, 1, 1)
        assert 'aria-current="' in text.partition("</nav>")[0]
        # The theme is set before the style sheets paint anything.
        assert text.index("js/theme.js") < text.index("css/tokens.css")


@pytest.mark.django_db
def test_a_page_that_is_not_there(client: Client) -> None:
    answer = client.get("/nothing/")
    assert answer.status_code == 404
    assert "There is no such page" in answer.content.decode()


def _full_disk(request: Any) -> Any:
    try:
        raise OSError(errno.ENOSPC, "No space left on device")
    except OSError:
        return errors.server_error(request)


@pytest.mark.parametrize(
    ("answer", "status", "heading"),
    [
        (lambda request: errors.bad_request(request, ValueError()), 400, "The request could not be understood"),
        (lambda request: errors.permission_denied(request, ValueError()), 403, "This is not open to you"),
        (errors.server_error, 500, "The page could not be made"),
        (_full_disk, 507, "The disk is full"),
        (errors.csrf_failure, 403, "The form was refused"),
    ],
)
def test_error_pages_need_no_database(answer, status: int, heading: str, django_db_blocker: DjangoDbBlocker) -> None:  # type: ignore[no-untyped-def]
    with django_db_blocker.block():
        made = answer(RequestFactory().get("/"))
    text = made.content.decode()
    assert (made.status_code, f"<h1>{heading}</h1>" in text) == (status, True)
    assert 'href="/">All runs</a>' in text


@pytest.mark.django_db
def test_a_full_disk_is_said_on_pages_and_by_the_api(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OperationalError("database or disk is full")

    monkeypatch.setattr("inspector.views.uploads.upload_list", full)
    monkeypatch.setattr("inspector.api.routers.uploads.upload_rows", full)
    monkeypatch.setattr("inspector.api.routers.uploads.uploads_total", full)
    client = Client(raise_request_exception=False)
    assert refused(client.get("/uploads/"))[:1] == (507,)
    answer = client.get("/api/v1/uploads")
    assert (answer.status_code, answer.json()["title"]) == (507, "Insufficient Storage")
    assert answer.json()["detail"].startswith("The disk of the data folder is full.")


def refused(answer: Any) -> tuple[int, list[str]]:
    text = answer.content.decode()
    return answer.status_code, re.findall(r"<(?:h1|p)>(.*?)</(?:h1|p)>", text)


@pytest.mark.django_db
def test_too_many_files_in_one_form_are_refused_in_words(settings: Settings) -> None:
    settings.DATA_UPLOAD_MAX_NUMBER_FILES = 2
    client = Client(enforce_csrf_checks=True)
    client.get("/uploads/")
    files = [SimpleUploadedFile(f"{number}.jsonl", b"{}") for number in range(3)]
    assert refused(client.post("/uploads/", {"files": files})) == (
        400,
        [
            "Too many files at once",
            "More than 2 files came in one form, and 2 are the most. Nothing was stored. Send them in several goes, or "
            "read them with the command ingest, which takes any number.",
        ],
    )


@pytest.mark.parametrize("kind", ["multipart/form-data", "multipart/form-data; boundary=" + "x" * 300])
def test_a_damaged_form_is_refused_in_words(client: Client, kind: str) -> None:
    status, words = refused(client.post("/uploads/", b"--nothing", content_type=kind))
    assert (status, words[0]) == (400, "The form came in damaged")
    assert "could not be understood" not in " ".join(words)


def test_a_name_that_the_server_does_not_go_by_is_refused_in_words(client: Client) -> None:
    status, words = refused(client.get("/", headers={"host": "evil.example"}))
    assert (status, words[0]) == (400, "The server does not go by this name")
