"""`/share/<address>/` and `/embed/<address>/`: a leaderboard for those whom its owner lets read it, and its files.

These pages ask for no account and know of none: they are the same for everybody who has the address. They set no
cookie, and lead to no page but their own.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec

import msgspec
from django.contrib.auth.decorators import login_not_required
from django.http import HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.cache import patch_cache_control
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.http import require_safe

from inspector.board_charts import board_charts, thresholds
from inspector.board_file import file_answer
from inspector.board_picture import board_picture
from inspector.filters import board_view, chart_threshold
from inspector.http import HtmxHttpRequest, render_page
from inspector.models import Share
from inspector.sharing import Part, find_share, seen, visible_parts
from runs.access import THE_TEAM
from runs.queries.leaderboards import BoardPage, page_of

Given = ParamSpec("Given")
"""Further parameters of an address."""


class Shared(msgspec.Struct, frozen=True):
    """What an address opens."""

    share: Share
    parts: frozenset[Part]
    page: BoardPage
    """With nothing in it but the parts."""


SharedView = Callable[Concatenate[HtmxHttpRequest, Shared, Given], HttpResponse]


def shared(view: SharedView[Given]) -> Callable[..., HttpResponse]:
    """Opens a view to whoever has the address of a share, and to nobody without: no share, no share any more, all one.

    No answer is kept by a cache, so that a withdrawn link opens nothing at once, and none tells another site where the
    reader came from.
    """

    @login_not_required
    @require_safe
    @wraps(view)
    def opened(request: HtmxHttpRequest, address: str, *args: Given.args, **kwargs: Given.kwargs) -> HttpResponse:
        share = find_share(address)
        parts = visible_parts(share, timezone.now()) if share is not None else frozenset()
        if share is None or Part.SCORES not in parts:
            response = render_page(request, "share/gone.html", status=404)
        else:
            page = page_of(share.leaderboard, board_view(request.GET), shared=True, access=THE_TEAM)
            page = seen(page, parts)
            response = view(request, Shared(share, parts, page), *args, **kwargs)
        if Part.LISTED not in parts:
            response.headers["X-Robots-Tag"] = "noindex, nofollow, noarchive"
        response.headers["Referrer-Policy"] = "no-referrer"
        patch_cache_control(response, private=True, no_store=True)
        return response

    return opened


@shared
def detail(request: HtmxHttpRequest, shared: Shared) -> HttpResponse:
    """The page of a leaderboard, as far as it is shared."""
    return render_page(request, "share/detail.html", _context(request, shared))


@xframe_options_exempt
@shared
def embed(request: HtmxHttpRequest, shared: Shared) -> HttpResponse:
    """The same without a frame of its own, for another site's page: the only answer that may be shown within one."""
    return render_page(request, "share/embed.html", _context(request, shared))


@shared
def file(request: HtmxHttpRequest, shared: Shared, kind: str) -> HttpResponse:
    """What the page shows, to be taken away."""
    return file_answer(shared.page, kind, chart_threshold(request.GET))


@shared
def picture(request: HtmxHttpRequest, shared: Shared) -> HttpResponse:
    """The image of a link preview."""
    return HttpResponse(board_picture(shared.page), content_type="image/png")


def _context(request: HtmxHttpRequest, shared: Shared) -> dict[str, object]:
    address = str(request.resolver_match.kwargs["address"]) if request.resolver_match else ""
    least = chart_threshold(request.GET)
    return {
        "page": shared.page,
        "share": shared.share,
        "links": Part.RUNS in shared.parts,
        "charts": board_charts(shared.page, links=Part.RUNS in shared.parts, least=least),
        "thresholds": thresholds(shared.page, least),
        "listed": Part.LISTED in shared.parts,
        "shared_as": address,
        "address": request.build_absolute_uri(reverse("share", args=[address])),
        "canonical": request.build_absolute_uri(reverse("share", args=[shared.page.slug]))
        if Part.LISTED in shared.parts
        else None,
        "picture": request.build_absolute_uri(reverse("share_picture", args=[address])),
    }
