"""`/api/v1/metrics`."""

from __future__ import annotations

from runs.metrics.definitions import DEFINITIONS
from tests.inspector.api.conftest import Get


def test_each_figure_has_one_definition(get: Get, db: None) -> None:
    names = [each.name for each in DEFINITIONS]
    assert len(set(names)) == len(names)
    assert [each["name"] for each in get("/metrics")["items"]] == names
    assert get("/metrics/PASS@1")["name"] == "pass_at_1"
    assert "consistency" in get("/metrics/nope", 404)["detail"]
