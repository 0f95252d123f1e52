from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.costs import (
    NO_DEPENDABLE_TASK,
    NO_SUCCESS,
    CostSource,
    Placed,
    Point,
    Price,
    PriceList,
    RunCost,
    StatedCost,
    Step,
    TaskUsage,
    Tokens,
    UsageStyle,
    attempt_cost,
    detect_style,
    find_price,
    frontier,
    read_usage,
    run_cost,
    same_model,
    stated_cost,
    steps,
    task_costs,
)
from runs.metrics import summarise
from runs.records import Usage
from tests.runs.reference import consistent_runs, read_reference

PRICE = Price(
    model="birch", input=Decimal("2.50"), cached=Decimal("0.25"), cache_write=Decimal("3.125"), output=Decimal(10)
)


def usage(uid: str, tokens: Tokens, *, attempts: int = 1, with_usage: int | None = None) -> TaskUsage:
    return TaskUsage(
        uid=uid, attempts=attempts, with_usage=attempts if with_usage is None else with_usage, tokens=tokens
    )


def test_cached_tokens_are_a_part_of_input_and_priced_once() -> None:
    """17,903 input tokens, 17,817 of them cached: 86 are paid in full."""
    tokens = Tokens(input=17_903, cached=17_817, output=200, reasoning=150)
    assert detect_style([tokens]) is UsageStyle.CACHED_IN_INPUT
    assert tokens.fresh(UsageStyle.CACHED_IN_INPUT) == 86
    assert attempt_cost(tokens, PRICE) == Decimal("0.000215") + Decimal("0.00445425") + Decimal("0.002")


def test_more_cached_than_input_tokens_lie_beside_them() -> None:
    tokens = Tokens(input=86, cached=17_817, cache_write=400, output=200)
    assert detect_style([tokens]) is UsageStyle.CACHED_BESIDE_INPUT
    assert attempt_cost(tokens, PRICE) == (
        Decimal("0.000215") + Decimal("0.00445425") + Decimal("0.00125") + Decimal("0.002")
    )


def test_one_attempt_shows_how_its_run_counts() -> None:
    first, later = Tokens(input=900, cached=100), Tokens(input=20, cached=980)
    assert detect_style([first]) is UsageStyle.CACHED_IN_INPUT
    assert detect_style([first, later]) is UsageStyle.CACHED_BESIDE_INPUT
    assert attempt_cost(first, PRICE, UsageStyle.CACHED_BESIDE_INPUT) == (900 * 10 + 100) * Decimal("0.25") / 1_000_000


@pytest.mark.parametrize(
    ("raw", "tokens", "style"),
    [
        (
            {
                "input_tokens": 12703,
                "input_tokens_details": {"cached_tokens": 1024},
                "output_tokens": 154,
                "output_tokens_details": {"reasoning_tokens": 131},
                "total_tokens": 12857,
            },
            Tokens(input=12703, cached=1024, output=154, reasoning=131),
            UsageStyle.CACHED_IN_INPUT,
        ),
        (
            {
                "prompt_tokens": 500,
                "prompt_tokens_details": {"cached_tokens": 400},
                "completion_tokens": 7,
                "completion_tokens_details": None,
            },
            Tokens(input=500, cached=400, output=7),
            UsageStyle.CACHED_IN_INPUT,
        ),
        (
            {
                "input_tokens": 500,
                "cache_read_input_tokens": 400,
                "cache_creation_input_tokens": 90,
                "output_tokens": 7,
            },
            Tokens(input=500, cached=400, cache_write=90, output=7),
            UsageStyle.CACHED_BESIDE_INPUT,
        ),
        ({"input_tokens": 0, "output_tokens": True}, Tokens(), UsageStyle.CACHED_IN_INPUT),
        ({"input_tokens": "many", "output_tokens": -3}, Tokens(), UsageStyle.CACHED_IN_INPUT),
    ],
)
def test_a_provider_s_usage_says_its_style_by_its_names(raw: dict[str, Any], tokens: Tokens, style: UsageStyle) -> None:
    assert read_usage(raw) == (tokens, style)
    assert ("inside" in style.sentence) == (style is UsageStyle.CACHED_IN_INPUT)


def test_recorded_usage_is_priced() -> None:
    tokens = Tokens.of(Usage(input=12_703, cached=1_024, output=154, reasoning=131, calls=1))
    assert tokens == Tokens(input=12_703, cached=1_024, output=154, reasoning=131)
    assert attempt_cost(tokens, PRICE) == Decimal("0.0309935")


def test_no_tokens_cost_nothing_and_an_unknown_price_is_unknown() -> None:
    assert attempt_cost(Tokens(), PRICE) == 0
    assert attempt_cost(Tokens(input=5), None) is None
    assert attempt_cost(Tokens(input=5), Price(model="birch", output=Decimal(1))) is None
    assert attempt_cost(Tokens(output=5), Price(model="birch", output=Decimal(0))) == 0
    assert attempt_cost(Tokens(output=5), Price(model="birch", input=Decimal(1))) is None


