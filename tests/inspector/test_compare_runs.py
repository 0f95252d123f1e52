from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from inspector.pair_filters import pair_filters
from inspector.templatetags.lists import signed
from runs.access import EVERYTHING, Role, access_for
from runs.metrics import ErrorRule
from runs.models import Attempt
from runs.queries.compare_runs import Change, PairFilters, compared_runs
from runs.queries.task_runs import Mistake, SharedMistake, task_across
from runs.signatures import Signature
from tests.inspector.server_mode import make_account, turn_login_on
from tests.stored import outcomes, store
from tests.trace_rows import HOSTILE, hostile_row

pytestmark = pytest.mark.django_db


def words(client: Client, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200
    return " ".join(re.sub("<[^>]+>", " ", answer.content.decode()).split())


def two_runs() -> tuple[str, str]:
    base = store(
        [
            *outcomes("a.py:won", "ff"),
            *outcomes("a.py:lost", "pf"),
            *outcomes("a.py:both", "pp"),
            *outcomes("a.py:only", "p."),
        ],
        repetitions=2,
    )
    candidate = store(
        [*outcomes("a.py:won", "pp"), *outcomes("a.py:lost", "ff"), *outcomes("a.py:both", "pf")],
        model="cedar",
        repetitions=2,
    )
    return base.slug, candidate.slug


def test_two_runs_are_compared_task_by_task() -> None:
    base, candidate = two_runs()
    found = compared_runs(PairFilters(base=base, candidate=candidate), access=EVERYTHING)
    assert [(row.name, row.word, set(row.changes)) for row in found.rows] == [
        ("both", "no longer dependable", {Change.BOTH, Change.STOPPED, Change.WORSE}),
        ("lost", "lost", {Change.LOST, Change.WORSE, }),
        ("won", "became dependable", {Change.WON, Change.BECAME, Change.BETTER}),
    ]  # fmt: skip
    assert found.comparison is not None
    assert found.comparison.only_baseline == ["a.py:only"]
    lost = found.rows[1]
    assert (lost.base.passed, lost.base.failed, lost.candidate.failed) == (1, 1, 2)
    assert (lost.base.signature, lost.candidate.signatures) == ("Tool usage", 2)
    assert lost.candidate.difference is not None
    assert (lost.candidate.difference.field, lost.candidate.difference.after, lost.candidate.difference.attempts) == (
        "status", "closed", 2,
    )  # fmt: skip
    assert found.rows[2].candidate.difference is None


def test_filters_and_order_are_in_the_address(client: Client, rf: Any) -> None:
    query = "?base=a&candidate=b&change=won&domain=Retail&q=+x+&sort=-gain&errors=excluded&page=2"
    assert pair_filters(rf.get("/" + query).GET) == PairFilters(
        base="a", candidate="b", change=Change.WON, domain="Retail", text="x", sort="gain", descending=True,
        rule=ErrorRule.LEFT_OUT, page=2,
    )  # fmt: skip
    assert pair_filters(rf.get("/?change=x&sort=y&errors=z").GET) == PairFilters()
    base, candidate = two_runs()
    address = f"{reverse('compare_runs')}?base={base}&candidate={candidate}"
    rows = re.findall(r'title="a\.py:(\w+)"', client.get(f"{address}&sort=-gain").content.decode())
    assert rows == ["won", "both", "lost"]
    rows = re.findall(r'title="a\.py:(\w+)"', client.get(f"{address}&change=worse").content.decode())
    assert rows == ["both", "lost"]
    text = words(client, f"{address}&change=better&q=both")
    assert "No task fits. Show all" in text


def test_the_page_says_what_changed(client: Client) -> None:
    base, candidate = two_runs()
    text = words(client, f"{reverse('compare_runs')}?base={base}&candidate={candidate}")
    assert "1 won, 1 lost 1 by both, 0 by neither" in text
    assert "1 gained, 1 lost became dependable, stopped being so" in text
    assert "3 tasks are in both runs; 1 only in the baseline, 0 only in the candidate" in text
    assert "0.0 points" in text


def test_a_viewer_is_offered_no_filter_by_signatures(client: Client, settings: Settings) -> None:
    base, candidate = (store(outcomes("a.py:only", "f"), model=model).slug for model in ("birch", "cedar"))
    Attempt.objects.filter(run__slug=candidate).update(signature=Signature.UNDETERMINED)
    address = f"{reverse('compare_runs')}?base={base}&candidate={candidate}&change=signature"
    assert "Other signature 1" in words(client, address)
    turn_login_on(settings)
    vera = Client()
    vera.force_login(make_account("vera", Role.VIEWER))
    text = words(vera, address)
    # An address with that filter, from somebody who sees signatures, shows the whole list.
    assert ("signature" in text.lower(), "neither solves it" in text) == (False, True)
    filters = PairFilters(base=base, candidate=candidate, change=Change.SIGNATURE)
    found = compared_runs(filters, access=access_for(Role.VIEWER, user=1))
    assert ([choice.value for choice in found.changes], len(found.rows), found.filters.change) == (
        ["", *(change.value for change in Change if change is not Change.SIGNATURE)], 1, None,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("", "Two runs are needed, and 1 is stored."),
        ("?base=x&candidate=y", "Two runs are needed, and 1 is stored."),
    ],
)
def test_without_two_runs_the_page_says_the_way(query: str, sentence: str, client: Client) -> None:
    store(outcomes("a.py:one", "p"))
    assert sentence in words(client, reverse("compare_runs") + query)


