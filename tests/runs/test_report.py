"""The `report` command: against the harness's own aggregates of its bundles, and where little is known."""

from __future__ import annotations

import io
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from runs.metrics import Spread, TaskOutcome
from runs.models import PriceList, Run, RunPricing, Task
from runs.queries.report import outcomes_by_run, run_input, spreads_by_task
from runs.reporting.text import _percent
from tests.stored import outcomes, store

pytestmark = pytest.mark.django_db

AGGREGATED = [
    "smoke/smoke.jsonl.gz",
    "retail-20x/retail-20x.aster-large.jsonl.zst",
    "retail-20x/retail-20x.briza-mini.jsonl.zst",
    "retail-20x/retail-20x.cedar-8b.jsonl.zst",
    "retail-20x/retail-20x.aster-large.retry.jsonl.zst",
    "five-domains/five-domains.aster-large.jsonl.zst",
    "five-domains/five-domains.delta-medium.jsonl.zst",
    "variants/no-dump.jsonl.gz",
    "variants/limits.jsonl.zst",
    "variants/no-test.jsonl.zst",
    "variants/full-dump.jsonl.zst",
    "variants/skip-agent.jsonl.zst",
]


def report(*arguments: str) -> dict[str, Any]:
    out = io.StringIO()
    call_command("report", *arguments, "--json", stdout=out, stderr=io.StringIO())
    answer: dict[str, Any] = json.loads(out.getvalue())
    return answer


def report_lines(*arguments: str) -> list[str]:
    out = io.StringIO()
    call_command("report", *arguments, stdout=out, stderr=io.StringIO())
    return out.getvalue().splitlines()


def ingest(path: Path) -> Run:
    out = io.StringIO()
    call_command("ingest", str(path), "--json", stdout=out, stderr=io.StringIO())
    return Run.objects.get(slug=json.loads(out.getvalue())["run"])


@pytest.mark.shared
@pytest.mark.parametrize("bundle", AGGREGATED)
def test_a_bundle_s_figures_are_those_of_the_harness(bundle: str, shared: Path) -> None:
    path = shared / "bundles" / bundle
    stem = path.name.removesuffix(".gz").removesuffix(".zst").removesuffix(".jsonl")
    expected = json.loads(path.with_name(f"{stem}.tb_agg.json").read_text(encoding="utf-8"))
    metrics = expected["metrics"]
    run = ingest(path)
    found = report(run.slug)
    assert (found["tasks"], found["attempts"], found["k"], found["missing"], found["incomplete_tasks"]) == (
        metrics["num_tests"],
        metrics["total_runs"],
        metrics["runs_per_test"],
        0,
        0,
    )
    assert found["errors"] == sum(test["error"] for test in expected["per_test"])
    assert found["pass_at"]["1"] == pytest.approx(metrics["mean_pass"], abs=1e-9)
    assert found["intervals"]["pass_at_1"]["jeffreys"] == pytest.approx(
        [metrics["mean_pass_ci_low"], metrics["mean_pass_ci_high"]], abs=1e-9
    )
    assert metrics["unbiased_pass_at_k"]
    for k, value in metrics["unbiased_pass_at_k"]:
        assert found["pass_at"][str(k)] == pytest.approx(value, abs=1e-9)
    for k, value in metrics["pass_power_k"]:
        assert found["pass_hat"][str(k)] == pytest.approx(value, abs=1e-9)
    assert found["observed_all_k"]["count"] == sum(test["passed"] == test["runs"] for test in expected["per_test"])
    spreads = spreads_by_task(run)
    for test in expected["per_test"]:
        for name, theirs in (
            ("output_tokens", "output_tokens"),
            ("reasoning_tokens", "reasoning_tokens"),
            ("seconds", "exec_time"),
            ("assistant_turns", "assistant_turns"),
            ("user_turns", "user_turns"),
            ("tool_turns", "tool_turns"),
            ("characters", "char_lengths"),
        ):
            values = test[theirs]
            printed = [values["avg_val"], values["min_val"], values["max_val"], values["count"]]
            assert as_printed(spreads[test["uid"]][name], attempts=test["runs"]) == pytest.approx(printed)


def as_printed(found: Spread | None, *, attempts: int) -> list[float]:
    """The harness prints zeros, over all attempts, where nothing is recorded."""
    return [0.0, 0.0, 0.0, attempts] if found is None else [found.average, found.least, found.most, found.count]


