"""What the site keeps beside the runs: shares of leaderboards, and failed logins."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from runs.models import Leaderboard


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
