from __future__ import annotations

from typing import Any

import pytest
from msgspec import UNSET

from runs.attribution import attribute, observed_tools
from runs.records import Effect, EffectKind, Step, StepKind, Write
from runs.writing_tools import changes_state
from tests.runs.evidence import call


def effect(
    table: str, key: str, field: str | None, before: Any, after: Any, required: Any = UNSET, **facts: Any
) -> Effect:
    kind = facts.pop("kind", EffectKind.WRONG)
    return Effect(
        kind=kind, server="s", table=table, key=key, field=field, before=before, after=after, required=required, **facts
    )


def writes(one: Effect, *steps: Step) -> list[tuple[int, Any]]:
    """The writes of one effect when all steps call state-changing tools, as (step, value)."""
    (found,) = attribute([one], steps, write_steps=[step.index for step in steps])
    return [(write.step, write.value) for write in found.writes]


def update(index: int, status: str | None, *, table: str = "tickets", key: Any = "20", **fields: Any) -> Step:
    """A call like those of the ticket desk, which answers with the whole record."""
    item = {"status": status, **fields}
    record = {"id": str(key), "status": status or "solved", "updated_at": "13:00", **fields}
    return call(index, "zendesk_update_item", {"table": table, "id": key, "item": item}, {"item": record})


STATUS = effect("zendesk_tickets", "20", "status", "solved", "solved", "hold", kind=EffectKind.MISSING)


def test_every_write_is_listed_last_first_also_where_the_old_value_came_back() -> None:
    (found,) = attribute([STATUS], [update(15, "open"), update(17, "solved")], write_steps={15, 17})
    assert found.writes == [Write(step=17, value="solved"), Write(step=15, value="open")]
    assert found.steps == [17, 15]
    assert found.touched


def test_a_missing_change_that_nobody_tried_is_not_touched() -> None:
    look = call(3, "zendesk_get_items", {"table": "tickets"}, {"items": [{"id": "20", "status": "solved"}]})
    (found,) = attribute([STATUS], [look], write_steps=())
    assert (found.writes, found.touched) == ([], False)


def test_a_failed_call_wrote_nothing() -> None:
    failed = call(4, "zendesk_update_item", {"table": "tickets", "id": "20", "item": {"status": "hold"}}, error="no")
    assert writes(STATUS, failed) == []


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ("zendesk_tickets", [(1, "open")]),
        ("tickets", [(1, "open")]),
        ("zendesk_users", []),
        ("zendesk_organizations", []),
    ],
)
def test_the_same_key_in_another_table_is_another_record(table: str, expected: list[Any]) -> None:
    assert writes(effect(table, "20", "status", "solved", "open"), update(1, "open")) == expected


def test_numbers_and_texts_are_one_key() -> None:
    assert writes(STATUS, update(1, "open", key=20)) == [(1, "open")]


@pytest.mark.parametrize(
    ("table", "arguments", "expected"),
    [
        ("desk_tickets", {"ticket_id": 20, "status": "open"}, [(1, "open")]),
        ("desk_categories", {"category_id": 20, "status": "open"}, [(1, "open")]),
        ("desk_tickets", {"requester_id": 20, "status": "open"}, []),
        ("desk_tickets", {"ticket_id": True, "status": "open"}, []),
        ("desk_tickets", {"quantity": 20, "status": "open"}, []),
        ("orders", {"order_id": "ORD-10000020", "status": "open"}, []),
    ],
)
def test_a_short_key_needs_a_name_that_says_its_table(table: str, arguments: Any, expected: list[Any]) -> None:
    assert writes(effect(table, "20", "status", "new", "open"), call(1, "update", arguments)) == expected


def test_a_short_key_is_known_by_the_name_of_the_tool_or_object() -> None:
    by_tool = call(1, "close_ticket", {"id": "20", "status": "closed"})
    by_object = call(2, "save", {"ticket": {"id": "20", "status": "closed"}})
    neither = call(3, "save", {"id": "20", "status": "closed"})
    assert writes(effect("tickets", "20", "status", "new", "closed"), by_tool, by_object, neither) == [
        (2, "closed"),
        (1, "closed"),
    ]


def test_a_field_that_only_the_response_shows_was_written_when_its_value_is_new() -> None:
    at = effect("zendesk_tickets", "20", "updated_at", "9:00", "13:00", "13:00", kind=EffectKind.CORRECT)
    assert writes(at, update(1, "open"), update(2, "hold")) == [(1, "13:00")]


def test_null_arguments_leave_a_field_as_it_is() -> None:
    assert writes(STATUS, update(1, None)) == []
    cleared = effect("zendesk_tickets", "20", "due_at", "tomorrow", None)
    assert writes(cleared, update(1, "open", due_at=None)) == [(1, None)]


