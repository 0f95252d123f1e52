"""What may be sent about accounts and tokens."""

from __future__ import annotations

from datetime import datetime, timedelta

from django import forms

from runs.access import Access, Role, Scope

__all__ = ["SCOPE_TITLES", "NewAccountForm", "RoleForm", "TokenForm", "scopes_for"]

SCOPE_TITLES = {
    Scope.READ: "read scores and traces, as a viewer",
    Scope.EVALUATE: "see required states, checks and private context",
    Scope.WRITE: "upload, edit, write notes",
    Scope.ADMIN: "see and delete the runs of others",
}
LASTS = (("30", "30 days"), ("90", "90 days"), ("365", "1 year"), ("never", "no end"))
ROLES = tuple((role.value, role.value) for role in Role)


def scopes_for(access: Access) -> list[Scope]:
    """What a token of the account can be given at all."""
    allowed = {Scope.EVALUATE: access.evaluates, Scope.WRITE: access.writes, Scope.ADMIN: access.administers}
    return [scope for scope in Scope if allowed.get(scope, True)]


class TokenForm(forms.Form):
    name = forms.CharField(
        max_length=100,
        error_messages={
            "required": "Say what the token is for, so that you know later which one to revoke.",
            "max_length": "This is longer than %(limit_value)d characters. Shorten it.",
        },
    )
    scopes = forms.MultipleChoiceField(
        required=False, choices=[(scope.value, title) for scope, title in SCOPE_TITLES.items()]
    )
    lasts = forms.ChoiceField(choices=LASTS, error_messages={"invalid_choice": "Choose one of these."})

    def ends(self, now: datetime) -> datetime | None:
        """Of a valid form; None for never."""
        lasts = self.cleaned_data["lasts"]
        return None if lasts == "never" else now + timedelta(days=int(lasts))

    def chosen(self, access: Access) -> list[Scope]:
        """Of a valid form: what was asked for, as far as the account may do it itself."""
        return [scope for scope in scopes_for(access) if scope.value in self.cleaned_data["scopes"]]


class NewAccountForm(forms.Form):
    name = forms.CharField(max_length=150, error_messages={"required": "Give the account a name."})
    role = forms.ChoiceField(choices=ROLES, error_messages={"required": "Choose a role."})


class RoleForm(forms.Form):
    role = forms.ChoiceField(choices=ROLES)
