from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from inspector.filters import run_filters, task_filters
from runs.models import Run, Upload, UploadState
from runs.queries.numbers import TaskClass
from runs.queries.run_tasks import TaskFilters
from runs.queries.runs import RunFilters
from tests.stored import outcomes, store

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


def text_of(client: Client, address: str, **headers: str) -> str:
    answer = client.get(address, headers=headers)
    assert answer.status_code == 200
    return " ".join(answer.content.decode().split())


def test_without_a_run_the_first_page_says_how_to_get_one(client: Client) -> None:
    text = text_of(client, "/")
    assert "No run is stored yet" in text
    assert "manage.py ingest" in text
    assert "<table" not in text


def test_the_example_is_loaded_by_a_button(client: Client) -> None:
    assert 'action="/example/"' in text_of(client, "/")
    assert client.get("/example/").status_code == 405
    answer = client.post("/example/")
    assert (answer.status_code, answer.headers["Location"]) == (303, "/")
    assert list(Run.objects.values_list("is_demo", flat=True)) == [True] * 3
    assert text_of(client, "/").count('<span class="tag">example</span>') == 3


def test_a_run_is_listed_with_its_numbers(client: Client) -> None:
    store([*outcomes("a.py:one", "pppp"), *outcomes("a.py:two", "pfe.")], model="birch", repetitions=4)
    text = text_of(client, "/")
    assert ">birch<" in text
    assert '7<span class="dim"> of 8</span>' in text
    assert "<b>71.4%</b>" in text
    assert 'aria-label="1 always, 0 sometimes, 0 never, 1 incomplete"' in text
    assert "1 not computable" in text
    assert "inferred" not in text


def test_htmx_gets_the_table_alone_and_history_the_whole_page(client: Client) -> None:
    store(outcomes("a.py:one", "pf"))
    part = text_of(client, "/?q=bir", **HTMX)
    assert part.startswith('<section class="panel" id="found"')
    whole = client.get("/?q=bir", headers={**HTMX, "HX-History-Restore-Request": "true"})
    assert whole.content.startswith(b"<!doctype html>")
    assert "HX-Request" in whole.headers["Vary"]


def test_a_filter_that_leaves_nothing_says_the_way_back(client: Client) -> None:
    store(outcomes("a.py:one", "pf"))
    assert 'No run fits. <a href="/">Show all 1</a>' in text_of(client, "/?q=nothing")


def test_filters_come_from_the_address(rf) -> None:  # type: ignore[no-untyped-def]
    query = rf.get("/?benchmark=desk&q=+bir+&sort=-pass&page=3").GET
    assert run_filters(query) == RunFilters(benchmark="desk", text="bir", sort="pass", descending=True, page=3)
    query = rf.get("/?show=never&domain=Retail&sort=passed&page=2").GET
    assert task_filters(query) == TaskFilters(show=TaskClass.NEVER, domain="Retail", sort="passed", page=2)


@pytest.mark.parametrize("text", ["?sort=nonsense&page=x&show=all", "?page=-1", "?page=99999999999", "?page=²"])
def test_an_unknown_filter_is_as_good_as_none(text: str, rf) -> None:  # type: ignore[no-untyped-def]
    query = rf.get("/" + text).GET
    assert run_filters(query) == RunFilters()
    assert task_filters(query) == TaskFilters()


def test_the_sum_of_verdicts_is_said(client: Client) -> None:
    run = store([*outcomes("a.py:one", "pfen"), *outcomes("a.py:two", "p...")], repetitions=4)
    text = text_of(client, reverse("run", args=[run.slug]))
    line = text[text.index('<p class="equation">') :]
    words = [
        " ".join(part.split()) for part in line[: line.index("</p>")].replace("<b>", "").replace("</b>", "").split(">")
    ]
    found = [word.removesuffix("</span") for word in words if word.endswith("</span") and word != "</span"]
    assert found == ["2 passed", "1 failed", "2 errors", "3 not recorded", "8 expected"]