def test_without_a_price_of_its_own_a_cached_token_costs_what_input_costs() -> None:
    plain = Price(model="birch", input=Decimal(2), output=Decimal(10))
    tokens = Tokens(input=1000, cached=900, cache_write=50)
    assert attempt_cost(tokens, plain) == Decimal("0.002")
    cost = run_cost([usage("a", tokens)], plain, successes=1, dependable=1)
    assert cost.notes == [
        "No price of tokens cached is listed: they are billed as input.",
        "No price of tokens written to a cache is listed: they are billed as input.",
    ]


@pytest.mark.parametrize("amount", ["-1", "NaN", "Infinity"])
def test_what_is_no_price_is_refused(amount: str) -> None:
    with pytest.raises(ValueError, match="which is no price"):
        Price(model="birch", input=Decimal(amount))


def test_negative_tokens_are_refused() -> None:
    with pytest.raises(ValueError, match="negative"):
        Tokens(cached=-1)


def test_the_figures_of_a_run() -> None:
    tasks = [
        usage("a", Tokens(input=4_000_000, output=400_000), attempts=4),
        usage("b", Tokens(input=2_000_000, output=200_000), attempts=2),
    ]
    cost = run_cost(tasks, PRICE, successes=4, dependable=1, price_list="desk, version 2")
    assert cost == RunCost(
        source=CostSource.PRICED,
        currency="USD",
        price_list="desk, version 2",
        style=UsageStyle.CACHED_IN_INPUT,
        attempts=6,
        with_usage=6,
        campaign=Decimal(21),
        per_attempt=Decimal("3.5"),
        per_run=Decimal(7),
        per_success=Decimal("5.25"),
        per_dependable_task=Decimal(21),
        reasons={},
        notes=[],
    )
    assert not cost.lower_bound


def test_what_attempts_of_a_task_cost_adds_up_to_all_tasks_once() -> None:
    tasks = [
        usage("a", Tokens(input=4_000_000, output=400_000), attempts=4, with_usage=2),
        usage("b", Tokens(input=1_000_000, cached=1_000_000), attempts=2),
        usage("c", Tokens(), attempts=2, with_usage=0),
    ]
    costs = task_costs(tasks, PRICE)
    assert list(costs) == ["a", "b"]
    assert sum(costs.values()) == run_cost(tasks, PRICE, successes=0, dependable=0).per_run
    assert costs["a"] == (4 * PRICE.input + Decimal("0.4") * PRICE.output) / 2  # type: ignore[operator]
    assert task_costs(tasks, PRICE, style=UsageStyle.CACHED_BESIDE_INPUT)["b"] > costs["b"]
    assert task_costs(tasks, None) == task_costs(tasks[2:], PRICE) == {}
    # What one task has no price for leaves the run without one, so the others have none either.
    assert task_costs(tasks, msgspec.structs.replace(PRICE, output=None)) == {}


@pytest.mark.parametrize(
    ("tokens", "covered"),
    [
        (Tokens(), True),
        (Tokens(input=1), True),
        (Tokens(input=1, output=1), False),
        (Tokens(output=1), False),
    ],
)
def test_a_price_covers_what_it_has_a_rate_for(tokens: Tokens, covered: bool) -> None:
    price = Price(model="m", input=Decimal(1))
    assert price.covers(tokens) == covered == (attempt_cost(tokens, price) is not None)
    assert not Price(model="m", output=Decimal(1)).covers(Tokens(cached=1))


def test_no_success_and_no_dependable_task_are_said_and_not_infinite() -> None:
    cost = run_cost([usage("a", Tokens(input=1_000_000))], PRICE, successes=0, dependable=0)
    assert (cost.campaign, cost.per_success, cost.per_dependable_task) == (Decimal("2.5"), None, None)
    assert cost.reasons == {"per_success": NO_SUCCESS, "per_dependable_task": NO_DEPENDABLE_TASK}


def test_attempts_without_tokens_make_the_cost_a_lower_bound() -> None:
    tasks = [
        usage("a", Tokens(input=1_000_000), attempts=4, with_usage=2),
        usage("b", Tokens(), attempts=4, with_usage=0),
    ]
    cost = run_cost(tasks, PRICE, successes=1, dependable=1)
    assert (cost.lower_bound, cost.with_usage, cost.attempts) == (True, 2, 8)
    assert (cost.campaign, cost.per_attempt, cost.per_run) == (Decimal("2.5"), Decimal("1.25"), Decimal("1.25"))
    assert cost.notes == [
        "Without the tokens of 6 attempts: the cost is a lower bound.",
        "All tasks once is without 1 task of which no tokens are recorded.",
    ]


