from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec
import pytest

from runs.costs import CostSource, Point, frontier, steps
from runs.metrics import Interval, Measure, Method, rank, widest_interval
from runs.published import THINKINGBOX_BENCH_RESULTS as RESULTS
from runs.published import load_published
from tests.runs.reference import read_reference


def test_eighteen_models_in_five_domains() -> None:
    assert (len(RESULTS.models), [domain.label for domain in RESULTS.domains], RESULTS.attempts) == (
        18,
        ["Retail", "Auto insurance", "Travel", "Neobank", "Consulting"],
        10_140,
    )
    assert sum(domain.tasks.value for domain in RESULTS.domains) == RESULTS.tasks.value == 507


def test_every_value_says_where_it_was_published() -> None:
    sonnet = RESULTS.model("Claude Sonnet 4.6")
    assert sonnet.observed_all_k is not None
    assert RESULTS.source(sonnet.observed_all_k) == "ThinkingBox blog, 3 October 2026, Table 3"
    assert RESULTS.source(sonnet.pass_at_1["overall"]) == "ThinkingBox blog, 3 October 2026, Table 2"
    with pytest.raises(KeyError):
        RESULTS.model("Claude Sonnet")


def test_a_value_without_a_known_source_is_refused() -> None:
    text = msgspec.json.encode(RESULTS).replace(b'"blog_table_3":', b'"hearsay":')
    with pytest.raises(ValueError, match="a value from 'blog_table_3', which is not among the sources"):
        load_published(text)
    with pytest.raises(msgspec.ValidationError):
        load_published(b'{"models": 3}')


def test_what_is_not_published_stays_empty() -> None:
    opus = RESULTS.model("Claude Opus 4.6")
    assert (opus.solved_at_least_once, opus.observed_all_k, opus.campaign_cost, opus.interval_95) == (None,) * 4
    assert (RESULTS.solved(opus), RESULTS.all_k(opus), RESULTS.retention(opus), RESULTS.cost(opus)) == (None,) * 4
    assert RESULTS.contender(opus, Measure.ALL_K).value is None
    first = RESULTS.model("Claude Opus 5.5")
    assert (first.solved_at_least_once, first.solved_bounds and first.solved_bounds.value) == (None, (402, 475))


def test_shares_are_exact_and_agree_with_what_is_printed() -> None:
    for model in RESULTS.models:
        for domain, printed in model.pass_at_1.items():
            share = RESULTS.pass_at_1(model, domain).value
            assert share is not None
            assert 100 * share == pytest.approx(printed.value, abs=0.005 + 1e-9)
        if model.retention is not None:
            assert round(100 * (RESULTS.retention(model) or 0)) == model.retention.value


def test_costs_are_the_quotients_of_the_published_totals() -> None:
    priced = [(model, cost) for model in RESULTS.models if (cost := RESULTS.cost(model)) is not None]
    assert len(priced) == 9
    for model, cost in priced:
        assert (cost.source, cost.currency) == (CostSource.STATED, "USD")
        assert model.cost_per_dependable_task is not None
        assert round(cost.per_dependable_task or 0, 2) == model.cost_per_dependable_task.value
        if model.cost_per_success is not None:
            assert round(cost.per_success or 0, 3) == model.cost_per_success.value


def test_the_three_models_of_the_published_frontier() -> None:
    points = [
        Point(
            name=model.name,
            cost=None if (cost := RESULTS.cost(model)) is None else cost.per_success,
            worth=Decimal(RESULTS.pass_at_1(model).count),
        )
        for model in RESULTS.models
    ]
    found = {placed.name: placed for placed in frontier(points)}
    assert {name for name, placed in found.items() if placed.on_frontier} == {
        "GPT-5.6 Sol",
        "GPT-5.4",
        "Claude Opus 5.5",
    }
    assert found["Claude Opus 5"].dominated_by == ["Claude Opus 5.5"]
    assert sum(not placed.placed for placed in found.values()) == 9


def test_what_one_more_dependable_task_costs() -> None:
    points = [
        Point(
            name=model.name,
            cost=None if model.campaign_cost is None else model.campaign_cost.value,
            worth=None if model.observed_all_k is None else Decimal(model.observed_all_k.value),
        )
        for model in RESULTS.models
    ]
    found = {step.name: step for step in steps(points) if step.cost is not None}
    assert {name: (step.against, step.more, round(step.cost or 0, 2)) for name, step in found.items()} == {
        "GPT-5.4": ("GPT-5.6 Sol", Decimal(46), Decimal("1.52")),
        "GPT-6 Astra": ("GPT-5.4", Decimal(103), Decimal("8.26")),
        "Claude Opus 5.5": ("GPT-6 Astra", Decimal(10), Decimal("16.02")),
    }


