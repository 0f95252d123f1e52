"""The benchmark: its tasks and the tools that each domain is offered."""

from __future__ import annotations

from typing import Any

from runs.demo import tasks_accounts, tasks_rentals, tasks_workshop, tools_depot, tools_desk
from runs.demo.task import Task
from runs.demo.tooling import DeskTool, definition

SLUG = "rental-desk"
REPETITIONS = 20

TASKS: tuple[Task, ...] = (
    tasks_rentals.EXTEND,
    tasks_rentals.BREAKDOWN,
    tasks_rentals.EARLY_RETURN,
    tasks_rentals.ADD_HEATERS,
    tasks_workshop.PARKED,
    tasks_workshop.INSPECTION,
    tasks_workshop.CHAIN,
    tasks_workshop.METER,
    tasks_accounts.DEPOSIT,
    tasks_accounts.ORDER_NUMBER,
    tasks_accounts.DUPLICATE,
    tasks_accounts.ON_STOP,
)

_EVERYWHERE = ("customers_", "rentals_find", "handbook_", "desk_", "notices_")
_OFFERED: dict[str, tuple[str, ...]] = {
    "Rentals": (
        *_EVERYWHERE,
        "rentals_",
        "catalogue_",
        "rates_",
        "fleet_",
        "deliveries_",
        "deposits_",
        "workshop_find",
        "workshop_open",
    ),
    "Workshop": (*_EVERYWHERE, "fleet_", "workshop_", "parts_"),
    "Accounts": (*_EVERYWHERE, "rentals_set_po", "deposits_", "invoices_", "receipts_", "accounts_"),
}


def tools_of(domain: str) -> dict[str, DeskTool]:
    """The tools that a domain's agents are offered, by name."""
    every = (*tools_depot.TOOLS, *tools_desk.TOOLS)
    return {tool.name: tool for tool in every if tool.name.startswith(_OFFERED[domain])}


def definitions_of(domain: str) -> list[dict[str, Any]]:
    return [definition(tool) for tool in tools_of(domain).values()]


def task_of(uid: str) -> Task:
    return next(task for task in TASKS if task.uid == uid)