def test_the_response_tells_what_was_really_written() -> None:
    one = call(
        1,
        "modify_booking",
        {"booking_reference": "BKG-1522", "amount": 340},
        {"booking": {"id": "BKG-1522", "amount": "340.00"}},
    )
    assert writes(effect("bookings", "BKG-1522", "amount", "300.00", "340.00"), one) == [(1, "340.00")]


def test_a_call_that_makes_another_record_does_not_write_the_one_it_names() -> None:
    made = call(
        1, "create_rma", {"order_id": "ORD-1000", "reason": "broken"}, {"rma_id": "RMA-2000", "status": "approved"}
    )
    order = effect("orders", "ORD-1000", "reason", None, None, "late", kind=EffectKind.MISSING)
    status = effect("orders", "ORD-1000", "status", "open", "open", "approved", kind=EffectKind.MISSING)
    assert (writes(order, made), writes(status, made)) == ([], [])
    record = effect(
        "rma_records", "RMA-2000", None, UNSET, {"id": "RMA-2000", "reason": "broken", "status": "approved"}
    )
    assert writes(record, made) == [(1, {"reason": "broken", "status": "approved"})]


def test_a_response_without_an_id_is_about_the_record_that_the_arguments_name() -> None:
    cancel = call(1, "cancel_installation", {"job_id": "JOB-1000"}, {"status": "cancelled", "refunded": 129.0})
    assert writes(effect("jobs", "JOB-1000", "status", "open", "cancelled"), cancel) == [(1, "cancelled")]


@pytest.mark.parametrize(
    ("field", "arguments", "value"),
    [
        ("due_date", {"new_due_date": "2025-10-11"}, "2025-10-11"),
        ("current_due_date", {"new_due_date": "2025-10-11"}, "2025-10-11"),
        ("amount", {"charge_amount": "77.50"}, "77.50"),
        ("amount", {"charge_amount": "77.50", "old_amount": "1"}, UNSET),
    ],
)
def test_arguments_that_name_a_field_otherwise(field: str, arguments: dict[str, Any], value: Any) -> None:
    one = call(1, "charge", {"account_id": "ACC-1000", **arguments}, {"success": True})
    assert writes(effect("accounts", "ACC-1000", field, None, "77.50"), one) == [(1, value)]


def test_a_change_that_nothing_shows_is_the_call_s_that_carries_the_record() -> None:
    signed = call(1, "nda_api", {"action": "send", "client_id": "CLT-8472951", "email": "d@msg.com"}, {"success": True})
    other = call(2, "nda_api", {"action": "send", "client_id": "CLT-8472951", "email": "e@msg.com"}, {"success": True})
    key = "d@msg.com:CLT-8472951"
    assert writes(effect("nda_record", key, "status", "not_signed", "sent"), signed, other) == [(1, UNSET)]
    assert writes(effect("nda_record", key, "status", "sent", "sent", "x", kind=EffectKind.MISSING), signed) == []


def test_a_created_record_whose_key_no_call_shows_is_found_by_its_content() -> None:
    record = {"id": "LOG-9", "folder_id": "F-100", "employee_email": "d@msg.com", "level": "viewer"}
    other = call(1, "box_api", {"folder_id": "F-200", "email": "x@msg.com", "level": "viewer"}, {"success": True})
    grant = call(2, "box_api", {"folder_id": "F-100", "email": "d@msg.com", "level": "viewer"}, {"success": True})
    again = call(3, "box_api", {"folder_id": "F-100", "email": "d@msg.com", "level": "viewer"}, {"success": True})
    assert writes(effect("access_logs", "LOG-9", None, UNSET, record), other, grant, again) == [(2, UNSET)]
    assert writes(effect("access_logs", "LOG-9", None, UNSET, {"id": "LOG-9", "level": "viewer"}), grant) == []
    assert writes(effect("access_logs", "LOG-9", None, UNSET, UNSET, record, kind=EffectKind.MISSING), grant) == []


def test_a_record_that_was_paired_is_known_by_its_key_after() -> None:
    made = call(1, "create_ticket", {"text": "refund"}, {"ticket": {"id": "8", "text": "refund"}})
    one = effect("tickets", "7", "text", UNSET, "refund", "return", created=True, after_key="8")
    assert writes(one, made) == [(1, "refund")]


def test_reported_differences_have_no_key_to_match() -> None:
    one = effect("zendesk_tickets", "[2]", "status", UNSET, "solved", "hold", kind=EffectKind.REPORTED)
    assert attribute([one], [update(1, "open")], write_steps=[1]) == [one]


