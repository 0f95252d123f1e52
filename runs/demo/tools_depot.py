# ruff: noqa: E501 - one entry a line, however long its text
"""The tools for customers, rentals, fleet and deliveries."""

from __future__ import annotations

import datetime
from typing import Any

from runs.demo import catalogue
from runs.demo.states import Databases
from runs.demo.tooling import Arguments, DeskTool, Param, ToolError, find, matching, next_id
from runs.demo.world import LATER

_UNIT_STATUS = ("available", "on_hire", "quarantine", "workshop", "retired")
_SLOTS = ("am", "pm", "evening")


def _customers_find(databases: Databases, arguments: Arguments) -> Any:
    text = arguments["search"].casefold()
    fields = ("id", "name", "company", "email")
    found = [record for record in databases["depot"]["customers"] if any(text in record[f].casefold() for f in fields)]
    return {"customers": found}


def _rentals_find(databases: Databases, arguments: Arguments) -> Any:
    depot = databases["depot"]
    contracts = matching(
        depot, "contracts", {**arguments, "id": arguments.get("contract_id")}, "id", "customer_id", "status"
    )
    ids = {contract["id"] for contract in contracts}
    return {
        "contracts": contracts,
        "lines": [line for line in depot["contract_lines"] if line["contract_id"] in ids],
        "deliveries": [delivery for delivery in depot["deliveries"] if delivery["contract_id"] in ids],
    }


def _quote(databases: Databases, arguments: Arguments) -> Any:
    contract = find(databases["depot"], "contracts", arguments["contract_id"], "Contract")
    old, new = (datetime.date.fromisoformat(day) for day in (contract["end_date"], arguments["end_date"]))
    if new <= old:
        raise ToolError(f"The new end date {new} is not after the present one, {old}.")
    days = (new - old).days
    lines = matching(databases["depot"], "contract_lines", arguments, "contract_id")
    units = [find(databases["depot"], "units", line["unit_id"], "Unit") for line in lines if line["unit_id"]]
    return {
        "contract_id": contract["id"],
        "extra_days": days,
        "extra_amount": days * contract["day_rate"],
        "service": [{"unit_id": unit["id"], "next_service_due": unit["next_service_due"]} for unit in units],
    }


def _extend(databases: Databases, arguments: Arguments) -> Any:
    contract = find(databases["depot"], "contracts", arguments["contract_id"], "Contract")
    if contract["status"] != "active":
        raise ToolError(f"Contract '{contract['id']}' is {contract['status']} and cannot be extended.")
    if arguments["end_date"] <= contract["end_date"]:
        raise ToolError(f"The new end date must be after {contract['end_date']}.")
    contract.update(end_date=arguments["end_date"], updated_at=LATER)
    return {"contract": contract}


def _end_hire(databases: Databases, arguments: Arguments) -> Any:
    contract = find(databases["depot"], "contracts", arguments["contract_id"], "Contract")
    if contract["status"] != "active":
        raise ToolError(f"Contract '{contract['id']}' is {contract['status']}; there is no hire to end.")
    contract.update(end_date=arguments["end_date"], updated_at=LATER)
    return {"contract": contract}


def _add_line(databases: Databases, arguments: Arguments) -> Any:
    depot = databases["depot"]
    contract = find(depot, "contracts", arguments["contract_id"], "Contract")
    line = {
        "id": next_id(depot, "contract_lines", "L-"),
        "contract_id": contract["id"],
        "unit_id": None,
        "model_code": arguments["model_code"],
        "quantity": arguments["quantity"],
        "day_rate": float(arguments["day_rate"]),
    }
    depot["contract_lines"].append(line)
    contract.update(day_rate=contract["day_rate"] + line["quantity"] * line["day_rate"], updated_at=LATER)
    return {"line": line, "contract": contract}


def _set_po(databases: Databases, arguments: Arguments) -> Any:
    contract = find(databases["depot"], "contracts", arguments["contract_id"], "Contract")
    contract.update(po_number=arguments["po_number"], updated_at=LATER)
    return {"contract": contract}


def _find_units(databases: Databases, arguments: Arguments) -> Any:
    return {"units": matching(databases["depot"], "units", arguments, "model_code", "depot", "status")}


def _unit_card(databases: Databases, arguments: Arguments) -> Any:
    unit = find(databases["depot"], "units", arguments["unit_id"], "Unit")
    lines = [line for line in databases["depot"]["contract_lines"] if line["unit_id"] == unit["id"]]
    return {"unit": unit, "on_contracts": [line["contract_id"] for line in lines]}


def _swap(databases: Databases, arguments: Arguments) -> Any:
    depot = databases["depot"]
    new = find(depot, "units", arguments["new_unit_id"], "Unit")
    for line in depot["contract_lines"]:
        if line["contract_id"] == arguments["contract_id"] and line["unit_id"] == arguments["old_unit_id"]:
            if new["model_code"] != line["model_code"]:
                raise ToolError(
                    f"Unit '{new['id']}' is a {new['model_code']}, the contract asks for {line['model_code']}."
                )
            line["unit_id"] = new["id"]
            new["status"] = "on_hire"
            return {"line": line, "unit": new}
    raise ToolError(f"Unit '{arguments['old_unit_id']}' is not on contract '{arguments['contract_id']}'.")


def _unit_status(databases: Databases, arguments: Arguments) -> Any:
    unit = find(databases["depot"], "units", arguments["unit_id"], "Unit")
    unit["status"] = arguments["status"]
    return {"unit": unit}


