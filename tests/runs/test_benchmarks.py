"""The facts of ThinkingBox-Bench that the product ships."""

from __future__ import annotations

from runs.benchmarks import THINKINGBOX_BENCH, domain_label, is_bench_uid


def test_the_benchmark_has_507_tasks_in_five_domains() -> None:
    bench = THINKINGBOX_BENCH
    assert (bench.name, bench.repetitions, len(bench.uids)) == ("ThinkingBox-Bench v1.0", 20, 507)
    assert sorted(bench.labels.values()) == ["Auto insurance", "Consulting", "Neobank", "Retail", "Travel"]
    assert bench.labels.keys() == bench.write_tools.keys() == bench.write_actions.keys()


def test_write_tools_and_write_actions_are_by_scenario() -> None:
    bench = THINKINGBOX_BENCH
    assert "zendesk_update_item" in bench.write_tools["sandbox_external_retail"]
    assert "zendesk_get_items" not in bench.write_tools["sandbox_external_retail"]
    assert bench.write_actions["sandbox_consulting"]["degreed_api"] == frozenset({"enroll_employee"})
    assert bench.write_actions["sandbox_external_retail"] == {}


def test_labels_and_membership() -> None:
    assert (domain_label("external_booking_v1"), domain_label("rental_desk")) == ("Travel", "rental_desk")
    assert is_bench_uid("sandbox_external_retail_group1.py:test_case_ST002_001")
    assert not is_bench_uid("rental_desk_group1.py:test_return_001")