def test_a_run_is_not_compared_with_itself_nor_with_none(client: Client) -> None:
    base, _ = two_runs()
    address = reverse("compare_runs")
    assert "Choose a baseline and a candidate." in words(client, address)
    assert "A run cannot be compared with itself." in words(client, f"{address}?base={base}&candidate={base}")
    assert "There is no such run any more." in words(client, f"{address}?base={base}&candidate=gone")


@pytest.mark.parametrize("tasks", [1, 3])
def test_queries_do_not_hang_on_the_tasks(tasks: int, django_assert_num_queries: Any) -> None:
    rows = [row for number in range(tasks) for row in outcomes(f"a.py:t{number}", "pff")]
    base, candidate = store(rows), store(rows, model="cedar")
    with django_assert_num_queries(4):
        compared_runs(PairFilters(base=base.slug, candidate=candidate.slug), access=EVERYTHING)
    with django_assert_num_queries(5):
        task_across("a.py:t0", access=EVERYTHING)


def test_a_task_across_runs(client: Client) -> None:
    store(outcomes("a.py:one", "pf"), repetitions=2)
    store(outcomes("a.py:one", "ff"), model="cedar", repetitions=2)
    found = task_across("a.py:one", access=EVERYTHING)
    assert [(run.model, run.counts.passed, run.kind) for run in found.runs] == [
        ("birch", 1, "sometimes"), ("cedar", 0, "never"),
    ]  # fmt: skip
    assert found.mistakes == [
        Mistake(
            kind="wrong", table="rentals", key="7", field="status", after="closed", required="returned", attempts=3,
            models=[("cedar", 2), ("birch", 1)],
        )
    ]  # fmt: skip
    assert found.alike == [SharedMistake(table="rentals", field="status", after="closed", kind="wrong")]
    assert not found.never_passed
    text = words(client, reverse("task", args=["a.py:one"]))
    assert "A suspicious task. All models that fail do so in the same way" in text
    assert "rentals.status is closed" in text
    assert "2 models cedar 2 , birch 1" in text


def test_one_model_alone_makes_no_task_suspicious(client: Client) -> None:
    store(outcomes("a.py:one", "ff"))
    assert "A suspicious task" not in words(client, reverse("task", args=["a.py:one"]))


def test_a_task_of_two_benchmarks_is_asked_for_by_benchmark(client: Client) -> None:
    store(outcomes("a.py:one", "pf"))
    store(outcomes("a.py:one", "pp"), benchmark="depot")
    assert "2 of 2 recorded attempts passed, by 1 model in 1 run" in words(client, reverse("task", args=["a.py:one"]))
    assert "1 of 2 recorded attempts" in words(client, reverse("task", args=["a.py:one"]) + "?benchmark=desk")
    assert client.get(reverse("task", args=["a.py:one"]) + "?benchmark=none").status_code == 404
    assert client.get(reverse("task", args=["a.py:none"])).status_code == 404


def test_hostile_names_stay_text(client: Client) -> None:
    uid = HOSTILE.replace(":", "")
    base = store([hostile_row(uid=uid)])
    candidate = store([hostile_row(uid=uid)], model="".join(sign for sign in HOSTILE if sign.isprintable()))
    for address in (
        f"{reverse('compare_runs')}?base={base.slug}&candidate={candidate.slug}",
        reverse("task", args=[uid]),
    ):
        text = client.get(address).content.decode()
        assert "<script>window" not in text
        assert "<img src=x" not in text


@pytest.mark.parametrize(
    ("value", "text"), [(None, "–"), (0.0, "0.0"), (0.0004, "0.0"), (0.0321, "+3.2"), (-0.1, "−10.0")]
)
def test_differences_have_a_sign(value: float | None, text: str) -> None:
    assert signed(value) == text


def test_the_task_of_a_run_leads_to_it_across_runs(client: Client) -> None:
    run = store(outcomes("a.py:one", "pf"))
    address = f"{reverse('task', args=['a.py:one'])}?benchmark=desk"
    for page in (reverse("run_task", args=[run.slug, "a.py:one"]), f"/attempts/{run.attempts.all()[0].pk}/?tab=task"):
        assert f'href="{address}"' in client.get(page).content.decode()
