"""Routes of accounts, their tokens, and the audit log."""

from __future__ import annotations

from django.urls import URLPattern, path

from inspector.views import account, accounts, audit

account_routes: list[URLPattern] = [
    path("account/", account.detail, name="account"),
    path("account/password/", account.password, name="account_password"),
    path("account/sign-out/", account.sign_out, name="account_sign_out"),
    path("account/tokens/", account.make, name="token_make"),
    path("account/tokens/<int:pk>/revoke/", account.revoke, name="token_revoke"),
    path("accounts/", accounts.index, name="accounts"),
    path("accounts/<int:pk>/", accounts.change, name="account_change"),
    path("audit/", audit.index, name="audit"),
    path("audit/log.csv", audit.export, name="audit_csv"),
]
