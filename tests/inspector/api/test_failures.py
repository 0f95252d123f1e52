"""`/api/v1/failures`, `/errors`, `/look-next` and `/search`."""

from __future__ import annotations

from enum import StrEnum

import pytest

from runs import search
from runs.access import EVERYTHING
from runs.errorclasses import ErrorClass
from runs.models import Attempt, Run
from runs.queries.errors import ErrorFilters, error_page
from runs.queries.everywhere import search_everywhere
from runs.queries.failure_filters import FailureFilters, Grouping
from runs.queries.failure_index import Facet
from runs.queries.failures import failed_rows, failure_page
from runs.queries.look_next import look_next
from runs.records import EffectKind
from runs.signatures import Label, Signature
from tests.inspector.api.conftest import Get


def test_the_list_is_that_of_the_page_with_every_facet_and_order(birch: Run, alder: Run, get: Get) -> None:
    filters = FailureFilters(sort="steps", descending=True, group=Grouping.NONE)
    assert [row["id"] for row in get("/failures", sort="-steps")["items"]] == [
        row.pk for row in failed_rows(filters, access=EVERYTHING)
    ]
    for listed in failure_page(FailureFilters(group=Grouping.NONE), access=EVERYTHING).facets:
        for choice in listed.choices:
            chosen = FailureFilters(chosen={listed.facet: (choice.value,)})
            found = get("/failures", **{listed.facet.value: choice.value})
            assert (found["total"], [row["id"] for row in found["items"]]) == (
                choice.count, [row.pk for row in failed_rows(chosen, access=EVERYTHING)],
            )  # fmt: skip


def test_facets_and_groups_are_those_of_the_page(birch: Run, alder: Run, get: Get) -> None:
    chosen = FailureFilters(chosen={Facet.RUN: (birch.slug,)}, group=Grouping.TASK)
    page = failure_page(chosen, access=EVERYTHING)
    facets = get("/failures/facets", run=birch.slug)
    assert (facets["stored"], facets["total"], facets["tasks"]) == (page.stored, page.total, page.tasks)
    assert [[choice["count"] for choice in facet["choices"]] for facet in facets["facets"]] == [
        [choice.count for choice in facet.choices] for facet in page.facets
    ]
    groups = get("/failures/groups", run=birch.slug, group="task")["items"]
    assert [(group["task"], group["total"]) for group in groups] == [(group.task, group.total) for group in page.groups]


def index_all() -> None:
    """Where the index is costly, workers fill it later."""
    while search.index_some():
        pass


def test_words_of_the_transcript(birch: Run, get: Get) -> None:
    index_all()
    found = get("/failures", q="concrete mixer")
    assert found["total"] == 3
    assert found["items"][0]["excerpts"] or found["items"][0]["claim_pieces"]
    assert get("/failures", q="unheard")["total"] == 0


def test_what_broke(birch: Run, get: Get) -> None:
    page = error_page(ErrorFilters(), access=EVERYTHING)
    found = get("/errors")["items"]
    assert [(row["id"], row["kind"], row["words"]) for row in found] == [
        (row.pk, row.kind, row.words) for row in page.rows
    ]
    assert get("/errors", retryable="false")["total"] + get("/errors", retryable="true")["total"] == len(found) == 1


def test_what_deserves_a_look_and_the_search_for_all(birch: Run, alder: Run, get: Get) -> None:
    assert [(look["title"], look["count"]) for look in get("/look-next")["items"]] == [
        (look.title, look.count) for look in look_next(access=EVERYTHING)
    ]
    index_all()
    page, found = search_everywhere("mixer", access=EVERYTHING), get("/search", q="mixer")
    assert [row["id"] for row in found["attempts"]] == [row.pk for row in page.attempts]
    assert found["attempts_total"] == page.attempts_total == Attempt.objects.count()


@pytest.mark.parametrize("path", ["/failures", "/failures/facets", "/failures/groups", "/attempts", "/errors"])
def test_a_run_that_is_not_there_is_no_empty_list(birch: Run, get: Get, path: str) -> None:
    get(path, run=birch.slug)
    problem = get(path, 404, run="nope")
    assert problem["detail"] == "run: there is no run named 'nope'. `/runs` lists them."


@pytest.mark.parametrize(
    ("path", "name", "kinds"),
    [
        ("/failures", "effect", EffectKind),
        ("/failures", "signature", Signature),
        ("/failures", "label", Label),
        ("/attempts", "signature", Signature),
        ("/attempts", "label", Label),
        ("/attempts", "error_class", ErrorClass),
    ],
)
def test_a_value_that_a_filter_cannot_have_is_a_mistake(
    birch: Run, get: Get, path: str, name: str, kinds: type[StrEnum]
) -> None:
    (error,) = get(path, 422, **{name: "zz"})["errors"]
    assert (error["place"], all(f"'{kind}'" in error["message"] for kind in kinds)) == ("query", True)
