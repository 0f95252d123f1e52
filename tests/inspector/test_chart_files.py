"""The drawing script as it is served, and where it is asked for."""

from __future__ import annotations

import re

import pytest
from django.contrib.staticfiles import finders
from django.contrib.staticfiles.storage import staticfiles_storage
from django.test import Client

from runs.models import TaskTally
from tests.stored import outcomes, store

SCRIPT = "plotly/plotly.min.js"


def test_the_script_is_the_one_of_the_package_under_an_address_that_may_be_kept_for_ever(client: Client) -> None:
    address = staticfiles_storage.url(SCRIPT)
    assert re.fullmatch(r"/static/plotly/plotly\.min\.js\?v=[0-9a-f]{12}", address)
    answer = client.get(address, headers={"accept-encoding": "gzip"})
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, 'text/javascript; charset="utf-8"')
    assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert answer.headers["Content-Encoding"] == "gzip"
    assert len(answer.content) < 1_600_000


def test_nothing_else_of_the_package_is_served(client: Client) -> None:
    assert client.get("/static/plotly/widgetbundle.js").status_code == 404
    assert client.get("/static/plotly/datasets/iris.csv.gz").status_code == 404
    assert (finders.find("plotly/widgetbundle.js"), finders.find("plotly.min.js")) == (None, None)


@pytest.mark.django_db
def test_a_page_asks_for_the_script_only_where_a_chart_is(client: Client) -> None:
    run = store(outcomes("a.py:test_one", "ppf"))
    empty = store(outcomes("a.py:test_one", "p"), model="nothing yet")
    TaskTally.objects.filter(run=empty).delete()
    pages = {
        path: client.get(path).content.decode()
        for path in ("/", "/uploads/", f"/runs/{run.slug}/", f"/runs/{empty.slug}/", f"/runs/{run.slug}/edit/")
    }
    assert {path for path, page in pages.items() if "plotly" in page} == {f"/runs/{run.slug}/"}
    assert {path for path, page in pages.items() if "charts.js" in page} == {f"/runs/{run.slug}/"}


@pytest.mark.django_db
def test_a_part_of_the_run_page_builds_no_chart(client: Client) -> None:
    run = store(outcomes("a.py:test_one", "ppf"))
    whole = client.get(f"/runs/{run.slug}/")
    part = client.get(f"/runs/{run.slug}/", headers={"hx-request": "true"})
    assert [chart.key for chart in whole.context["charts"]] == ["distribution", "reliability"]
    assert part.context["charts"] == []
