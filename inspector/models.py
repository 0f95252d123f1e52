"""What the site keeps beside the runs: shares of leaderboards, and failed logins."""

from __future__ import annotations

from django.db import models
from django.utils import timezone


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