@pytest.mark.parametrize(
    ("tasks", "price", "reason"),
    [
        ([usage("a", Tokens(input=5))], None, "No price is known for this model."),
        ([usage("a", Tokens(), with_usage=0)], PRICE, "No attempt has its tokens recorded."),
        ([], PRICE, "No attempt has its tokens recorded."),
        (
            [usage("a", Tokens(input=5, output=1))],
            Price(model="birch", input=Decimal(1)),
            "The price list has no output price of birch.",
        ),
    ],
)
def test_an_unknown_cost_is_none_with_its_reason(tasks: list[TaskUsage], price: Price | None, reason: str) -> None:
    cost = run_cost(tasks, price, successes=1, dependable=1)
    figures = {"campaign", "per_attempt", "per_run", "per_success", "per_dependable_task"}
    assert {getattr(cost, name) for name in figures} == {None}
    assert (cost.source, cost.reasons) == (CostSource.UNKNOWN, dict.fromkeys(figures, reason))
    assert not cost.lower_bound


def test_a_quantised_model_s_price_says_so() -> None:
    price = Price(model="birch", input=Decimal(1), output=Decimal(1), quantised=True)
    assert run_cost([usage("a", Tokens(input=1))], price, successes=1, dependable=1).notes == [
        "The price is for a quantised model."
    ]


def test_a_stated_total_is_marked_and_gives_the_published_examples() -> None:
    """$0.131 for a success of GPT-5.4, $7.45 for a dependable task of GPT-6 Astra."""
    gpt = stated_cost(StatedCost(total=Decimal("869.80")), tasks=507, attempts=10_140, successes=6_628, dependable=128)
    astra = stated_cost(
        StatedCost(total=Decimal("1720.60"), source="the invoice"),
        tasks=507,
        attempts=10_140,
        successes=5_913,
        dependable=231,
    )
    assert (gpt.source, gpt.per_run, gpt.notes) == (
        CostSource.STATED,
        Decimal("43.49"),
        ["The total cost is stated, not computed from tokens."],
    )
    assert gpt.per_success is not None
    assert astra.per_dependable_task is not None
    assert (round(gpt.per_success, 3), round(astra.per_dependable_task, 2)) == (Decimal("0.131"), Decimal("7.45"))
    assert astra.notes == ["The total cost is stated, not computed from tokens. Source: the invoice."]


def test_a_stated_total_of_no_attempts_has_no_quotients() -> None:
    cost = stated_cost(StatedCost(total=Decimal(3)), tasks=0, attempts=0, successes=0, dependable=0)
    assert (cost.campaign, cost.per_attempt, cost.per_run) == (Decimal(3), None, None)
    assert set(cost.reasons) == {"per_attempt", "per_run", "per_success", "per_dependable_task"}


def test_a_model_is_found_by_its_name_with_or_without_its_vendor() -> None:
    assert same_model("openai/GPT-5.4", "gpt 5.4")
    assert same_model("gpt_5.4", "OpenAI/gpt-5.4")
    assert not same_model("openai/gpt-5.4", "azure/gpt-5.4")
    assert not same_model("openai/", "azure/")
    assert not same_model("gpt-5.4-mini", "gpt-5.4")


def test_a_price_is_never_chosen_between_several() -> None:
    here, there = (Price(model="birch", provider=name, input=Decimal(1)) for name in ("Here", "There"))
    both, one = PriceList(name="desk", prices=(here, there)), PriceList(name="desk", version=3, prices=(here,))
    assert find_price(both, "birch").reason == (
        "The price list “desk” has several prices of birch (birch at Here, birch at There): name the provider."
    )
    assert find_price(both, "birch", "there").price == there
    assert find_price(one, "birch", "There").price == here
    assert find_price(one, "birch", "There").reason == "The price is of Here, the run of There."
    assert find_price(one, "Birch").reason == ""
    assert find_price(one, "oak").reason == "The price list “desk, version 3” has no price of oak."


def test_the_exact_name_goes_before_the_one_without_its_vendor() -> None:
    exact, other = Price(model="birch", input=Decimal(1)), Price(model="forest/birch", input=Decimal(2))
    assert find_price(PriceList(name="desk", prices=(other, exact)), "birch").price == exact


def point(name: str, cost: str | None, worth: str | None) -> Point:
    return Point(
        name=name,
        cost=None if cost is None else Decimal(cost),
        worth=None if worth is None else Decimal(worth),
    )


def test_two_models_on_the_same_point_are_both_on_the_frontier() -> None:
    found = frontier([point("a", "1", "50"), point("b", "1", "50"), point("c", "2", "50"), point("d", None, "99")])
    assert found == [
        Placed(name="a", on_frontier=True, dominated_by=[], placed=True),
        Placed(name="b", on_frontier=True, dominated_by=[], placed=True),
        Placed(name="c", on_frontier=False, dominated_by=["a", "b"], placed=True),
        Placed(name="d", on_frontier=False, dominated_by=[], placed=False),
    ]


