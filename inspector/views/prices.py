"""`/prices/`: lists of prices, their versions, editing and import."""

from __future__ import annotations

import csv
import io

from django.core.files.uploadedfile import UploadedFile
from django.http import HttpResponse
from django.views.decorators.http import require_http_methods, require_safe

from inspector.access import access_of, viewers_too, writers_only
from inspector.http import HtmxHttpRequest, redirect_to, render_page
from inspector.price_forms import (
    MOST_ROWS,
    GridCell,
    ImportForm,
    NewListForm,
    ReadPrices,
    grid_rows,
    read_grid,
    read_text,
)
from runs.costs import Price
from runs.models import PriceList
from runs.prices import PriceError, add_version, as_csv, create_list, prices_in
from runs.pricing import COLUMNS, LARGEST, PriceFileError, read_prices
from runs.queries.prices import newest_or_404, price_index, price_page

_PROBLEMS_KEPT = 20
_PROBLEMS_SHOWN = 50


@viewers_too
@require_safe
def index(request: HtmxHttpRequest) -> HttpResponse:
    return render_page(request, "prices/index.html", {"lists": price_index(access=access_of(request))})


@writers_only
@require_http_methods(["GET", "HEAD", "POST"])
def new(request: HtmxHttpRequest) -> HttpResponse:
    """A new list, from a file or row by row."""
    posted = request.method == "POST"
    form = NewListForm(request.POST) if posted else NewListForm()
    about = ImportForm(request.POST) if posted else ImportForm(initial={"file_currency": "USD"})
    read, note = ReadPrices([], []), ""
    if posted and form.is_valid() and about.is_valid():
        read, note = _entries(request, about)
        if read.prices and not read.problems:
            made = create_list(form.cleaned_data["name"].strip(), read.prices, note=note)
            return redirect_to(request, "price_list", made.slug)
    context = {
        "form": form,
        "about": about,
        "problems": read.problems[:_PROBLEMS_SHOWN],
        "rows": _posted_rows(request) if posted else grid_rows([]),
    }
    return render_page(request, "prices/new.html", context, status=422 if posted else 200)


@viewers_too
@require_safe
def detail(request: HtmxHttpRequest, slug: str, version: int | None = None) -> HttpResponse:
    return render_page(request, "prices/detail.html", {"page": price_page(slug, version, access=access_of(request))})


@viewers_too
@require_safe
def export(request: HtmxHttpRequest, slug: str, version: int) -> HttpResponse:
    """The prices as CSV, in the form that is read again."""
    page = price_page(slug, version, access=access_of(request))
    answer = HttpResponse(as_csv(page.prices), content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{slug}-v{page.version}.csv"'
    return answer


@writers_only
@require_http_methods(["GET", "HEAD", "POST"])
def edit(request: HtmxHttpRequest, slug: str) -> HttpResponse:
    """The newest version in a form; what is saved becomes the next version."""
    newest = newest_or_404(slug)
    posted = request.method == "POST"
    about = ImportForm(request.POST) if posted else ImportForm(initial={"file_currency": "USD"})
    read, problems = ReadPrices([], []), []
    if posted and about.is_valid():
        read, note = _entries(request, about)
        problems = read.problems
        if read.prices and not problems:
            based_on = request.POST.get("version", "")
            try:
                saved = add_version(
                    slug,
                    read.prices,
                    based_on=int(based_on) if based_on.isascii() and based_on.isdecimal() else newest.version,
                    note=about.cleaned_data["note"] or note,
                )
            except PriceError as error:
                problems = [str(error)]
            else:
                return redirect_to(request, "price_list_version", slug, saved.version)
    context = _editing(request, newest, posted) | {"about": about, "problems": problems[:_PROBLEMS_SHOWN]}
    return render_page(request, "prices/edit.html", context, status=422 if posted else 200)


def _editing(request: HtmxHttpRequest, newest: PriceList, posted: bool) -> dict[str, object]:
    prices = prices_in(newest).prices
    as_text = len(prices) > MOST_ROWS or "text" in (request.POST if posted else request.GET)
    return {
        "list": newest,
        "as_text": as_text,
        "too_many": len(prices) > MOST_ROWS,
        "text": request.POST.get("text", "") if posted else as_csv(prices) if as_text else "",
        "rows": _posted_rows(request) if posted else grid_rows(_cells(prices)),
        "note": request.POST.get("note", ""),
    }


def _cells(prices: tuple[Price, ...]) -> list[list[str]]:
    return list(csv.reader(io.StringIO(as_csv(prices))))[1:]


def _posted_rows(request: HtmxHttpRequest) -> list[list[GridCell]]:
    columns = [request.POST.getlist(name)[:MOST_ROWS] for name in COLUMNS]
    rows = [list(row) for row in zip(*columns, strict=False) if any(row)]
    return grid_rows(rows)


def _entries(request: HtmxHttpRequest, about: ImportForm) -> tuple[ReadPrices, str]:
    """What came in: a file goes before a text, a text before rows. And a note on where the prices come from."""
    file = request.FILES.get("file")
    if file is not None:
        return _from_file(file, about)
    if "text" in request.POST:
        return read_text(request.POST["text"]), ""
    return read_grid(request.POST), ""


def _from_file(file: UploadedFile, about: ImportForm) -> tuple[ReadPrices, str]:
    """An entry that cannot be read is left out, and the note of the version names it."""
    given = about.given()
    try:
        made = read_prices(file.read(LARGEST + 1), currency=given.currency, date=given.date, source=given.source)
    except PriceFileError as error:
        return ReadPrices([], [str(error)]), ""
    if not made.prices:
        problems = [f"{problem.place}: {problem.reason}" for problem in made.problems]
        return ReadPrices([], ["No entry of the file has a price that can be read.", *problems]), ""
    lines = [f"Read from {file.name} ({made.format.value})."]
    if made.problems:
        lines.append(f"{len(made.problems):,} of its entries were not taken:")
        lines += [f"{problem.place}: {problem.reason}" for problem in made.problems[:_PROBLEMS_KEPT]]
        if len(made.problems) > _PROBLEMS_KEPT:
            lines.append(f"and {len(made.problems) - _PROBLEMS_KEPT:,} more.")
    lines += [f"{note.place}: {note.reason}" for note in made.notes[:_PROBLEMS_KEPT]]
    return ReadPrices(made.prices, []), "\n".join(lines)
