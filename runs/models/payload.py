from __future__ import annotations

from django.db import models


class Payload(models.Model):
    """JSON stored once by its content: a table of a state, a state (table → digest), or another shared part of rows."""

    digest = models.CharField(max_length=64, unique=True)
    """SHA-256 of the canonical JSON, hex."""
    size = models.PositiveBigIntegerField()
    """Bytes of the canonical JSON."""
    data = models.BinaryField()
    """zstd of the canonical JSON."""

    def __str__(self) -> str:
        return self.digest


class PayloadPart(models.Model):
    """A state's use of a table."""

    whole = models.ForeignKey(Payload, models.CASCADE, related_name="parts")
    part = models.ForeignKey(Payload, models.PROTECT, related_name="wholes")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["whole", "part"], name="part_once_per_payload")]

    def __str__(self) -> str:
        return f"{self.whole_id} holds {self.part_id}"
