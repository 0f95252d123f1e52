"""What the page of failures shows: facets with their counts, and the failed attempts that fit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from runs.access import Access
from runs.facets import Codes, Mask, Selection
from runs.models import PendingTranscript, Run
from runs.queries.failure_filters import FailureFilters, Grouping
from runs.queries.failure_index import Facet, FailureIndex, failure_index
from runs.queries.failure_rows import FailureRow, failure_rows
from runs.queries.failure_words import EFFECT_HINTS, FACET_HINTS, FACET_TITLES, Difference, difference_of, value_title
from runs.queries.paging import Page, page_of
from runs.queries.tasks import FirstEffect
from runs.querysets import visible_runs
from runs.transcripts import parse_query

__all__ = ["FacetChoice", "FacetList", "FailedList", "FailureGroup", "FailurePage", "failed_rows", "failure_page"]

ROWS_PER_PAGE = 25
GROUPS_PER_PAGE = 10
ROWS_PER_GROUP = 3
_CHOICES_SHOWN = 6
_MOST_CHOICES = 500
_EXPORTED_AT_ONCE = 200
_ORDERS = {
    "task": "task",
    "model": "model",
    "-differences": "most differences",
    "differences": "fewest differences",
    "-steps": "most steps",
    "steps": "fewest steps",
    "-tool_errors": "most tool errors",
    "-write_calls": "most writes",
    "-tokens": "most tokens",
    "tokens": "fewest tokens",
    "-duration": "longest",
    "duration": "shortest",
    "repetition": "repetition",
}


class FacetChoice(msgspec.Struct, frozen=True):
    value: str
    title: str
    count: int
    """Attempts, were this the only value chosen in its facet."""
    chosen: bool
    hint: str = ""
    """What the value means, where its name does not say it."""
    kinds: list[tuple[str, int]] = []
    """Only for fields: kinds of difference and the attempts with each, the most first."""


class FacetList(msgspec.Struct, frozen=True):
    facet: Facet
    title: str
    hint: str
    choices: list[FacetChoice]
    """The most frequent first; what is chosen is always there."""
    more: int
    """Values that are not listed."""
    whole: str
    """The query of the address that lists all; empty where all are."""

    @property
    def idle(self) -> bool:
        """All attempts have its only value, so there is nothing to choose."""
        few = {Facet.BENCHMARK, Facet.DISAGREES, Facet.LONE, Facet.ALIKE, Facet.COPY}
        return self.facet in few and len(self.choices) == 1 and not self.choices[0].chosen

    @property
    def code(self) -> bool:
        """Whether the values are names of the bundle's own."""
        return self.facet in {Facet.TABLE, Facet.FIELD, Facet.TOOL, Facet.ERRED, Facet.TASK, Facet.FINISH}


class Option(msgspec.Struct, frozen=True):
    """An order or a grouping to choose: its value in the address, and the query of the address that chooses it."""

    value: str
    title: str
    chosen: bool
    query: str = ""


class Applied(msgspec.Struct, frozen=True):
    """A filter that is set, and the query of the address without it."""

    facet: str
    title: str
    without: str


class FailureGroup(msgspec.Struct, frozen=True, kw_only=True):
    """Attempts with the same first difference, or at the same task. Ungrouped there is one, without a title."""

    difference: Difference | None = None
    task: str = ""
    other: bool = False
    """The attempts without a difference."""
    total: int
    tasks: int
    models: int
    rows: list[FailureRow]
    query: str = ""
    """Of the address that lists the whole group."""


class FailurePage(msgspec.Struct, frozen=True, kw_only=True):
    filters: FailureFilters
    stored: int
    """All failed attempts, before filtering."""
    total: int
    tasks: int
    facets: list[FacetList]
    applied: list[Applied]
    groups: list[FailureGroup]
    page: Page
    """Of groups; ungrouped, of attempts."""
    no_words: bool
    """What was typed has neither a letter nor a digit in it."""
    waiting: int
    """Transcripts that are not in the index yet."""
    runs: int
    query: str
    """The filters as an address's query, without the page."""

    @property
    def grouped(self) -> bool:
        return self.filters.group is not Grouping.NONE

    @property
    def same(self) -> tuple[str, ...]:
        """First differences that are chosen: they have no list of their own."""
        return self.filters.chosen.get(Facet.SAME, ())

    @property
    def groupings(self) -> list[Option]:
        titles = {Grouping.SAME: "Same difference", Grouping.TASK: "Task", Grouping.NONE: "Ungrouped"}
        return [
            Option(group, title, group is self.filters.group, self.filters.but(group=group).query())
            for group, title in titles.items()
        ]

    @property
    def orders(self) -> list[Option]:
        now = ("-" if self.filters.descending else "") + self.filters.sort
        return [Option(value, title, value == now) for value, title in _ORDERS.items()]


