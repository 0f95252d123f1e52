from __future__ import annotations

import pytest
from pytest_django import DjangoAssertNumQueries

from runs.access import EVERYTHING
from runs.failure_facts import anything_to_keep, keep_facts, keep_some
from runs.kept import Kept
from runs.models import FailureFacts, Run
from runs.packing import unpack
from runs.queries import failure_index as kept
from runs.queries.failure_index import Facet, failure_index
from runs.tasks import work
from tests.stored import outcomes, store

pytestmark = pytest.mark.django_db


@pytest.fixture
def forgetful(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that has answered nothing yet."""
    kept._parts.clear()
    monkeypatch.setattr(kept, "_merged", Kept(4))


def test_reading_a_file_keeps_its_facts() -> None:
    run = store(outcomes("a.py:one", "pff"))
    facts = FailureFacts.objects.get(run=run)
    assert (facts.tallied, len(unpack(bytes(facts.data)).ids)) == (Run.objects.get().tallied, 2)
    assert (anything_to_keep(), keep_facts(run.pk)) == (False, False)


@pytest.mark.usefixtures("forgetful")
def test_the_first_request_of_a_process_reads_no_attempts(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    for model in ("birch", "cedar", "oak"):
        store(outcomes("a.py:one", "pff"), model=model)
    with django_assert_num_queries(2):
        assert failure_index(access=EVERYTHING).total == 6


@pytest.mark.usefixtures("forgetful")
def test_facts_that_are_old_are_read_anew_and_kept_by_workers() -> None:
    run = store(outcomes("a.py:one", "pff"))
    FailureFacts.objects.update(tallied=0)
    assert (failure_index(access=EVERYTHING).total, anything_to_keep()) == (2, True)
    work()
    assert (anything_to_keep(), FailureFacts.objects.get(run=run).tallied) == (False, Run.objects.get().tallied)
    FailureFacts.objects.update(version=0)
    assert (keep_some(), keep_some()) == (True, False)


def test_a_row_in_several_runs_is_told_apart() -> None:
    first = store(outcomes("a.py:one", "ff"))
    again = store([*outcomes("a.py:one", "f"), *outcomes("a.py:two", "f")], model="cedar", run="")
    index = failure_index(access=EVERYTHING)
    relation = index.relation(Facet.COPY)
    values = [relation.values[Facet.COPY][code] for code in relation.codes[Facet.COPY].tolist()]
    assert values == ["first", "no", "again", "no"]
    slugs = {first.slug: [again.slug], again.slug: [first.slug]}
    assert list(index.elsewhere(index.ids.tolist()).values()) == [[again.slug], [], [first.slug], []]
    assert set(slugs) == {"desk-birch", "desk-cedar"}
