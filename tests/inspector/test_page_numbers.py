"""Every number of a page can be fetched, and is the same: read out of the HTML, and compared with the API's, written by
the page's rules.

A page that shows another number, rounds it in another way or leaves it out makes these fail, and so does an API that
gives another one.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client

from inspector.templatetags.boards import money
from inspector.templatetags.twentyfold import seconds, tokens
from runs.access import EVERYTHING
from runs.boards import Column
from runs.boards.edit import BoardChanges, create_board
from runs.costs import Price
from runs.models import Run
from runs.prices import PricingChoice, create_list, price_run
from tests.inspector.api.conftest import Get, get
from tests.pages import Element, page_of, rows_of, stats_of
from tests.stored import outcomes, store

__all__ = ["get"]
pytestmark = pytest.mark.django_db

K = 4
TASKS = {
    "desk.py:test_1": ("returns", "ppfp", "pppp"),
    "desk.py:test_2": ("returns", "fffe", "pfpp"),
    "desk.py:test_3": ("returns", "pppp", "pppp"),
    "desk.py:test_4": ("bookings", "ffp.", "ffff"),
    "desk.py:test_5": ("bookings", "ffff", "fppf"),
    "desk.py:test_6": ("bookings", "pppf", "pppp"),
}
"""Task → its domain and how each run did: of every class, with an error and with one attempt that is not recorded."""


@pytest.fixture
def runs() -> tuple[Run, Run]:
    """Two priced runs on a board."""
    rate = {"birch": ("2.5", "10"), "oak": ("0.5", "2")}
    listed = create_list(
        "Desk", [Price(model=name, input=Decimal(i), output=Decimal(o)) for name, (i, o) in rate.items()]
    )
    made = []
    for at, model in enumerate(rate, start=1):
        rows = []
        for uid, facts in TASKS.items():
            tags: dict[str, Any] = {"labels": [], "category": [], "domain": facts[0], "eval_type": None, "skip": False}
            rows += outcomes(uid, facts[at], test_tags=tags)
        made.append(store(rows, model=model, repetitions=K))
        price_run(made[-1], PricingChoice(price_list=listed.pk))
    create_board(
        BoardChanges(title="Desk", runs=tuple(run.slug for run in made), columns=tuple(Column)), access=EVERYTHING
    )
    return made[0], made[1]


# --- The rules by which pages write -----------------------------------------------------------------------------------


def percent(share: float | None) -> str:
    return "–" if share is None else f"{share * 100:.1f}%"


def points(share: float | None) -> str:
    return "–" if share is None else f"{share * 100:.1f}"


def signed(share: float) -> str:
    return ("+" if share > 0 else "−" if share < 0 else "") + f"{abs(share) * 100:.1f}"


def priced(amount: str | None, currency: str) -> str:
    """The API sends all digits of an amount."""
    return money(None if amount is None else Decimal(amount), currency)


def of(count: int, whole: int) -> str:
    return f"{count:,} of {whole:,}"


def whole(share: float | None, why: str) -> str:
    return f"– {why}" if share is None else f"{share * 100:.0f}%"


# --- Page by page -----------------------------------------------------------------------------------------------------

Numbers = dict[str, Any]


def leaderboard(client: Client, get: Get, birch: Run, oak: Run) -> tuple[Numbers, Numbers]:
    page, board = page_of(client, "/leaderboards/desk/"), get("/leaderboards/desk")["board"]
    table = next(table for table in page.all("table") if "lb" in table.classes)
    shown = {row["Model"]: list(row.values())[2:] for row in rows_of(table)}
    told = {}
    for row in (row for section in board["sections"] for row in section["rows"]):
        share, cost = row["pass_at_1"], row["money"]
        ends = share["interval"]
        told[row["name"]] = [
            points(share["value"]),
            f"{percent(share['value'])}, {points(ends['low'])} to {points(ends['high'])}, 95% task bootstrap",
            *(points(row["domains"][name]) for name in board["domains"]),
            f"{row['solved']['count']:,}",
            f"– {row['all_k']['why']}" if row["all_k"]["count"] is None else f"{row['all_k']['count']:,}",
            whole(row["retention"], row["all_k"]["why"]),
            f"{row['errors']:,}",
            *(priced(cost[name], cost["currency"]) for name in ("per_success", "per_dependable", "campaign")),
        ]
    return shown, told


def usual(failure: dict[str, Any] | None) -> str:
    """A task's most common difference, as a cell of a table has it."""
    if failure is None:
        return ""
    sign = {"wrong": "≠", "missing": "−", "extra": "+"}[failure["difference"]]
    return f"{sign}{failure['difference']} {failure['table']}.{failure['field']} in {failure['attempts']}"