def failure_page(filters: FailureFilters, *, access: Access) -> FailurePage:
    """The failures that fit. Some ten queries, however many attempts; more only for runs that changed. Raises
    PermissionDenied for who may not evaluate."""
    index, selection = _selection(filters, access)
    mask = selection.mask
    groups, page = (
        _grouped(index, mask, filters, access)
        if filters.group is not Grouping.NONE
        else _listed(index, mask, filters, access)
    )
    tasks = index.relation(Facet.TASK)
    names = _run_names(access)
    return FailurePage(
        filters=filters,
        stored=index.total,
        total=int(np.count_nonzero(mask)),
        tasks=_different(tasks.codes[Facet.TASK][mask]),
        facets=[_facet(facet, index, filters, selection, names) for facet in Facet if facet is not Facet.SAME],
        applied=_applied(filters, names),
        groups=groups,
        page=page,
        no_words=bool(filters.text) and not parse_query(filters.text),
        waiting=PendingTranscript.objects.count(),
        runs=len(names),
        query=filters.but().query(),
    )


def _run_names(access: Access) -> dict[str, str]:
    """Slug of each run → its model and benchmark, and the slug too where others have the same. One query."""
    runs = Run.objects.filter(visible_runs(access)).values_list("slug", "model", "benchmark__name")
    names = {slug: f"{model} on {benchmark}" for slug, model, benchmark in runs}
    numbers = Counter(names.values())
    return {slug: name if numbers[name] == 1 else f"{name}, run {slug}" for slug, name in names.items()}


def failed_rows(filters: FailureFilters, *, access: Access) -> Iterator[FailureRow]:
    """All failures that fit, in the list's order, for an export. Two hundred at a time are read."""
    index, selection = _selection(filters, access)
    mask = selection.mask
    places = index.order(mask, filters.sort, descending=filters.descending)
    for start in range(0, len(places), _EXPORTED_AT_ONCE):
        ids = index.ids[places[start : start + _EXPORTED_AT_ONCE]].tolist()
        found = failure_rows(ids, parse_query(filters.text), _asked_for(filters), access=access)
        rows = _with_copies(index, found)
        yield from (rows[pk] for pk in ids if pk in rows)


class FailedList:
    """The failures that fit in the list's order, of which any part can be read. Three queries a part."""

    def __init__(self, filters: FailureFilters, *, access: Access) -> None:
        index, selection = _selection(filters, access)
        self._index = index
        self._access = access
        self._filters = filters
        self._ids = index.ids[index.order(selection.mask, filters.sort, descending=filters.descending)]

    @property
    def total(self) -> int:
        return len(self._ids)

    def some(self, start: int, count: int) -> list[FailureRow]:
        """Up to `count` of them. One that was deleted meanwhile is left out."""
        ids = self._ids[start : start + count].tolist()
        query, first = parse_query(self._filters.text), _asked_for(self._filters)
        rows = _with_copies(self._index, failure_rows(ids, query, first, access=self._access))
        return [rows[pk] for pk in ids if pk in rows]


def _selection(filters: FailureFilters, access: Access) -> tuple[FailureIndex, Selection]:
    """The index as it is now, and what fits of it."""
    index = failure_index(access=access).with_notes()
    found = index.having(parse_query(filters.text)) if filters.text else None
    chosen = {facet.value: values for facet, values in filters.chosen.items()}
    return index, Selection(index.total, index.relations, chosen, found)


def _listed(
    index: FailureIndex, mask: Mask, filters: FailureFilters, access: Access
) -> tuple[list[FailureGroup], Page]:
    places = index.order(mask, filters.sort, descending=filters.descending)
    page = page_of(len(places), filters.page, ROWS_PER_PAGE)
    shown = places[max(0, page.first - 1) : page.last]
    group = FailureGroup(total=len(places), tasks=0, models=0, rows=_rows(index, [shown], filters, access)[0])
    return [group] if len(places) else [], page