def test_a_row_has_its_published_interval_or_the_widest_one() -> None:
    printed = RESULTS.contender(RESULTS.model("GPT-5.4"))
    assert printed.interval == Interval(low=0.6223, high=0.6851, method=Method.PUBLISHED)
    kimi = RESULTS.contender(RESULTS.model("Kimi-K3"))
    assert kimi.interval == widest_interval(5817 / 10_140, 507)
    assert kimi.interval is not None
    assert [round(100 * end, 1) for end in (kimi.interval.low, kimi.interval.high)] == [53.1, 61.7]
    assert RESULTS.contender(RESULTS.model("GPT-5.4"), Measure.ALL_K).interval == widest_interval(128 / 507, 507)


def test_published_rows_are_ranked_by_their_intervals() -> None:
    ranked = rank([RESULTS.contender(model) for model in RESULTS.models])
    assert [(row.position, row.best, row.worst, row.group, row.name) for row in ranked] == [
        (1, 1, 5, 1, "Claude Opus 5.5"),
        (2, 1, 6, 1, "Claude Opus 5"),
        (3, 1, 6, 1, "GPT-5.4"),
        (4, 1, 7, 1, "GPT-5.6 Sol"),
        (5, 1, 8, 1, "Claude Sonnet 4.6"),
        (6, 2, 8, 2, "GPT-6 Astra"),
        (7, 4, 8, 2, "Kimi-K3"),
        (8, 5, 9, 2, "Qwen3.8-27B"),
        (9, 8, 10, 3, "GPT-5.2"),
        (10, 9, 11, 3, "DeepSeek-V4-Pro"),
        (11, 10, 14, 4, "Kimi-K2.6"),
        (12, 11, 14, 4, "GLM-5.1"),
        (13, 11, 14, 4, "Qwen3.6-27B"),
        (14, 11, 14, 4, "Claude Opus 4.6"),
        (15, 15, 16, 5, "o3-pro"),
        (16, 15, 16, 5, "Grok-4.3"),
        (17, 17, 18, 6, "Qwen3.5-9B"),
        (18, 17, 18, 6, "Mistral-Large-3"),
    ]


@pytest.mark.shared
def test_the_shipped_facts_are_those_of_the_reference(shared: Path) -> None:
    reference = read_reference(shared, "thinkingbox_bench_published.json")
    assert [model.name for model in RESULTS.models] == [model["name"] for model in reference["models"]]
    for ours, theirs in zip(RESULTS.models, reference["models"], strict=True):
        assert {name: cell.value for name, cell in ours.pass_at_1.items()} == {
            name: cell["value"] for name, cell in theirs["pass_at_1"].items()
        }
        assert ours.successes.value == {name: theirs["successes"][name] for name in ours.successes.value}
        assert (ours.weights.value == "proprietary") == (theirs["group"]["value"] == "proprietary")
        found = {
            "solved": theirs["pass_at_20"]["count"],
            "all": theirs["observed_20_20"]["count"],
            "campaign": theirs["campaign_cost_20_runs"],
            "success": theirs["cost_per_successful_attempt"],
            "dependable": theirs["cost_per_dependable_task"],
            "retention": theirs["retention"],
        }
        cells: dict[str, Any] = {
            "solved": ours.solved_at_least_once,
            "all": ours.observed_all_k,
            "campaign": ours.campaign_cost,
            "success": ours.cost_per_success,
            "dependable": ours.cost_per_dependable_task,
            "retention": ours.retention,
        }
        assert {name: None if cell is None else float(cell.value) for name, cell in cells.items()} == {
            name: cell.get("value") for name, cell in found.items()
        }
        paper = theirs["paper_v1"]
        same = paper is not None and paper["same_campaign_as_blog"]["value"] and ours.name != "o3-pro"
        expected = tuple(paper["table_11"]["interval_95"]["value"]) if same else None
        assert (ours.interval_95 and ours.interval_95.value) == expected
    assert {domain.key: domain.tasks.value for domain in RESULTS.domains} == {
        domain["key"]: domain["tasks"]["value"] for domain in reference["domains"]
    }
    assert {domain.key: domain.mean_pass_at_1 and domain.mean_pass_at_1.value for domain in RESULTS.domains} == {
        domain["key"]: domain["mean_pass_at_1_of_18_models"]["value"] for domain in reference["domains"]
    }
