# ruff: noqa: E501 - one entry a line, however long its text
"""The tools for the workshop, for accounts, and for the desk's own cases and notices."""

from __future__ import annotations

from typing import Any

from runs.demo.states import Databases
from runs.demo.tooling import Arguments, DeskTool, Param, ToolError, find, matching, next_id
from runs.demo.world import LATER, NOW, policy

_PRIORITY = ("low", "normal", "high", "urgent")
_JOB_STATUS = ("open", "in_progress", "parked", "closed")
_CASE_STATUS = ("open", "pending", "resolved")


def _find_jobs(databases: Databases, arguments: Arguments) -> Any:
    return {"jobs": matching(databases["depot"], "workshop_jobs", {**arguments, "id": arguments.get("job_id")}, "id", "unit_id", "status")}  # fmt: skip


def _open_job(databases: Databases, arguments: Arguments) -> Any:
    depot = databases["depot"]
    unit = find(depot, "units", arguments["unit_id"], "Unit")
    job = {
        "id": next_id(depot, "workshop_jobs", "WJ-"),
        "unit_id": unit["id"],
        "kind": arguments["kind"],
        "priority": arguments["priority"],
        "status": "open",
        "technician": None,
        "parts": [],
        "symptom": arguments["symptom"],
        "resolution": None,
        "opened_at": NOW,
        "updated_at": NOW,
    }
    depot["workshop_jobs"].append(job)
    return {"job": job}


def _update_job(databases: Databases, arguments: Arguments) -> Any:
    job = find(databases["depot"], "workshop_jobs", arguments["job_id"], "Job")
    changes = {name: arguments[name] for name in ("status", "technician", "resolution") if name in arguments}
    if not changes:
        raise ToolError("Nothing to change: give a status, a technician or a resolution.")
    job.update(changes, updated_at=LATER)
    return {"job": job}


def _reserve(databases: Databases, arguments: Arguments) -> Any:
    depot = databases["depot"]
    part = find(depot, "parts_stock", arguments["part_number"], "Part", "part_number")
    job = find(depot, "workshop_jobs", arguments["job_id"], "Job")
    if job["technician"] is None:
        raise ToolError(f"Job '{job['id']}' has no technician; assign one before reserving parts.")
    part["reserved"] += arguments["quantity"]
    job["parts"].append(part["part_number"])
    job["updated_at"] = LATER
    return {"part": part, "job": job, "on_order": max(0, part["reserved"] - part["on_hand"])}


def _capture(databases: Databases, arguments: Arguments) -> Any:
    deposit = find(databases["depot"], "deposits", arguments["deposit_id"], "Deposit")
    amount = float(arguments["amount"])
    if amount > deposit["amount"] - deposit["captured"] - deposit["released"]:
        raise ToolError(
            f"Only {deposit['amount'] - deposit['captured'] - deposit['released']:.2f} of deposit '{deposit['id']}' is left."
        )
    deposit.update(
        captured=deposit["captured"] + amount, status="part_captured", reason=arguments["reason"], updated_at=LATER
    )
    return {"deposit": deposit}


def _release(databases: Databases, arguments: Arguments) -> Any:
    deposit = find(databases["depot"], "deposits", arguments["deposit_id"], "Deposit")
    left = deposit["amount"] - deposit["captured"] - deposit["released"]
    if float(arguments["amount"]) > left:
        raise ToolError(f"Only {left:.2f} of deposit '{deposit['id']}' is left.")
    released = deposit["released"] + float(arguments["amount"])
    settled = deposit["captured"] + released == deposit["amount"]
    deposit.update(released=released, status="settled" if settled else "part_released", updated_at=LATER)
    return {"deposit": deposit}


def _raise_invoice(databases: Databases, arguments: Arguments) -> Any:
    depot = databases["depot"]
    contract = find(depot, "contracts", arguments["contract_id"], "Contract")
    invoice = {
        "id": next_id(depot, "invoices", "INV-"),
        "customer_id": contract["customer_id"],
        "contract_id": contract["id"],
        "kind": arguments["kind"],
        "amount": float(arguments["amount"]),
        "status": "issued",
        "po_number": contract["po_number"],
        "due_date": "2026-04-16",
        "memo": arguments.get("memo"),
    }
    depot["invoices"].append(invoice)
    return {"invoice": invoice}