def run(client: Client, get: Get, birch: Run, oak: Run) -> tuple[Numbers, Numbers]:
    page, found = page_of(client, f"/runs/{birch.slug}/"), get(f"/runs/{birch.slug}")
    numbers, figures, cost = found["numbers"], found["worth"]["figures"], found["worth"]["cost"]
    value, ends, at_k = figures["pass_at_1"], figures["pass_at_1_uncertainty"]["shown"], found["worth"]["at_k"]
    currency = cost["currency"]
    shown: Numbers = stats_of(page)
    told: Numbers = {
        "pass@1": [
            percent(value["value"]),
            f"{points(ends['low'])} to {points(ends['high'])}, 95% task bootstrap",
            f"{of(value['count'], value['of'])} recorded attempts",
        ],
        "Solved at least once": [
            of(numbers["solved"], numbers["tasks"]),
            f"{percent(numbers['breadth'])} breadth",
            f"{numbers['never']} never in {numbers['k']}",
        ],
        f"All {K} of {K}": [
            of(numbers["always"], numbers["complete"]),
            f"not computable for {numbers['incomplete']} task with fewer than {numbers['k']} recorded",
            f"pass^{at_k['k']}: {percent(at_k['pass_hat_unbiased'])} unbiased, {percent(at_k['pass_hat'])} plug-in",
        ],
        "Retention": ["–", f"not computable: {figures['incomplete_tasks']} task is incomplete"],
        "Cost per dependable task": [
            priced(cost["per_dependable_task"], currency),
            f"{priced(cost['campaign'], currency)} for all {cost['attempts']:,} attempts",
            f"{priced(cost['per_success'], currency)} per success, "
            f"{priced(cost['per_run'], currency)} for all tasks once",
        ],
    }
    shown["sum"] = page.one(of="equation").text
    told["sum"] = (
        f"{numbers['passed']} passed + {numbers['failed']} failed + {numbers['errors']} error + "
        f"{numbers['missing']} not recorded = {numbers['expected']} expected"
    )
    shown["classes"] = _choices(page, "Kind of task")
    told["classes"] = {choice["value"] or "all": choice["count"] for choice in found["classes"]}
    domains = page.one("section", **{"aria-labelledby": "domains"}).one("table")
    shown["domains"] = {
        row["Domain"]: _but(row, "Domain", "alwayssometimesneverincomplete") for row in rows_of(domains)
    }
    told["domains"] = {
        row["name"]: [
            f"{n['tasks']}", of(n["recorded"], n["expected"]), percent(n["pass_at_1"]), of(n["solved"], n["tasks"]),
            of(n["always"], n["complete"]), f"{n['failed']}", f"{n['errors']}", f"{n['missing']}",
        ] for row in found["domains"] for n in [row["numbers"]]
    }  # fmt: skip
    tasks = page.one(id="tasks").one("table")
    shown["tasks"] = {row["Task"]: _but(row, "Task", f"Repetitions 0 to {K - 1}") for row in rows_of(tasks)}
    told["tasks"] = {
        row["name"]: [
            row["domain"], of(row["counts"]["passed"], row["expected"]),
            *(f"{row['counts'][name]}" for name in ("failed", "errors")), f"{row['missing']}", f"{row['differences']}",
            usual(row["usual"]), row["usual"]["signature"]["title"] if row["usual"] else "",
            priced(row["cost"], currency),
        ] for row in get(f"/runs/{birch.slug}/tasks")["items"]
    }  # fmt: skip
    return shown, told


