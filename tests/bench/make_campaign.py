"""Fills a database for the budgets: `uv run python -m tests.bench.make_campaign [--models N] [--repetitions K]`.

`--full FILE` writes the rows of one model's campaign instead, 10,140 with their states, as a result file.

Summary mode: tallies and attempts without traces of 18 models × 507 tasks × 20 repetitions (182,520 attempts), their
price list, and a leaderboard of all of them. The counts are those constructed for the published results where the
reference data lies beside the project; else others are made, from a seed. Tokens and prices are invented.

The database is the one of the settings: TWENTYFOLD_DATA_DIR, or DATABASE_URL for PostgreSQL. It must have no run.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import time
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from runs.access import EVERYTHING
from tests.bench.make_bundle import make_bundle

if TYPE_CHECKING:
    from runs.models import Leaderboard, Run, Task

COUNTS = Path(__file__).resolve().parents[3] / "shared" / "reference" / "consistent_counts.json"
BENCHMARK = "ThinkingBox-Bench v1.0"
BOARD = "Campaign"
ERRORS = {"o3-pro": 636}
_BATCH = 5000


class Model(NamedTuple):
    name: str
    counts: dict[str, int]
    """Task → successes, of 20."""
    errors: int
    """System errors among the attempts that did not pass."""


def models(count: int) -> list[Model]:
    """The first `count` of the reference, or constructed ones where it is not there."""
    if not COUNTS.exists():
        return [_constructed(number) for number in range(count)]
    reference = json.loads(COUNTS.read_text(encoding="utf-8"))
    uids = {domain["key"]: domain["uids"] for domain in reference["domains"]}
    return [
        Model(
            name=model["model"],
            counts={
                uid: passed
                for key, counts in model["counts"].items()
                for uid, passed in zip(uids[key], counts, strict=True)
            },
            errors=ERRORS.get(model["model"], 0),
        )
        for model in reference["models"][:count]
    ]


def _constructed(number: int) -> Model:
    """Like the published ones: many tasks always or never, from two thirds down to a twentieth."""
    from runs.benchmarks import THINKINGBOX_BENCH  # noqa: PLC0415 (Django has to be set up first)

    draw = random.Random(number)
    rate = 0.67 - number * 0.036
    counts = {uid: round(20 * draw.betavariate(rate, 1 - rate)) for uid in sorted(THINKINGBOX_BENCH.uids)}
    return Model(f"model-{number:02}", counts, 0)


def make(count: int, repetitions: int) -> Leaderboard:
    """Stores the campaign and returns its leaderboard."""
    from runs.boards.edit import BoardChanges, create_board  # noqa: PLC0415
    from runs.costs import Price  # noqa: PLC0415
    from runs.models import Benchmark, Run, Task  # noqa: PLC0415
    from runs.prices import PricingChoice, create_list, price_run  # noqa: PLC0415
    from runs.published import THINKINGBOX_BENCH_RESULTS  # noqa: PLC0415

    if Run.objects.exists():
        raise SystemExit("The database has runs already. Name an empty one (TWENTYFOLD_DATA_DIR or DATABASE_URL).")
    made = models(count)
    benchmark, _ = Benchmark.objects.get_or_create(name=BENCHMARK)
    labels = _labels()
    Task.objects.bulk_create(
        [Task(benchmark=benchmark, uid=uid, domain=labels.get(uid, "")) for uid in sorted(made[0].counts)]
    )
    tasks = {task.uid: task for task in Task.objects.filter(benchmark=benchmark)}
    prices = create_list(
        "Campaign prices",
        [
            Price(model=model.name, input=Decimal(1) + number, cached=Decimal("0.1"), output=Decimal(4) + number)
            for number, model in enumerate(made)
        ],
    )
    weights = {model.name: model.weights.value for model in THINKINGBOX_BENCH_RESULTS.models}
    slugs = []
    for number, model in enumerate(made):
        run = Run.objects.create(
            slug=f"campaign-{number:02}",
            benchmark=benchmark,
            model=model.name,
            weights=weights.get(model.name, "open" if number % 3 else "proprietary"),
            repetitions=repetitions,
            repetitions_inferred=False,
        )
        _store(run, model, tasks, repetitions)
        price_run(run, PricingChoice(price_list=prices.pk))
        slugs.append(run.slug)
    published = tuple(model.name for model in THINKINGBOX_BENCH_RESULTS.models)
    return create_board(BoardChanges(title=BOARD, runs=tuple(slugs), published=published), access=EVERYTHING)


def _labels() -> dict[str, str]:
    """Task → the label of its domain."""
    if not COUNTS.exists():
        return {}
    from runs.published import THINKINGBOX_BENCH_RESULTS  # noqa: PLC0415

    names = {domain.key: domain.label for domain in THINKINGBOX_BENCH_RESULTS.domains}
    domains = json.loads(COUNTS.read_text(encoding="utf-8"))["domains"]
    return {uid: names[domain["key"]] for domain in domains for uid in domain["uids"]}


def _store(run: Run, model: Model, tasks: dict[str, Task], repetitions: int) -> None:
    from runs.models import Attempt, TaskTally  # noqa: PLC0415

    tallies: list[TaskTally] = []
    attempts: list[Attempt] = []
    errors = iter(range(model.errors))
    for uid, verdicts in _verdicts(model, repetitions, errors):
        tokens = [_tokens(uid, repetition) for repetition in range(repetitions)]
        tallies.append(
            TaskTally(
                run=run,
                task=tasks[uid],
                recorded=repetitions,
                passed=verdicts.count("p"),
                failed=verdicts.count("f"),
                errors=verdicts.count("e"),
                verdicts=verdicts,
                differences=2 * verdicts.count("f"),
                with_states=repetitions,
                tool_calls=9 * repetitions,
                with_usage=repetitions,
                input_tokens=sum(total for total, _, _ in tokens),
                cached_tokens=sum(cached for _, cached, _ in tokens),
                output_tokens=sum(output for _, _, output in tokens),
                duration=41.5 * repetitions,
            )
        )
        attempts += [
            Attempt(
                run=run,
                task=tasks[uid],
                repetition=repetition,
                verdict={"p": "passed", "f": "failed", "e": "error"}[letter],
                reason="system" if letter == "e" else "",
                finish_reason="done",
                state_source="recorded",
                differences=2 if letter == "f" else 0,
                steps=24,
                tool_calls=9,
                write_calls=2,
                model_calls=8,
                input_tokens=tokens[repetition][0],
                cached_tokens=tokens[repetition][1],
                output_tokens=tokens[repetition][2],
                duration=41.5,
                digest=hashlib.sha256(f"{run.slug}/{uid}/{repetition}".encode()).hexdigest(),
                line=len(attempts) + repetition + 1,
            )
            for repetition, letter in enumerate(verdicts)
        ]
    TaskTally.objects.bulk_create(tallies)
    Attempt.objects.bulk_create(attempts, batch_size=_BATCH)


def _verdicts(model: Model, repetitions: int, errors: Iterator[int]) -> Iterator[tuple[str, str]]:
    """Task → one letter a repetition, in an order that hangs on the task and the model alone."""
    for uid, passed in model.counts.items():
        of = min(repetitions, passed * repetitions // 20)
        letters = ["p"] * of + ["e" if next(errors, None) is not None else "f" for _ in range(repetitions - of)]
        random.Random(f"{model.name}/{uid}").shuffle(letters)
        yield uid, "".join(letters)


def _tokens(uid: str, repetition: int) -> tuple[int, int, int]:
    """Input, the cached part of it, output."""
    draw = random.Random(f"{uid}/{repetition}")
    total = draw.randrange(60_000, 180_000)
    return total, total * 9 // 10, draw.randrange(900, 3_000)


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "inspector.settings")
    import django  # noqa: PLC0415

    django.setup()
    from django.core.management import call_command  # noqa: PLC0415

    parser = argparse.ArgumentParser(description="Fills an empty database with a campaign in summary mode.")
    parser.add_argument("--models", type=int, default=18)
    parser.add_argument("--repetitions", type=int, default=20)
    parser.add_argument("--full", type=Path, metavar="FILE")
    options = parser.parse_args()
    if options.full:
        make_bundle(options.full, len(models(1)[0].counts) * options.repetitions)
        return
    call_command("migrate", verbosity=0)
    begun = time.monotonic()
    board = make(options.models, options.repetitions)
    print(f"Made in {time.monotonic() - begun:.0f} s: {board.get_absolute_url()}")


if __name__ == "__main__":
    main()
