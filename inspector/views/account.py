"""`/account/`: one's own password, sessions and tokens."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth import logout as end_session
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.forms import PasswordChangeForm
from django.contrib.auth.models import User
from django.db import transaction
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404
from django.utils import timezone
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST, require_safe

from inspector.access import access_of, has_new_password, own_account
from inspector.account_forms import LASTS, SCOPE_TITLES, TokenForm, scopes_for
from inspector.accounts import end_sessions
from inspector.audit import Action, note
from inspector.http import HtmxHttpRequest, redirect_to, render_page
from inspector.models import Account, ApiToken
from inspector.tokens import is_live, make_token, revoke_token, role_of

_TOKENS_SHOWN = 100


@own_account
@require_safe
def detail(request: HtmxHttpRequest) -> HttpResponse:
    return _page(request)


@own_account
@sensitive_post_parameters()
@require_POST
def password(request: HtmxHttpRequest) -> HttpResponse:
    """Another password. All other sessions of the account end."""
    user = _user(request)
    form = PasswordChangeForm(user, request.POST)
    if not form.is_valid():
        return _page(request, password=form, status=422)
    with transaction.atomic():
        form.save()
        Account.objects.filter(user=user).update(password_is_new=False)
        note(access_of(request), Action.PASSWORD, user.get_username())
    end_sessions(user)
    update_session_auth_hash(request, user)
    return redirect_to(request, "account")


@own_account
@require_POST
def sign_out(request: HtmxHttpRequest) -> HttpResponse:
    """Ends all sessions of the account, this one too."""
    user = _user(request)
    note(access_of(request), Action.SIGNED_OUT, user.get_username())
    end_sessions(user)
    end_session(request)
    return redirect_to(request, "login")


@own_account
@require_POST
def make(request: HtmxHttpRequest) -> HttpResponse:
    """A new token: the answer shows it, and nothing ever again."""
    if has_new_password(request):
        # A password that is good for one login must not open something that lasts.
        return redirect_to(request, "account")
    user, access = _user(request), access_of(request)
    form = TokenForm(request.POST)
    if not form.is_valid():
        return _page(request, form=form, status=422)
    with transaction.atomic():
        token, text = make_token(
            user, form.cleaned_data["name"], form.chosen(access), expires_at=form.ends(timezone.now())
        )
        note(access, Action.TOKEN_MADE, token.name, ", ".join(token.scopes))
    return _page(request, made=text, status=201)


@own_account
@require_POST
def revoke(request: HtmxHttpRequest, pk: int) -> HttpResponse:
    token = get_object_or_404(ApiToken, pk=pk, owner=_user(request))
    if token.revoked_at is None:
        with transaction.atomic():
            revoke_token(token)
            note(access_of(request), Action.TOKEN_REVOKED, token.name)
    return redirect_to(request, "account")


def _user(request: HtmxHttpRequest) -> User:
    """Where nobody logs in there are no accounts, and nothing needs a token."""
    if not settings.AUTH_REQUIRED or not isinstance(request.user, User):
        raise Http404("No login is asked for.")
    return request.user


def _page(
    request: HtmxHttpRequest,
    *,
    password: PasswordChangeForm | None = None,
    form: TokenForm | None = None,
    made: str = "",
    status: int = 200,
) -> HttpResponse:
    user, access, now = _user(request), access_of(request), timezone.now()
    tokens = list(ApiToken.objects.filter(owner=user).select_related("owner").order_by("-created_at", "-pk"))
    account = getattr(user, "account", None)
    context = {
        "role": role_of(user).value,
        "is_new": account is not None and account.password_is_new,
        "password": password or PasswordChangeForm(user),
        "form": form or TokenForm(initial={"lasts": "90"}),
        "lasts": LASTS,
        "scopes": [(scope.value, SCOPE_TITLES[scope]) for scope in scopes_for(access)],
        "chosen": frozenset(form["scopes"].value() or ()) if form else frozenset(),
        "made": made,
        "tokens": [(token, is_live(token, now)) for token in tokens[:_TOKENS_SHOWN]],
        "hidden": max(0, len(tokens) - _TOKENS_SHOWN),
    }
    return render_page(request, "account/detail.html", context, status=status)