def test_a_single_model_is_the_frontier_and_has_no_step() -> None:
    only = [point("a", "5", "0")]
    assert [placed.on_frontier for placed in frontier(only)] == [True]
    assert steps(only) == [Step(name="a", against=None, cost=None, more=None, reason="no cheaper model")]


def test_one_more_dependable_task_is_priced_along_the_frontier() -> None:
    found = steps(
        [point("dear", "100", "40"), point("cheap", "10", "10"), point("poor", "50", "9"), point("free", None, "3")]
    )
    assert found == [
        Step(name="dear", against="cheap", cost=Decimal(3), more=Decimal(30)),
        Step(name="cheap", against=None, cost=None, more=None, reason="no cheaper model"),
        Step(name="poor", against=None, cost=None, more=None, reason="cheap costs no more and does at least as well"),
        Step(name="free", against=None, cost=None, more=None, reason="not known"),
    ]


@pytest.mark.shared
def test_the_frontiers_worked_by_hand(shared: Path) -> None:
    examples = read_reference(shared, "metric_vectors.json")["pareto"]["examples"]
    assert len(examples) == 11
    for example in examples:
        found = frontier(
            [
                point(
                    each["id"],
                    None if each["cost"] is None else str(each["cost"]),
                    None if each["accuracy"] is None else str(each["accuracy"]),
                )
                for each in example["points"]
            ]
        )
        assert sorted(placed.name for placed in found if placed.on_frontier) == sorted(example["frontier_ties_kept"])
        assert [placed.name for placed in found if not placed.placed] == example["unplotted_missing_value"]


@pytest.mark.shared
def test_every_row_of_the_published_cost_table_to_the_cent(shared: Path) -> None:
    runs = consistent_runs(shared)
    examples = read_reference(shared, "metric_vectors.json")["blog_worked_examples"]
    rows = examples["table_3_rows"]
    assert len(rows) == 9
    costs: dict[str, RunCost] = {}
    worths: dict[str, Decimal] = {}
    for row in rows:
        group = summarise(runs[row["model"]], 20, resamples=0).overall
        assert group.all_k.count == row["tasks_20_of_20"]
        cost = costs[row["model"]] = stated_cost(
            StatedCost(total=Decimal(row["campaign_cost_20_runs"])),
            tasks=group.tasks,
            attempts=group.attempts,
            successes=group.passed,
            dependable=group.all_k.count,
        )
        worths[row["model"]] = Decimal(group.passed)
        assert cost.per_run == Decimal(row["cost_one_507_attempt_run"])
        assert cost.per_dependable_task is not None
        assert cost.per_success is not None
        assert f"{cost.per_dependable_task:.2f}" == row["printed_cost_per_dependable_task"]
        assert f"{cost.per_success:.3f}" == row["computed_cost_per_successful_attempt"]
        assert f"{100 * (group.consistency or 0):.2f}" == row["printed_pct"]
    for printed in examples["printed_cost_per_successful_attempt"]:
        assert f"{costs[printed['model']].per_success or 0:.3f}" == printed["printed"]
    found = frontier([Point(name=name, cost=cost.per_success, worth=worths[name]) for name, cost in costs.items()])
    assert {placed.name for placed in found if placed.on_frontier} == {"GPT-5.6 Sol", "GPT-5.4", "Claude Opus 5.5"}
    assert {placed.name: placed.dominated_by for placed in found}["Claude Opus 5"] == ["Claude Opus 5.5"]


amounts = st.integers(0, 50).map(Decimal)
points = st.lists(st.tuples(amounts, amounts), min_size=1, max_size=12)


@given(points)
def test_a_point_is_on_the_frontier_or_dominated_by_one_that_is(values: list[tuple[Decimal, Decimal]]) -> None:
    found = frontier([Point(name=str(at), cost=cost, worth=worth) for at, (cost, worth) in enumerate(values)])
    on = {placed.name for placed in found if placed.on_frontier}
    assert on
    for placed in found:
        assert placed.on_frontier != bool(placed.dominated_by)
        assert set(placed.dominated_by) <= on


counts = st.integers(0, 10**6)


@given(counts, counts, counts)
def test_a_dearer_price_of_everything_costs_more_and_no_token_is_lost(fresh: int, cached: int, output: int) -> None:
    tokens = Tokens(input=fresh + cached, cached=cached, output=output)
    one = Price(model="birch", input=Decimal(1), output=Decimal(1))
    assert attempt_cost(tokens, one, UsageStyle.CACHED_IN_INPUT) == Decimal(fresh + cached + output) / 1_000_000