def _grouped(
    index: FailureIndex, mask: Mask, filters: FailureFilters, access: Access
) -> tuple[list[FailureGroup], Page]:
    """Groups, the largest first, each with its first attempts in the list's order."""
    facet = Facet.SAME if filters.group is Grouping.SAME else Facet.TASK
    relation = index.relation(facet)
    names, codes = relation.values[facet], relation.codes[facet]
    sizes = np.bincount(codes[mask], minlength=len(names))
    # Attempts without a difference come last: they have nothing in common.
    order = sorted(np.flatnonzero(sizes).tolist(), key=lambda code: (not names[code], -sizes[code], names[code]))
    page = page_of(len(order), filters.page, GROUPS_PER_PAGE)
    shown = order[max(0, page.first - 1) : page.last]
    members = [mask & (codes == code) for code in shown]
    firsts = [index.order(member, filters.sort, descending=filters.descending)[:ROWS_PER_GROUP] for member in members]
    tasks, models = (index.relation(facet).codes[facet] for facet in (Facet.TASK, Facet.MODEL))
    groups = [
        FailureGroup(
            difference=difference_of(names[code]) if facet is Facet.SAME and names[code] else None,
            task=names[code] if facet is Facet.TASK else "",
            other=not names[code],
            total=int(sizes[code]),
            tasks=_different(tasks[member]),
            models=_different(models[member]),
            rows=rows,
            query=filters.only(facet, names[code]).but(group=Grouping.NONE).query(),
        )
        for code, member, rows in zip(shown, members, _rows(index, firsts, filters, access), strict=True)
    ]
    return groups, page


def _different(codes: Codes) -> int:
    return int(np.count_nonzero(np.bincount(codes)))


def _rows(
    index: FailureIndex, places: Sequence[npt.NDArray[np.int64]], filters: FailureFilters, access: Access
) -> list[list[FailureRow]]:
    """The attempts of several lists of positions, read together. One that was deleted meanwhile is left out."""
    ids = [index.ids[part].tolist() for part in places]
    flat = [pk for part in ids for pk in part]
    found = failure_rows(flat, parse_query(filters.text), _asked_for(filters), access=access)
    rows = _with_copies(index, found)
    return [[rows[pk] for pk in part if pk in rows] for part in ids]


def _with_copies(index: FailureIndex, rows: dict[int, FailureRow]) -> dict[int, FailureRow]:
    """The rows with the other runs that the same row is stored in."""
    elsewhere = index.elsewhere(rows)
    return {
        pk: msgspec.structs.replace(row, elsewhere=elsewhere[pk]) if elsewhere.get(pk) else row
        for pk, row in rows.items()
    }


def _asked_for(filters: FailureFilters) -> Callable[[FirstEffect], bool]:
    """Whether a difference is one that the filters ask for."""
    kinds, tables, fields = (filters.chosen.get(facet) for facet in (Facet.EFFECT, Facet.TABLE, Facet.FIELD))
    return lambda effect: (
        (not kinds or effect.kind in kinds)
        and (not tables or effect.table in tables)
        and (not fields or f"{effect.table}.{effect.field}" in fields)
    )


def _facet(
    facet: Facet, index: FailureIndex, filters: FailureFilters, selection: Selection, names: dict[str, str]
) -> FacetList:
    filtered = bool(filters.text) or any(filters.chosen.values())
    numbers = index.counts(facet, selection, filtered=filtered)
    wanted = filters.chosen.get(facet, ())
    for value in wanted:
        numbers.setdefault(value, 0)
    order = sorted(numbers, key=lambda value: (-numbers[value], value))
    most = _MOST_CHOICES if filters.whole is facet else _CHOICES_SHOWN
    shown = [value for number, value in enumerate(order) if number < most or value in wanted]
    more = len(order) - len(shown)
    kinds = index.kinds(shown, selection) if facet is Facet.FIELD else {}
    return FacetList(
        facet=facet,
        title=FACET_TITLES[facet],
        hint=FACET_HINTS[facet],
        choices=[
            FacetChoice(
                value,
                value_title(facet, value, names),
                numbers[value],
                value in wanted,
                hint=EFFECT_HINTS.get(value, "") if facet is Facet.EFFECT else "",
                kinds=kinds.get(value, []),
            )
            for value in shown
        ],
        more=more,
        whole=filters.but(whole=facet).query() if more and filters.whole is not facet else "",
    )


def _applied(filters: FailureFilters, names: dict[str, str]) -> list[Applied]:
    applied = [
        Applied(FACET_TITLES[facet], value_title(facet, value, names), filters.without(facet, value).query())
        for facet in Facet
        for value in filters.chosen.get(facet, ())
    ]
    if filters.text:
        applied.append(Applied("Words", filters.text, filters.but(text="").query()))
    return applied
