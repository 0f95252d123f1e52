"""`/leaderboards/<slug>/sharing/`: who may read a leaderboard without an account, and its link."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from inspector.access import access_of, writers_only
from inspector.env import LOOPBACK_NAMES
from inspector.forms import Audience, ShareForm
from inspector.http import HtmxHttpRequest, redirect_to, render_page
from inspector.models import Share
from inspector.sharing import make_public, renew_link, share_by_link, token_of, visible_parts, withdraw
from runs.models import Leaderboard, LeaderboardFreeze
from runs.queries.leaderboards import board_or_404
from runs.querysets import only_its_owner


@writers_only
@require_http_methods(["GET", "HEAD", "POST"])
def detail(request: HtmxHttpRequest, slug: str) -> HttpResponse:
    """Who may read it, the link, and what to put into another site's page."""
    board, access = _own_board(request, slug), access_of(request)
    share = Share.objects.filter(leaderboard=board).first()
    if request.method != "POST":
        return _page(request, board, share, ShareForm())
    form = ShareForm(request.POST)
    if not form.is_valid():
        return _page(request, board, share, form, status=422)
    match Audience(form.cleaned_data["audience"]):
        case Audience.PRIVATE:
            withdraw(board, access=access)
        case Audience.LINK:
            share_by_link(board, form.ends(timezone.now(), share.expires_at if share else None), access=access)
        case Audience.PUBLIC:
            make_public(board, access=access)
    return redirect_to(request, "leaderboard_sharing", slug)


@writers_only
@require_POST
def renew(request: HtmxHttpRequest, slug: str) -> HttpResponse:
    """Another link. Who has the old one sees nothing any more."""
    renew_link(_own_board(request, slug), access=access_of(request))
    return redirect_to(request, "leaderboard_sharing", slug)


def _own_board(request: HtmxHttpRequest, slug: str) -> Leaderboard:
    board = board_or_404(slug)
    only_its_owner(access_of(request), board.owner_id, "share this leaderboard")
    return board


def _page(
    request: HtmxHttpRequest, board: Leaderboard, share: Share | None, form: ShareForm, status: int = 200
) -> HttpResponse:
    if share is None:
        audience, address = Audience.PRIVATE, None
    elif share.public:
        audience, address = Audience.PUBLIC, board.slug
    else:
        audience, address = Audience.LINK, token_of(share)
    context = {
        "board": board,
        "share": share,
        "form": form,
        "audience": audience,
        "has_ended": share is not None and not visible_parts(share, timezone.now()),
        "link": address and request.build_absolute_uri(reverse("share", args=[address])),
        "embed": address and request.build_absolute_uri(reverse("embed", args=[address])),
        "lasts": ShareForm.LASTS,
        "only_here": _host(request) in LOOPBACK_NAMES,
        "server_mode": settings.AUTH_REQUIRED,
        "frozen": LeaderboardFreeze.objects.filter(leaderboard=board).exists(),
    }
    return render_page(request, "sharing/detail.html", context, status=status)


def _host(request: HtmxHttpRequest) -> str:
    """The host name without its port, as a browser writes it."""
    name, colon, port = request.get_host().rpartition(":")
    return name if colon and port.isdecimal() else request.get_host()
