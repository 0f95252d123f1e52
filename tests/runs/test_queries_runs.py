from __future__ import annotations

from decimal import Decimal

import pytest
from django.http import Http404

from runs.access import EVERYTHING, THE_TEAM
from runs.benchmarks import THINKINGBOX_BENCH
from runs.boards.figures import MIXED_STYLES
from runs.costs import Price
from runs.models import Run, Task, TaskTally, Upload, UploadState
from runs.prices import PricingChoice, create_list, price_run
from runs.queries.numbers import TaskClass
from runs.queries.run_failures import UsualFailure
from runs.queries.run_tasks import TaskFilters
from runs.queries.runs import Choice, Coverage, RunFilters, run_list, run_page
from runs.queries.signature_words import signature_words
from tests.factories import make_row
from tests.stored import outcomes, store

pytestmark = pytest.mark.django_db


def models(filters: RunFilters) -> list[str]:
    return [row.model for row in run_list(filters, access=EVERYTHING).rows]


def tasks(slug: str, filters: TaskFilters) -> list[str]:
    return [row.name for row in run_page(slug, filters, access=EVERYTHING).tasks]


def test_runs_are_filtered_and_sorted() -> None:
    store(outcomes("a.py:one", "pppp"), model="Birch", benchmark="desk")
    store(outcomes("a.py:one", "pf"), model="alder", benchmark="desk")
    store(outcomes("b.py:two", "eeff"), model="cedar", benchmark="depot")
    assert models(RunFilters()) == ["cedar", "alder", "Birch"]
    assert models(RunFilters(sort="model", descending=False)) == ["alder", "Birch", "cedar"]
    assert models(RunFilters(sort="pass")) == ["Birch", "alder", "cedar"]
    assert models(RunFilters(sort="errors")) == ["cedar", "Birch", "alder"]
    assert models(RunFilters(benchmark="desk")) == ["alder", "Birch"]
    assert models(RunFilters(text="BIR")) == ["Birch"]
    found = run_list(RunFilters(benchmark="desk", text="de"), access=EVERYTHING)
    assert found.benchmarks == [Choice("", 3, False), Choice("depot", 1, False), Choice("desk", 2, True)]
    assert (found.stored, found.page.total) == (3, 2)


@pytest.mark.parametrize("count", [1, 3])
def test_the_list_takes_the_same_queries_for_any_number_of_runs(count: int, django_assert_num_queries) -> None:  # type: ignore[no-untyped-def]
    for number in range(count):
        store(outcomes("a.py:one", "pf"), model=f"model {number}")
    with django_assert_num_queries(6):
        assert len(run_list(RunFilters(), access=EVERYTHING).rows) == count
    with django_assert_num_queries(4):  # what was computed is kept
        assert len(run_list(RunFilters(), access=EVERYTHING).rows) == count


def test_a_run_that_is_read_names_its_upload() -> None:
    run = store(outcomes("a.py:one", "pf"))
    assert run_list(RunFilters(), access=EVERYTHING).rows[0].reading is None
    upload = Upload.objects.create(file_name="more.jsonl", sha256="0", size=100, run=run, state=UploadState.READING)
    assert run_list(RunFilters(), access=EVERYTHING).rows[0].reading == upload.pk
    assert run_page(run.slug, TaskFilters(), access=EVERYTHING).reading == upload.pk


def test_tasks_are_filtered_and_sorted() -> None:
    rows = [
        *outcomes("a.py:beta", "pppp", metadata={"repetition": 0, "scenario": "desk"}),
        *outcomes("b.py:alpha", "fffe"),
        *outcomes("a.py:gamma", "pf.."),
    ]
    for number, row in enumerate(rows[:4]):
        row["metadata"] = {"repetition": number, "scenario": "desk"}
    slug = store(rows).slug
    assert tasks(slug, TaskFilters()) == ["alpha", "beta", "gamma"]
    assert tasks(slug, TaskFilters(sort="passed", descending=True)) == ["beta", "gamma", "alpha"]
    assert tasks(slug, TaskFilters(sort="missing", descending=True))[0] == "gamma"
    assert tasks(slug, TaskFilters(show=TaskClass.NEVER)) == ["alpha"]
    assert tasks(slug, TaskFilters(show=TaskClass.INCOMPLETE)) == ["gamma"]
    assert tasks(slug, TaskFilters(domain="desk")) == ["beta"]
    assert tasks(slug, TaskFilters(text="B.PY")) == ["alpha"]
    page = run_page(slug, TaskFilters(show=TaskClass.ALWAYS), access=EVERYTHING)
    assert [(choice.value, choice.count, choice.chosen) for choice in page.kinds] == [
        ("", 3, False), ("never", 1, False), ("sometimes", 0, False), ("always", 1, True), ("incomplete", 1, False),
    ]  # fmt: skip
    assert [(row.name, row.numbers.tasks) for row in page.domains] == [("desk", 1), ("rental_desk", 2)]
    assert page.numbers.missing == 2


