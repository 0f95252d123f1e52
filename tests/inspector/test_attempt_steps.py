"""Words found in a trace, and the parts of an opened step."""

from __future__ import annotations

import json
import re
from html import unescape

import pytest
from django.test import Client

from runs.models import Attempt
from tests.inspector.test_attempts import page, part, plain
from tests.stored import store
from tests.trace_rows import row_with, text, tool

pytestmark = pytest.mark.django_db


def test_found_words_are_marked_and_stay_text(client: Client) -> None:
    needle = "<b>Needle</b>"
    long = "x" * 500
    messages = [
        text("user", f"A {needle}, a {needle.upper()} \u202e."),
        *tool(1, "find_rentals", {"customer": needle}, json.dumps({"found": f"{long} {needle} {long}"})),
        *tool(2, "find_notes", {"rental": 7}, f"{long} {needle} {long}"),
        text("assistant", f"{long}{long} {needle}", tag="text"),
    ]
    store([row_with(messages)])
    html = page(client, "?find=%3Cb%3Eneedle")
    assert re.findall(r"<mark>(.*?)</mark>", html) == [
        "&lt;b&gt;Needle", "&lt;B&gt;NEEDLE", "&lt;b&gt;Needle", "&lt;b&gt;Needle", "&lt;b&gt;Needle",
    ]  # fmt: skip
    assert "<b>Needle" not in html
    assert "⟨U+202E⟩" in html
    excerpts = re.findall(r'<span class="sub excerpt">(.*?)</span> <bdi dir="auto">(.*?)</bdi>', html)
    assert [(plain(name), plain(words).count("x")) for name, words in excerpts] == [("response", 174), ("text", 59)]
    assert "<mark>" not in page(client)


def test_words_that_a_row_cuts_off_are_shown_below_it(client: Client) -> None:
    thought = "The tool returned the data. Now I call update_rental with the right values: on hold, not solved."
    messages = [
        text("user", "Hold it."),
        text("assistant", "A hold it is.", tag="think"),
        text("assistant", thought, tag="think"),
        *tool(1, "update_rental", {"id": 7, "customer": "ada@example.com", "status": "hold"}, "{}"),
        text("user", f"{thought} Please."),
    ]
    store([row_with(messages)])
    found = re.findall(r'id="s(\d)"(.*?)</li>', page(client, "?find=hold"), re.DOTALL)
    excerpts = [(step, re.search(r'<span class="sub excerpt">(.*?)</bdi>', row)) for step, row in found]
    assert [(step, plain(unescape(match[1])) if match else "") for step, match in excerpts] == [
        ("1", ""),
        ("2", ""),
        ("3", "text …he data. Now I call update_rental with the right values: on hold , not solved."),
        ("4", 'arguments {"id": 7, "customer": "ada@example.com", "status": " hold "}'),
        ("5", "text …he data. Now I call update_rental with the right values: on hold , not solved. Please."),
    ]


def test_null_arguments_are_folded_away(client: Client) -> None:
    arguments = {"id": 7, "note": None, "item": {"status": "held", "due": None}}
    store([row_with([text("user", "Hold it."), *tool(1, "update_rental", arguments, "{}")])])
    html = page(client, "?step=2")
    shown = part(html, "<h3>Arguments", "<details")
    assert shown == "Arguments copy id 7 item. status held"
    assert part(html, "<summary>2 null", "</details>") == "2 null hidden note null item. due null"
    Attempt.objects.all().delete()
    store([row_with([text("user", "Hold it."), *tool(1, "update_rental", {"note": None}, "{}")])], model="other")
    assert part(page(client, "?step=2"), "<h3>Arguments", "</section>") == "Arguments copy note null"
