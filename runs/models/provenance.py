from __future__ import annotations

from django.db import models


class Provenance(models.Model):
    """What rows say of where they came from, stored once for all rows that say the same."""

    digest = models.CharField(max_length=64, unique=True)
    """SHA-256 of the value's canonical JSON."""
    value = models.JSONField()
    """As `runs.bundles.canonical_rows.read_said` gives it."""

    def __str__(self) -> str:
        return self.digest[:12]
