"""`/leaderboards/`: chosen runs and published rows side by side; making, freezing, and taking one away as a file."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from inspector.access import access_of, viewers_too, writers_only
from inspector.board_body import board_body
from inspector.board_file import file_answer
from inspector.board_forms import COLUMN_LABELS, ORDER_LABELS, RULE_LABELS, BoardForm
from inspector.board_picture import board_picture
from inspector.filters import board_view, chart_threshold
from inspector.http import HtmxHttpRequest, redirect_to, render_page
from inspector.sharing import audience_of, delete_board
from runs.boards.edit import BoardError, create_board, edit_board
from runs.boards.freeze import freeze_board, unfreeze_board
from runs.boards.reference import make_reference
from runs.models import Leaderboard
from runs.queries.leaderboards import (
    BoardChoices,
    board_choices,
    board_index,
    board_or_404,
    board_page,
)
from runs.querysets import only_its_owner, owns


@viewers_too
@require_safe
def index(request: HtmxHttpRequest) -> HttpResponse:
    return render_page(request, "leaderboards/index.html", {"index": board_index(access=access_of(request))})


@viewers_too
@require_safe
def detail(request: HtmxHttpRequest, slug: str) -> HttpResponse:
    access = access_of(request)
    page = board_page(slug, board_view(request.GET), recomputed="recompute" in request.GET, access=access)
    body, charts = board_body(request, page)
    context = {
        "page": page,
        "body": body,
        "charts": charts,
        "picture": request.build_absolute_uri(reverse("leaderboard_picture", args=[slug])),
        "address": request.build_absolute_uri(request.path),
        "shared": audience_of(page.pk),
        "owns": owns(access, page.owner),
    }
    return render_page(request, "leaderboards/detail.html", context)


@writers_only
@require_http_methods(["GET", "HEAD", "POST"])
def new(request: HtmxHttpRequest) -> HttpResponse:
    access = access_of(request)
    choices = board_choices(access=access)
    form = BoardForm(choices, request.POST) if request.method == "POST" else BoardForm(choices, initial=_first(request))
    if form.is_bound and form.is_valid():
        try:
            board = create_board(form.changes(), access=access)
        except BoardError as error:
            form.add_error(None, str(error))
        else:
            return redirect_to(request, board)
    return _form(request, form, choices, None)


def _first(request: HtmxHttpRequest) -> dict[str, Any]:
    """Runs may be chosen in the address: `?run=…&run=…`."""
    return BoardForm.first() | {"runs": request.GET.getlist("run")}


@writers_only
@require_http_methods(["GET", "HEAD", "POST"])
def edit(request: HtmxHttpRequest, slug: str) -> HttpResponse:
    board = board_or_404(slug)
    access = access_of(request)
    choices = board_choices(board, access=access)
    form = (
        BoardForm(choices, request.POST)
        if request.method == "POST"
        else BoardForm(choices, initial=BoardForm.facts_of(board))
    )
    if form.is_bound and form.is_valid():
        try:
            edit_board(board, form.changes(), access=access)
        except BoardError as error:
            form.add_error(None, str(error))
        else:
            return redirect_to(request, "leaderboard", slug)
    return _form(request, form, choices, board)


def _form(request: HtmxHttpRequest, form: BoardForm, choices: BoardChoices, board: Leaderboard | None) -> HttpResponse:
    chosen = {name: frozenset(form[name].value() or ()) for name in ("runs", "published", "columns")}
    context = {
        "form": form,
        "board": board,
        "choices": choices,
        "chosen": chosen,
        "columns": [(column.value, label) for column, label in COLUMN_LABELS.items()],
        "orders": [(order.value, label) for order, label in ORDER_LABELS.items()],
        "rules": [(rule.value, label) for rule, label in RULE_LABELS.items()],
    }
    return render_page(request, "leaderboards/form.html", context, status=422 if form.errors else 200)


@writers_only
@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: HtmxHttpRequest, slug: str) -> HttpResponse:
    """Asks first. Runs and price lists stay."""
    board = board_or_404(slug)
    access = access_of(request)
    only_its_owner(access, board.owner_id, "delete this leaderboard")
    if request.method == "POST":
        delete_board(board, access)
        return redirect_to(request, "leaderboards")
    return render_page(request, "leaderboards/delete.html", {"board": board})


@writers_only
@require_POST
def freeze(request: HtmxHttpRequest, slug: str) -> HttpResponse:
    freeze_board(board_or_404(slug))
    return redirect_to(request, "leaderboard", slug)


@writers_only
@require_POST
def unfreeze(request: HtmxHttpRequest, slug: str) -> HttpResponse:
    unfreeze_board(board_or_404(slug))
    return redirect_to(request, "leaderboard", slug)


@writers_only
@require_POST
def reference(request: HtmxHttpRequest) -> HttpResponse:
    """Brings the board of the published results back."""
    return redirect_to(request, make_reference())


@viewers_too
@require_safe
def file(request: HtmxHttpRequest, slug: str, kind: str) -> HttpResponse:
    """The page as `csv`, `json` or `html`."""
    page = board_page(slug, board_view(request.GET), access=access_of(request))
    return file_answer(page, kind, chart_threshold(request.GET))


@viewers_too
@require_safe
def picture(request: HtmxHttpRequest, slug: str) -> HttpResponse:
    """The image of a link preview."""
    return HttpResponse(board_picture(board_page(slug, access=access_of(request))), content_type="image/png")
