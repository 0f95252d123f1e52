"""The trace page of who may not evaluate: the same whatever the task requires."""

from __future__ import annotations

import copy
from typing import Any

import msgspec
import pytest
from django.core.exceptions import PermissionDenied

from runs.access import EVERYTHING, THE_TEAM
from runs.models import Attempt
from runs.queries.attempt_viewed import ViewedAttempt, viewed_attempt
from runs.queries.attempts import (
    AttemptView,
    attempt_block,
    attempt_page,
    attempt_row,
    attempt_same,
    attempt_step,
    attempt_value,
)
from tests.factories import SERVER, make_row, state_hash
from tests.stored import store

pytestmark = pytest.mark.django_db


def with_required(**changes: Any) -> dict[str, Any]:
    """The failed row, where the task requires other things of rental 7, and of rental 8 as well."""
    row = make_row()
    effects = row["test_context"]["effects"][SERVER]
    required = effects["golden_db_state"]
    required["rentals"][0] |= changes
    required["rentals"][1] |= changes
    effects["golden_db_hash"] = state_hash(required)
    effects["diff"] = [{"path": "rentals[1].status", "type": "value mismatch", "result": "out", "golden": "lost"}]
    row["test_result"]["tb"] = "AssertionError: other words"
    row["user_llm_history"] = [[{"role": "user", "content": "other context"}]]
    return row


def viewed(row: dict[str, Any], model: str, tab: str = "state") -> ViewedAttempt:
    pk = Attempt.objects.get(run=store([row], model=model)).pk
    page = viewed_attempt(pk, AttemptView(tab=tab, everything=True), access=EVERYTHING)
    assert page is not None
    return page


@pytest.mark.parametrize("tab", ["state", "checks", "task", "raw"])
def test_another_required_state_changes_nothing(tab: str) -> None:
    one, other = viewed(make_row(), "one", tab), viewed(with_required(status="lost", deposit=1.0), "other", tab)
    same = msgspec.structs.replace(other, head=one.head)
    if same.detail is not None and one.detail is not None:
        same = msgspec.structs.replace(same, detail=msgspec.structs.replace(same.detail, pk=one.detail.pk))
    assert same == one
    assert one.tab == ("task" if tab == "task" else "state")


def test_what_changed_is_in_table_order_with_the_steps_that_wrote_it() -> None:
    row = make_row()
    after = row["test_context"]["effects"][SERVER]["result_db_state"]
    after["customers"].append({"id": "10", "name": "New", "email": "", "tags": []})
    after["customers"].append({"id": "3", "name": "Newer", "email": "", "tags": []})
    after["rentals"].pop()
    changes = viewed(row, "birch").changes
    told = [
        (table.table, record.key, record.created, record.removed, [field.field for field in record.fields])
        for table in changes.tables
        for record in table.records
    ]
    assert told == [
        ("customers", "3", True, False, ["email", "id", "name", "tags"]),
        ("customers", "10", True, False, ["email", "id", "name", "tags"]),
        ("rentals", "7", False, False, ["returned_at", "status"]),
        ("rentals", "8", False, True, ["customer_id", "deposit", "id", "item", "returned_at", "status"]),
    ]
    status = changes.tables[1].records[0].fields[1]
    assert (status.before.text, status.after.text, status.steps) == ("out", "closed", [4])


def test_without_a_state_before_nothing_is_compared() -> None:
    row = make_row(uid="a.py:t")
    del row["test_context"]["effects"][SERVER]["initial_db_state"]
    for name, given in {"no before": row, "no states": make_row(states=False)}.items():
        changes = viewed(copy.deepcopy(given), name).changes
        assert (changes.recorded, changes.tables, changes.total) == (False, [], 0)


def test_parts_of_the_page_leave_out_what_the_page_does() -> None:
    store([make_row()])
    pk = Attempt.objects.get().pk
    block, step = (
        attempt_block(pk, 1, access=THE_TEAM),
        attempt_step(pk, 4, access=THE_TEAM),
    )
    assert block is not None
    assert step is not None
    assert attempt_value(pk, 0, "before", "", access=THE_TEAM) == "out"
    assert attempt_value(pk, 0, "required", "", access=THE_TEAM) is None
    for closed in (
        lambda: attempt_page(pk, AttemptView(), access=THE_TEAM),
        lambda: attempt_row(pk, access=THE_TEAM),
        lambda: attempt_same(pk, access=THE_TEAM),
    ):
        with pytest.raises(PermissionDenied):
            closed()