@pytest.mark.shared
def test_a_missing_repetition_is_missing_and_makes_no_task_dependable(shared: Path) -> None:
    out = io.StringIO()
    path = shared / "bundles/damaged/missing-repetition.jsonl.zst"
    call_command("ingest", str(path), "--model", "delta-medium", "--json", stdout=out, stderr=io.StringIO())
    found = report(json.loads(out.getvalue())["run"])
    assert (found["attempts"], found["missing"], found["incomplete_tasks"]) == (19, 1, 1)
    assert found["pass_at"]["1"] == pytest.approx(8 / 19)
    assert found["observed_all_k"] == {"count": 0, "of": 4, "share": None}
    assert found["tasks_with"] == {"1": 5, "2": 5, "3": 5, "4": 4}
    assert found["retention"] is None


def small_run(**wishes: Any) -> Run:
    """Four tasks with k = 4: dependable, flaky with an error, hopeless, and one attempt short."""
    rows = [
        row
        for name, letters in (("always", "pppp"), ("flaky", "pefp"), ("never", "ffff"), ("short", "ppp."))
        for row in outcomes(f"rental_desk_group1.py:test_{name}", letters)
    ]
    return store(rows, repetitions=4, **wishes)


def test_a_report_has_every_figure() -> None:
    found = report(small_run().slug)
    assert list(found) == [
        "run", "model", "benchmark", "k", "tasks", "attempts", "errors", "missing", "incomplete_tasks", "error_rule",
        "metric_version", "pass_at", "pass_hat", "pass_hat_unbiased", "tasks_with", "solved_at_least_once",
        "observed_all_k", "retention", "distribution", "intervals", "by_domain", "tokens", "cost",
    ]  # fmt: skip
    assert (found["run"], found["model"], found["benchmark"], found["k"]) == ("desk-birch", "birch", "desk", 4)
    assert (found["tasks"], found["attempts"], found["errors"], found["missing"]) == (4, 15, 1, 1)
    assert found["pass_at"]["1"] == pytest.approx(9 / 15)
    assert found["solved_at_least_once"] == {"count": 3, "of": 4, "share": 0.75}
    assert found["observed_all_k"] == {"count": 1, "of": 3, "share": None}
    assert found["distribution"] == [1, 0, 1, 0, 1]
    tokens = {name: found["tokens"][name] for name in ("attempts_with_usage", "input", "cached", "output", "reasoning")}
    assert tokens == {
        "attempts_with_usage": 15,
        "input": 18_000,
        "cached": 15_000,
        "output": 1_200,
        "reasoning": 900,
    }
    assert found["tokens"]["style"] == "cached_in_input"
    assert found["tokens"]["spreads"]["output_tokens"] == {"average": 80.0, "least": 80, "most": 80, "count": 15}
    assert (found["cost"]["campaign"], found["cost"]["source"]) == (None, "unknown")
    assert found["cost"]["reasons"]["campaign"] == "No price list is chosen for this run."


def test_leaving_errors_out_changes_pass_at_1_alone() -> None:
    run = small_run()
    counted, left_out = report(run.slug), report(run.slug, "--errors", "excluded")
    assert left_out["pass_at"]["1"] == pytest.approx(9 / 14)
    changed = {name for name in counted if counted[name] != left_out[name]}
    assert changed == {"error_rule", "pass_at", "intervals", "by_domain"}


def test_a_run_is_priced_by_a_file(tmp_path: Path) -> None:
    run = small_run()
    path = tmp_path / "desk.csv"
    path.write_text("model,input,cached_input,output\nbirch,2,0.2,10\n", encoding="utf-8")
    cost = report(run.slug, "--prices", str(path))["cost"]
    campaign = Decimal("0.006") + Decimal("0.003") + Decimal("0.012")
    assert {name: cost[name] for name in ("currency", "list", "campaign", "per_run", "per_dependable_task")} == {
        "currency": "USD",
        "list": "desk.csv",
        "campaign": float(campaign),
        "per_run": 0.0056,
        "per_dependable_task": float(campaign),
    }
    assert cost["per_success"] == pytest.approx(float(campaign / 9))
    path.write_text("model,input,output\noak,2,10\n", encoding="utf-8")
    assert report(run.slug, "--prices", str(path))["cost"]["reasons"]["campaign"] == (
        "The price list “desk.csv” has no price of birch."
    )


