"""`/accounts/`: who has an account, and what each may do. For admins."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db.models import Count, Q
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_http_methods, require_POST

from inspector.access import access_of, admins_only
from inspector.account_forms import ROLES, NewAccountForm, RoleForm
from inspector.accounts import (
    GivenPassword,
    LastAdmin,
    change_role,
    close_account,
    give_password,
    make_account,
    open_account,
)
from inspector.http import HtmxHttpRequest, redirect_to, render_page
from inspector.tokens import role_of
from runs.access import Role

_SHOWN = 500


@admins_only
@require_http_methods(["GET", "HEAD", "POST"])
def index(request: HtmxHttpRequest) -> HttpResponse:
    """The list, and a form for one more, whose answer shows the password that is good once."""
    _only_in_server_mode()
    if request.method != "POST":
        return _page(request)
    form = NewAccountForm(request.POST)
    if form.is_valid():
        name, role = form.cleaned_data["name"].strip(), Role(form.cleaned_data["role"])
        try:
            given = make_account(name, role, access=access_of(request))
        except ValidationError as error:
            form.add_error("name", " ".join(error.messages))
        else:
            return _page(request, given=given, status=201)
    return _page(request, form=form, status=422)


@admins_only
@require_POST
def change(request: HtmxHttpRequest, pk: int) -> HttpResponse:
    """One thing about an account: `do` is role, close, open or password."""
    _only_in_server_mode()
    user = get_object_or_404(User, pk=pk)
    access = access_of(request)
    try:
        match request.POST.get("do"):
            case "role":
                form = RoleForm(request.POST)
                if form.is_valid():
                    change_role(user, Role(form.cleaned_data["role"]), access=access)
            case "close":
                close_account(user, access=access)
            case "open":
                open_account(user, access=access)
            case "password":
                return _page(request, given=give_password(user, access=access))
    except LastAdmin as error:
        return _page(request, problem=str(error), status=409)
    return redirect_to(request, "accounts")


def _page(
    request: HtmxHttpRequest,
    *,
    form: NewAccountForm | None = None,
    given: GivenPassword | None = None,
    problem: str = "",
    status: int = 200,
) -> HttpResponse:
    live = Count("tokens", filter=Q(tokens__revoked_at__isnull=True))
    users = User.objects.select_related("account").annotate(live_tokens=live).order_by("-is_active", "username", "pk")
    context = {
        "accounts": [(user, role_of(user).value) for user in users[:_SHOWN]],
        "roles": ROLES,
        "form": form or NewAccountForm(initial={"role": Role.EVALUATOR.value}),
        "given": given,
        "problem": problem,
    }
    return render_page(request, "account/accounts.html", context, status=status)


def _only_in_server_mode() -> None:
    if not settings.AUTH_REQUIRED:
        raise Http404("No login is asked for.")
