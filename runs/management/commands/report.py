"""Prints the figures of a run, or of two and their comparison."""

from __future__ import annotations

import argparse
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from runs.access import EVERYTHING
from runs.costs import PriceList, StatedCost, find_price
from runs.errors import RunsError
from runs.management.foreground import ensure_database
from runs.metrics import ErrorRule
from runs.models import Run
from runs.prices import choice_of, pricing_of
from runs.pricing import PriceFileError, read_prices
from runs.queries.report import run_input
from runs.reporting import PriceChoice, build_pair, build_report, encode_report, pair_text, report_text
from runs.targets import run_named


class Command(BaseCommand):
    help = (
        "Report a run's figures: pass@1, pass@k, pass^k, all k of k, intervals, tokens and costs; or compare two runs."
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("runs", nargs="+", metavar="RUN", help="one run, or the baseline and the candidate")
        parser.add_argument("--json", action="store_true", help="answer with one JSON object")
        parser.add_argument(
            "--errors",
            choices=[rule.value for rule in ErrorRule],
            default=ErrorRule.AS_FAILED.value,
            help="whether pass@1 counts system errors as failed (the default), or leaves them out",
        )
        parser.add_argument(
            "--prices",
            type=Path,
            metavar="FILE",
            help="price by this list (CSV, YAML or the OpenRouter models JSON) instead of what the run is priced by",
        )
        parser.add_argument(
            "--stated-cost", type=_amount, metavar="TOTAL", help="take this as the cost of all recorded attempts"
        )
        parser.add_argument("--currency", default="USD", help="of the stated cost (USD)")

    def handle(self, *args: Any, **options: Any) -> None:
        if len(options["runs"]) > 2:
            raise CommandError("Name one run, or two to compare: the baseline first, then the candidate.")
        if options["stated_cost"] is not None and len(options["runs"]) > 1:
            raise CommandError("A stated cost belongs to one run. Report the two runs one after the other.")
        ensure_database()
        try:
            runs = [run_named(slug, access=EVERYTHING) for slug in options["runs"]]
            prices = _price_list(options["prices"])
        except RunsError as error:
            raise CommandError(str(error)) from error
        rule = ErrorRule(options["errors"])
        inputs = [run_input(run) for run in runs]
        reports = [
            build_report(given, error_rule=rule, choice=_choice(run, prices, options))
            for run, given in zip(runs, inputs, strict=True)
        ]
        report, lines = reports[0], report_text(reports[0])
        if len(reports) == 2:
            pair = build_pair(inputs[0], inputs[1], reports[0], reports[1])
            report, lines = pair, pair_text(pair)
        if options["json"]:
            self.stdout.write(encode_report(report))
            return
        for line in lines:
            self.stdout.write(line)


def _amount(text: str) -> Decimal:
    try:
        amount = Decimal(text)
    except InvalidOperation:
        raise argparse.ArgumentTypeError(f"{text!r} is no amount. Write it with a point, as in 869.80.") from None
    if not amount.is_finite() or amount < 0:
        raise argparse.ArgumentTypeError(f"{text!r} is no amount that a run can cost.")
    return amount


def _price_list(path: Path | None) -> PriceList | None:
    """The list in a file, under the file's name. Raises `RunsError` where it cannot be read, or holds no price."""
    if path is None:
        return None
    try:
        found = read_prices(path.read_bytes())
    except OSError as error:
        raise PriceFileError(f"{path}: the price list cannot be read ({error.strerror}).") from error
    if not found.prices:
        first = f" {found.problems[0].place}: {found.problems[0].reason}" if found.problems else ""
        raise PriceFileError(f"{path}: the price list holds no price.{first}")
    return PriceList(name=path.name, prices=tuple(found.prices))


def _choice(run: Run, prices: PriceList | None, options: dict[str, Any]) -> PriceChoice:
    """What was asked for on the command line goes before what is stored about the run."""
    if options["stated_cost"] is not None:
        return PriceChoice(stated=StatedCost(total=options["stated_cost"], currency=options["currency"]))
    if prices is None:
        own = pricing_of(run)
        return PriceChoice(price=own.price, price_list=own.price_list, reason=own.reason, stated=own.stated)
    chosen = choice_of(run)
    found = find_price(prices, chosen.model or run.model, chosen.provider or run.provider)
    return PriceChoice(price=found.price, price_list=prices.label, reason=found.reason)