def test_a_run_is_priced_by_what_was_chosen_for_it() -> None:
    run = small_run()
    prices = [{"model": "forest/oak", "input": "2", "output": "10", "currency": "EUR"}]
    listed = PriceList.objects.create(slug="desk", name="Desk prices", version=3, prices=prices)
    pricing = RunPricing.objects.create(run=run, price_list=listed, model="oak")
    cost = report(run.slug)["cost"]
    assert (cost["currency"], cost["list"], cost["campaign"]) == ("EUR", "Desk prices, version 3", 0.048)
    pricing.price_list = None
    pricing.stated_total, pricing.stated_currency, pricing.stated_source = Decimal(9), "CHF", "the invoice"
    pricing.save()
    stated = report(run.slug)["cost"]
    assert (stated["currency"], stated["list"], stated["campaign"], stated["per_success"], stated["source"]) == (
        "CHF",
        None,
        9.0,
        1.0,
        "stated",
    )
    asked = report(run.slug, "--stated-cost", "18", "--currency", "USD")["cost"]
    assert (asked["currency"], asked["per_success"]) == ("USD", 2.0)


def test_cached_tokens_beside_input_are_detected_by_one_attempt() -> None:
    usage = {"input_tokens": 86, "input_tokens_details": {"cached_tokens": 900}, "output_tokens": 7}
    rows = [*outcomes("desk.py:a", "pp"), *outcomes("desk.py:b", "p", usage=[usage])]
    assert report(store(rows).slug)["tokens"]["style"] == "cached_beside_input"


def test_rows_without_usage_have_no_tokens_and_no_cost(tmp_path: Path) -> None:
    run = store(outcomes("desk.py:a", "pf", usage=None))
    path = tmp_path / "desk.csv"
    path.write_text("model,input,output\nbirch,2,10\n", encoding="utf-8")
    found = report(run.slug, "--prices", str(path))
    assert (found["tokens"]["attempts_with_usage"], found["tokens"]["style"]) == (0, None)
    assert found["tokens"]["spreads"]["output_tokens"] is None
    assert found["cost"]["reasons"]["campaign"] == "No attempt has its tokens recorded."


def test_two_runs_are_compared() -> None:
    base, cand = small_run(), small_run(model="oak")
    rows = outcomes("rental_desk_group1.py:test_never", "pppp") + outcomes("rental_desk_group1.py:test_always", "pppf")
    better = store(rows, model="elm", repetitions=4)
    found = report(base.slug, better.slug)
    assert (found["run"], found["candidate"]["run"]) == ("desk-birch", "desk-elm")
    comparison = found["comparison"]
    assert (comparison["tasks"], comparison["only_in_baseline"], comparison["won"], comparison["lost"]) == (2, 2, 1, 0)
    assert comparison["became_dependable"] == ["rental_desk_group1.py:test_never"]
    assert comparison["no_longer_dependable"] == ["rental_desk_group1.py:test_always"]
    assert comparison["pass_at_1"]["difference"] == pytest.approx(7 / 8 - 4 / 8)
    assert comparison["by_task"][1]["baseline"] == [4, 0, 0]
    same = report(base.slug, cand.slug)["comparison"]
    assert (same["pass_at_1"]["difference"], same["pass_at_1"]["significant"], same["not_computable"]) == (0, False, 1)


def test_a_report_for_people() -> None:
    run = small_run()
    # No page or command takes such a name any more; it is shown harmlessly all the same.
    Run.objects.filter(pk=run.pk).update(model="bir\x1b[31mch")
    lines = report_lines(run.slug)
    assert lines[0] == f"{run.slug}: bir\\x1b[31mch on desk"
    assert lines[1] == "  4 tasks, k = 4; 15 attempts recorded, 1 missing, 1 error"
    assert lines[2] == "  pass@1                60.0%  (system errors count as failed)"
    assert "  all 4 of 4            1 of 3 (–); 1 task incomplete" in lines
    assert "  cost                  – (No price list is chosen for this run.)" in lines
    stated = report_lines(run.slug, "--stated-cost", "0.027")
    assert "  cost, per success           0.00300 USD" in stated
    assert "  the total is stated" in stated


def test_one_task_is_not_called_tasks_and_domains_stand_in_columns() -> None:
    run = store([*outcomes("desk.py:a", "pp"), *outcomes("attic.py:b", "pf")], repetitions=2)
    Task.objects.filter(uid="desk.py:a").update(domain="desk")
    Task.objects.filter(uid="attic.py:b").update(domain="rental_attic")
    lines = report_lines(run.slug)
    at = next(number for number, line in enumerate(lines) if line.startswith("  by domain"))
    assert lines[at:] == [
        "  by domain      tasks   pass@1     at least once        all 2 of 2",
        "  desk               1   100.0%   1 of 1 (100.0%)   1 of 1 (100.0%)",
        "  rental_attic       1    50.0%   1 of 1 (100.0%)     0 of 1 (0.0%)",
    ]
    one = report_lines(store(outcomes("desk.py:a", "pp"), model="oak", repetitions=2).slug)
    assert "  pass^2                100.0% as (c/n)^2, the harness's form; 100.0% unbiased; over 1 task" in one