def _correct_meter(databases: Databases, arguments: Arguments) -> Any:
    unit = find(databases["depot"], "units", arguments["unit_id"], "Unit")
    job = find(databases["depot"], "workshop_jobs", arguments["job_id"], "Job")
    if job["unit_id"] != unit["id"]:
        raise ToolError(f"Job '{job['id']}' is about unit '{job['unit_id']}', not '{unit['id']}'.")
    unit["hours_meter"] = float(arguments["hours"])
    return {"unit": unit, "evidence": job["id"]}


def _book_delivery(databases: Databases, arguments: Arguments) -> Any:
    depot = databases["depot"]
    contract = find(depot, "contracts", arguments["contract_id"], "Contract")
    delivery = {
        "id": next_id(depot, "deliveries", "DL-"),
        "contract_id": contract["id"],
        "kind": arguments["kind"],
        "date": arguments["date"],
        "slot": arguments["slot"],
        "status": "planned",
    }
    depot["deliveries"].append(delivery)
    return {"delivery": delivery}


def _move_delivery(databases: Databases, arguments: Arguments) -> Any:
    delivery = find(databases["depot"], "deliveries", arguments["delivery_id"], "Delivery")
    delivery.update(date=arguments["date"], slot=arguments.get("slot", delivery["slot"]))
    return {"delivery": delivery}


def _cancel_delivery(databases: Databases, arguments: Arguments) -> Any:
    delivery = find(databases["depot"], "deliveries", arguments["delivery_id"], "Delivery")
    databases["depot"]["deliveries"].remove(delivery)
    return {"cancelled": delivery["id"]}


_CONTRACT = Param("contract_id", "string", "Contract number, such as C-7003.")
_END = Param("end_date", "date", "Last day of the hire, YYYY-MM-DD.")

TOOLS = (
    DeskTool("customers_find", "Find customers by number, name, company or e-mail address.", (Param("search", "string", "Part of any of these."),), _customers_find),
    DeskTool("rentals_find", "Contracts with their lines and planned deliveries.", (_CONTRACT._replace(required=False), Param("customer_id", "string", "Customer number.", False), Param("status", "string", "State of the contract.", False, ("reserved", "active", "closed"))), _rentals_find),
    DeskTool("rentals_quote_extension", "What more days would cost, and when the machines on the contract are due for service. Changes nothing.", (_CONTRACT, _END), _quote),
    DeskTool("rentals_extend", "Move the end date of an active contract to a later day. Deliveries stay as they are.", (_CONTRACT, _END), _extend, writes=True),
    DeskTool("rentals_end_hire", "Set the end date of an active contract to an earlier day. Deliveries stay as they are.", (_CONTRACT, _END), _end_hire, writes=True),
    DeskTool("rentals_add_line", "Add a model to a contract; the day rate of the contract follows.", (_CONTRACT, Param("model_code", "string", "Model code from the catalogue."), Param("quantity", "integer", "How many."), Param("day_rate", "number", "Rate of one, per day, for the customer's tier.")), _add_line, writes=True),
    DeskTool("rentals_set_po", "Write the customer's order number on a contract.", (_CONTRACT, Param("po_number", "string", "Order number, exactly as given.")), _set_po, writes=True),
    DeskTool("catalogue_search", "Spec sheets from the catalogue, best match first.", (Param("words", "string", "What the customer looks for."), Param("limit", "integer", "Most sheets to return.", False)), lambda _, arguments: catalogue.search(arguments["words"], arguments.get("limit", 80))),
    DeskTool("rates_lookup", "Day rates of a model by customer tier.", (Param("model_code", "string", "Model code."),), lambda databases, arguments: {"rates": matching(databases["depot"], "rate_cards", arguments, "model_code")}),
    DeskTool("fleet_find_units", "Units by model, depot and status.", (Param("model_code", "string", "Model code.", False), Param("depot", "string", "Depot.", False, ("Harrowby", "Northgate", "Eastfield")), Param("status", "string", "Status.", False, _UNIT_STATUS)), _find_units),
    DeskTool("fleet_unit_card", "Everything on the card of one unit.", (Param("unit_id", "string", "Unit number."),), _unit_card),
    DeskTool("fleet_swap_unit", "Replace a unit on a contract by another of the same model. Does not touch the status of the old unit.", (_CONTRACT, Param("old_unit_id", "string", "Unit that comes back."), Param("new_unit_id", "string", "Unit that goes out.")), _swap, writes=True),
    DeskTool("fleet_set_status", "Set the status of a unit.", (Param("unit_id", "string", "Unit number."), Param("status", "string", "New status.", True, _UNIT_STATUS)), _unit_status, writes=True),
    DeskTool("fleet_correct_meter", "Correct the hours on a unit card, with an inspection job as evidence.", (Param("unit_id", "string", "Unit number."), Param("hours", "number", "Right reading."), Param("job_id", "string", "Inspection job.")), _correct_meter, writes=True),
    DeskTool("deliveries_book", "Plan a delivery, collection or exchange.", (_CONTRACT, Param("kind", "string", "What for.", True, ("delivery", "collection", "exchange")), Param("date", "date", "Day."), Param("slot", "string", "Part of the day.", True, _SLOTS)), _book_delivery, writes=True),
    DeskTool("deliveries_move", "Move a planned delivery to another day.", (Param("delivery_id", "string", "Delivery number."), Param("date", "date", "New day."), Param("slot", "string", "New slot; left out, it stays.", False, _SLOTS)), _move_delivery, writes=True),
    DeskTool("deliveries_cancel", "Take a planned delivery off the plan.", (Param("delivery_id", "string", "Delivery number."),), _cancel_delivery, writes=True),
)  # fmt: skip
