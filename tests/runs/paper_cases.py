"""The study's four examples, one failed attempt for each published signature, rebuilt as small records.

Facts only: the calls, the decisive arguments and responses, and the rows that matter; the texts are invented.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from runs.records import AttemptRecord, ServerStates, Step, StepKind, TestResult, Verdict
from tests.runs.evidence import call, state, states

__all__ = ["CASES", "attempt", "say", "user"]

CREATED, UPDATED = "2025-10-01T13:00:05Z", "2025-10-01T13:00:10Z"
TICKETS, ACCESS, BILLING = (
    "zendesk_tickets", "sandbox_neobank_support_main_models_okta_app_access", "billing_billing_accounts",
)  # fmt: skip


def say(index: int, text: str | None, **facts: Any) -> Step:
    return Step(index=index, kind=StepKind.MESSAGE, role="assistant", content=text, **facts)


def user(index: int, text: str) -> Step:
    return Step(index=index, kind=StepKind.MESSAGE, role="user", content=text)


def attempt(*steps: Step, **facts: Any) -> AttemptRecord:
    """A failed attempt that ended by itself."""
    named = {"uid": "f.py:test", "repetition": 0, "verdict": Verdict.FAILED, "finish_reason": "done", **facts}
    return AttemptRecord(steps=list(steps), **named)


def _batch(number: int, *steps: Step) -> list[Step]:
    return [msgspec.structs.replace(step, batch=number) for step in steps]


def _rows(tables: Mapping[str, list[dict[str, Any]]]) -> Any:
    return state(**tables)


def _states(before: Any, after: Any, required: Any, diff: list[dict[str, Any]] | None = None) -> ServerStates:
    return states(_rows(before), _rows(after), _rows(required), after_hash="a" * 64, required_hash="b" * 64, diff=diff)


def _case(uid: str, scenario: str, steps: list[Step], servers: ServerStates) -> AttemptRecord:
    test = TestResult(
        passed=False, reward=0.0, traceback="AssertionError: Database hash does not match", line_content="assert False"
    )
    return attempt(*steps, uid=uid, scenario=scenario, servers={scenario: servers}, test=test)


def _differs(path: str, result: Any, golden: Any) -> dict[str, Any]:
    return {"path": path, "type": "value mismatch", "result": result, "golden": golden}


def tool_usage() -> AttemptRecord:
    who = {"email": "daniel.wright@vdb.com"}
    steps = [
        call(1, "knowledge_base_search_policy", {"query": "admin access", "max_results": 5}, {"snippets": ["A rule."]}),
        say(2, "Which level do you need, and why?"),
        user(3, "daniel.wright@vdb.com, I am the new lead and can only read."),
        call(4, "workday_api_get_employee", who, {"employee_id": "WD-415397", "level": 4}),
        call(5, "okta_api_check_access", {**who, "app": "Admin Panel"}, {"has_access": True, "level": "read_only"}),
        call(
            6,
            "okta_api_provision_access",
            {**who, "app": "Admin Panel", "access_level": "write non-PII only"},
            {"error": "Tool execution failed: the employee already has access", "tool": "okta_api_provision_access"},
            error="Tool execution failed: the employee already has access",
        ),
        say(7, "Your access was updated to the level that you asked for. <DONE>"),
    ]
    old = {"id": "OAA-41539712", "employee_id": "WD-415397", "application_name": "Admin Panel", "is_active": True}
    new = {"id": "OAA-00000013", "employee_id": "WD-415397", "application_name": "Admin Panel", "is_active": True}
    ticket = {"id": "6", "status": "solved", "type": "problem", "owner": "it_support"}
    before = {ACCESS: [old], TICKETS: [{"id": "5", "status": "open"}]}
    required = {ACCESS: [{**old, "is_active": False}, new], TICKETS: [{"id": "5", "status": "open"}, ticket]}
    scenario = "sandbox_neobank_support_v1"
    return _case(f"{scenario}_group1.py:test_sa_003", scenario, steps, _states(before, before, required))


def no_state_changing_action() -> AttemptRecord:
    ticket = {"id": "20001", "status": "open", "updated_at": "2025-09-27T16:45:00Z"}
    steps = [
        say(1, "What is your email address?"),
        user(2, "I do not know it."),
        say(3, "Then your name, or a number of a ticket or an order?"),
        user(4, "ORD-20000001"),
        call(5, "get_order", {"order_id": "ORD-20000001"}, {"customer_id": "CUS-20000001", "status": "delivered"}),
        call(6, "get_customer_profile", {"customer_id": "CUS-20000001"}, {"email": "s@example.com", "plus": True}),
        *_batch(
            1,
            call(7, "zendesk_get_items", {"table": "users", "$filter": "email eq 's'"}, {"items": [{"id": "20001"}]}),
            call(8, "zendesk_get_items", {"table": "tickets", "$filter": "requester_id eq 's'"}, {"items": []}),
        ),
        call(9, "zendesk_get_items", {"table": "tickets", "$filter": "requester_id eq '20001'"}, {"items": [ticket]}),
        say(10, "Your ticket is open. Can I do more for you?"),
        user(11, "No, that is all."),
        say(12, "Have a good day. <DONE>"),
    ]
    before = {TICKETS: [ticket]}
    required = {TICKETS: [{**ticket, "status": "hold", "updated_at": UPDATED}]}
    diff = [
        _differs(f"{TICKETS}[0].status", "open", "hold"),
        _differs(f"{TICKETS}[0].updated_at", ticket["updated_at"], UPDATED),
    ]
    uid = "sandbox_external_retail_group1.py:test_case_ST004_008"
    return _case(uid, "sandbox_external_retail", steps, _states(before, before, required, diff))


def incomplete_user_resolution() -> AttemptRecord:
    old = {"id": "20", "status": "solved", "updated_at": "2025-09-25T16:30:00Z"}
    new = {"id": "7", "status": "solved", "requester_id": "10", "updated_at": UPDATED}
    steps = [
        say(1, "What is your order number?"),
        user(2, "ORD-10000020, sarah@example.com"),
        *_batch(
            1,
            call(3, "get_order", {"order_id": "ORD-10000020"}, {"total": 745, "status": "shipped"}),
            call(4, "get_shipment_tracking", {"tracking_number": "TRK-1"}, {"status": "exception"}),
            call(5, "get_customer_profile", {"email": "sarah@example.com"}, {"segment": "bonus_hunter"}),
        ),
        *_batch(
            2,
            call(6, "search_policy", {"query": "lost parcel"}, {"snippets": ["A rule."]}),
            call(7, "zendesk_get_items", {"table": "users"}, {"items": [{"id": "10"}]}),
            call(8, "zendesk_get_items", {"table": "tickets", "$filter": "email"}, {"items": []}),
        ),
        say(9, "No compensation is due. I will open a ticket."),
        call(
            10,
            "zendesk_create_item",
            {"table": "tickets", "item": {"status": "open", "requester_id": "10"}},
            {"item": {**new, "status": "open", "updated_at": CREATED}},
        ),
        call(11, "search_policy", {"query": "prolonged exception", "max_results": 3}, {"snippets": ["A rule."]}),
        say(12, "Here is where your parcel is. Would you rather have a refund or"),
        call(13, "zendesk_update_item", {"table": "tickets", "id": "7", "item": {"status": "solved"}}, {"item": new}),
        say(14, "a new one? <DONE>"),
    ]
    before = {TICKETS: [old]}
    required = {TICKETS: [{**old, "status": "hold", "updated_at": UPDATED}]}
    diff = [
        {"path": TICKETS, "type": "length mismatch", "result": 2, "golden": 1},
        _differs(f"{TICKETS}[0].status", "solved", "hold"),
        _differs(f"{TICKETS}[0].updated_at", old["updated_at"], UPDATED),
        {"path": f"{TICKETS}[1]", "type": "present in result (missing in golden)"},
    ]
    uid = "sandbox_external_retail_group1.py:test_case_ST003_006"
    return _case(uid, "sandbox_external_retail", steps, _states(before, {TICKETS: [old, new]}, required, diff))


def wrong_state_update(outcome: str = "Declined") -> AttemptRecord:
    policy = {"policy_id": "POL-3847291582"}
    account = {
        "id": "BILL-847291582", "arrangements_12_months": 2, "arrangement_type": "None",
        "current_due_date": "2025-09-24", "new_due_date": None,
    }  # fmt: skip
    granted = {
        **account, "arrangements_12_months": 3, "arrangement_type": "Extension", "current_due_date": "2025-10-15",
        "new_due_date": "2025-10-15",
    }  # fmt: skip
    ticket = {"id": "8", "status": "solved", "type": "task", "outcome_summary": outcome, "updated_at": UPDATED}
    steps = [
        call(1, "crm_get_customer_by_email", {"email": "m@example.com"}, {"customer_id": "CUST-847291"}),
        call(2, "policy_get_policy_details", policy, {"status": "In Grace Period", "lapse_flag": False}),
        call(3, "crm_get_customer_profile", {"customer_id": "CUST-847291"}, {"tier": "Preferred"}),
        call(4, "billing_get_account_details", policy, {"past_due_amount": 210}),
        say(5, "What is your date of birth?"),
        user(6, "1985-03-15"),
        call(7, "billing_get_arrangement_history", policy, {"arrangements_12_months": 2}),
        call(
            8,
            "zendesk_create_item",
            {"table": "tickets", "item": {"status": "open", "type": "task"}},
            {"item": {"id": "8", "status": "open"}},
        ),
        call(9, "billing_grant_extension", {**policy, "new_due_date": "2025-10-15"}, granted),
        call(
            10, "zendesk_update_item", {"table": "tickets", "id": "8", "item": {"status": "solved"}}, {"item": ticket}
        ),
        say(11, "The extension to 15 October has been granted. <DONE>"),
    ]
    before = {BILLING: [account], TICKETS: []}
    after = {BILLING: [granted], TICKETS: [ticket]}
    required = {BILLING: [account], TICKETS: [{**ticket, "outcome_summary": "Declined"}]}
    names = ("arrangement_type", "arrangements_12_months", "current_due_date", "new_due_date")
    diff = [_differs(f"{BILLING}[0].{name}", granted[name], account[name]) for name in names]
    diff[-1]["type"] = "result is not None, golden is None"
    if outcome != "Declined":
        diff.append(_differs(f"{TICKETS}[0].outcome_summary", outcome, "Declined"))
    uid = "sandbox_auto_insurance_group1.py:test_bil_009"
    return _case(uid, "sandbox_auto_insurance", steps, _states(before, after, required, diff))


CASES = {
    "tool_usage": tool_usage(),
    "no_state_changing_action": no_state_changing_action(),
    "incomplete_user_resolution": incomplete_user_resolution(),
    "wrong_state_update": wrong_state_update(),
    "wrong_state_update, other outcome": wrong_state_update("Approved"),
}
