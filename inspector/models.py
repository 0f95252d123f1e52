"""What the site keeps beside the runs: accounts and their tokens, the audit log, shares, and failed logins."""

from __future__ import annotations

from typing import Any, NoReturn

from django.db import models
from django.utils import timezone

from runs.access import Role
from runs.models import Leaderboard


class Account(models.Model):
    """What the site knows of an account beside its name and password. Who has none is a viewer."""

    user = models.OneToOneField("auth.User", models.CASCADE, primary_key=True, related_name="account")
    role = models.CharField(
        max_length=10, choices=[(role.value, role.value) for role in Role], default=Role.VIEWER.value
    )
    password_is_new = models.BooleanField(default=False)
    """An admin gave it, to be used once: until they choose one themselves, no page but that one opens."""

    def __str__(self) -> str:
        return f"{self.role} {self.user_id}"


class ApiToken(models.Model):
    """Opens the API to a program in the name of an account. The token itself is shown once and stored nowhere."""

    owner = models.ForeignKey("auth.User", models.CASCADE, related_name="tokens")
    name = models.CharField(max_length=100)
    """What it is for, in its owner's words."""
    digest = models.CharField(max_length=64, unique=True)
    """SHA-256 of the token."""
    scopes = models.JSONField(default=list)
    """Values of `runs.access.Scope`."""
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    """Null: never."""
    revoked_at = models.DateTimeField(null=True, blank=True)
    used_at = models.DateTimeField(null=True, blank=True)
    """When it was last used, to the minute."""

    class Meta:
        ordering = ["-created_at", "-id"]

    def __str__(self) -> str:
        return self.name


class _AppendOnly(models.QuerySet["AuditEntry"]):
    """Reads and adds. What was written down stays as it is."""

    def update(self, **kwargs: Any) -> NoReturn:
        raise TypeError("An entry of the audit log is never changed.")

    def delete(self) -> NoReturn:
        raise TypeError("An entry of the audit log is never deleted.")


class AuditEntry(models.Model):
    """Who did what to what, and when (`inspector.audit` writes it). Points at nothing: nothing takes it along."""

    at = models.DateTimeField(default=timezone.now, db_index=True)
    user = models.BigIntegerField(null=True)
    """The account's key; null for a command, the server itself, or where nobody has to log in."""
    who = models.CharField(max_length=150)
    """As they were called then."""
    action = models.CharField(max_length=40)
    """A value of `inspector.audit.Action`."""
    about = models.CharField(max_length=300, blank=True)
    """The run, leaderboard, account or token, as it was called then."""
    details = models.CharField(max_length=1000, blank=True)

    objects = _AppendOnly.as_manager()

    class Meta:
        ordering = ["-at", "-id"]
        indexes = [models.Index(fields=["action", "at"], name="audit_by_action")]

    def __str__(self) -> str:
        return f"{self.who}: {self.action} {self.about}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        if not self._state.adding:
            raise TypeError("An entry of the audit log is never changed.")
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise TypeError("An entry of the audit log is never deleted.")


class LoginTry(models.Model):
    """A try to log in that failed or is under way, for a quarter of an hour (`inspector.accounts`)."""

    key = models.CharField(max_length=64)
    """SHA-256 of what is counted: an address, an account's name, or a known browser."""
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["id"]
        indexes = [models.Index(fields=["key", "at"], name="login_try_by_key")]

    def __str__(self) -> str:
        return f"try at {self.at}"


class Share(models.Model):
    """A leaderboard that others may read without an account. Withdrawn means deleted: nothing of the link is left."""

    leaderboard = models.OneToOneField(Leaderboard, models.CASCADE, related_name="share")
    public = models.BooleanField(default=False)
    """Also to be found under the leaderboard's own name and by search engines; the link then never expires."""
    nonce = models.CharField(max_length=32)
    """The link's token is made from this and the server's secret key (`inspector.sharing`), and is stored nowhere."""
    token_hash = models.CharField(max_length=64, unique=True)
    """SHA-256 of the token."""
    expires_at = models.DateTimeField(null=True, blank=True)
    """Null: never."""
    created_at = models.DateTimeField(auto_now_add=True)
    renewed_at = models.DateTimeField(default=timezone.now)
    """When the link became another one."""

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"share of leaderboard {self.leaderboard_id}"