def comparison(client: Client, get: Get, birch: Run, oak: Run) -> tuple[Numbers, Numbers]:
    pair = {"base": birch.slug, "candidate": oak.slug}
    page = page_of(client, f"/compare/?base={birch.slug}&candidate={oak.slug}")
    found, changes = get("/compare", **pair)["comparison"], get("/compare/changes", **pair)["changes"]
    gain = found["pass_at_1"]
    low, high = gain["interval"]
    shown: Numbers = stats_of(page)
    told: Numbers = {
        "pass@1, candidate minus baseline": [
            f"{signed(gain['difference'])} points",
            f"{signed(low)} to {signed(high)}, 95% paired task bootstrap"
            + ("" if gain["significant"] else ": not told apart"),
            f"P(candidate ahead) {percent(gain['probability'])}",
        ],
        "Solved at least once": [
            f"{found['won']} won, {found['lost']} lost",
            f"{found['both']} by both, {found['neither']} by neither",
        ],
        f"Dependable, all {K}": [
            f"{len(found['became_dependable'])} gained, {len(found['no_longer_dependable'])} lost",
            "became dependable, stopped being so",
            f"not computable for {found['not_computable']} task",
        ],
        "Passed more or less often": [f"{found['better']} more, {found['worse']} less", f"{found['equal']} as often"],
    }
    titles = {
        "": "all", "became": "became dependable", "stopped": "no longer dependable", "signature": "other signature",
        "better": "more often", "worse": "less often",
    }  # fmt: skip
    shown["changes"] = _choices(page, "What changed")
    told["changes"] = {titles.get(one["value"], one["value"]): one["count"] for one in changes if one["count"]}
    shown["tasks"] = {row["Task"]: _but(row, "Task")[:5] for row in rows_of(page.one(id="found").one("table"))}
    told["tasks"] = {
        f"{row['name']}{row['domain']}": [
            row["word"], *(of(row[side]["passed"], row[side]["expected"]) for side in pair), signed(row["gain"]),
            percent(row["greater"]),
        ] for row in get("/compare/tasks", **pair)["items"]
    }  # fmt: skip
    return shown, told


def failures(client: Client, get: Get, birch: Run, oak: Run) -> tuple[Numbers, Numbers]:
    page, facets = page_of(client, "/failures/?group=task"), get("/failures/facets")
    shown: Numbers = {"total": page.one("h2").text}
    told: Numbers = {"total": f"{facets['total']} attempts at {facets['tasks']} tasks"}
    shown["groups"] = [(group.one("h3").text, group.one(of="push").one("b").text) for group in page.all(of="grp")]
    told["groups"] = [(group["task"], f"{group['total']}") for group in get("/failures/groups", group="task")["items"]]
    for facet in facets["facets"]:
        if facet["choices"] and not facet["idle"]:
            lines = page.one("fieldset", id=f"by-{facet['facet']}").all("label")
            shown[facet["facet"]] = [(line.one("input").attributes["value"], line.one(of="n").text) for line in lines]
            told[facet["facet"]] = [(choice["value"], f"{choice['count']}") for choice in facet["choices"]]
    return shown, told