@pytest.mark.parametrize(
    "step",
    [
        call(1, "t", "broken {", "{broken"),
        call(1, "t", ["20"], "[" * 5000),
        call(1, "t", {"a": {"b": [[[{"id": 10**5000}]]]}}, '{"id": 1e400}'),
        call(1, "t", None, "\ud800"),
        call(1, "t", UNSET),
    ],
)
def test_odd_calls_write_nothing(step: Step) -> None:
    assert writes(STATUS, step) == []


def step(name: str, arguments: Any = UNSET) -> Step:
    return call(1, name, arguments)


LISTED = {"write": None, "many": {"save", "drop"}}


@pytest.mark.parametrize(
    ("one", "facts", "answer"),
    [
        (step("write"), {"listed": LISTED}, True),
        (step("read"), {"listed": LISTED, "annotations": {"read": False}, "observed": {"read"}}, False),
        (step("many", {"action": "save"}), {"listed": LISTED}, True),
        (step("many", {"action": "show"}), {"listed": LISTED}, False),
        (step("many", {"action": ["save"]}), {"listed": LISTED}, False),
        (step("many", "broken"), {"listed": LISTED}, False),
        (step("write"), {"listed": LISTED, "overrides": {"write": False}}, False),
        (step("read"), {"listed": LISTED, "overrides": {"read": True}}, True),
        (step("a"), {"annotations": {"a": False}}, True),
        (step("a"), {"annotations": {"a": True}, "observed": {"a"}}, False),
        (step("a"), {"annotations": {"a": None}, "observed": {"a"}}, True),
        (step("a"), {"observed": {"b"}}, False),
        (Step(index=1, kind=StepKind.MESSAGE, role="user", content="write"), {"listed": LISTED}, False),
        (Step(index=1, kind=StepKind.RESPONSE, role="tool", name="write"), {"listed": LISTED}, False),
    ],
)
def test_which_calls_change_state(one: Step, facts: dict[str, Any], answer: bool) -> None:
    assert changes_state(one, **facts) is answer


ORDER = {"id": "ORD-1000", "sku": "SKU-7", "customer_id": "CUS-9", "state": "sent"}


def test_tools_that_were_seen_to_write() -> None:
    changed = [
        effect("tickets", "20", "status", "new", "open"),
        effect("orders", "ORD-1000", None, UNSET, ORDER),
        effect("tickets", "21", "status", "new", "new", "open", kind=EffectKind.MISSING),
    ]
    steps = [
        call(1, "get_ticket", {"ticket_id": "20"}, {"ticket": {"id": "20", "status": "new"}}),
        call(2, "set_status", {"ticket_id": "20", "status": "open"}, {"success": True}),
        call(3, "place_order", {"sku": "SKU-7"}, {"order_id": "ORD-1000"}),
        call(4, "find_orders", {"customer_id": "CUS-9"}, {"items": [{"id": "ORD-1000", "customer_id": "CUS-9"}]}),
        call(5, "failing", {"ticket_id": "20", "status": "open"}, {"error": "no"}, error="no"),
        call(6, "unchanged", {"ticket_id": "21", "status": "new"}),
        call(7, "list_open", {"status": "open"}, {"tickets": [{"id": "20", "status": "open"}]}),
        call(8, "get_order", {"order_id": "ORD-1000", "customer_id": "CUS-9"}, {"id": "ORD-1000", "state": "sent"}),
        call(9, "ship_order", {"order_id": "ORD-1000", "state": "sent"}, {"success": True}),
    ]
    assert observed_tools(changed, steps) == {"set_status", "place_order", "ship_order"}
    assert observed_tools([], steps) == frozenset()


LINE_ITEM = effect("oms_models_order_line_items", "LIN-20000001", "quantity", UNSET, 11, 1, created=True)


def replacement(index: int, quantity: int) -> Step:
    arguments = {"sku": "WATCH-7723", "quantity": quantity}
    return call(index, "create_replacement_order", arguments, {"replacement_order_id": f"ORD-{index}"})


def test_a_field_of_a_created_record_that_no_call_names_is_found_by_its_name_and_value() -> None:
    assert writes(LINE_ITEM, replacement(15, 11)) == [(15, 11)]
    assert writes(LINE_ITEM, replacement(15, 11), replacement(17, 1)) == [(15, 11)]


def test_where_several_calls_give_the_value_none_is_named() -> None:
    assert writes(LINE_ITEM, replacement(15, 11), replacement(17, 11)) == []
    assert writes(LINE_ITEM, replacement(15, 1)) == []


def test_a_field_of_a_record_that_was_there_before_is_not_found_by_its_value_alone() -> None:
    stock = effect("oms_models_stock", "LIN-20000001", "quantity", 3, 11, 3, kind=EffectKind.EXTRA)
    assert writes(stock, replacement(15, 11)) == []
