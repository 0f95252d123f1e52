from __future__ import annotations

from html import escape
from urllib.parse import unquote

import pytest
from django.test import Client
from django.urls import resolve, reverse
from hypothesis import given
from hypothesis import strategies as st

from tests.stored import outcomes, store

HOSTILE = [
    "file.py:test_name",
    "..",
    ".",
    "../../etc/passwd",
    "a/b/../c:d",
    "/leading",
    "trailing/",
    "double//slash",
    "100%",
    "%2e%2e%2f",
    "~2F~",
    "a?b=c&d#e",
    "<script>alert(1)</script>",
    "\"'><img src=x onerror=alert(1)>",
    "line\nbreak\r\n",
    "back\\slash",
    "\u202ertl",
    "日本語:テスト",
    " blanks ",
    "🙂",
]


@pytest.mark.parametrize("uid", HOSTILE)
def test_a_uid_comes_back_from_its_address(uid: str) -> None:
    address = reverse("run_task", args=["run", uid])
    # No dot segment, no empty one: browsers and proxies would fold them.
    segments = address.removeprefix("/").removesuffix("/").split("/")
    assert len(segments) == 4
    assert segments[3] not in {"", ".", ".."}
    assert "%0A" not in address


@given(st.text(st.characters(codec="utf-8"), min_size=1))
def test_any_uid_comes_back_from_its_address(uid: str) -> None:
    address = reverse("run_task", args=["run", uid])
    assert resolve(unquote(address)).kwargs == {"slug": "run", "uid": uid}


@pytest.mark.django_db
@pytest.mark.parametrize("uid", HOSTILE)
def test_the_page_of_a_hostile_uid_opens_and_shows_text(uid: str, client: Client) -> None:
    run = store(outcomes(uid, "pf"))
    listed = client.get(reverse("run", args=[run.slug])).content.decode()
    address = reverse("run_task", args=[run.slug, uid])
    assert f'href="{escape(address)}"' in listed
    answer = client.get(address)
    assert answer.status_code == 200
    text = answer.content.decode() + listed
    assert "<script>alert" not in text
    assert "<img src=x" not in text
    assert "\u202e" not in text


@pytest.mark.django_db
def test_a_slash_typed_by_hand_is_a_slash(client: Client) -> None:
    run = store(outcomes("folder/file.py:test", "p"))
    assert client.get(f"/runs/{run.slug}/tasks/folder/file.py:test/").status_code == 200