def _credit(databases: Databases, arguments: Arguments) -> Any:
    invoice = find(databases["depot"], "invoices", arguments["invoice_id"], "Invoice")
    if invoice["status"] == "credited":
        raise ToolError(f"Invoice '{invoice['id']}' is credited already.")
    invoice.update(status="credited", memo=f"Credited: {arguments['reason']}")
    return {"invoice": invoice}


def _receipt(databases: Databases, arguments: Arguments) -> Any:
    invoice = find(databases["depot"], "invoices", arguments["invoice_id"], "Invoice")
    return {
        "number": invoice["id"],
        "kind": invoice["kind"],
        "amount": f"{invoice['amount']:.2f}",
        "due": invoice["due_date"],
    }


def _account_status(databases: Databases, arguments: Arguments) -> Any:
    customer = find(databases["depot"], "customers", arguments["customer_id"], "Customer")
    customer["account_status"] = arguments["status"]
    return {"customer": {key: customer[key] for key in ("id", "company", "account_status")}}


def _open_case(databases: Databases, arguments: Arguments) -> Any:
    desk = databases["desk"]
    customer = find(databases["depot"], "customers", arguments["customer_id"], "Customer")
    case = {
        "id": next_id(desk, "cases", "CASE-"),
        "customer_id": customer["id"],
        "contract_id": arguments.get("contract_id"),
        "topic": arguments["topic"],
        "status": "open",
        "priority": arguments["priority"],
        "assignee": None,
        "tags": arguments.get("tags", []),
        "summary": arguments["summary"],
        "created_at": NOW,
        "updated_at": NOW,
    }
    desk["cases"].append(case)
    return {"case": case}


def _update_case(databases: Databases, arguments: Arguments) -> Any:
    case = find(databases["desk"], "cases", arguments["case_id"], "Case")
    case.update(
        {k: v for k, v in arguments.items() if k in ("status", "priority", "tags", "summary")}, updated_at=LATER
    )
    return {"case": case}


def _send_notice(databases: Databases, arguments: Arguments) -> Any:
    customer = find(databases["depot"], "customers", arguments["customer_id"], "Customer")
    desk = databases["desk"]
    notice = {
        "id": next_id(desk, "notices", "NT-"),
        "customer_id": customer["id"],
        "channel": arguments["channel"],
        "template": arguments["template"],
        "body": arguments["body"],
        "sent_at": NOW,
    }
    desk["notices"].append(notice)
    return {"notice": notice}


def _handbook(_: Databases, arguments: Arguments) -> Any:
    words = {word for word in arguments["words"].lower().split() if len(word) > 3}
    parts = [
        (-sum(word in section.lower() for word in words), domain, section.strip())
        for domain in ("Rentals", "Workshop", "Accounts")
        for section in policy(domain).split("\n## ")[1:]
    ]
    best = [part for part in sorted(parts, key=lambda part: part[0]) if part[0]][:3]
    return {"sections": [{"book": domain, "text": text} for _, domain, text in best]}


_JOB = Param("job_id", "string", "Job number, such as WJ-505.")
_CUSTOMER = Param("customer_id", "string", "Customer number.")

