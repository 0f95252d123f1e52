"""The figures of a run as one JSON object for programs, of two runs with their comparison, and both as text."""

from __future__ import annotations

import msgspec

from runs.reporting.pair import ComparisonReport, PairReport, build_pair
from runs.reporting.run import PriceChoice, RunInput, RunReport, build_cost, build_report
from runs.reporting.text import pair_text, report_text

__all__ = [
    "ComparisonReport", "PairReport", "PriceChoice", "RunInput", "RunReport", "build_cost", "build_pair",
    "build_report", "encode_report", "pair_text", "report_text",
]  # fmt: skip

_encoder = msgspec.json.Encoder(decimal_format="number")


def encode_report(report: RunReport) -> str:
    """One JSON object on one line. Amounts are numbers with all their digits."""
    return _encoder.encode(report).decode()
