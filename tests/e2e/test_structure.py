"""What a screen reader walks along: headings without a gap, and landmarks that can be told apart."""

from __future__ import annotations

from collections.abc import Callable

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from runs.models import Attempt
from tests.stored import outcomes, store

OpenPage = Callable[..., Page]
UID = "rental_desk_group1.py:test_return_001"
RULES = ["heading-order", "landmark-unique", "empty-heading", "region"]


def test_headings_and_landmarks(open_page: OpenPage) -> None:
    run = store([*outcomes(UID, "pffe"), *outcomes("b.py:two", "pppp")])
    attempt = Attempt.objects.get(task__uid=UID, repetition=1).get_absolute_url()
    tabs = [f"{attempt}?tab={name}" for name in ("state", "checks", "task", "raw")]
    tasks = [f"/runs/{run.slug}/tasks/{UID}/", f"/tasks/{UID}/"]
    page = open_page("/")
    for address in ["/", f"/runs/{run.slug}/", *tasks, *tabs, f"{attempt}steps/4/", "/uploads/"]:
        page.goto(address)
        found = Axe().run(page, options={"runOnly": {"type": "rule", "values": RULES}}).response["violations"]
        assert (address, [(rule["id"], node["html"][:100]) for rule in found for node in rule["nodes"]]) == (
            address,
            [],
        )
