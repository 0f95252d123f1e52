from __future__ import annotations

from django.db import models

from runs.models.attempt import Attempt


class PendingTranscript(models.Model):
    """An attempt whose transcript is not in the full-text index yet. Where the index is costly to write, workers fill
    it in their idle time; the row goes with the text's arrival."""

    attempt = models.OneToOneField(Attempt, models.CASCADE, primary_key=True, related_name="pending_transcript")

    def __str__(self) -> str:
        return f"transcript of attempt {self.attempt_id}"