def test_what_is_inferred_is_marked(client: Client) -> None:
    run = store(outcomes("a.py:one", "pf"))
    text = text_of(client, reverse("run", args=[run.slug]))
    assert ">inferred</span>" in text
    assert "from the file&#x27;s name" not in text
    Run.objects.update(model_inferred=True, repetitions_inferred=False)
    text = text_of(client, reverse("run", args=[run.slug]))
    assert ">inferred</span>" not in text
    assert "model inferred from the file's name" in text
    Run.objects.update(benchmark_inferred=True)
    assert "model and benchmark inferred from the file's name" in text_of(client, reverse("run", args=[run.slug]))
    assert text_of(client, "/").count(">inferred</span>") == 2


@pytest.mark.parametrize(
    ("states", "words"),
    [((True, True), "states recorded for all attempts"), ((True, False), "states recorded for 1 of 2 attempts"),
     ((False, False), "states recorded for none")],
)  # fmt: skip
def test_how_many_states_are_recorded_is_said(states: tuple[bool, bool], words: str, client: Client) -> None:
    rows = [row for number, kept in enumerate(states) for row in outcomes(f"a.py:{number}", "f", states=kept)]
    run = store(rows)
    assert words in text_of(client, reverse("run", args=[run.slug]))


def test_the_strip_has_a_text_alternative(client: Client) -> None:
    run = store(outcomes("a.py:one", "pfe"), repetitions=4)
    text = text_of(client, reverse("run", args=[run.slug]))
    assert 'aria-label="1 of 4 passed">' in text
    dots = "".join(f'<span class="dot {name}"></span>' for name in ("passed", "failed", "error", "none"))
    assert dots in text


def test_a_run_is_edited(client: Client) -> None:
    run = store(outcomes("a.py:one", "pf"))
    address = reverse("run_edit", args=[run.slug])
    assert 'value="birch"' in text_of(client, address)
    answer = client.post(address, {"model": "cedar", "benchmark": "desk", "repetitions": "4", "weights": "open"})
    assert (answer.status_code, answer.headers["Location"]) == (303, f"/runs/{run.slug}/")
    assert Run.objects.values_list("model", "repetitions", "weights").get() == ("cedar", 4, "open")


@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        ("model", "", "The model&#x27;s name is missing."),
        ("benchmark", "", "The benchmark&#x27;s name is missing."),
        ("repetitions", "1", "1 repetitions are too few"),
        ("repetitions", "many", "This is not a whole number."),
        ("model", "x" * 201, "This is longer than 200 characters."),
    ],
)
def test_a_bad_correction_is_refused_with_a_sentence(field: str, value: str, sentence: str, client: Client) -> None:
    run = store(outcomes("a.py:one", "pf"))
    facts = {"model": "cedar", "benchmark": "desk", "repetitions": "4", field: value}
    answer = client.post(reverse("run_edit", args=[run.slug]), facts)
    assert answer.status_code == 422
    assert sentence in answer.content.decode()
    assert Run.objects.get().model == "birch"


def test_deleting_asks_first_and_says_what_goes(client: Client) -> None:
    run = store(outcomes("a.py:one", "pfe"))
    address = reverse("run_delete", args=[run.slug])
    text = text_of(client, address)
    assert "<b>3 attempts</b>" in text
    assert Run.objects.count() == 1
    answer = client.post(address)
    assert (answer.status_code, answer.headers["Location"]) == (303, "/")
    assert Run.objects.count() == 0
    assert client.get(address).status_code == 404


def test_a_run_that_is_being_read_is_not_deleted(client: Client) -> None:
    run = store(outcomes("a.py:one", "pf"))
    Upload.objects.create(file_name="more.jsonl", sha256="0", size=1, run=run, state=UploadState.READING)
    answer = client.post(reverse("run_delete", args=[run.slug]))
    assert answer.status_code == 409
    assert "The run is being read from" in answer.content.decode()
    assert Run.objects.count() == 1


def test_hostile_names_show_as_text(client: Client) -> None:
    run = store(outcomes("a.py:one", "pf"), model="<script>alert(1)</script>\u202e", benchmark="<img src=x onerror=y>")
    for address in ("/", reverse("run", args=[run.slug]), reverse("run_edit", args=[run.slug]), "/uploads/"):
        text = text_of(client, address)
        assert "<script>alert" not in text
        assert "<img src=x" not in text
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
