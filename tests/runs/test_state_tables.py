"""Which tables of an attempt's states somebody is told of."""

from __future__ import annotations

import pytest

from runs.access import EVERYTHING, Access
from runs.models import Attempt
from runs.queries.state_tables import state_tables
from tests.factories import make_row
from tests.stored import store


@pytest.mark.django_db
def test_a_table_that_only_the_required_state_has_is_told_to_evaluators_alone() -> None:
    row = make_row()
    server = next(iter(row["test_context"]["effects"].values()))
    server["golden_db_state"] = {**server["golden_db_state"], "only_required": [{"id": 1}]}
    store([row])
    attempt = Attempt.objects.select_related("run__benchmark", "task", "trace__dictionary").get()
    told = {table.table for table in state_tables(attempt, access=EVERYTHING)}
    viewer = {table.table for table in state_tables(attempt, access=Access(user=1))}
    assert told - viewer == {"only_required"}
    assert viewer