def task(client: Client, get: Get, birch: Run, oak: Run) -> tuple[Numbers, Numbers]:
    page, found = page_of(client, "/tasks/desk.py:test_2/"), get("/tasks/desk.py:test_2")
    shown: Numbers = {"facts": page.one(of="run-facts").text}
    told: Numbers = {
        "facts": f"desk.pyon desk{found['passed']} of {found['recorded']} recorded attempts passed, by "
        f"{found['models']} models in {found['all_runs']} runs"
    }
    solves, mistakes = (page.one("section", **{"aria-labelledby": name}) for name in ("who", "mistakes"))
    shown["runs"] = {row["Model"]: _but(row, "Model", "Repetitions") for row in rows_of(solves.one("table"))}
    told["runs"] = {
        row["model"]: [
            of(row["counts"]["passed"], row["expected"]), row["kind"], f"{row['counts']['failed']}",
            f"{row['counts']['errors']}", ", ".join(f"{why['title']} {n}" for why, n in row["signatures"]),
        ] for row in found["runs"]
    }  # fmt: skip
    shown["mistakes"] = [(row["Attempts"], row["Models"]) for row in rows_of(mistakes.one("table"))]
    told["mistakes"] = [
        (f"{row['attempts']}", f"{len(row['models'])} models " + ", ".join(f"{name} {n}" for name, n in row["models"]))
        for row in found["mistakes"]
    ]
    return shown, told


def task_of_a_run(client: Client, get: Get, birch: Run, oak: Run) -> tuple[Numbers, Numbers]:
    path = f"/runs/{birch.slug}/tasks/desk.py:test_4"
    page, found = page_of(client, f"{path}/"), get(path)
    counts = found["counts"]
    section = page.one("section", **{"aria-labelledby": "attempts"})
    shown: Numbers = {"sum": section.one(of="sub").text}
    told: Numbers = {
        "sum": f"{counts['passed']} passed + {counts['failed']} failed + {counts['errors']} errors + "
        f"{found['missing']} not recorded = {found['expected']} expected"
    }
    cells = [[part.text for part in row.parts if isinstance(part, Element)] for row in section.one("tbody").all("tr")]
    shown["attempts"] = [[*row[:3], *row[4:]] for row in cells]
    told["attempts"] = [
        [
            f"{row['repetition']}", row["word"], f"{row['differences']}",
            *(f"{row[name]}" for name in ("steps", "tool_calls", "tool_errors")), tokens(row["tokens"]),
            priced(row["cost"], found["currency"]), seconds(row["duration"]), row["finish_reason"],
        ] if row["id"] is not None else [f"{row['repetition']}", "Not recorded"] for row in found["strip"]
    ]  # fmt: skip
    return shown, told


def _choices(page: Element, label: str) -> dict[str, int]:
    """What a row of switches counts: title → number."""
    links = page.one(of="seg", **{"aria-label": label}).all("a")
    return {link.text.removesuffix(link.one(of="n").text).lower(): int(link.one(of="n").text) for link in links}


def _but(row: dict[str, str], *names: str) -> list[str]:
    return [cell for name, cell in row.items() if name not in names]


Page = Callable[[Client, Get, Run, Run], tuple[Numbers, Numbers]]
PAGES: tuple[Page, ...] = (leaderboard, run, comparison, failures, task, task_of_a_run)


@pytest.mark.parametrize("compared", PAGES, ids=lambda page: page.__name__)
def test_the_numbers_of_a_page_are_those_of_the_api(
    client: Client, get: Get, runs: tuple[Run, Run], compared: Page
) -> None:
    shown, told = compared(client, get, *runs)
    assert shown == told
    assert shown


@pytest.mark.parametrize("path", ["/runs/desk-birch/", "/compare/?base=desk-birch&candidate=desk-oak"])
def test_so_are_they_with_errors_left_out(client: Client, get: Get, runs: tuple[Run, Run], path: str) -> None:
    stats = stats_of(page_of(client, f"{path}{'&' if '?' in path else '?'}errors=excluded"))
    if path.startswith("/runs/"):
        value = get("/runs/desk-birch", errors="excluded")["worth"]["figures"]["pass_at_1"]
        assert stats["pass@1"][::2] == [percent(value["value"]), f"{of(value['count'], value['of'])} graded attempts"]
    else:
        gain = get("/compare", base="desk-birch", candidate="desk-oak", errors="excluded")["comparison"]["pass_at_1"]
        assert stats["pass@1, candidate minus baseline"][0] == f"{signed(gain['difference'])} points"
