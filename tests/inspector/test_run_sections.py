from __future__ import annotations

import html
import json
import re
from typing import Any

import pytest
from django.test import Client
from django.urls import resolve, reverse

from inspector.grid_data import grid_data, grid_view
from inspector.templatetags.lists import share
from runs.access import EVERYTHING
from runs.failure_facts import keep_facts
from runs.models import AttemptEffect, Run
from runs.queries.run_grid import Colour, GridView, Order, run_grid
from tests.factories import make_row
from tests.stored import outcomes, store
from tests.trace_rows import HOSTILE, hostile_row

pytestmark = pytest.mark.django_db


def text_of(client: Client, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200
    return " ".join(answer.content.decode().split())


def test_the_page_says_what_looked_like_a_success_and_what_went_wrong(client: Client) -> None:
    run = store([*outcomes("a.py:one", "pff"), *outcomes("a.py:two", "ffe")], repetitions=3)
    text = text_of(client, reverse("run", args=[run.slug]))
    assert "0 of 4 failed attempts gave no sign of it" in text
    assert "shares of the 4 failed attempts" in text
    assert 'title="4 of 4">100%</span>' in text
    assert "Tool usage" in text
    assert "<b>status</b>" in text
    assert "1 attempt that broke or were not graded" in text
    assert 'aria-label="rental_desk: 2 tasks, 1 of 6 attempts passed"' in text


def test_a_run_without_failures_has_the_grid_alone(client: Client) -> None:
    run = store(outcomes("a.py:one", "pp"))
    text = text_of(client, reverse("run", args=[run.slug]))
    assert 'id="grid"' in text
    assert 'id="looks"' not in text
    assert 'id="sig"' not in text
    assert 'id="errors"' not in text


@pytest.mark.parametrize(
    ("table", "field", "kind"),
    [("a.b", "c.d", "wrong"), ("a/b c", "q\"u'o&t=e#%+", "missing"), ("<i>é", "", "extra"), ("x y", "?;z", "reported")],
)
def test_the_most_common_difference_of_a_task_leads_to_its_attempts(
    table: str, field: str, kind: str, client: Client
) -> None:
    run = store([*outcomes("a.py:one [x/1 & 'y'\"+#]", "fff"), *outcomes("b.py:two", "f")])
    AttemptEffect.objects.exclude(attempt__repetition=2).update(table=table, field=field, kind=kind)
    Run.objects.filter(pk=run.pk).update(tallied=run.tallied + 1)
    keep_facts(run.pk)
    text = text_of(client, reverse("run", args=[run.slug]))
    links = re.findall(r'<td class="usual"><a class="quiet" href="([^"]*)" title="[^"]*: in (\d) of (\d) failed', text)
    assert [link[1:] for link in links] == [("2", "3"), ("1", "1")]
    found = [
        re.search(r'<h2><span role="status">(\d) attempts?', text_of(client, html.unescape(a))) for a, _, _ in links
    ]
    assert [match and match[1] for match in found] == ["2", "1"]


def test_a_task_that_fails_by_another_check_alone_has_no_most_common_difference(client: Client) -> None:
    failed = make_row()["test_result"]
    run = store([*outcomes("a.py:one", "p", test_result=failed), *outcomes("a.py:two", "f", states=False)])
    cells = re.findall(r'<td class="usual">.*?</td>', text_of(client, reverse("run", args=[run.slug])))
    assert [re.sub("<[^>]*>", "", cell) for cell in cells] == ["none in the records", "not known"]


def test_a_cell_leads_to_its_attempt(client: Client) -> None:
    run = store([*outcomes("a.py:one", "pf."), *outcomes("dir/b.py:x/5", "pp")], repetitions=3)
    attempt = run.attempts.get(task__uid="a.py:one", repetition=1)
    answer = client.get(reverse("run_repetition", args=[run.slug, "a.py:one", 1]))
    assert (answer.status_code, answer.headers["Location"]) == (302, f"/attempts/{attempt.pk}/")
    for uid, repetition in (("a.py:one", 2), ("a.py:one", 10**12), ("none", 0)):
        assert client.get(reverse("run_repetition", args=[run.slug, uid, repetition])).status_code == 404
    # Typed by hand with plain slashes: the whole of it is the uid.
    assert "x/5" in text_of(client, f"/runs/{run.slug}/tasks/dir/b.py:x/5/")


@pytest.mark.parametrize("uid", ["a.py:one", "dir/b.py:x y", HOSTILE, "..", "ü?#%~;"])
def test_the_script_gets_addresses_that_lead_to_the_attempts(uid: str, client: Client) -> None:
    run = store(outcomes(uid, "pf"))
    data = grid_data(run_grid(run.slug, GridView(), access=EVERYTHING))
    ((name, path, cells),) = data["bands"][0]
    assert cells == "pf"
    assert name == uid.rpartition(":")[2]
    assert (
        client.get(f"{data['base']}{path}/1/").headers["Location"] == f"/attempts/{run.attempts.get(repetition=1).pk}/"
    )


def test_the_view_is_in_the_address(client: Client, rf: Any) -> None:
    assert grid_view(rf.get("/?grid=rep&colour=signature").GET) == GridView(
        order=Order.REPETITION, colour=Colour.SIGNATURE
    )
    assert grid_view(rf.get("/?grid=x&colour=y").GET) == GridView()
    run = store(outcomes("a.py:one", "pf"))
    text = text_of(client, reverse("run", args=[run.slug]) + "?grid=rep&colour=signature")
    assert '<i class="sw sig a"></i>Tool usage <b>1</b>' in text
    cells = re.search(r'<script id="grid-cells" type="application/json">(.*?)</script>', text)
    assert cells is not None
    assert json.loads(cells[1])["bands"] == [[["one", "a.py:one", "pa"]]]


def test_hostile_names_stay_text(client: Client) -> None:
    uid = HOSTILE.replace(":", "")
    run = store([hostile_row(uid=uid), hostile_row(uid=uid, repetition=1, outcome="passed")])
    text = text_of(client, reverse("run", args=[run.slug]))
    assert "<script>window" not in text
    assert "<img src=x" not in text
    assert "\\u003Cscript\\u003Ewindow" in text


def test_the_route_of_a_repetition_goes_before_the_page_of_a_task() -> None:
    assert resolve("/runs/a/tasks/b.py:c/").url_name == "run_task"
    assert resolve("/runs/a/tasks/b.py:c/7/").url_name == "run_repetition"


@pytest.mark.parametrize(
    ("part", "whole", "text"),
    [(0, 0, "–"), (0, 5, "0%"), (5, 5, "100%"), (1, 1000, "<1%"), (999, 1000, ">99%"), (2, 3, "67%")],
)
def test_shares_are_never_rounded_to_nothing_or_all(part: int, whole: int, text: str) -> None:
    assert share(part, whole) == text