TOOLS = (
    DeskTool("handbook_search", "Sections of the house rules by key words.", (Param("words", "string", "Key words."),), _handbook),
    DeskTool("workshop_find_jobs", "Workshop jobs by number, unit or status.", (_JOB._replace(required=False), Param("unit_id", "string", "Unit number.", False), Param("status", "string", "Status.", False, _JOB_STATUS)), _find_jobs),
    DeskTool("workshop_open_job", "Open a job for a unit.", (Param("unit_id", "string", "Unit number."), Param("kind", "string", "Kind of work.", True, ("repair", "service", "inspection")), Param("priority", "string", "Priority.", True, _PRIORITY), Param("symptom", "string", "What is wrong or asked for, in your words.")), _open_job, writes=True),
    DeskTool("workshop_update_job", "Change status, technician or resolution of a job.", (_JOB, Param("status", "string", "New status.", False, _JOB_STATUS), Param("technician", "string", "Technician.", False), Param("resolution", "string", "What was done, in your words.", False)), _update_job, writes=True),
    DeskTool("parts_check", "Stock of one part.", (Param("part_number", "string", "Part number."),), lambda databases, arguments: {"part": find(databases["depot"], "parts_stock", arguments["part_number"], "Part", "part_number")}),
    DeskTool("parts_reserve", "Reserve a part for a job; a part that is not on hand counts as ordered.", (Param("part_number", "string", "Part number."), Param("quantity", "integer", "How many."), _JOB), _reserve, writes=True),
    DeskTool("deposits_find", "Deposits of a contract.", (Param("contract_id", "string", "Contract number."),), lambda databases, arguments: {"deposits": matching(databases["depot"], "deposits", arguments, "contract_id")}),
    DeskTool("deposits_capture", "Keep a part of a deposit for damage.", (Param("deposit_id", "string", "Deposit number."), Param("amount", "number", "Amount."), Param("reason", "string", "Damage, in your words.")), _capture, writes=True),
    DeskTool("deposits_release", "Give back a part of a deposit.", (Param("deposit_id", "string", "Deposit number."), Param("amount", "number", "Amount.")), _release, writes=True),
    DeskTool("invoices_find", "Invoices by customer, contract or status.", (_CUSTOMER._replace(required=False), Param("contract_id", "string", "Contract number.", False), Param("status", "string", "Status.", False, ("issued", "paid", "overdue", "credited"))), lambda databases, arguments: {"invoices": matching(databases["depot"], "invoices", arguments, "customer_id", "contract_id", "status")}),
    DeskTool("invoices_raise", "Raise an invoice on a contract; it takes the contract's order number.", (Param("contract_id", "string", "Contract number."), Param("kind", "string", "Kind.", True, ("hire", "damage", "excess_hours")), Param("amount", "number", "Amount."), Param("memo", "string", "Text on the invoice.", False)), _raise_invoice, writes=True),
    DeskTool("invoices_credit", "Credit an invoice in full.", (Param("invoice_id", "string", "Invoice number."), Param("reason", "string", "Reason.", True, ("reissue", "duplicate", "goodwill"))), _credit, writes=True),
    DeskTool("receipts_show", "Show the customer the official wording of an invoice.", (Param("invoice_id", "string", "Invoice number."),), _receipt, direct="Receipt {number} ({kind}): {amount}, due {due}. Ridgeline Hire, registered office Harrowby."),
    DeskTool("accounts_set_status", "Put an account on stop or lift the stop. For credit control.", (_CUSTOMER, Param("status", "string", "New status.", True, ("active", "on_stop"))), _account_status, writes=True),
    DeskTool("desk_find_cases", "Cases of a customer.", (_CUSTOMER,), lambda databases, arguments: {"cases": matching(databases["desk"], "cases", arguments, "customer_id")}),
    DeskTool("desk_open_case", "Open a case for a person to look at.", (_CUSTOMER, Param("contract_id", "string", "Contract number.", False), Param("topic", "string", "Topic.", True, ("billing", "breakdown", "safety", "account_on_stop", "complaint")), Param("priority", "string", "Priority.", True, _PRIORITY), Param("tags", "array", "Tags.", False), Param("summary", "string", "What it is about, in your words.")), _open_case, writes=True),
    DeskTool("desk_update_case", "Change status, priority, tags or summary of a case.", (Param("case_id", "string", "Case number."), Param("status", "string", "Status.", False, _CASE_STATUS), Param("priority", "string", "Priority.", False, _PRIORITY), Param("tags", "array", "All tags.", False), Param("summary", "string", "New summary.", False)), _update_case, writes=True),
    DeskTool("notices_send", "Send a customer a notice.", (_CUSTOMER, Param("channel", "string", "Channel.", True, ("email", "phone", "sms")), Param("template", "string", "Template.", True, ("extension_confirmed", "booking_changed", "inspection_booked", "credit_issued", "hire_ended", "general")), Param("body", "string", "Text, in the customer's language.")), _send_notice, writes=True),
    DeskTool("desk_hand_over", "Hand the conversation to a person and stop.", (Param("reason", "string", "Why a person has to take over."),), lambda _databases, _arguments: {}, ends_turn=True),
)  # fmt: skip