def test_a_share_is_never_rounded_to_none_or_all() -> None:
    assert [_percent(share) for share in (None, 0.0, 0.0004, 0.5, 0.99951, 1.0)] == [
        "–", "0.0%", "<0.1%", "50.0%", ">99.9%", "100.0%",
    ]  # fmt: skip


def test_a_comparison_for_people() -> None:
    base, cand = small_run(), small_run(model="oak")
    lines = report_lines(base.slug, cand.slug)
    assert f"{cand.slug} against {base.slug}, on the 4 tasks that both have" in lines
    assert "  pass@1                0.0 points, 0.0 to 0.0 (paired task bootstrap, 95%: not told apart)" in lines
    assert "                        without 1 task that one run has incomplete" in lines
    assert "  solved only by the candidate 0, only by the baseline 0, by both 3, by neither 1" in lines


def test_a_single_task_tells_its_other_interval_and_no_range_of_a_difference() -> None:
    run = store(outcomes("desk.py:a", "p"), repetitions=1)
    lines = report_lines(run.slug)
    assert lines[3].endswith("(Jeffreys, pooled attempts, 95%)")
    assert not [line for line in lines if "pass^" in line]
    assert lines[1:3] == [
        "  1 task, k = 1; 1 attempt recorded, 0 missing, 0 errors",
        "  pass@1                100.0%  (system errors count as failed)",
    ]
    assert f"{run.slug} against {run.slug}, on the 1 task that both have" in report_lines(run.slug, run.slug)
    assert "  pass@1                0.0 points" in report_lines(run.slug, run.slug)


def test_runs_without_a_common_task() -> None:
    one, other = store(outcomes("desk.py:a", "p")), store(outcomes("desk.py:b", "p"), model="oak")
    comparison = report(one.slug, other.slug)["comparison"]
    assert (comparison["tasks"], comparison["pass_at_1"], comparison["pooled_p_lift"]) == (0, None, None)
    assert "  pass@1                –" in report_lines(one.slug, other.slug)


def test_an_empty_run_has_a_report() -> None:
    run = small_run()
    run.attempts.all().delete()
    run.tallies.all().delete()
    found = report(run.slug)
    assert (found["tasks"], found["attempts"], found["pass_at"], found["retention"]) == (0, 0, {"1": None}, None)
    assert report_lines(run.slug)[2] == "  pass@1                –  (system errors count as failed)"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere"], "There is no run named 'nowhere'. Newest runs: desk-birch."),
        (["desk-birch"] * 3, "Name one run, or two to compare"),
        (["desk-birch", "desk-birch", "--stated-cost", "3"], "A stated cost belongs to one run."),
        (["desk-birch", "--prices", "nowhere.csv"], "nowhere.csv: the price list cannot be read"),
        (["desk-birch", "--stated-cost", "much"], "'much' is no amount."),
        (["desk-birch", "--stated-cost", "-1"], "'-1' is no amount that a run can cost."),
    ],
)
def test_mistakes_are_answered_with_a_sentence(arguments: list[str], message: str) -> None:
    small_run()
    with pytest.raises(CommandError, match=message):
        report(*arguments)


def test_a_file_without_a_price_says_why(tmp_path: Path) -> None:
    run = small_run()
    path = tmp_path / "empty.csv"
    path.write_text("model,input\nbirch,free\n", encoding="utf-8")
    with pytest.raises(CommandError, match=r"holds no price. line 2: 'free' in input is not a number"):
        report(run.slug, "--prices", str(path))


def test_the_queries_do_not_grow_with_the_run(django_assert_num_queries: Any) -> None:
    one, two = small_run(), store(outcomes("desk.py:a", "pf"), model="oak")
    for run in Run.objects.select_related("benchmark").order_by("pk"):
        with django_assert_num_queries(2):
            run_input(run)
    with django_assert_num_queries(1):
        found = outcomes_by_run([one.pk, two.pk])
    assert found[two.pk] == [TaskOutcome(uid="desk.py:a", n=2, passed=1, domain="rental_desk")]
    assert len(found[one.pk]) == 4