def test_tasks_say_how_they_fail_most_often_to_evaluators_and_what_an_attempt_costs() -> None:
    run = store([*outcomes("a.py:one", "pp"), *outcomes("a.py:two", "pff")])
    TaskTally.objects.filter(task__uid="a.py:one").update(with_usage=0)
    prices = create_list("Desk", [Price(model=run.model, input=Decimal(2), output=Decimal(8))])
    price_run(run, PricingChoice(price_list=prices.pk))
    page = run_page(run.slug, TaskFilters(sort="cost", descending=True), access=EVERYTHING)
    usual = UsualFailure(
        signature=signature_words("tool_usage"),
        with_signature=2,
        difference="wrong",
        table="rentals",
        field="status",
        attempts=2,
    )
    assert page.is_priced
    # 1,200 tokens of input and 80 of output.
    assert [(row.name, row.cost, row.usual) for row in page.tasks] == [
        ("two", Decimal("0.00304"), usual), ("one", None, None),
    ]  # fmt: skip
    seen = run_page(run.slug, TaskFilters(), access=THE_TEAM)
    assert [(row.name, row.cost, row.usual) for row in seen.tasks] == [
        ("one", None, None), ("two", Decimal("0.00304"), None),
    ]  # fmt: skip


def test_what_costs_leave_out_or_take_otherwise_is_said() -> None:
    beside = [{"input_tokens": 200, "cache_read_input_tokens": 1000, "output_tokens": 80}]
    run = store([*outcomes("a.py:one", "p"), *outcomes("a.py:two", "pp", usage=beside)])
    store([make_row(uid="a.py:one", repetition=1, usage=None)], run=run.slug)
    prices = create_list("Desk", [Price(model=run.model, input=Decimal(2), output=Decimal(8))])
    price_run(run, PricingChoice(price_list=prices.pk))
    page = run_page(run.slug, TaskFilters(), access=EVERYTHING)
    assert [(row.with_usage, row.counts.recorded) for row in page.tasks] == [(1, 2), (2, 2)]
    assert page.worth.cost.notes == [
        "Without the tokens of 1 attempt: the cost is a lower bound.",
        "No price of tokens cached is listed: they are billed as input.",
        MIXED_STYLES,
    ]


def test_the_strip_has_a_dot_for_each_expected_repetition() -> None:
    run = store(outcomes("a.py:one", "p.e"), repetitions=5)
    (task,) = run_page(run.slug, TaskFilters(), access=EVERYTHING).tasks
    assert (task.verdicts, task.missing, task.expected, task.kind) == ("p.e..", 3, 5, TaskClass.INCOMPLETE)


@pytest.mark.parametrize("count", [1, 3])
def test_a_run_takes_the_same_queries_for_any_number_of_tasks(count: int, django_assert_num_queries) -> None:  # type: ignore[no-untyped-def]
    rows = [row for number in range(count) for row in outcomes(f"a.py:task_{number}", "pf")]
    slug = store(rows).slug
    with django_assert_num_queries(12):
        assert len(run_page(slug, TaskFilters(), access=EVERYTHING).tasks) == count
    with django_assert_num_queries(6):  # what was computed is kept
        assert len(run_page(slug, TaskFilters(), access=EVERYTHING).tasks) == count


def test_five_hundred_tasks_are_paged() -> None:
    run = store(outcomes("a.py:t000", "p"))
    made = [Task(benchmark=run.benchmark, uid=f"a.py:t{number:03}") for number in range(1, 507)]
    Task.objects.bulk_create(made)
    TaskTally.objects.bulk_create([TaskTally(run=run, task=task, recorded=1, passed=1, verdicts="p") for task in made])
    page = run_page(run.slug, TaskFilters(page=6), access=EVERYTHING)
    assert (page.page.first, page.page.last, page.page.total, page.page.next) == (501, 507, 507, None)
    assert (len(page.tasks), page.numbers.tasks) == (7, 507)
    assert run_page(run.slug, TaskFilters(page=999), access=EVERYTHING).page == page.page


def test_coverage_of_the_benchmark_whose_tasks_are_known() -> None:
    known = sorted(THINKINGBOX_BENCH.uids)[:2]
    rows = [row for uid in (*known, "own.py:task") for row in outcomes(uid, "p")]
    page = run_page(store(rows).slug, TaskFilters(), access=EVERYTHING)
    assert page.coverage == Coverage(THINKINGBOX_BENCH.name, 507, 2, 1, False)
    claimed = store(outcomes(known[0], "p"), benchmark=THINKINGBOX_BENCH.name)
    assert run_page(claimed.slug, TaskFilters(), access=EVERYTHING).coverage == Coverage(
        THINKINGBOX_BENCH.name, 507, 1, 0, True
    )
    other = store(outcomes("own.py:task", "p"), model="other", benchmark="desk 2")
    assert run_page(other.slug, TaskFilters(), access=EVERYTHING).coverage is None


def test_an_unknown_run_is_not_found() -> None:
    with pytest.raises(Http404):
        run_page("nothing", TaskFilters(), access=EVERYTHING)
    assert Run.objects.count() == 0
