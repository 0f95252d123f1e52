"""`/login/` and `/logout/` of server mode. Where no login is asked for, neither is there."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth import login as start_session
from django.contrib.auth import logout as end_session
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.models import User
from django.contrib.sessions.backends.db import SessionStore
from django.http import Http404, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from inspector.access import own_account
from inspector.accounts import TooManyTries, check_password, remember_browser
from inspector.audit import note_login
from inspector.forms import LoginForm
from inspector.http import HtmxHttpRequest, redirect_to, render_page
from inspector.sharing import public_boards
from inspector.wall import way_back


@login_not_required
@sensitive_post_parameters("password")
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def login(request: HtmxHttpRequest) -> HttpResponse:
    _only_in_server_mode()
    wanted = way_back(request.POST.get("next") or request.GET.get("next", ""))
    if request.method != "POST":
        if request.user.is_authenticated:
            return redirect_to(request, wanted)
        return _page(request, LoginForm(), wanted)
    form = LoginForm(request.POST)
    if not form.is_valid():
        return _page(request, form, wanted, status=422)
    try:
        user = check_password(request, form.cleaned_data["name"], form.cleaned_data["password"])
    except TooManyTries as error:
        form.add_error(None, str(error))
        response = _page(request, form, wanted, status=429)
        response.headers["Retry-After"] = str(60 * error.minutes)
        return response
    name = form.cleaned_data["name"]
    if user is None:
        note_login(name, None)
        form.add_error(None, "The name or the password is wrong.")
        return _page(request, form, wanted, status=422)
    SessionStore.clear_expired()
    start_session(request, user)
    note_login(name, user)
    response = redirect_to(request, wanted)
    remember_browser(response, user.get_username(), secure=request.is_secure())
    return response


@own_account
@require_POST
def logout(request: HtmxHttpRequest) -> HttpResponse:
    """Ends the session on the server too: its cookie opens nothing any more."""
    _only_in_server_mode()
    end_session(request)
    return redirect_to(request, "login")


def _page(request: HtmxHttpRequest, form: LoginForm, wanted: str, status: int = 200) -> HttpResponse:
    context = {"form": form, "next": wanted, "no_account": not User.objects.exists(), "public": public_boards()}
    return render_page(request, "login/login.html", context, status=status)


def _only_in_server_mode() -> None:
    if not settings.AUTH_REQUIRED:
        raise Http404("No login is asked for.")
