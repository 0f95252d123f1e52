from __future__ import annotations

from django.db import models

from runs.models.run import Run


class FailureFacts(models.Model):
    """What a run's failed attempts are counted by, ready to use: `runs.failure_facts` writes and reads it."""

    run = models.OneToOneField(Run, models.CASCADE, primary_key=True, related_name="failure_facts")
    tallied = models.PositiveBigIntegerField()
    """The run's `tallied` that they were read at: with another one they are old."""
    version = models.PositiveSmallIntegerField()
    """Of what is kept, and how."""
    data = models.BinaryField()
    """`facets.pack` of the run's part."""

    def __str__(self) -> str:
        return f"failure facts of run {self.run_id}"
